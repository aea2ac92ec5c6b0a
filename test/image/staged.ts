// The generic root, staged and packed in a folder of its own, for the suites that look at it. Needs root rights.
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import { baseRoot } from '../../image/base.ts';
import { cache, top } from '../../image/build.ts';
import { bundles } from '../../image/bundles.ts';
import { packErofs } from '../../image/erofs.ts';
import { nativeFiles } from '../../image/native.ts';
import { packagesFor } from '../../image/packages.ts';
import { type StageDevice, stage } from '../../image/stage.ts';
import { debianTools } from '../../image/tools.ts';

/** Why no root can be built here, or ''. */
function cannotStage(): string {
  const missing = ['/usr/bin/mmdebstrap', '/usr/bin/systemd-sysusers'].filter((f) => !existsSync(f));
  if (process.getuid?.() !== 0) return 'a root is built with root rights; run the tests as root';
  return missing.length > 0 ? `there is no ${missing.join(', no ')}` : '';
}

export const packing = { date: 1_700_000_000, uuid: '6f0f5d0c-1c7e-4d55-9f33-3c1e0c3ff9a1' };

interface Staged {
  /** On the disk of the roots, as files of a staged root are links. */
  dir: string;
  /** Debian's part. */
  base: string;
  files: string[];
  native: Record<string, string>;
  /** The staged root. */
  root: string;
  /** SHA-256 of its packed bytes. */
  hash: string;
  /** Stages another root below `dir` and packs it; the hash of the bytes. */
  make(name: string, from?: string, device?: StageDevice): Promise<string>;
  end(): void;
}

async function staged(): Promise<Staged> {
  mkdirSync(cache, { recursive: true });
  const dir = mkdtempSync(join(cache, 'stage-test-'));
  const base = await baseRoot(cache, packagesFor('amd64'), 'amd64');
  const { files } = await bundles(top, []);
  const native = await nativeFiles(top, cache, 'amd64');
  async function make(name: string, from = base, device?: StageDevice): Promise<string> {
    const out = join(dir, name);
    await stage({ top, base: from, files, native, out, arch: 'amd64', ...(device ? { device } : {}) });
    const image = join(dir, `${name}.erofs`);
    await packErofs(await debianTools(cache), out, image, packing);
    const hash = createHash('sha256').update(readFileSync(image)).digest('hex');
    console.log(`FIGURE root_erofs_mb ${(lstatSync(image).size / 1e6).toFixed(1)}`);
    rmSync(image);
    return hash;
  }
  const hash = await make('first');
  const end = () => rmSync(dir, { recursive: true, force: true });
  return { dir, base, files, native, root: join(dir, 'first'), hash, make, end };
}

/** A suite over a staged root, which is skipped where none can be built. */
export function suiteOfStaged(name: string) {
  const test = suite(name);
  const why = cannotStage();
  if (why) console.log(`SKIP ${name}: ${why}`);
  let made: Staged | undefined;
  test.before(async () => {
    if (!why) made = await staged();
  });
  test.after(() => made?.end());
  return { test, check: why ? test.skip : test, made: () => made! };
}
