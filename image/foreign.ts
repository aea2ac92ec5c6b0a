// A Debian root for another machine, without running any of that machine's programs: its packages are unpacked, and what
// Debian's own scripts would then make (accounts, links, certificates) is taken from the same packages' root of this
// machine, as it is the same on all.
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { must } from '../firmware/system/exec.ts';
import { record } from './boot.ts';
import { filesBelow } from './bundles.ts';
import { mmdebstrap } from './mmdebstrap.ts';
import type { Tools } from './tools.ts';
import { triplet } from './trim.ts';

/** Names of a root's packages for another machine: only the kernel's says for which it is. */
export function namesFor(status: string, from: string, to: string): string[] {
  return status
    .split(/\n\n+/)
    .filter((b) => /^Status: install ok installed$/m.test(b))
    .map((b) => /^Package: (.*)$/m.exec(b)![1]!)
    .map((n) => (n.startsWith('linux-image-') ? n.replace(new RegExp(`-${from}$`), `-${to}`) : n))
    .sort();
}

/** A path of one machine's root as it is on another: folders and links carry the machine's name. */
export function pathFor(path: string, from: string, to: string): string {
  return path.replaceAll(triplet[from]!, triplet[to]!).replace(/^lib64(\/|$)/, 'lib$1');
}

/** A path as it lies in a root whose /bin, /lib and /sbin lead into /usr. */
const merged = (path: string) => path.replace(/^\/?/, '').replace(/^(bin|sbin|lib|lib64)\//, 'usr/$1/');

/** Not made by packages' scripts, or good for one machine alone. */
const own =
  /^(var|boot|dev|proc|run|sys|tmp)\/|^etc\/(ld\.so\.cache|machine-id)$|^usr\/lib\/modules\/|^vmlinuz|^initrd/;

/** Files of a root that no package brought: its scripts made them. */
export function made(root: string): string[] {
  const info = join(root, 'var/lib/dpkg/info');
  const listed = new Set<string>();
  for (const f of readdirSync(info))
    if (f.endsWith('.list'))
      for (const path of readFileSync(join(info, f), 'utf8').split('\n')) listed.add(merged(path));
  return filesBelow(root).filter((f) => !own.test(f) && !listed.has(f));
}

/**
 * Makes `out` for `arch`.
 * @param native root of the same packages for this machine, `from`
 */
export async function foreignRoot(o: {
  native: string;
  from: string;
  arch: string;
  out: string;
  tools: Tools;
}): Promise<void> {
  const { native, from, arch, out } = o;
  const status = readFileSync(join(native, 'var/lib/dpkg/status'), 'utf8');
  await mmdebstrap(out, {
    arch,
    packages: namesFor(status, from, arch),
    variant: 'extract',
    options: ['--skip=check/qemu', `--extract-hook=${record}`],
  });

  for (const f of made(native)) {
    const path = join(native, f);
    const to = join(out, pathFor(f, from, arch));
    if (lstatSync(to, { throwIfNoEntry: false })) continue;
    mkdirSync(dirname(to), { recursive: true });
    if (lstatSync(path).isSymbolicLink()) symlinkSync(pathFor(readlinkSync(path), from, arch), to);
    else await must('cp', ['--preserve=all', path, to]);
  }
  // Owners, modes and capabilities that scripts gave to files of packages.
  for (const f of filesBelow(native)) {
    const to = join(out, pathFor(f, from, arch));
    const a = lstatSync(join(native, f));
    const b = lstatSync(to, { throwIfNoEntry: false });
    if (!b || a.isSymbolicLink() || b.isSymbolicLink() || own.test(f)) continue;
    if (a.uid !== b.uid || a.gid !== b.gid || a.mode !== b.mode || f === 'usr/bin/ping')
      await must('cp', ['--attributes-only', '--preserve=mode,ownership,xattr', join(native, f), to]);
  }
  const kernels = join(out, 'usr/lib/modules');
  const version = existsSync(kernels) ? readdirSync(kernels)[0] : undefined;
  if (!version) throw new Error(`The root for ${arch} has no kernel.`);
  await o.tools.must('usr/sbin/depmod', ['-b', out, '-m', '/usr/lib/modules', version], {
    timeoutMs: 600_000,
  });
}
