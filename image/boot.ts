// What boots before the root is there: the boot loader, and the programs of the initial RAM disk. They are unpacked,
// never run, so they may be another machine's.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { mmdebstrap } from './mmdebstrap.ts';
import { sources } from './packages.ts';

const parts = ['systemd-boot-efi', 'dmsetup', 'busybox-static'];

/** Writes dpkg's records of what was unpacked, as they would be after its scripts. */
export const record =
  'cd "$1/var/cache/apt/archives" && mkdir -p "$1/var/lib/dpkg/info" && for d in *.deb; do ' +
  'dpkg-deb -f "$d" >> "$1/var/lib/dpkg/status"; printf "Status: install ok installed\\n\\n" >> "$1/var/lib/dpkg/status"; ' +
  'dpkg-deb -c "$d" | sed "s/^[^ ]* *[^ ]* *[^ ]* *[^ ]* *[^ ]* *\\.//; s/ -> .*//; s:/\\$::" > "$1/var/lib/dpkg/info/$(dpkg-deb -f "$d" Package).list"; done';

/** What differs between machines: the folder of libraries, names of EFI files, the serial console. */
export interface Machine {
  /** Debian's folder of libraries below usr/lib. */
  triplet: string;
  /** The dynamic loader's path in a root. */
  loader: string;
  /** Name in systemd-boot's file. */
  efi: string;
  /** Name firmware looks for in /EFI/BOOT. */
  bootFile: string;
  serial: string;
  /** Packages of boards whose firmware is no UEFI (image/boards.ts). */
  boards: readonly string[];
}

/** Debian architecture -> machine. */
export const machines: Readonly<Record<string, Machine>> = {
  amd64: {
    triplet: 'x86_64-linux-gnu',
    loader: 'lib64/ld-linux-x86-64.so.2',
    efi: 'x64',
    bootFile: 'BOOTX64.EFI',
    serial: 'ttyS0',
    boards: [],
  },
  arm64: {
    triplet: 'aarch64-linux-gnu',
    loader: 'lib/ld-linux-aarch64.so.1',
    efi: 'aa64',
    bootFile: 'BOOTAA64.EFI',
    serial: 'ttyAMA0',
    boards: ['raspi-firmware', 'u-boot-rpi'],
  },
};

/** @throws Error for an architecture nothing is built for */
export function machineOf(arch: string): Machine {
  const m = machines[arch];
  if (!m) throw new Error(`There is no machine "${arch}". One of: ${Object.keys(machines).join(', ')}.`);
  return m;
}

/**
 * A folder with packages and what they need, unpacked and never configured; made once, then kept.
 * @param name what the folder is called beside its hash
 */
export async function unpacked(
  cache: string,
  name: string,
  arch: string,
  packages: readonly string[],
): Promise<string> {
  const recipe = JSON.stringify([sources(), arch, [...packages].sort(), record]);
  const hash = createHash('sha256').update(recipe).digest('hex').slice(0, 16);
  const dir = join(cache, `${name}-${arch}-${hash}`);
  if (existsSync(dir)) return dir;
  mkdirSync(cache, { recursive: true });
  const fresh = `${dir}.${process.pid}`;
  rmSync(fresh, { recursive: true, force: true });
  await mmdebstrap(fresh, { arch, packages, variant: 'extract', options: [`--extract-hook=${record}`] });
  if (existsSync(dir)) rmSync(fresh, { recursive: true, force: true });
  else renameSync(fresh, dir);
  return dir;
}

/** Boot loader, firmware of boards and programs of the initial RAM disk. */
export function bootParts(cache: string, arch: string): Promise<string> {
  return unpacked(cache, 'boot', arch, [...parts, ...machineOf(arch).boards]);
}

/** Packages of which an image carries something beside its root. */
export function bootPackages(arch: string): string[] {
  const libraries = ['libc6', 'libdevmapper1.02.1', 'libselinux1', 'libpcre2-8-0', 'libudev1', 'libcap2'];
  return [...parts, ...libraries, ...machineOf(arch).boards];
}
