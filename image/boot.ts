// What boots before the root is there: the boot loader, and the programs of the initial RAM disk. They are unpacked,
// never run, so they may be another machine's.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { must } from '../firmware/system/exec.ts';
import { sources, suite } from './packages.ts';

const parts = ['systemd-boot-efi', 'dmsetup', 'busybox-static'];

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
}

/** Debian architecture -> machine. */
export const machines: Readonly<Record<string, Machine>> = {
  amd64: {
    triplet: 'x86_64-linux-gnu',
    loader: 'lib64/ld-linux-x86-64.so.2',
    efi: 'x64',
    bootFile: 'BOOTX64.EFI',
    serial: 'ttyS0',
  },
  arm64: {
    triplet: 'aarch64-linux-gnu',
    loader: 'lib/ld-linux-aarch64.so.1',
    efi: 'aa64',
    bootFile: 'BOOTAA64.EFI',
    serial: 'ttyAMA0',
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
  const recipe = JSON.stringify([sources(), arch, [...packages].sort()]);
  const hash = createHash('sha256').update(recipe).digest('hex').slice(0, 16);
  const dir = join(cache, `${name}-${arch}-${hash}`);
  if (existsSync(dir)) return dir;
  mkdirSync(cache, { recursive: true });
  const fresh = `${dir}.${process.pid}`;
  rmSync(fresh, { recursive: true, force: true });
  await must(
    'mmdebstrap',
    [
      '--mode=root',
      '--variant=extract',
      '--format=directory',
      `--architectures=${arch}`,
      `--include=${packages.join(',')}`,
      suite,
      fresh,
      ...sources(),
    ],
    { timeoutMs: 10 * 60_000 },
  );
  if (existsSync(dir)) rmSync(fresh, { recursive: true, force: true });
  else renameSync(fresh, dir);
  return dir;
}

/** Boot loader and programs of the initial RAM disk. */
export function bootParts(cache: string, arch: string): Promise<string> {
  return unpacked(cache, 'boot', arch, parts);
}
