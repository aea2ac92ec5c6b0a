// The EFI system partition: boot loader, kernels, initial RAM disks and the entries that say which root boots.
// Entries: Boot Loader Specification, type 1, with boot counting in the file name; image/rauc/rauc-backend renames them.
import { copyFileSync, mkdirSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { must } from '../firmware/system/exec.ts';
import type { Machine } from './boot.ts';

export type Slot = 'a' | 'b';

/** systemd-boot's own settings: no wait, no editing, and never the rescue entry by itself. */
export const loaderConf = 'timeout 0\neditor no\nauto-entries no\nauto-firmware no\ndefault ingle-[0-9]*\n';

/**
 * The text of a boot entry; `@slot@` stands for the slot where it is not known yet, as in a bundle.
 * @param options words of the kernel's command line beside those that name the slot
 */
export function entryText(slot: Slot | '@slot@', title: string, options: readonly string[]): string {
  return [
    `title ${title}`,
    'sort-key ingle',
    `linux /ingle/${slot}/linux`,
    `initrd /ingle/${slot}/initrd`,
    `options ${[...options, `ingle.slot=${slot}`, `rauc.slot=${slot}`].join(' ')}`,
    '',
  ].join('\n');
}

/** The entry that starts the same root without services: kept last, and shown in the menu alone. */
export function rescueText(entry: string): string {
  return entry
    .replace(/^title .*$/m, 'title Rescue')
    .replace(/^sort-key .*$/m, 'sort-key zz')
    .replace(/^options .*$/m, '$& systemd.unit=rescue.target');
}

/** A file in the ESP: where, and what: a path here or a text. */
export type EspFile = [to: string, what: { path: string } | { text: string }];

/** What a flashed hub's ESP holds: slot a, good from the start, and nothing in b. */
export function espFiles(o: {
  /** Folder of systemd-boot's EFI files. */
  loader: string;
  machine: Machine;
  kernel: string;
  initrd: string;
  entry: string;
  /** Of boards that are no UEFI by themselves. */
  boards: readonly EspFile[];
}): EspFile[] {
  return [
    ...o.boards,
    [`EFI/BOOT/${o.machine.bootFile}`, { path: join(o.loader, `systemd-boot${o.machine.efi}.efi`) }],
    ['loader/loader.conf', { text: loaderConf }],
    ['loader/entries/ingle-0001-a.conf', { text: o.entry }],
    ['loader/entries/ingle-rescue.conf', { text: rescueText(o.entry) }],
    ['ingle/a/linux', { path: o.kernel }],
    ['ingle/a/initrd', { path: o.initrd }],
  ];
}

/**
 * Writes a FAT file system with `files` to `out`; the same input gives the same bytes.
 * @param date seconds since 1970 of every file
 */
export async function makeEsp(o: {
  out: string;
  megabytes: number;
  date: number;
  files: readonly EspFile[];
}): Promise<void> {
  const env = { SOURCE_DATE_EPOCH: String(o.date), TZ: 'UTC', MTOOLS_SKIP_CHECK: '1' };
  const dir = `${o.out}.d`;
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  writeFileSync(o.out, '');
  truncateSync(o.out, o.megabytes * 2 ** 20);
  const format = ['-F', '32', '-s', '4', '-n', 'INGLE-ESP', '-i', '1A6E0E5F', '--invariant'];
  await must('mkfs.vfat', [...format, o.out], { env });
  const folders = new Set<string>();
  for (const [to] of o.files) for (let d = dirname(to); d !== '.'; d = dirname(d)) folders.add(d);
  // A folder's name sorts before what is in it.
  await must('mmd', ['-i', o.out, ...[...folders].sort().map((d) => `::/${d}`)], { env });
  for (const [to, what] of o.files) {
    const from = join(dir, 'file');
    if ('path' in what) copyFileSync(what.path, from);
    else writeFileSync(from, what.text);
    utimesSync(from, o.date, o.date);
    await must('mcopy', ['-m', '-i', o.out, from, `::/${to}`], { env, timeoutMs: 120_000 });
  }
  rmSync(dir, { recursive: true, force: true });
}
