// What tests need of the machine: Debian packages, installed where we may, named where we may not.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** folder of tests -> [file that shows it is there, Debian package] */
const needs = {
  '': [
    ['/usr/bin/dbus-daemon', 'dbus-daemon'],
    ['/usr/bin/systemd-analyze', 'systemd'],
  ],
  audio: [
    ['/usr/bin/pipewire', 'pipewire'],
    ['/usr/bin/pw-record', 'pipewire-bin'],
    ['/usr/bin/pipewire-pulse', 'pipewire-pulse'],
    ['/usr/bin/wireplumber', 'wireplumber'],
    ['/usr/bin/pactl', 'pulseaudio-utils'],
    ['/usr/bin/espeak-ng', 'espeak-ng'],
    ['/usr/bin/pocketsphinx_continuous', 'pocketsphinx'],
    ['/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict', 'pocketsphinx-en-us'],
  ],
  bench: [
    ['/usr/lib/python3/dist-packages/numpy/__init__.py', 'python3-numpy'],
    ['/usr/lib/python3/dist-packages/scipy/__init__.py', 'python3-scipy'],
  ],
  image: [
    ['/usr/bin/mmdebstrap', 'mmdebstrap'],
    ['/usr/sbin/mkfs.vfat', 'dosfstools'],
    ['/usr/bin/mcopy', 'mtools'],
    ['/sbin/sfdisk', 'fdisk'],
    ['/usr/bin/mksquashfs', 'squashfs-tools'],
    ['/usr/bin/rauc', 'rauc'],
    ['/usr/bin/openssl', 'openssl'],
  ],
  root: [['/usr/bin/openssl', 'openssl']],
  setup: [
    ['/usr/bin/socat', 'socat'],
    ['/usr/bin/openssl', 'openssl'],
    ['/usr/bin/chromium', 'chromium'],
  ],
  systemd: [
    ['/usr/sbin/nft', 'nftables'],
    ['/usr/bin/ping', 'iputils-ping'],
    ['/usr/sbin/ip', 'iproute2'],
  ],
  update: [
    ['/usr/bin/rauc', 'rauc'],
    ['/usr/bin/mksquashfs', 'squashfs-tools'],
    ['/usr/bin/openssl', 'openssl'],
  ],
  vm: [
    ['/usr/bin/mmdebstrap', 'mmdebstrap'],
    ['/usr/bin/mkfs.erofs', 'erofs-utils'],
    ['/sbin/sfdisk', 'fdisk'],
    ['/usr/bin/cpio', 'cpio'],
    ['/usr/bin/xz', 'xz-utils'],
    ['/usr/bin/zstd', 'zstd'],
    ['/usr/sbin/mkfs.vfat', 'dosfstools'],
    ['/usr/bin/mcopy', 'mtools'],
    ['/sbin/debugfs', 'e2fsprogs'],
    ['/usr/bin/mksquashfs', 'squashfs-tools'],
    ['/usr/bin/openssl', 'openssl'],
  ],
  browser: [
    ['/usr/bin/chromium', 'chromium'],
    ['/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf', 'fonts-dejavu-core'],
    ['/usr/bin/zbarimg', 'zbar-tools'],
  ],
};

export async function install(files) {
  const missing = new Set();
  for (const [folder, list] of Object.entries(needs)) {
    if (folder && !files.some((f) => f.startsWith(`test/${folder}/`))) continue;
    for (const [path, pkg] of list) if (!existsSync(path)) missing.add(pkg);
  }
  if (missing.size === 0) return;
  const names = [...missing];
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    console.log(`Installing what the tests need: ${names.join(' ')}`);
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const quiet = { stdio: ['ignore', 'ignore', 'inherit'], env };
    spawnSync('apt-get', ['update', '-qq'], quiet);
    const r = spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names], quiet);
    if (r.status === 0) return;
  }
  console.log(`SKIP-REASON missing packages: sudo apt-get install ${names.join(' ')}`);
}
