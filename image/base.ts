// The Debian root before anything of ours is in it, kept by a hash of what it is made of.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { must } from '../firmware/system/exec.ts';
import { isNative } from './compile.ts';
import { foreignRoot } from './foreign.ts';
import { mmdebstrap } from './mmdebstrap.ts';
import { sources } from './packages.ts';
import { debianTools } from './tools.ts';

/** Never unpacked: documentation and translations nobody reads on a hub. */
const excluded = ['/usr/share/doc/*', '/usr/share/man/*', '/usr/share/locale/*', '/usr/share/info/*'];

/** Days and times that packages write down are those of a fixed day: two roots of the same packages are equal. */
export const epoch = '1735689600';

/**
 * A directory with Debian's packages in it; made by mmdebstrap once, then kept.
 * @param cache folder the roots are kept in
 * @param arch Debian architecture, such as `amd64`
 */
export async function baseRoot(cache: string, packages: readonly string[], arch: string): Promise<string> {
  const recipe = JSON.stringify([sources(), arch, [...packages].sort(), excluded, epoch]);
  const hash = createHash('sha256').update(recipe).digest('hex').slice(0, 16);
  const dir = join(cache, `base-${arch}-${hash}`);
  if (existsSync(dir)) return dir;
  mkdirSync(cache, { recursive: true });
  const left = readdirSync(cache).filter(
    (f) => /^base-.*\.\d+\.new$/.test(f) && !isAlive(Number(f.split('.').at(-2))),
  );
  for (const f of left) await clear(join(cache, f));
  const fresh = `${dir}.${process.pid}.new`;
  if (isNative(arch)) await nativeRoot(fresh, packages, arch);
  else {
    const from = 'amd64';
    const names = packages.map((p) => p.replace(new RegExp(`^(linux-image)-${arch}$`), `$1-${from}`));
    const native = await baseRoot(cache, names, from);
    await foreignRoot({ native, from, arch, out: fresh, tools: await debianTools(cache) });
  }
  // Another build may have been quicker.
  if (existsSync(dir)) await clear(fresh);
  else renameSync(fresh, dir);
  return dir;
}

/** Installs packages as Debian does, its scripts and all. */
async function nativeRoot(fresh: string, packages: readonly string[], arch: string): Promise<void> {
  await mmdebstrap(fresh, {
    arch,
    packages,
    variant: 'minbase',
    options: [
      ...excluded.map((p) => `--dpkgopt=path-exclude=${p}`),
      '--dpkgopt=path-include=/usr/share/doc/*/copyright',
      // The initial RAM disk is ours; Debian's generator would only take time.
      '--essential-hook=mkdir -p "$1/etc/initramfs-tools" "$1/etc/kernel/postinst.d"; ln -sf /bin/true "$1/etc/kernel/postinst.d/initramfs-tools"',
    ],
    env: { SOURCE_DATE_EPOCH: epoch },
  });
}

function isAlive(pid: number): boolean {
  return Number.isInteger(pid) && existsSync(`/proc/${pid}`);
}

/** Takes away what a build that was cut left, without reaching through the system's folders mounted in it. */
async function clear(dir: string): Promise<void> {
  const mounted = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((at) => at.startsWith(`${dir}/`));
  for (const at of mounted.reverse()) await must('umount', ['--lazy', at]);
  await must('rm', ['-rf', '--one-file-system', dir], { timeoutMs: 120_000 });
}
