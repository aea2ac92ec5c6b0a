// The disk that is flashed: GPT, the ESP, root A, room for root B, factory data, and a data partition that grows.
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { must } from '../firmware/system/exec.ts';
import { type Range, rangesOf } from './bmap.ts';

interface Partition {
  label: string;
  /** MiB. */
  size: number;
  type: string;
}

const types = {
  esp: 'c12a7328-f81f-11d2-ba4b-00a0c93ec93b',
  linux: '0fc63daf-8483-4772-8e79-3d69d8477de4',
  // Ours, so that systemd-repart finds the one that grows (image/overlay/usr/lib/repart.d).
  data: '1ba2b1a1-e75c-4b43-9d1c-8a5d0b0f9a01',
};

/** In the order they lie on the disk; the roots are larger than today's, as later ones will be. */
export const partitions: readonly Partition[] = [
  { label: 'ingle-esp', size: 256, type: types.esp },
  { label: 'ingle-root-a', size: 1024, type: types.linux },
  { label: 'ingle-root-b', size: 1024, type: types.linux },
  { label: 'ingle-factory', size: 16, type: types.linux },
  { label: 'ingle-data', size: 64, type: types.data },
];

/** A UUID that is the same for the same name. */
export function fixedUuid(name: string): string {
  const h = createHash('sha256').update(`ingle ${name}`).digest('hex');
  return `${h.slice(0, 8)}-${h.slice(8, 12)}-4${h.slice(13, 16)}-8${h.slice(17, 20)}-${h.slice(20, 32)}`;
}

/** The partition table as sfdisk reads it. Sizes and starts are whole MiB. */
export function table(list: readonly Partition[] = partitions): { script: string; megabytes: number } {
  let at = 1;
  const lines = ['label: gpt', `label-id: ${fixedUuid('disk')}`, 'unit: sectors', 'first-lba: 2048', ''];
  for (const p of list) {
    const fields = [`start=${at * 2048}`, `size=${p.size * 2048}`, `type=${p.type}`];
    lines.push([...fields, `uuid=${fixedUuid(p.label)}`, `name=${p.label}`].join(', '));
    at += p.size;
  }
  // The second copy of the table has the last MiB.
  return { script: `${lines.join('\n')}\n`, megabytes: at + 1 };
}

/** Where a partition begins, in bytes. */
export function offsetOf(label: string): number {
  let at = 1;
  for (const p of partitions) {
    if (p.label === label) return at * 2 ** 20;
    at += p.size;
  }
  throw new Error(`There is no partition ${label}.`);
}

/** Copies a file into the disk, leaving holes where it has nothing but zeroes. @throws Error when it does not fit */
export function place(disk: string, label: string, file: string): void {
  const partition = partitions.find((p) => p.label === label)!;
  const size = statSync(file).size;
  if (size > partition.size * 2 ** 20)
    throw new Error(`${file} has ${size} bytes; the partition ${label} has ${partition.size} MiB`);
  const offset = offsetOf(label);
  const from = openSync(file, 'r');
  const to = openSync(disk, 'r+');
  const chunk = Buffer.alloc(2 ** 20);
  for (let at = 0; ; ) {
    const n = readSync(from, chunk, 0, chunk.length, at);
    if (n === 0) break;
    const part = chunk.subarray(0, n);
    if (part.some((byte) => byte !== 0)) writeSync(to, part, 0, n, offset + at);
    at += n;
  }
  closeSync(from);
  closeSync(to);
}

/** Writes a disk with `contents` (label -> file); what is not given is empty. The same input gives the same bytes. */
export async function makeDisk(out: string, contents: Readonly<Record<string, string>>): Promise<void> {
  const { script, megabytes } = table();
  writeFileSync(out, '');
  truncateSync(out, megabytes * 2 ** 20);
  await must('sfdisk', ['--quiet', '--no-reread', '--no-tell-kernel', out], { input: script });
  for (const [label, file] of Object.entries(contents)) place(out, label, file);
}

/** End of what is not zero in a file, in bytes. */
function endOfData(file: string): number {
  const fd = openSync(file, 'r');
  const chunk = Buffer.alloc(2 ** 20);
  let end = 0;
  for (let at = 0; ; ) {
    const n = readSync(fd, chunk, 0, chunk.length, at);
    if (n === 0) break;
    const last = chunk.subarray(0, n).findLastIndex((byte) => byte !== 0);
    if (last >= 0) end = at + last + 1;
    at += n;
  }
  closeSync(fd);
  return end;
}

/**
 * The blocks a flasher must write: both partition tables, all of what each file holds up to its last byte that is not
 * zero (a root whole, as its zeroes are vouched for too), and zeroes where an older installation would be taken for
 * ours: the start of what is empty, and the block in which a slot keeps whether it came up.
 */
export function mappedRanges(contents: Readonly<Record<string, string>>): Range[] {
  const mib = 2 ** 20;
  const { megabytes } = table();
  const bytes: [number, number][] = [
    [0, mib],
    [(megabytes - 1) * mib, mib],
  ];
  for (const { label, size } of partitions) {
    const file = contents[label];
    const whole = label !== 'ingle-esp';
    const used = file ? (whole ? statSync(file).size : endOfData(file)) : mib;
    bytes.push([offsetOf(label), used]);
    if (label.startsWith('ingle-root-')) bytes.push([offsetOf(label) + size * mib - 4096, 4096]);
  }
  return rangesOf(bytes);
}
