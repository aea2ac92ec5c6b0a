// A machine that starts as a hub does: UEFI firmware, and the disk that is flashed, on a medium larger than it.
import { copyFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { must } from '../../firmware/system/exec.ts';
import { writeInto } from '../../image/label.ts';
import { emulated } from '../../image/run.ts';
import { agentUnit } from './disks.ts';

const ovmf = '/usr/share/OVMF';
/**
 * Flashes `image` to the machine's disk below `dir` and gives the firmware its memory.
 * @param factory bytes of the factory part of one device, as a factory line writes them
 */
export async function flashDisk(dir: string, image: string, factory?: Uint8Array): Promise<string> {
  const disk = join(dir, 'disk.raw');
  await must('cp', ['--sparse=always', image, disk], { timeoutMs: 120_000 });
  truncateSync(disk, 4096 * 2 ** 20);
  if (factory) await writeInto(disk, Buffer.from(factory));
  copyFileSync(join(ovmf, 'OVMF_VARS_4M.fd'), join(dir, 'vars.fd'));
  return disk;
}

/**
 * What QEMU is told of firmware. The image stays as it is: the agent's unit and words for the kernel come by SMBIOS,
 * from which systemd and systemd-boot take them (smbios-type11(7)).
 */
export function firmware(dir: string, cmdline: string): string[] {
  const words = `${emulated} systemd.wants=ingle-lab.service systemd.show_status=false ${cmdline}`.trim();
  const strings = [
    `io.systemd.credential.binary:systemd.extra-unit.ingle-lab.service=${agentUnit()}`,
    `io.systemd.boot.kernel-cmdline-extra=${words}`,
  ];
  return [
    ...['-machine', 'q35', '-action', 'watchdog=reset', '-device', 'i6300esb'],
    ...['-drive', `if=pflash,format=raw,readonly=on,file=${ovmf}/OVMF_CODE_4M.fd`],
    ...['-drive', `if=pflash,format=raw,file=${join(dir, 'vars.fd')}`],
    ...['-smbios', `type=11,${strings.map((s) => `value=${s.replaceAll(',', ',,')}`).join(',')}`],
  ];
}
