// What a disk may hold after a power cut. QEMU's blklogwrites writes down what the machine asked of its disk, in the
// format of dm-log-writes (kernel.org, admin-guide/device-mapper/log-writes): what came before the last flush is there,
// and of the rest any part, in any order.
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { random } from '../../audio/room.ts';

const MAGIC = 0x6a736677736872n;
const [FLUSH, FUA, DISCARD, MARK] = [1n, 2n, 4n, 8n] as const;
/** The smallest piece that a disk writes whole. */
const SECTOR = 512;

export interface Entry {
  kind: 'write' | 'flush' | 'nothing';
  /** There for good once it was answered, as behind a flush. */
  durable: boolean;
  /** Bytes on the disk. */
  at: number;
  length: number;
  /** Where the bytes lie in the log. */
  from: number;
}

/** Bytes of the log that are on the disk. */
export interface Piece {
  at: number;
  length: number;
  from: number;
}

/**
 * The entries of a log in their order. Its super block counts them up to the last flush only, so what lies behind them
 * counts too.
 * @throws Error when this is no such log
 */
export function readLog(file: string): Entry[] {
  const fd = openSync(file, 'r');
  try {
    const { size } = fstatSync(fd);
    const head = Buffer.alloc(32);
    const read = (at: number) => readSync(fd, head, 0, 32, at) === 32;
    if (!read(0) || head.readBigUInt64LE(0) !== MAGIC) throw new Error(`${file} is no log of writes`);
    const sector = head.readUInt32LE(24);
    const entries: Entry[] = [];
    for (let at = sector; at + 32 <= size && read(at); ) {
      const flags = head.readBigUInt64LE(16);
      const length = Number(head.readBigUInt64LE(8)) * sector;
      // Where nothing was written yet there are zeroes.
      if (flags === 0n && length === 0) break;
      const from = at + sector;
      const hasData = (flags & (DISCARD | MARK)) === 0n && length > 0;
      const end = from + (hasData ? length : 0);
      // Cut off with QEMU itself: it was never answered.
      if (end > size) break;
      if ((flags & FLUSH) !== 0n) entries.push({ kind: 'flush', durable: true, at: 0, length: 0, from });
      if (hasData || (flags & FLUSH) === 0n)
        entries.push({
          // After a discard a sector may hold what it did before, and here it does.
          kind: hasData ? 'write' : 'nothing',
          durable: (flags & FUA) !== 0n,
          at: Number(head.readBigUInt64LE(0)) * sector,
          length,
          from,
        });
      at = end;
    }
    return entries;
  } finally {
    closeSync(fd);
  }
}

/** The number of entries up to the last flush among the first `cut`. */
export function flushed(entries: readonly Entry[], cut: number): number {
  return entries.slice(0, cut).findLastIndex((e) => e.kind === 'flush') + 1;
}

/** How finely what was not flushed is torn, in bytes; a request is whole or not at all when it is 0. */
const grains = [0, SECTOR, 8 * SECTOR];

/**
 * What of the first `cut` entries is on the disk when the power goes there: all up to the last flush, and of what
 * followed what chance leaves, from nothing to everything. In the order in which they must be written.
 * @param seed the same seed leaves the same
 */
export function survivors(entries: readonly Entry[], cut: number, seed: number): Piece[] {
  const r = random(seed);
  const safe = flushed(entries, cut);
  const grain = grains[Math.floor(r() * grains.length)]!;
  // Both ends are worth more than their share: a disk that lost all, and one that lost nothing.
  const share = Math.min(1, Math.max(0, r() * 1.4 - 0.2));
  const pieces: Piece[] = [];
  for (const [i, e] of entries.slice(0, cut).entries()) {
    if (e.kind !== 'write') continue;
    const stays = i < safe || e.durable;
    if (stays) pieces.push({ at: e.at, length: e.length, from: e.from });
    else
      for (let done = 0; done < e.length; ) {
        // Whoever tears at 4 KiB does so where the disk's own blocks end.
        const room = grain === 0 ? e.length : grain - ((e.at + done) % grain);
        const length = Math.min(room, e.length - done);
        if (r() < share) pieces.push({ at: e.at + done, length, from: e.from + done });
        done += length;
      }
  }
  return pieces;
}

/** Writes pieces of a log into a disk, in their order. */
export function replay(disk: string, log: string, pieces: Iterable<Piece>): void {
  const from = openSync(log, 'r');
  const to = openSync(disk, 'r+');
  const chunk = Buffer.alloc(2 ** 20);
  try {
    for (const p of pieces)
      for (let done = 0; done < p.length; ) {
        const n = readSync(from, chunk, 0, Math.min(chunk.length, p.length - done), p.from + done);
        if (n === 0) throw new Error(`${log} ends in an entry`);
        writeSync(to, chunk, 0, n, p.at + done);
        done += n;
      }
  } finally {
    closeSync(from);
    closeSync(to);
  }
}
