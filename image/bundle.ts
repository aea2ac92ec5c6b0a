// The update bundle RAUC installs: a squashfs with root, kernel and entry, a tree of hashes behind it, and the signed
// manifest that holds its root hash. Written here and not by `rauc bundle`, whose salt and time differ each time.
// Format: RAUC 1.13, docs/reference.rst, "verity Format".
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { must } from '../firmware/system/exec.ts';
import { manifestText } from './rauc.ts';
import { appendTree, blockSize, fixedSalt } from './verity.ts';

const here = dirname(fileURLToPath(import.meta.url));

/** SHA-256 of a file of any size, as hex. */
export function sha256File(file: string): string {
  const hash = createHash('sha256');
  const fd = openSync(file, 'r');
  const chunk = Buffer.alloc(2 ** 20);
  for (let n = readSync(fd, chunk); n > 0; n = readSync(fd, chunk)) hash.update(chunk.subarray(0, n));
  closeSync(fd);
  return hash.digest('hex');
}

export interface BundleOptions {
  out: string;
  compatible: string;
  version: string;
  description: string;
  /** The root with its tree; see flash.ts. */
  rootfs: string;
  kernel: string;
  initrd: string;
  /** Text of the boot entry with `@slot@` in place of the slot. */
  entry: string;
  /** Seconds since 1970 of every file in it. */
  date: number;
  /** PEM files. */
  keys: { cert: string; key: string };
}

/** Writes a signed bundle; the same input gives the same bytes where the key's signatures do (RSA). */
export async function makeBundle(o: BundleOptions): Promise<void> {
  const work = `${o.out}.d`;
  const fresh = `${o.out}.new`;
  rmSync(work, { recursive: true, force: true });
  rmSync(fresh, { force: true });
  const content = join(work, 'content');
  mkdirSync(content, { recursive: true });
  const root = join(content, 'rootfs.img');
  try {
    linkSync(o.rootfs, root);
  } catch {
    copyFileSync(o.rootfs, root);
  }
  copyFileSync(o.kernel, join(content, 'linux'));
  copyFileSync(o.initrd, join(content, 'initrd'));
  writeFileSync(join(content, 'entry'), o.entry);
  for (const f of ['hook', 'rauc-backend']) {
    copyFileSync(join(here, 'rauc', f), join(content, f));
    chmodSync(join(content, f), 0o755);
  }
  for (const f of ['linux', 'initrd', 'entry']) chmodSync(join(content, f), 0o644);
  utimesSync(content, o.date, o.date);
  // The root is packed already; packing it again would cost minutes and save little.
  const options = ['-noappend', '-no-progress', '-quiet', '-all-root', '-no-xattrs', '-comp', 'zstd'];
  const packing = [
    '-Xcompression-level',
    '3',
    '-processors',
    '1',
    '-mkfs-time',
    `${o.date}`,
    '-all-time',
    `${o.date}`,
  ];
  await must('mksquashfs', [content, fresh, ...options, ...packing], { timeoutMs: 600_000 });
  const size = statSync(fresh).size;
  const tree = appendTree(fresh, fixedSalt(`bundle ${o.compatible} ${o.version}`));
  const manifest = manifestText({
    ...o,
    root: { size: statSync(root).size, sha256: sha256File(root) },
    verity: { hash: tree.hash, salt: tree.salt, size: tree.hashBlocks * blockSize },
  });
  if (size % blockSize !== 0) throw new Error('mksquashfs did not fill its last block');
  const file = join(work, 'manifest.raucm');
  writeFileSync(file, manifest);
  // No signed attributes: they would hold the time.
  const cms = await must('openssl', [
    ...['cms', '-sign', '-binary', '-nodetach', '-noattr', '-nosmimecap', '-md', 'sha256', '-outform', 'DER'],
    ...['-in', file, '-signer', o.keys.cert, '-inkey', o.keys.key],
  ]);
  const length = Buffer.alloc(8);
  length.writeBigUInt64BE(BigInt(cms.length));
  appendFileSync(fresh, Buffer.concat([cms, length]));
  renameSync(fresh, o.out);
  rmSync(work, { recursive: true, force: true });
}
