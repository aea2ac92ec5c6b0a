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
  ['/usr/bin/openssl', 'openssl'],
];

/**
 * @throws IngleError `forbidden` without root rights, `not_supported` with the packages that are missing
 */
export async function needHost(say: (line: string) => void): Promise<void> {
  if (process.getuid?.() !== 0)
    throw new IngleError(
      'forbidden',
      'An image is built with root rights, as its files belong to root: sudo npm run image',
    );
  // Older systems have /sbin beside /usr/sbin.
  const absent = ([path]: readonly [string, string]) =>
    !existsSync(path) && !existsSync(path.replace('/usr', ''));
  const missing = () => [...new Set(tools.filter(absent).map(([, name]) => name))];
  const names = missing();
  if (names.length === 0) return;
  if (existsSync('/usr/bin/apt-get')) {
    say(`Installing what is missing: ${names.join(' ')}`);
    const o = { env: { DEBIAN_FRONTEND: 'noninteractive' }, timeoutMs: 10 * 60_000 };
    await must('apt-get', ['update', '-qq'], o).catch(() => {});
    await must('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names], o).catch(() => {});
  }
  const left = missing();
  if (left.length > 0)
    throw new IngleError(
      'not_supported',
      `Missing: ${left.join(' ')}. Install with: apt-get install ${left.join(' ')}`,
    );
}
