// The image that is flashed and the bundle that updates it, from one root.
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { bmapText } from './bmap.ts';
import { bootParts, machineOf } from './boot.ts';
import {
  type BuildOptions,
  type Built,
  build,
  cache,
  keepNewest,
  oneAtATime,
  sourceDate,
  sourceVersion,
  top,
} from './build.ts';
import { makeBundle } from './bundle.ts';
import { findDevice, readDevice } from './device.ts';
import { fixedUuid, makeDisk, mappedRanges } from './disk.ts';
import { entryText, espFiles, makeEsp } from './esp.ts';
import { developmentKeys, type Keys } from './keys.ts';
import { debianTools } from './tools.ts';
import { appendTree, fixedSalt, type Verity, verityOption } from './verity.ts';

export interface Flash {
  built: Built;
  model: string;
  version: string;
  arch: string;
  date: number;
  /** The disk as it is flashed; sparse. */
  disk: string;
  /** Its block map. */
  bmap: string;
  /** The root with its tree, as a slot holds it. */
  rootfs: string;
  verity: Verity;
}

/** Words of the kernel's command line of every hub. A panic restarts, and so does a systemd that gives up. */
export function kernelOptions(serial: string, verity: Verity, more: readonly string[] = []): string[] {
  return [
    ...['console=tty0', `console=${serial},115200`, 'loglevel=4', 'panic=10', 'systemd.crash_action=reboot'],
    // Partitions are named in fstab; nothing is mounted because of its type.
    'systemd.gpt_auto=0',
    // As the kernel is set up unless a distribution asks for more: its ciphers do not try themselves at each start.
    'cryptomgr.notests',
    // Debian's kernel gives whole huge pages where a program asks for a little: 5 MB for each Node of ours.
    'transparent_hugepage=madvise',
    verityOption(verity),
    ...more,
  ];
}

/** Name in the boot menu. */
const title = (version: string) => `Ingle ${version}`;

/** Builds root and disk. The disk is kept by a hash of what it is made of. */
export const flash = (o: BuildOptions = {}): Promise<Flash> => oneAtATime('disk', () => flashAlone(o));

async function flashAlone(o: BuildOptions): Promise<Flash> {
  const arch = o.arch ?? 'amd64';
  const machine = machineOf(arch);
  const built = await build(o);
  const model = (o.device ?? readDevice(findDevice(top, 'generic'))).device.model;
  const version = o.version ?? sourceVersion();
  const date = await sourceDate();
  const hash = createHash('sha256').update(JSON.stringify([built.dir, version, date]));
  const dir = join(cache, `disk-${arch}-${hash.digest('hex').slice(0, 16)}`);
  const file = (name: string, at = dir) => join(at, name);
  if (!existsSync(dir)) {
    const fresh = `${dir}.${process.pid}`;
    mkdirSync(fresh, { recursive: true });
    copyFileSync(built.root, file('rootfs.img', fresh));
    const verity = appendTree(file('rootfs.img', fresh), fixedSalt(`root ${model} ${version}`));
    writeFileSync(file('verity.json', fresh), JSON.stringify(verity));
    const entry = entryText('a', title(version), kernelOptions(machine.serial, verity));
    await makeEsp({
      out: file('esp.img', fresh),
      megabytes: 256,
      date,
      files: espFiles({
        loader: join(await bootParts(cache, arch), 'usr/lib/systemd/boot/efi'),
        machine,
        kernel: built.kernel,
        initrd: built.initrd,
        entry,
        boards: built.boards,
      }),
    });
    await makeFactory(file('factory.img', fresh), date);
    const contents = {
      'ingle-esp': file('esp.img', fresh),
      'ingle-root-a': file('rootfs.img', fresh),
      'ingle-factory': file('factory.img', fresh),
    };
    await makeDisk(file('disk.img', fresh), contents);
    writeFileSync(file('disk.bmap', fresh), bmapText(file('disk.img', fresh), mappedRanges(contents)));
    rmSync(file('esp.img', fresh));
    renameSync(fresh, dir);
    keepNewest('disk-', 6);
  }
  const verity = JSON.parse(readFileSync(file('verity.json'), 'utf8')) as Verity;
  return {
    built,
    model,
    version,
    arch,
    date,
    disk: file('disk.img'),
    bmap: file('disk.bmap'),
    rootfs: file('rootfs.img'),
    verity,
  };
}

/** Factory data of a device nobody labelled yet: an empty file system. */
async function makeFactory(out: string, date: number): Promise<void> {
  mkdirSync(`${out}.d`, { recursive: true });
  const tools = await debianTools(cache);
  await tools.must('usr/bin/mkfs.erofs', [
    `-T${date}`,
    `-U${fixedUuid('factory')}`,
    '--all-root',
    '--quiet',
    out,
    `${out}.d`,
  ]);
  rmSync(`${out}.d`, { recursive: true });
}

export interface UpdateOptions {
  out: string;
  keys?: Pick<Keys, 'cert' | 'key'>;
  /** Another model, version or words of the command line than the image's: for bundles that are refused or fail. */
  compatible?: string;
  version?: string;
  options?: readonly string[];
}

/** Writes the bundle that brings a hub to this image. */
export async function update(f: Flash, o: UpdateOptions): Promise<void> {
  const version = o.version ?? f.version;
  mkdirSync(dirname(o.out), { recursive: true });
  await makeBundle({
    out: o.out,
    compatible: o.compatible ?? f.model,
    version,
    description: title(version),
    rootfs: f.rootfs,
    kernel: f.built.kernel,
    initrd: f.built.initrd,
    entry: entryText('@slot@', title(version), kernelOptions(machineOf(f.arch).serial, f.verity, o.options)),
    date: f.date,
    keys: o.keys ?? (await developmentKeys(top)),
  });
}
