// The gzip around a package (RFC 1952): one member with the one header we write, and nothing behind it.
import { createInflateRaw, deflateRawSync, type InflateRaw } from 'node:zlib';
import { concat } from '../protocol/bytes.ts';
import { crc32 } from '../protocol/crc32.ts';
import { IngleError } from '../protocol/errors.ts';

/** Deflate, no flags, no time, most compression, no operating system. */
const head = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 0xff);
const TAIL = 8;
/** What is fed to zlib and taken from it at a time. */
const PIECE = 64 * 1024;

function tailOf(sum: number, size: number): Uint8Array {
  const tail = new Uint8Array(TAIL);
  const view = new DataView(tail.buffer);
  view.setUint32(0, sum, true);
  view.setUint32(4, size >>> 0, true);
  return tail;
}

const same = (a: Uint8Array, b: Uint8Array) => a.length === b.length && a.every((v, i) => v === b[i]);
const damaged = (says: string) => new IngleError('invalid_request', `The package ${says}.`);

const strange = () =>
  new IngleError('invalid_request', 'The file is no package of a skill, or another program made it.');

/** Whether bytes begin as a package does. */
export const isPacked = (bytes: Uint8Array) => same(bytes.subarray(0, head.length), head);

export function gzipped(bytes: Uint8Array): Uint8Array {
  return concat(head, deflateRawSync(bytes, { level: 9 }), tailOf(crc32(bytes), bytes.length));
}

/** Writes to zlib and waits until it has taken it all, or is closed. */
function write(raw: InflateRaw, piece: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    raw.once('close', resolve);
    raw.write(piece, () => {
      raw.off('close', resolve);
      resolve();
    });
  });
}

/** Feeds the source to zlib; answers what stands behind the deflated data, one byte more than it may be at most. */
async function feed(source: AsyncIterable<Uint8Array>, raw: InflateRaw, most: number): Promise<Uint8Array> {
  let begin: Uint8Array | undefined = new Uint8Array(0);
  let behind: Uint8Array | undefined;
  let [packed, fed] = [0, 0];
  for await (const chunk of source) {
    packed += chunk.length;
    if (packed > most)
      throw new IngleError('too_large', `The package is larger than ${most} bytes, which is the most.`);
    let rest = chunk;
    if (begin) {
      begin = concat(begin, chunk);
      if (begin.length < head.length) continue;
      if (!isPacked(begin)) throw strange();
      rest = begin.subarray(head.length);
      begin = undefined;
    }
    for (let at = 0; at < rest.length && !raw.destroyed; at += PIECE) {
      const piece = rest.subarray(at, at + PIECE);
      if (behind) behind = concat(behind, piece.subarray(0, TAIL + 1 - behind.length));
      else {
        await write(raw, piece);
        fed += piece.length;
        const left = fed - raw.bytesWritten;
        if (left > 0) behind = piece.slice(piece.length - left).subarray(0, TAIL + 1);
      }
    }
    if (raw.destroyed || (behind && behind.length > TAIL)) break;
  }
  if (begin) throw strange();
  if (!behind) raw.end();
  return behind ?? new Uint8Array(0);
}

/**
 * Unpacks as it is asked to: what nobody takes is not inflated.
 * @param most bytes of the source that are read
 * @throws IngleError `invalid_request`, `too_large`; what the source throws
 */
export async function* unzipped(
  source: AsyncIterable<Uint8Array>,
  most: number,
): AsyncGenerator<Uint8Array, void> {
  const raw = createInflateRaw({ chunkSize: PIECE });
  const feeding = feed(source, raw, most);
  feeding.catch((e: Error) => raw.destroy(e));
  let [sum, size] = [0, 0];
  try {
    for await (const chunk of raw as AsyncIterable<Uint8Array>) {
      sum = crc32(chunk, sum);
      size += chunk.length;
      yield chunk;
    }
    const tail = await feeding;
    if (tail.length > TAIL) throw damaged('goes on behind its end');
    if (tail.length < TAIL) throw damaged('is cut off');
    if (!same(tail, tailOf(sum, size))) throw damaged('is damaged: its checksum differs');
  } catch (e) {
    const code = (e as NodeJS.ErrnoException).code;
    if (code === 'Z_BUF_ERROR') throw damaged('is cut off');
    throw code?.startsWith('Z_') ? damaged('is damaged and cannot be unpacked') : e;
  } finally {
    raw.destroy();
  }
}
