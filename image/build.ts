// Builds what a hub boots: kernel, initial RAM disk and the read-only root. Everything is kept by a hash of its
// inputs, so that a second build of the same sources only looks.
//   node --import tsx image/build.ts          prints the folder with vmlinuz, initrd and root.erofs
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { must } from '../firmware/system/exec.ts';
import { baseRoot } from './base.ts';
import { bundles, filesBelow } from './bundles.ts';
import { makeInitrd } from './initrd.ts';
import { hubPackages, labPackages } from './packages.ts';
import { stage } from './stage.ts';

export interface Built {
  /** Folder with the three files below. */
  dir: string;
  kernel: string;
  initrd: string;
  /** erofs image of the root. */
  root: string;
  /** The Debian root with the lab's packages too; its programs go to the lab's disk. */
  labBase: string;
}

const here = dirname(fileURLToPath(import.meta.url));
export const top = dirname(here);
export const cache = join(top, '.cache', 'image');

/**
 * Builds the hub's root for `arch`.
 * @param only services to bundle, all when empty; `INGLE_IMAGE_ONLY=wifi,setup` sets it while one is worked on
 */
export async function build(o: { arch?: string; only?: readonly string[] } = {}): Promise<Built> {
  const arch = o.arch ?? 'amd64';
  const only = o.only ?? (process.env['INGLE_IMAGE_ONLY'] ?? '').split(',').filter(Boolean);
  mkdirSync(cache, { recursive: true });
  const base = await baseRoot(cache, hubPackages, arch);
  const labBase = await baseRoot(cache, [...labPackages, ...hubPackages], arch);
  const dist = await bundles(top, only);

  const hash = createHash('sha256').update(base).update(dist.hash);
  for (const folder of ['image', 'systemd'])
    for (const f of filesBelow(join(top, folder))) hash.update(f).update(readFileSync(join(top, folder, f)));
  hash.update(readFileSync(join(top, 'package-lock.json')));
  const dir = join(cache, `root-${arch}-${hash.digest('hex').slice(0, 16)}`);
  const built: Built = {
    dir,
    kernel: join(dir, 'vmlinuz'),
    initrd: join(dir, 'initrd'),
    root: join(dir, 'root.erofs'),
    labBase,
  };
  if (existsSync(dir)) return built;

  const fresh = `${dir}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  const staged = join(fresh, 'stage');
  await stage({ top, base, files: dist.files, out: staged, arch });
  const kernel = readdirSync(join(base, 'boot')).find((f) => f.startsWith('vmlinuz-'))!;
  cpSync(join(base, 'boot', kernel), join(fresh, 'vmlinuz'));
  await makeInitrd(base, join(labBase, 'usr/bin/busybox'), here, join(fresh, 'initrd'));
  await must('mkfs.erofs', ['-zlz4', '-T0', '--quiet', join(fresh, 'root.erofs'), staged], {
    timeoutMs: 600_000,
  });
  rmSync(staged, { recursive: true, force: true });
  // Another build of the same sources may have been quicker.
  if (existsSync(dir)) rmSync(fresh, { recursive: true, force: true });
  else renameSync(fresh, dir);
  keepNewest('root-', 4);
  return built;
}

/** Old roots are half a gigabyte each; the newest few stay. */
function keepNewest(prefix: string, count: number): void {
  const old = readdirSync(cache, { withFileTypes: true })
    .filter((e) => e.name.startsWith(prefix))
    .map((e) => ({ path: join(cache, e.name), at: statTime(join(cache, e.name)) }))
    .sort((a, b) => b.at - a.at)
    .slice(count);
  for (const o of old) rmSync(o.path, { recursive: true, force: true });
}

function statTime(path: string): number {
  return lstatSync(path).mtimeMs;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href)
  build().then((b) => console.log(b.dir));
