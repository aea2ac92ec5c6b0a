// dm-verity: a tree of hashes behind the data, whose root vouches for every block.
// Format: Linux Documentation/admin-guide/device-mapper/verity.rst, version 1, no superblock.
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';

export const blockSize = 4096;
const digestSize = 32;
const digestsInBlock = blockSize / digestSize;

export interface Verity {
  /** Blocks of data, which is also the number of the tree's first block. */
  blocks: number;
  /** Blocks of the tree. */
  hashBlocks: number;
  /** Root hash and salt, 32 bytes each, as hex. */
  hash: string;
  salt: string;
}

/** A salt that is the same for the same name, so that two builds are equal. */
export function fixedSalt(name: string): string {
  return createHash('sha256').update(`ingle verity ${name}`).digest('hex');
}

/** Hashes of each block of `read(i)`, packed into blocks with zeroes at the end. */
function level(count: number, read: (block: number) => Uint8Array, salt: Buffer): Buffer {
  const out = Buffer.alloc(Math.ceil(count / digestsInBlock) * blockSize);
  for (let i = 0; i < count; i++)
    createHash('sha256')
      .update(salt)
      .update(read(i))
      .digest()
      .copy(out, i * digestSize);
  return out;
}

/**
 * Pads a file to whole blocks and appends the tree, the top level first, as the kernel wants it.
 * @param salt 32 bytes as hex
 */
export function appendTree(file: string, salt: string): Verity {
  const fd = openSync(file, 'r+');
  try {
    const blocks = Math.ceil(fstatSync(fd).size / blockSize);
    if (blocks < 2) throw new Error(`${file} is too small for a tree of hashes`);
    ftruncateSync(fd, blocks * blockSize);
    const seed = Buffer.from(salt, 'hex');
    const chunk = Buffer.alloc(256 * blockSize);
    let loaded = -1;
    const data = (i: number) => {
      const at = Math.floor(i / 256);
      if (at !== loaded) readSync(fd, chunk, 0, chunk.length, at * chunk.length);
      loaded = at;
      return chunk.subarray((i % 256) * blockSize, ((i % 256) + 1) * blockSize);
    };
    const tree: Buffer[] = [];
    let below = level(blocks, data, seed);
    tree.unshift(below);
    while (below.length > blockSize) {
      const lower = below;
      below = level(
        lower.length / blockSize,
        (i) => lower.subarray(i * blockSize, (i + 1) * blockSize),
        seed,
      );
      tree.unshift(below);
    }
    const bytes = Buffer.concat(tree);
    writeSync(fd, bytes, 0, bytes.length, blocks * blockSize);
    return {
      blocks,
      hashBlocks: bytes.length / blockSize,
      hash: createHash('sha256').update(seed).update(below).digest('hex'),
      salt,
    };
  } finally {
    closeSync(fd);
  }
}

/** The kernel option init.sh reads. */
export function verityOption(v: Verity): string {
  return `ingle.verity=${v.blocks}:${v.blocks}:${v.hash}:${v.salt}`;
}
