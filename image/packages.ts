// What Debian packages the hub's root is made of, by purpose. A device file adds to these, never removes.

export const suite = 'trixie';

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
      : `http://deb.debian.org/${archive}`;
  const parts = 'main non-free-firmware';
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

/** Packages whose programs only the lab's second disk carries; they are not in the hub's root. */
export const labPackages: readonly string[] = ['bluez-test-tools', 'busybox-static'];

export const hubPackages: readonly string[] = Object.values(packages).flat();
