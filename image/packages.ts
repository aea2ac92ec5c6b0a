// What Debian packages the hub's root is made of, by purpose. A device file adds to these, never removes.

export const suite = 'trixie';
export const mirror = 'http://deb.debian.org/debian';
export const components = 'main';

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
  update: ['rauc'],
};

/** Packages whose programs only the lab's second disk carries; they are not in the hub's root. */
export const labPackages: readonly string[] = ['bluez-test-tools', 'busybox-static'];

export const hubPackages: readonly string[] = Object.values(packages).flat();
