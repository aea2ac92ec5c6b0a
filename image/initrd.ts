// The initial RAM disk: busybox, dmsetup, the drivers of what a root may lie on, and init.sh.
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { must } from '../firmware/system/exec.ts';
import type { Machine } from './boot.ts';

/** Loaded on every boot. */
const always = [
  ...['crc32c_generic', 'crc32c_intel', 'sha256_ssse3', 'sha2_ce', 'erofs', 'dm_verity'],
  ...['vfat', 'nls_cp437', 'ext4'],
];
/** Loaded when the machine says it has the device: disks, cards and sticks, and what carries them. */
const disks = [
  ...['virtio_pci', 'virtio_mmio', 'virtio_blk', 'virtio_scsi', 'nvme', 'ahci', 'ahci_platform', 'ata_piix'],
  ...['sd_mod', 'usb_storage', 'uas', 'xhci_pci', 'xhci_plat_hcd', 'ehci_pci', 'mmc_block'],
  ...['sdhci_pci', 'sdhci_acpi', 'sdhci_iproc', 'sdhci_brcmstb', 'bcm2835', 'dw_mmc_rockchip'],
  ...['pcie_brcmstb', 'reset_raspberrypi', 'raspberrypi_power', 'phy_rockchip_naneng_combphy'],
];
/** dmsetup's own; without one of them it does not start. */
const libraries = [
  ...['libc.so.6', 'libm.so.6', 'libdevmapper.so.1.02.1', 'libselinux.so.1', 'libpcre2-8.so.0'],
  ...['libudev.so.1', 'libcap.so.2'],
];

/** The name modprobe knows a module's file by. */
const nameOf = (file: string) =>
  basename(file)
    .replace(/\.ko(\..*)?$/, '')
    .replace(/-/g, '_');

/** `wanted` and what they need, in the order they load, from a modules.dep text. */
export function loadOrder(dep: string, names: readonly string[]): string[] {
  const needs = new Map<string, string[]>();
  for (const line of dep.split('\n')) {
    const [file, rest] = line.split(':');
    if (file && rest !== undefined) needs.set(file, rest.trim().split(/\s+/).filter(Boolean));
  }
  const order: string[] = [];
  for (const name of names) {
    const file = [...needs.keys()].find((f) => nameOf(f) === name);
    // A module that is not listed is built into the kernel.
    if (!file) continue;
    // modules.dep lists all needs, the deepest last.
    for (const f of [...needs.get(file)!].reverse().concat(file)) if (!order.includes(f)) order.push(f);
  }
  return order;
}

/** The lines of modules.alias that name one of `files`. */
export function aliasesOf(alias: string, files: readonly string[]): string {
  const names = new Set(files.map(nameOf));
  const lines = alias.split('\n').filter((l) => names.has(l.split(' ')[2]?.replace(/-/g, '_') ?? ''));
  return lines.join('\n') + '\n';
}

/** The lines of modules.dep for `files`, with the names the unpacked ones have. */
export function dependenciesOf(dep: string, files: readonly string[]): string {
  const lines = dep.split('\n').filter((l) => files.includes(l.split(':')[0]!));
  return lines.join('\n').replace(/\.ko\.(xz|zst|gz)/g, '.ko') + '\n';
}

async function unpack(file: string): Promise<Buffer> {
  if (file.endsWith('.xz')) return must('xz', ['-dc', file]);
  if (file.endsWith('.zst')) return must('zstd', ['-dc', file]);
  return readFileSync(file);
}

/**
 * Writes `<out>` (cpio, newc, packed by zstd; the kernel unpacks it).
 * @param root where the kernel's modules are
 * @param parts what bootParts() gave
 * @param here folder of init.sh
 * @param date seconds since 1970 every file in it has
 */
export async function makeInitrd(o: {
  root: string;
  parts: string;
  machine: Machine;
  here: string;
  date: number;
  out: string;
}): Promise<void> {
  const dir = `${o.out}.d`;
  rmSync(dir, { recursive: true, force: true });
  const put = (from: string, to: string, mode = 0o644) => {
    mkdirSync(dirname(join(dir, to)), { recursive: true });
    cpSync(from, join(dir, to), { dereference: true });
    chmodSync(join(dir, to), mode);
  };
  const write = (to: string, data: string | Uint8Array) => {
    mkdirSync(dirname(join(dir, to)), { recursive: true });
    writeFileSync(join(dir, to), data);
  };
  put(join(o.parts, 'usr/bin/busybox'), 'bin/busybox', 0o755);
  // Where the kernel looks for it when it wants a module itself.
  mkdirSync(join(dir, 'sbin'));
  symlinkSync('../bin/busybox', join(dir, 'sbin/modprobe'));
  put(join(o.parts, 'usr/sbin/dmsetup'), 'bin/dmsetup', 0o755);
  const lib = join(o.parts, 'usr/lib', o.machine.triplet);
  for (const name of libraries) put(join(lib, name), join('lib', o.machine.triplet, name), 0o755);
  put(join(lib, basename(o.machine.loader)), o.machine.loader, 0o755);

  const kernels = join(o.root, 'usr/lib/modules');
  const kernel = readdirSync(kernels)[0]!;
  const from = join(kernels, kernel);
  const dep = readFileSync(join(from, 'modules.dep'), 'utf8');
  const files = loadOrder(dep, [...always, ...disks]);
  const to = join('lib/modules', kernel);
  for (const file of files)
    write(join(to, file.replace(/\.(xz|zst|gz)$/, '')), await unpack(join(from, file)));
  write(join(to, 'modules.dep'), dependenciesOf(dep, files));
  write(join(to, 'modules.alias'), aliasesOf(readFileSync(join(from, 'modules.alias'), 'utf8'), files));
  if (existsSync(join(from, 'modules.builtin')))
    put(join(from, 'modules.builtin'), join(to, 'modules.builtin'));
  const there = new Set(files.map(nameOf));
  write('lib/always', always.filter((n) => there.has(n)).join(' ') + '\n');
  put(join(o.here, 'init.sh'), 'init', 0o755);
  for (const f of ['esp.sh', 'deadman.sh']) put(join(o.here, f), join('lib', f));

  const list = everything(dir);
  for (const f of list) if (f !== 'sbin/modprobe') utimesSync(join(dir, f), o.date, o.date);
  await must('touch', ['-h', '-d', `@${o.date}`, join(dir, 'sbin/modprobe')]);
  const cpio = await must('cpio', ['-o', '-H', 'newc', '-R', '0:0', '--reproducible', '--quiet'], {
    cwd: dir,
    input: list.join('\n') + '\n',
    maxBytes: 256 * 1024 * 1024,
  });
  writeFileSync(o.out, await must('zstd', ['-19', '-T1', '-c'], { input: cpio, timeoutMs: 600_000 }));
  rmSync(dir, { recursive: true, force: true });
}

/** Folders before what is in them, all in the order of their names. */
function everything(dir: string, at = '.'): string[] {
  const below = readdirSync(join(dir, at), { withFileTypes: true }).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  );
  return [
    at,
    ...below.flatMap((e) => (e.isDirectory() ? everything(dir, join(at, e.name)) : [join(at, e.name)])),
  ];
}
