// Long JSON in short ATT values: pieces with a length and a checksum. Pure.
import { concat, fromUtf8, utf8 } from '../protocol/bytes.ts';
import { crc32 } from '../protocol/crc32.ts';
import { IngleError } from '../protocol/errors.ts';

const FIRST = 1;
const LAST = 2;
/** Largest message, bytes. */
export const MAX_MESSAGE = 8192;

/**
 * Cuts a message into pieces of at most `size` bytes (an ATT value, MTU - 3): `[flags u8]`, in the first piece
 * `[length u16][crc32 u32]` (big endian), then bytes. Flags: 1 first, 2 last.
 */
export function toPieces(message: unknown, size: number): Uint8Array[] {
  const body = utf8(JSON.stringify(message));
  if (body.length > MAX_MESSAGE)
    throw new IngleError('too_large', `A message has at most ${MAX_MESSAGE} bytes.`);
  const head = new Uint8Array(6);
  const view = new DataView(head.buffer);
  view.setUint16(0, body.length);
  view.setUint32(2, crc32(body));
  const all = concat(head, body);
  const step = Math.max(8, size) - 1;
  const out: Uint8Array[] = [];
  for (let at = 0; at < all.length; at += step) {
    const flags = (at === 0 ? FIRST : 0) | (at + step >= all.length ? LAST : 0);
    out.push(concat(new Uint8Array([flags]), all.subarray(at, at + step)));
  }
  return out;
}

/** Puts pieces together again; one message at a time, a first piece starts anew. */
export function assembler(): (piece: Uint8Array) => Record<string, unknown> | undefined {
  let parts: Uint8Array[] = [];
  let have = 0;
  const bad = (what: string) => {
    parts = [];
    have = 0;
    return new IngleError('invalid_request', `The message is ${what}. Send it again.`);
  };
  return (piece) => {
    const flags = piece[0] ?? 0xff;
    if (flags > (FIRST | LAST)) throw bad('not in pieces as it should be');
    if (flags & FIRST) {
      parts = [];
      have = 0;
    } else if (parts.length === 0) throw bad('missing its beginning');
    parts.push(piece.slice(1));
    have += piece.length - 1;
    if (have > MAX_MESSAGE + 6) throw bad('too long');
    if (!(flags & LAST)) return undefined;
    const all = concat(...parts);
    parts = [];
    have = 0;
    if (all.length < 6) throw bad('cut');
    const view = new DataView(all.buffer, all.byteOffset);
    const body = all.subarray(6);
    if (view.getUint16(0) !== body.length) throw bad('cut');
    if (view.getUint32(2) !== crc32(body)) throw bad('damaged');
    let value: unknown;
    try {
      value = JSON.parse(fromUtf8(body));
    } catch {
      throw bad('not JSON');
    }
    if (value === null || typeof value !== 'object' || Array.isArray(value)) throw bad('no JSON object');
    return value as Record<string, unknown>;
  };
}
