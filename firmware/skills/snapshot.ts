// A snapshot as Node 20 writes it (src/node_snapshotable.cc), made good for every processor and small. Pure.
//
// In order: magic, kind, version, architecture, platform, tag; V8's own part; what Node needs to know of it; and a code
// cache of each of Node's modules, as its name and its bytes. Numbers are little-endian, sizes have 64 bits.

const otherwise = () => new Error('Node writes its snapshots in another way than its version 20 did.');

/**
 * Marks a snapshot as one that is good for every processor. Node takes one of its user's making only where the processor
 * can do just what that of its maker could (the tag); one of its own making, which has no machine code either, it takes
 * wherever its version fits.
 * @throws Error when it is not what Node 20 writes
 */
export function forAnyProcessor(blob: Buffer): Buffer {
  const [magic, custom, own] = [0x143da19, 1, 0];
  if (blob.length < 64 || blob.readUInt32LE(0) !== magic || blob.readUInt8(4) !== custom) throw otherwise();
  let at = 5;
  for (let strings = 3; strings > 0; strings--) at += 8 + Number(blob.readBigUInt64LE(at));
  const out = Buffer.from(blob);
  out.writeUInt8(own, 4);
  out.writeUInt32LE(0, at);
  return out;
}

/** Size at `at` where there is one of at most `most`; otherwise undefined. */
function sizeAt(blob: Buffer, at: number, most: number): number | undefined {
  if (at + 8 > blob.length || blob.readUInt32LE(at + 4) !== 0) return undefined;
  const size = blob.readUInt32LE(at);
  return size <= most ? size : undefined;
}

/** Whether `count` names with their bytes lie from `at` to the very end. */
function isCache(blob: Buffer, count: number, at: number): boolean {
  let end = at;
  for (let left = count; left > 0; left--) {
    const name = sizeAt(blob, end, 256);
    if (!name || !/^[\w/-]+$/.test(blob.toString('latin1', end + 8, end + 8 + name))) return false;
    const bytes = sizeAt(blob, end + 8 + name, blob.length);
    if (bytes === undefined) return false;
    end += 16 + name + bytes;
  }
  return end === blob.length;
}

/**
 * Without the code cache of Node's modules, of which a process would keep 2.9 MB for the few it still loads.
 * @throws Error when it is not what Node 20 writes
 */
export function withoutCodeCache(blob: Buffer): Buffer {
  // Node has some hundred modules. Nothing before says where their caches begin.
  for (let at = blob.length - 8; at > 64; at--) {
    const count = sizeAt(blob, at, 1000);
    if (count && count > 100 && isCache(blob, count, at + 8)) {
      const none = Buffer.alloc(8);
      return Buffer.concat([blob.subarray(0, at), none]);
    }
  }
  throw otherwise();
}
