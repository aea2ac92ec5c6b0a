// What RAUC on the hub is told: its slots, whose bundles it takes, and how old they may be.
import type { Device } from '../firmware/device/device.ts';

/** /etc/rauc/system.conf. Slots are found by their partitions' labels (image/disk.ts). */
export function systemConf(device: Device): string {
  const slot = (n: number, name: 'a' | 'b') => [
    `[slot.rootfs.${n}]`,
    `device=/dev/disk/by-partlabel/ingle-root-${name}`,
    'type=raw',
    `bootname=${name}`,
    '',
  ];
  return [
    '[system]',
    `compatible=${device.model}`,
    `min-bundle-version=${device.update.min_version}`,
    'bundle-formats=verity',
    'bootloader=custom',
    'data-directory=/var/lib/rauc',
    'mountprefix=/run/rauc/mnt',
    '',
    '[keyring]',
    'path=/etc/rauc/keyring.pem',
    'check-purpose=codesign',
    '',
    '[handlers]',
    'bootloader-custom-backend=/usr/lib/ingle/rauc-backend',
    '',
    ...slot(0, 'a'),
    ...slot(1, 'b'),
  ].join('\n');
}

/** Debian's os-release with the image's own name and version (os-release(5)). */
export function osRelease(debian: string, image: { model: string; version: string }): string {
  const kept = debian.split('\n').filter((l) => l !== '' && !/^IMAGE_/.test(l));
  return [...kept, `IMAGE_ID=ingle-${image.model}`, `IMAGE_VERSION=${image.version}`, ''].join('\n');
}

/** A bundle's manifest; `[bundle]` is added by who appends the tree (image/bundle.ts). */
export interface Manifest {
  compatible: string;
  version: string;
  /** One line for people. */
  description: string;
  root: { size: number; sha256: string };
  verity: { hash: string; salt: string; size: number };
}

/** manifest.raucm of a verity bundle (RAUC reference, "Manifest"). */
export function manifestText(m: Manifest): string {
  return [
    '[update]',
    `compatible=${m.compatible}`,
    `version=${m.version}`,
    `description=${m.description}`,
    '',
    '[bundle]',
    'format=verity',
    `verity-hash=${m.verity.hash}`,
    `verity-salt=${m.verity.salt}`,
    `verity-size=${m.verity.size}`,
    '',
    '[hooks]',
    'filename=hook',
    '',
    '[image.rootfs]',
    'filename=rootfs.img',
    `size=${m.root.size}`,
    `sha256=${m.root.sha256}`,
    'hooks=post-install',
    '',
  ].join('\n');
}
