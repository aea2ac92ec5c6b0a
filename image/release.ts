// What a device maker gets in dist/image: the disk to flash, the bundle that updates to it, and what vouches for both.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { must } from '../firmware/system/exec.ts';
import { inGit, sourceVersion, top } from './build.ts';
import { sha256File } from './bundle.ts';
import { type DeviceFile, findDevice, readDevice } from './device.ts';
import { type Flash, flash, update } from './flash.ts';
import { needHost } from './host.ts';
import { type Keys, keysFor } from './keys.ts';
import { sources } from './packages.ts';

export interface ReleaseOptions {
  arch: string;
  /** Name or path of a device file. */
  device: string;
  /** Folder of signing keys; the default ones, else development keys, when left out. */
  keys?: string;
  version?: string;
  /** Tells what is being done. */
  say(line: string): void;
}

/** Names makers know their machines by -> Debian architecture. */
const archs: Readonly<Record<string, string>> = {
  amd64: 'amd64',
  'x86-64': 'amd64',
  x86_64: 'amd64',
  arm64: 'arm64',
  aarch64: 'arm64',
};

/** @throws Error with what there is */
export function archOf(machine: string): string {
  const arch = archs[machine];
  if (!arch) throw new Error(`There is no machine "${machine}". One of: amd64, arm64.`);
  return arch;
}

export interface Prepared {
  flash: Flash;
  keys: Keys;
  device: DeviceFile;
  /** Folder of the release. */
  dir: string;
  /** Start of every file's name. */
  name: string;
}

export async function prepare(o: ReleaseOptions): Promise<Prepared> {
  const device = readDevice(findDevice(top, o.device));
  await needHost(o.say);
  const version = o.version ?? sourceVersion();
  const keys = await keysFor(top, o.keys, o.say);
  const keyring = device.keyring || readFileSync(keys.keyring, 'utf8');
  o.say(`Building ${device.device.model} ${version} for ${o.arch}`);
  const f = await flash({ arch: o.arch, device, version, keyring });
  const name = `${device.name}-${version}-${o.arch}`;
  const dir = join(top, 'dist', 'image', name);
  mkdirSync(dir, { recursive: true });
  return { flash: f, keys, device, dir, name: `ingle-${name}` };
}

/** Compresses a disk for its way to the device. The window is the largest that zstd opens without being asked to. */
export async function packDisk(disk: string, out: string): Promise<void> {
  const options = ['-q', '-f', '-T2', '-12', '--long=27'];
  await must('zstd', [...options, disk, '-o', out], { timeoutMs: 20 * 60_000 });
}

/** Writes the update bundle alone; its path. */
export async function releaseBundle(o: ReleaseOptions, given?: Prepared): Promise<string> {
  const p = given ?? (await prepare(o));
  const out = join(p.dir, `${p.name}.raucb`);
  o.say('Signing the update bundle');
  await update(p.flash, { out, keys: p.keys });
  return out;
}

/** Writes everything; the folder. */
export async function release(o: ReleaseOptions): Promise<string> {
  const p = await prepare(o);
  for (const old of readdirSync(p.dir)) rmSync(join(p.dir, old), { recursive: true });
  const file = (ending: string) => join(p.dir, `${p.name}.${ending}`);
  const bundle = await releaseBundle(o, p);
  o.say('Packing the disk');
  await packDisk(p.flash.disk, file('img.zst'));
  copyFileSync(p.flash.bmap, file('img.bmap'));
  const sbom = join(p.dir, 'sbom.spdx.json');
  copyFileSync(join(p.flash.built.dir, 'sbom.spdx.json'), sbom);
  const commit = await inGit('rev-parse', 'HEAD');
  const files = [file('img.zst'), file('img.bmap'), bundle];
  const manifest = {
    device: p.device.name,
    model: p.flash.model,
    version: p.flash.version,
    arch: p.flash.arch,
    commit: commit?.stdout.toString().trim() || null,
    source_date_epoch: p.flash.date,
    development_keys: p.keys.development,
    root: { sha256: sha256File(p.flash.rootfs), size: statSync(p.flash.rootfs).size, verity: p.flash.verity },
    disk: { sha256: sha256File(p.flash.disk), size: statSync(p.flash.disk).size },
    inputs: {
      debian: sources(),
      package_lock: sha256File(join(top, 'package-lock.json')),
      sbom: sha256File(sbom),
    },
    files: files.map((f) => ({ name: basename(f), size: statSync(f).size, sha256: sha256File(f) })),
  };
  writeFileSync(join(p.dir, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  const sums = [...files, sbom, join(p.dir, 'manifest.json')].map(
    (f) => `${sha256File(f)}  ${basename(f)}\n`,
  );
  writeFileSync(file('sha256'), sums.join(''));
  return p.dir;
}
