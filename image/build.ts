// Builds what a hub boots: kernel, initial RAM disk and the read-only root. Everything is kept by a hash of its
// inputs, so that a second build of the same sources only looks.
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../firmware/system/exec.ts';
import { baseRoot } from './base.ts';
import { boardFiles } from './boards.ts';
import { bootParts, machineOf, unpacked } from './boot.ts';
import { bundles, filesBelow } from './bundles.ts';
import { type DeviceFile, deviceJson, devicePath, faultsOf, findDevice, readDevice } from './device.ts';
import { fixedUuid } from './disk.ts';
import { packErofs } from './erofs.ts';
import type { EspFile } from './esp.ts';
import { asAnybody } from './host.ts';
import { makeInitrd } from './initrd.ts';
import { developmentKeys } from './keys.ts';
import { licencesPath, licencesText } from './licences.ts';
import { nativeFiles } from './native.ts';
import { labPackages, packagesFor } from './packages.ts';
import { osRelease, systemConf } from './rauc.ts';
import { carriedModules, makeSbom } from './sbom.ts';
import { stage } from './stage.ts';
import { debianTools } from './tools.ts';

export interface Built {
  /** Folder with the three files below. */
  dir: string;
  kernel: string;
  initrd: string;
  /** erofs image of the root. */
  root: string;
  /** What boards need in the ESP that are no UEFI by themselves. */
  boards: readonly EspFile[];
  /** The lab's packages, unpacked; their programs go to the lab's disk. */
  labBase: string;
}

export interface BuildOptions {
  /** Debian architecture; `amd64` when left out. */
  arch?: string;
  /** Services to bundle, all when empty; `INGLE_IMAGE_ONLY=wifi,setup` sets it while one is worked on. */
  only?: readonly string[];
  /** The generic device when left out. */
  device?: DeviceFile;
  /** Version of the image; that of package.json when left out. */
  version?: string;
  /** CAs trusted for updates, PEM; those of the device file, else the development keys, when left out. */
  keyring?: string;
  /** Changes the staged root before it is packed, and a name for the change: images that fail on purpose. */
  change?: { name: string; make(root: string): void };
}

const here = dirname(fileURLToPath(import.meta.url));
export const top = dirname(here);
/** By its real path: systemd's tools take no root that a link leads to. */
const real = (dir: string) => (existsSync(dir) ? realpathSync(dir) : dir);
export const cache = join(real(join(top, '.cache')), 'image');

/** Version of what is built, as package.json has it. */
export function sourceVersion(): string {
  return (JSON.parse(readFileSync(join(top, 'package.json'), 'utf8')) as { version: string }).version;
}

/** What git says of the checkout, whoever's it is; undefined where there is none. */
export async function inGit(...args: string[]): Promise<{ stdout: Buffer } | undefined> {
  const r = await run('git', ['-c', 'safe.directory=*', ...args], { cwd: top }).catch(() => undefined);
  return r?.code === 0 ? r : undefined;
}

/** Seconds since 1970 that every file of a build has: the commit's, so that two builds of it are equal. */
export async function sourceDate(): Promise<number> {
  const given = Number(process.env['SOURCE_DATE_EPOCH']);
  if (Number.isInteger(given) && given > 0) return given;
  const git = await inGit('log', '-1', '--format=%ct');
  return Number(git?.stdout.toString().trim()) || 1_700_000_000;
}

/** One at a time of this kind, among all processes: who wants what another one is making waits for it. */
export async function oneAtATime<T>(kind: string, work: () => Promise<T>): Promise<T> {
  asAnybody();
  const { locked } = (await import('../services/cli/build.mjs' as string)) as {
    locked<T>(work: () => Promise<T>, file: string): Promise<T>;
  };
  return locked(work, join(cache, `.${kind}.lock`));
}

/** Builds the hub's root. */
export const build = (o: BuildOptions = {}): Promise<Built> =>
  oneAtATime('root', () => buildAlone(o)).catch((e) => {
    throw o.device ? faultsOf(o.device, e) : e;
  });

async function buildAlone(o: BuildOptions): Promise<Built> {
  const arch = o.arch ?? 'amd64';
  const machine = machineOf(arch);
  const only = o.only ?? (process.env['INGLE_IMAGE_ONLY'] ?? '').split(',').filter(Boolean);
  const device = o.device ?? readDevice(findDevice(top, 'generic'));
  const version = o.version ?? sourceVersion();
  mkdirSync(cache, { recursive: true });
  const ring = o.keyring ?? (device.keyring || readFileSync((await developmentKeys(top)).keyring, 'utf8'));
  const base = await baseRoot(cache, packagesFor(arch, device.device), arch);
  const labBase = await unpacked(cache, 'lab', arch, labPackages);
  const parts = await bootParts(cache, arch);
  const dist = await bundles(top, only);
  const native = await nativeFiles(top, cache, arch);
  const modules = carriedModules(top, dist.files);

  const written = {
    [devicePath]: deviceJson(device.device),
    'etc/rauc/keyring.pem': ring,
    'etc/rauc/system.conf': systemConf(device.device),
    [licencesPath]: licencesText(top, modules),
    'usr/lib/os-release': osRelease(readFileSync(join(base, 'usr/lib/os-release'), 'utf8'), {
      model: device.device.model,
      version,
    }),
  };
  const date = await sourceDate();
  const hash = createHash('sha256').update(base).update(parts).update(dist.hash).update(String(date));
  hash.update(JSON.stringify(written)).update(o.change?.name ?? '');
  for (const [name, file] of Object.entries(native)) hash.update(name).update(readFileSync(file));
  for (const folder of ['image', 'systemd'])
    for (const f of filesBelow(join(top, folder))) hash.update(f).update(readFileSync(join(top, folder, f)));
  hash.update(readFileSync(join(top, 'package-lock.json')));
  const dir = join(cache, `root-${arch}-${hash.digest('hex').slice(0, 16)}`);
  const built: Built = {
    dir,
    kernel: join(dir, 'vmlinuz'),
    initrd: join(dir, 'initrd'),
    root: join(dir, 'root.erofs'),
    boards: boardFiles(base, parts),
    labBase,
  };
  if (existsSync(dir)) return built;

  const fresh = `${dir}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  const staged = join(fresh, 'stage');
  await stage({ top, base, files: dist.files, native, out: staged, arch, device: device.device });
  const put = (to: string, data: string | Buffer, mode = 0o644) => {
    const path = join(staged, to);
    mkdirSync(dirname(path), { recursive: true });
    // A link shares its bytes with the base; it must go before anything is written.
    rmSync(path, { force: true });
    writeFileSync(path, data, { mode });
  };
  for (const [to, text] of Object.entries(written)) put(to, text);
  put('usr/lib/ingle/rauc-backend', readFileSync(join(here, 'rauc/rauc-backend')), 0o755);
  o.change?.make(staged);
  const sbom = makeSbom({
    top,
    base,
    parts,
    root: staged,
    modules,
    image: { name: device.device.model, version, arch, date },
  });
  put('usr/share/ingle/sbom.spdx.json', sbom);
  writeFileSync(join(fresh, 'sbom.spdx.json'), sbom);
  const kernel = readdirSync(join(base, 'boot')).find((f) => f.startsWith('vmlinuz-'))!;
  cpSync(join(base, 'boot', kernel), join(fresh, 'vmlinuz'));
  await makeInitrd({ root: base, parts, machine, here, date, out: join(fresh, 'initrd') });
  await packErofs(await debianTools(cache), staged, join(fresh, 'root.erofs'), {
    date,
    uuid: fixedUuid('root'),
  });
  rmSync(staged, { recursive: true, force: true });
  renameSync(fresh, dir);
  keepNewest('root-', 6);
  return built;
}

/** Old roots are half a gigabyte each; the newest few stay. */
export function keepNewest(prefix: string, count: number): void {
  const old = readdirSync(cache, { withFileTypes: true })
    .filter((e) => e.name.startsWith(prefix))
    .map((e) => ({ path: join(cache, e.name), at: lstatSync(join(cache, e.name)).mtimeMs }))
    .sort((a, b) => b.at - a.at)
    .slice(count);
  for (const o of old) rmSync(o.path, { recursive: true, force: true });
}
