// A machine that starts as a hub does: UEFI firmware, and the disk that is flashed, on a medium larger than it.
import { copyFileSync, existsSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { must } from '../../../firmware/system/exec.ts';
import { type Emulator, emulated } from '../../../image/emulator.ts';
import { writeInto } from '../../../image/factory.ts';
import { agentUnit } from './disks.ts';

/**
 * Flashes `image` to the machine's disk below `dir`.
 * @param factory bytes of the factory part of one device, as a factory line writes them
 */
export async function flashDisk(dir: string, image: string, factory?: Uint8Array): Promise<string> {
  const disk = join(dir, 'disk.raw');
  await must('cp', ['--sparse=always', image, disk], { timeoutMs: 120_000 });
  truncateSync(disk, 4096 * 2 ** 20);
  if (factory) await writeInto(disk, Buffer.from(factory));
  return disk;
}

/**
 * What QEMU is told of firmware, which keeps its memory below `dir`. The image stays as it is: the agent's unit and
 * words for the kernel come by SMBIOS, from which systemd and systemd-boot take them (smbios-type11(7)).
 */
export function firmware(dir: string, uefi: Pick<Emulator, 'code' | 'vars'>, cmdline: string): string[] {
  const vars = join(dir, 'vars.fd');
  if (!existsSync(vars)) copyFileSync(uefi.vars, vars);
  const words = `${emulated} systemd.wants=ingle-lab.service systemd.show_status=false ${cmdline}`.trim();
  const strings = [
    `io.systemd.credential.binary:systemd.extra-unit.ingle-lab.service=${agentUnit()}`,
    `io.systemd.boot.kernel-cmdline-extra=${words}`,
  ];
  return [
    ...['-machine', 'q35,sata=off,smbus=off', '-action', 'watchdog=reset', '-device', 'i6300esb'],
    ...['-drive', `if=pflash,format=raw,readonly=on,file=${uefi.code}`],
    ...['-drive', `if=pflash,format=raw,file=${vars}`],
    ...['-smbios', `type=11,${strings.map((s) => `value=${s.replaceAll(',', ',,')}`).join(',')}`],
  ];
}
