// The factory part of one device and its label, written whole or not at all.
//   npm run image -- label --device <device> --serial <serial> [--out <folder>] [--into <disk or image>] [--replace]
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Device } from '../firmware/device/device.ts';
import { checkFactory, type Factory, factoryJson } from '../firmware/device/factory.ts';
import { IngleError } from '../firmware/protocol/errors.ts';
import { must } from '../firmware/system/exec.ts';
import { cache } from './build.ts';
import { findDevice, readDevice } from './device.ts';
import { need } from './host.ts';
import { type Label, makeLabel, newFactory } from './label.ts';
import { debianTools, type Tools } from './tools.ts';

/** The file system of the factory partition (erofs, root's alone). */
export async function factoryImage(tools: Tools, factory: Factory): Promise<Buffer> {
  const work = mkdtempSync(join(tmpdir(), 'ingle-factory-'));
  try {
    const tree = join(work, 'tree');
    mkdirSync(tree, { mode: 0o700 });
    writeFileSync(join(tree, 'factory.json'), factoryJson(factory), { mode: 0o600 });
    await tools.must('usr/bin/mkfs.erofs', ['-T0', '--all-root', '--quiet', join(work, 'part'), tree]);
    return readFileSync(join(work, 'part'));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** What a factory partition holds, or undefined where nobody has written one or it does not read. */
async function readPart(tools: Tools, part: Buffer): Promise<Factory | undefined> {
  const work = mkdtempSync(join(tmpdir(), 'ingle-factory-'));
  try {
    writeFileSync(join(work, 'part'), part, { mode: 0o600 });
    await tools.must('usr/bin/fsck.erofs', [`--extract=${join(work, 'tree')}`, join(work, 'part')]);
    return readJson(join(work, 'tree/factory.json'));
  } catch {
    return undefined;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function readJson(file: string): Factory | undefined {
  if (!existsSync(file)) return undefined;
  try {
    const { factory, issues } = checkFactory(JSON.parse(readFileSync(file, 'utf8')));
    return issues.length === 0 ? factory : undefined;
  } catch {
    return undefined;
  }
}

/** Where the partition `ingle-factory` of a disk or disk image lies, in bytes. @throws IngleError `not_found` */
async function findPart(disk: string): Promise<{ at: number; size: number }> {
  const table = JSON.parse((await must('sfdisk', ['--json', disk])).toString()) as {
    partitiontable: { sectorsize?: number; partitions?: { name?: string; start: number; size: number }[] };
  };
  const { sectorsize = 512, partitions = [] } = table.partitiontable;
  const found = partitions.find((p) => p.name === 'ingle-factory');
  if (!found)
    throw new IngleError('not_found', `${disk} has no partition "ingle-factory"; flash the image first.`);
  return { at: found.start * sectorsize, size: found.size * sectorsize };
}

function readAt(disk: string, at: number, size: number): Buffer {
  const fd = openSync(disk, 'r');
  try {
    const bytes = Buffer.alloc(size);
    readSync(fd, bytes, 0, size, at);
    return bytes;
  } finally {
    closeSync(fd);
  }
}

/**
 * Writes a factory part into the partition `ingle-factory` of a disk or disk image, and reads it back.
 * @throws IngleError `not_found` when it has none, `too_large` when the part does not fit
 */
export async function writeInto(disk: string, part: Buffer): Promise<void> {
  const { at, size } = await findPart(disk);
  if (part.length > size)
    throw new IngleError('too_large', `The factory part has ${part.length} bytes, the partition ${size}.`);
  const whole = Buffer.concat([part], size);
  const fd = openSync(disk, 'r+');
  try {
    writeSync(fd, whole, 0, size, at);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  if (!readAt(disk, at, size).equals(whole))
    throw new IngleError('internal', `${disk} does not read back what was written: is it worn out?`);
}

function sync(path: string): void {
  const fd = openSync(path, 'r');
  fsyncSync(fd);
  closeSync(fd);
}

/** Puts a folder with `files` in its place: there are all of them or those of before, also after a power cut. */
function putFolder(out: string, files: Readonly<Record<string, string | Buffer>>): void {
  mkdirSync(dirname(out), { recursive: true });
  const fresh = mkdtempSync(`${out}.new-`);
  try {
    for (const [name, data] of Object.entries(files)) {
      writeFileSync(join(fresh, name), data, { mode: 0o600 });
      sync(join(fresh, name));
    }
    sync(fresh);
    // A folder takes the place of an empty one only.
    if (existsSync(out)) renameSync(out, `${out}.old`);
    renameSync(fresh, out);
    sync(dirname(out));
    rmSync(`${out}.old`, { recursive: true, force: true });
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** What a run that was cut between two renames left is put back. */
function mendFolder(out: string): void {
  if (!existsSync(`${out}.old`)) return;
  if (existsSync(out)) rmSync(`${out}.old`, { recursive: true, force: true });
  else renameSync(`${out}.old`, out);
}

const same = (a: Factory, b: Factory) => factoryJson(a) === factoryJson(b);

/**
 * The secrets of a device: those it has in the folder or on its disk, else fresh ones. `replace` makes others.
 * @throws IngleError `conflict` where what is there contradicts what is asked for
 */
export function chooseFactory(
  device: Device,
  serial: string,
  known: { folder?: Factory | undefined; disk?: Factory | undefined },
  o: { out: string; into?: string | undefined; replace: boolean },
): Factory {
  const fresh = newFactory(device, serial);
  if (o.replace) return fresh;
  const next = 'With --replace it gets a new label; the old one is then worth nothing.';
  const { folder, disk } = known;
  if (disk && (disk.serial !== serial || disk.model !== device.model))
    throw new IngleError(
      'conflict',
      `${o.into} is labelled already, as ${disk.model} ${disk.serial}. ${next}`,
    );
  if (folder && (folder.serial !== serial || folder.model !== device.model))
    throw new IngleError(
      'conflict',
      `${o.out} is the label of ${folder.model} ${folder.serial}. Give another --out.`,
    );
  if (folder && disk && !same(folder, disk))
    throw new IngleError('conflict', `${o.into} has other secrets than the label in ${o.out}. ${next}`);
  const kept = folder ?? disk;
  // A device file that has changed its mind about secrets makes another label.
  if (kept && (kept.psk === '') !== (fresh.psk === ''))
    throw new IngleError(
      'conflict',
      `The label of ${serial} was made when the device file said otherwise. ${next}`,
    );
  return kept ?? fresh;
}

export interface Labelled {
  label: Label;
  /** Folder with its files. */
  out: string;
  /** Whether it was made before; then it is as it was. */
  again: boolean;
}

/**
 * Makes label and factory part of one device. Asked again for the same serial number it gives the same, as long as the
 * folder or the device is there to tell.
 */
export async function labelDevice(o: {
  device: Device;
  serial: string;
  out: string;
  into?: string | undefined;
  replace?: boolean;
  tools: Tools;
}): Promise<Labelled> {
  const { device, serial, out, into, tools } = o;
  newFactory(device, serial);
  mendFolder(out);
  const place = into === undefined ? undefined : await findPart(into);
  const folder = readJson(join(out, 'factory.json'));
  const disk = place && (await readPart(tools, readAt(into!, place.at, place.size)));
  const replace = o.replace ?? false;
  if (existsSync(out) && !folder && !replace)
    throw new IngleError('conflict', `${out} is there and holds no label. Give another --out, or --replace.`);
  const factory = chooseFactory(device, serial, { folder, disk }, { out, into, replace });
  const label = makeLabel(device, factory);
  const part = await factoryImage(tools, factory);
  // The device first: a run that ends here finds the secrets there again.
  if (into !== undefined && !(disk && same(disk, factory))) await writeInto(into, part);
  putFolder(out, {
    'factory.json': factoryJson(factory),
    'factory.img': part,
    'label.svg': label.svg,
    'label.png': label.png,
    'label.txt': label.text,
  });
  return { label, out, again: [folder, disk].some((f) => f && same(f, factory)) };
}

/** `npm run image -- label …` */
export async function runLabel(top: string, args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      device: { type: 'string', default: 'generic' },
      serial: { type: 'string' },
      out: { type: 'string' },
      into: { type: 'string' },
      replace: { type: 'boolean', default: false },
    },
  });
  const { serial, into, replace } = values;
  if (!serial) throw new IngleError('invalid_request', 'label wants --serial <serial number of the device>.');
  const { device } = readDevice(findDevice(top, values.device));
  newFactory(device, serial);
  if (into) await need(['fdisk']);
  const tools = await debianTools(cache);
  const out = resolve(values.out ?? join(top, 'dist', 'label', `${device.model}-${serial}`));
  const { label, again } = await labelDevice({ device, serial, out, into, replace, tools });
  process.stdout.write(`${label.text}\n${out}\n`);
  if (again) process.stderr.write(`The label of ${serial} was made before; it is the same.\n`);
  if (into) process.stderr.write(`Written to ${into}. Erase this folder once the label is printed.\n`);
}
