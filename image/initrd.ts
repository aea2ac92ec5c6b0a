// The initial RAM disk: busybox, the few kernel modules that reach the root, and init.sh.
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { must } from '../firmware/system/exec.ts';

/** Modules loaded before the root is there. */
const wanted = ['virtio_blk', 'crc32c_generic', 'erofs'];

/** `wanted` and what they need, in the order they load, from a modules.dep text. */
export function loadOrder(dep: string, names: readonly string[]): string[] {
  const needs = new Map<string, string[]>();
  for (const line of dep.split('\n')) {
    const [file, rest] = line.split(':');
    if (file && rest !== undefined) needs.set(file, rest.trim().split(/\s+/).filter(Boolean));
  }
  const order: string[] = [];
  for (const name of names) {
    const file = [...needs.keys()].find(
      (f) =>
        basename(f)
          .replace(/\.ko(\..*)?$/, '')
          .replace(/-/g, '_') === name,
    );
    // A module that is not listed is built into the kernel.
    if (!file) continue;
    // modules.dep lists all needs, the deepest last.
    for (const f of [...needs.get(file)!].reverse().concat(file)) if (!order.includes(f)) order.push(f);
  }
  return order;
}

/**
 * Writes `<out>` (cpio, newc; the kernel unpacks it).
 * @param busybox a static busybox for the target
 */
export async function makeInitrd(root: string, busybox: string, here: string, out: string): Promise<void> {
  const dir = `${out}.d`;
  rmSync(dir, { recursive: true, force: true });
  for (const d of ['bin', 'modules']) mkdirSync(join(dir, d), { recursive: true });
  cpSync(busybox, join(dir, 'bin/busybox'), { dereference: true });
  const kernels = join(root, 'usr/lib/modules');
  const modules = join(kernels, readdirSync(kernels)[0]!);
  const order = loadOrder(readFileSync(join(modules, 'modules.dep'), 'utf8'), wanted);
  for (const file of order) {
    const name = basename(file).replace(/\.(xz|zst)$/, '');
    const packed = join(modules, file);
    const plain = file.endsWith('.xz')
      ? await must('xz', ['-dc', packed])
      : file.endsWith('.zst')
        ? await must('zstd', ['-dc', packed])
        : readFileSync(packed);
    writeFileSync(join(dir, 'modules', name), plain);
  }
  const names = order.map((f) => basename(f).replace(/\.(xz|zst)$/, ''));
  writeFileSync(join(dir, 'modules/order'), names.join('\n') + '\n');
  cpSync(join(here, 'init.sh'), join(dir, 'init'));
  chmodSync(join(dir, 'init'), 0o755);
  const list = [
    '.',
    'init',
    'bin',
    'bin/busybox',
    'modules',
    'modules/order',
    ...names.map((n) => `modules/${n}`),
  ];
  const cpio = await must('cpio', ['-o', '-H', 'newc', '-R', '0:0', '--reproducible', '--quiet'], {
    cwd: dir,
    input: list.join('\n') + '\n',
  });
  writeFileSync(out, cpio);
  rmSync(dir, { recursive: true, force: true });
}
