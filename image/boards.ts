// Boards whose firmware is no UEFI: what their own firmware starts from the ESP, which is a UEFI then. Raspberry Pi 4,
// 400, CM4 and 5 read config.txt and start U-Boot, and that starts systemd-boot as any UEFI does.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { EspFile } from './esp.ts';

/** https://www.raspberrypi.com/documentation/computers/config_txt.html */
export const configTxt = `# Raspberry Pi 4, 400, CM4 and 5: U-Boot is their UEFI. It hands this device tree on to the kernel.
arm_64bit=1
enable_uart=1
upstream_kernel=1
kernel=u-boot.bin
[pi5]
os_check=0
`;

/**
 * Files of the ESP; none where nothing is known of such boards.
 * @param base Debian root with the kernel and its device trees
 * @param parts what bootParts() gave
 */
export function boardFiles(base: string, parts: string): EspFile[] {
  const firmware = join(parts, 'usr/lib/raspi-firmware');
  if (!existsSync(firmware)) return [];
  const kernel = readdirSync(join(base, 'usr/lib')).find((f) => f.startsWith('linux-image-'))!;
  const trees = join(base, 'usr/lib', kernel, 'broadcom');
  const file = (to: string, path: string): EspFile => [to, { path }];
  return [
    ['config.txt', { text: configTxt }],
    ...['start4.elf', 'fixup4.dat'].map((f) => file(f, join(firmware, f))),
    file('u-boot.bin', join(parts, 'usr/lib/u-boot/rpi_arm64/u-boot.bin')),
    // Its licence goes along with the firmware.
    file('raspi-firmware.txt', join(parts, 'usr/share/doc/raspi-firmware/copyright')),
    ...readdirSync(trees)
      .filter((f) => /^bcm271[12]-.*\.dtb$/.test(f))
      .sort()
      .map((f) => file(f, join(trees, f))),
  ];
}
