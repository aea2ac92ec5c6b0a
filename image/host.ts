// What building needs of this computer: installed where we may, named where we may not.
import { existsSync } from 'node:fs';
import { IngleError } from '../firmware/protocol/errors.ts';
import { must } from '../firmware/system/exec.ts';

/** File that shows it is there -> Debian package. */
const tools: readonly [string, string][] = [
  ['/usr/bin/mmdebstrap', 'mmdebstrap'],
  ['/usr/bin/cpio', 'cpio'],
  ['/usr/bin/xz', 'xz-utils'],
  ['/usr/bin/zstd', 'zstd'],
  ['/usr/sbin/mkfs.vfat', 'dosfstools'],
  ['/usr/bin/mcopy', 'mtools'],
  ['/usr/sbin/sfdisk', 'fdisk'],
  ['/usr/bin/mksquashfs', 'squashfs-tools'],
  ['/usr/bin/systemctl', 'systemd'],
  ['/usr/bin/systemd-sysusers', 'systemd'],
  ['/usr/bin/openssl', 'openssl'],
];

/** What is made does not depend on who makes it: the programs that are run ask for the creator's mask, words and hours. */
export function asAnybody(): void {
  process.umask(0o022);
  Object.assign(process.env, { LC_ALL: 'C', TZ: 'UTC' });
  delete process.env['LANGUAGE'];
}

const toStderr = (line: string) => void process.stderr.write(`${line}\n`);

/**
 * Sees to it that Debian packages of the list above are there.
 * @throws IngleError `not_supported` with those that are missing
 */
export async function need(names: readonly string[], say: (line: string) => void = toStderr): Promise<void> {
  // Older systems have /sbin beside /usr/sbin.
  const isAbsent = (path: string) => !existsSync(path) && !existsSync(path.replace('/usr', ''));
  const missing = () => [
    ...new Set(
      tools.filter(([path, name]) => names.includes(name) && isAbsent(path)).map(([, name]) => name),
    ),
  ];
  const wanted = missing();
  if (wanted.length === 0) return;
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    say(`Installing what is missing: ${wanted.join(' ')}`);
    const o = { env: { DEBIAN_FRONTEND: 'noninteractive' }, timeoutMs: 10 * 60_000 };
    await must('apt-get', ['update', '-qq'], o).catch(() => {});
    await must('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...wanted], o).catch(() => {});
  }
  const left = missing();
  if (left.length > 0)
    throw new IngleError(
      'not_supported',
      `Missing: ${left.join(' ')}. Install with: sudo apt-get install ${left.join(' ')}`,
    );
}

/** @throws IngleError `forbidden` without root rights, which `why` wants */
export function needRoot(why: string): void {
  if (process.getuid?.() !== 0) throw new IngleError('forbidden', why);
}

/**
 * What an image is built with.
 * @throws IngleError `forbidden` without root rights, `not_supported` with the packages that are missing
 */
export async function needHost(say: (line: string) => void): Promise<void> {
  needRoot('An image is built with root rights, as its files belong to root: sudo npm run image');
  await need(
    tools.map(([, name]) => name),
    say,
  );
}
