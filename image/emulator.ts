// QEMU and UEFI firmware as Debian 13 has them, whatever this computer has: QEMU 10 emulates a hub with a third less of
// the processor than Debian 12's 7.2, and everybody tries the image on the same machine.
import { cache } from './build.ts';
import { debianTools } from './tools.ts';

export interface Emulator {
  /** QEMU's words: program and where its own files are. */
  command: readonly [string, ...string[]];
  /** Firmware's code and the memory it starts with: files. */
  code: string;
  vars: string;
}

/**
 * What the kernel of an emulated x86 machine is told. Guards against flaws of real processors cost a third of its
 * speed; and where this computer is busy, the ticks that the kernel counts at its start come late: it would take the
 * timer for broken, do without it, and hang.
 */
export const emulated = 'mitigations=off no_timer_check';

const parts: Readonly<Record<string, { packages: string[]; program: string; code: string; vars: string }>> = {
  amd64: {
    packages: ['qemu-system-x86', 'ovmf'],
    program: 'qemu-system-x86_64',
    code: 'OVMF/OVMF_CODE_4M.fd',
    vars: 'OVMF/OVMF_VARS_4M.fd',
  },
  arm64: {
    packages: ['qemu-system-arm', 'qemu-efi-aarch64'],
    program: 'qemu-system-aarch64',
    code: 'AAVMF/AAVMF_CODE.fd',
    vars: 'AAVMF/AAVMF_VARS.fd',
  },
};

/**
 * Unpacks the emulator where it is not there yet (some seconds).
 * @param arch Debian's name: amd64 or arm64
 */
export async function emulator(arch: string): Promise<Emulator> {
  const { packages, program, code, vars } = parts[arch]!;
  const tools = await debianTools(cache, packages);
  const share = (name: string) => tools.path(`usr/share/${name}`);
  const own = [share('qemu'), share('seabios'), tools.path('usr/lib/ipxe/qemu')];
  return {
    command: [...tools.command(`usr/bin/${program}`), ...own.flatMap((dir) => ['-L', dir])],
    code: share(code),
    vars: share(vars),
  };
}
