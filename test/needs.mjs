// What tests need of the machine: Debian packages, installed where we may, named where we may not.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** A simulated room: a speaker and a microphone that hear each other. */
const room = [
  ['/usr/bin/pipewire', 'pipewire'],
  ['/usr/bin/pw-record', 'pipewire-bin'],
  ['/usr/bin/pipewire-pulse', 'pipewire-pulse'],
  ['/usr/bin/wireplumber', 'wireplumber'],
  ['/usr/bin/pactl', 'pulseaudio-utils'],
];
const database = [['/usr/lib/postgresql/15/bin/postgres', 'postgresql-15']];
/** folder of tests, or one file -> [file that shows it is there, Debian package] */
const needs = {
  '': [
    ['/usr/bin/dbus-daemon', 'dbus-daemon'],
    ['/usr/bin/bwrap', 'bubblewrap'],
    ['/usr/bin/systemd-analyze', 'systemd'],
  ],
  audio: [
    ...room,
    ['/usr/bin/espeak-ng', 'espeak-ng'],
    ['/usr/bin/pocketsphinx_continuous', 'pocketsphinx'],
    ['/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict', 'pocketsphinx-en-us'],
  ],
  'bench/api.ts': [['/usr/bin/wrk', 'wrk']],
  'bench/login.ts': database,
  'bench/steps.ts': database,
  'bench/cluster.ts': [['/usr/bin/redis-server', 'redis-server'], ...database],
  'bench/lines.ts': [['/usr/bin/redis-server', 'redis-server']],
  'bench/audio.ts': [
    ['/usr/lib/python3/dist-packages/numpy/__init__.py', 'python3-numpy'],
    ['/usr/lib/python3/dist-packages/scipy/__init__.py', 'python3-scipy'],
  ],
  'bench/voice.ts': [
    ['/usr/bin/espeak-ng', 'espeak-ng'],
    ['/usr/bin/pocketsphinx_batch', 'pocketsphinx'],
    ['/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict', 'pocketsphinx-en-us'],
  ],
  'cli/completion.test.ts': [
    ['/usr/bin/zsh', 'zsh'],
    ['/usr/bin/fish', 'fish'],
  ],
  'cli/man.test.ts': [
    ['/usr/bin/groff', 'groff-base'],
    ['/usr/bin/mandoc', 'mandoc'],
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
  fetch: [['/usr/bin/openssl', 'openssl']],
  'intent/recogniser.test.ts': [
    ['/usr/bin/espeak-ng', 'espeak-ng'],
    ['/usr/bin/pocketsphinx_continuous', 'pocketsphinx'],
    ['/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict', 'pocketsphinx-en-us'],
  ],
  root: [
    ['/usr/bin/openssl', 'openssl'],
    ['/usr/bin/redis-server', 'redis-server'],
    ['/usr/sbin/haproxy', 'haproxy'],
    ['/usr/sbin/ip', 'iproute2'],
    ['/usr/sbin/nft', 'nftables'],
    // For container.test.ts.
    ['/usr/bin/podman', 'podman'],
    ['/usr/bin/crun', 'crun'],
    ['/usr/bin/mmdebstrap', 'mmdebstrap'],
    ...database,
  ],
  'scenario/killed.test.ts': [['/usr/bin/strace', 'strace']],
  services: [
    ...room,
    ['/usr/bin/espeak-ng', 'espeak-ng'],
    ['/usr/bin/pocketsphinx_continuous', 'pocketsphinx'],
    ['/usr/share/pocketsphinx/model/en-us/en-us.lm.bin', 'pocketsphinx-en-us'],
  ],
  setup: [
    ['/usr/bin/socat', 'socat'],
    ['/usr/bin/openssl', 'openssl'],
    ['/usr/bin/chromium', 'chromium'],
  ],
  subnet: [
    ['/usr/sbin/ip', 'iproute2'],
    ['/usr/bin/ping', 'iputils-ping'],
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

/** All suites, by path. @param dir test/, seen from here */
export function suites(dir) {
  return readdirSync(dir, { withFileTypes: true }).flatMap((e) =>
    e.isDirectory() ? suites(join(dir, e.name)) : e.name.endsWith('.test.ts') ? [join(dir, e.name)] : [],
  );
}

/**
 * Packages these files of test/ need and this machine lacks. What a folder of test/lab uses, the folder of that name
 * needs.
 */
export function missingFor(files, exists = existsSync) {
  const places = files.map((f) => f.replace(/^test\/(lab\/)?/, ''));
  const lists = Object.entries(needs).filter(([place]) =>
    places.some((p) => place === '' || p === place || p.startsWith(`${place}/`)),
  );
  const missing = lists.flatMap(([, list]) => list.filter(([path]) => !exists(path)).map(([, pkg]) => pkg));
  return [...new Set(missing)];
}

/** Installs what is missing. @returns the packages that are still missing afterwards */
export async function install(files) {
  const names = missingFor(files);
  if (names.length === 0) return [];
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    console.log(`Installing what the tests need: ${names.join(' ')}`);
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const apt = (...words) =>
      new Promise((resolve) => {
        const child = spawn('apt-get', words, { stdio: ['ignore', 'ignore', 'inherit'], env });
        child.on('error', () => resolve(false));
        child.on('close', (code) => resolve(code === 0));
      });
    await apt('update', '-qq');
    if (await apt('install', '-y', '-qq', '--no-install-recommends', ...names)) return [];
  }
  console.log(`SKIP-REASON missing packages: sudo apt-get install ${names.join(' ')}`);
  return names;
}
