// What Debian packages the hub's root is made of, by purpose. A device file adds to these, never removes.

export const suite = 'trixie';
const host = 'http://deb.debian.org/';
export const mirror = `${host}debian`;
export const components = 'main';

/**
 * Where packages come from, as lines of sources.list: the suite and its security updates. `INGLE_SNAPSHOT` (such as
 * 20261120T000000Z) pins them to what snapshot.debian.org kept of that moment, which makes two builds of different
 * days equal.
 */
export function sources(env: NodeJS.ProcessEnv = process.env): string[] {
  const moment = env['INGLE_SNAPSHOT'];
  const at = (archive: string) =>
    moment
      ? `[check-valid-until=no] http://snapshot.debian.org/archive/${archive}/${moment}`
      : host + archive;
  const parts = `${components} non-free-firmware`;
  return [`deb ${at('debian')} ${suite} ${parts}`, `deb ${at('debian-security')} ${suite}-security ${parts}`];
}

/** Purpose -> Debian packages. Recommended packages are never taken along. */
export const packages: Readonly<Record<string, readonly string[]>> = {
  system: [
    'linux-image-amd64',
    'systemd',
    'systemd-sysv',
    'systemd-resolved',
    'systemd-timesyncd',
    'dbus',
    'udev',
    'kmod',
    'libpam-systemd',
    'passwd',
    'util-linux',
    'e2fsprogs',
    'procps',
    'ca-certificates',
  ],
  runtime: ['nodejs'],
  network: ['iproute2', 'nftables', 'iputils-ping', 'curl'],
  wifi: ['hostapd', 'wpasupplicant', 'dnsmasq-base', 'iw', 'wireless-regdb'],
  bluetooth: ['bluez'],
  sound: [
    'pipewire',
    'pipewire-bin',
    'pipewire-pulse',
    'wireplumber',
    'pulseaudio-utils',
    'alsa-utils',
    'espeak-ng',
    'pocketsphinx',
    'pocketsphinx-en-us',
  ],
  update: ['rauc', 'rauc-service', 'dosfstools', 'systemd-repart'],
};

/** Firmware of common Wi-Fi and Bluetooth chips, from Debian's non-free-firmware; `common` in a device file. */
export const chipFirmware: readonly string[] = [
  'firmware-realtek',
  'firmware-brcm80211',
  'firmware-mediatek',
  'firmware-iwlwifi',
  'firmware-atheros',
];

/** Packages whose programs only the lab's second disk carries; they are not in the hub's root. */
export const labPackages: readonly string[] = ['bluez-test-tools', 'busybox-static', 'evemu-tools'];

/**
 * Packages of a hub's root.
 * @param arch Debian architecture, such as `amd64`
 * @param device what a device file adds; without one, what the generic image has
 */
export function packagesFor(
  arch: string,
  device: { packages: readonly string[]; firmware: readonly string[]; ssh?: { enabled: boolean } } = {
    packages: [],
    firmware: ['common'],
  },
): string[] {
  const ours = Object.values(packages)
    .flat()
    .map((p) => p.replace(/-amd64$/, `-${arch}`));
  const firmware = device.firmware.flatMap((f) => (f === 'common' ? chipFirmware : [f]));
  const ssh = device.ssh?.enabled ? ['openssh-server'] : [];
  return [...new Set([...ours, ...firmware, ...ssh, ...device.packages])];
}

export const hubPackages: readonly string[] = packagesFor('amd64');
