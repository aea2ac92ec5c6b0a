// What crosses a data channel between browser and hub: `[kind u8][number u64][frame]`, a frame as it would go through
// root, or how far the other side's have come.
import { concat, u64 } from '../bytes.ts';
import { MAX_FRAME } from '../limits.ts';

/** First byte of a message. */
const kinds = { frame: 1, taken: 2 } as const;
/** Bytes before the frame. */
const HEAD = 9;

/** Longest message, bytes. */
export const MAX_DIRECT_MESSAGE = HEAD + MAX_FRAME;

export type DirectMessage =
  /** A frame of the channel, with its number. */
  | { t: 'frame'; ctr: number; frame: Uint8Array }
  /** All frames up to this number have arrived, by whichever way. */
  | { t: 'taken'; ctr: number };

export function encodeFrame(frame: Uint8Array, ctr: number): Uint8Array {
  return concat(Uint8Array.of(kinds.frame), u64(ctr), frame);
}

export function encodeTaken(ctr: number): Uint8Array {
  return concat(Uint8Array.of(kinds.taken), u64(ctr));
}

/** A message from outside, or null where it is none. Never throws. */
export function decodeMessage(message: Uint8Array): DirectMessage | null {
  if (message.length < HEAD || message.length > MAX_DIRECT_MESSAGE) return null;
  const ctr = Number(new DataView(message.buffer, message.byteOffset).getBigUint64(1));
  if (!Number.isSafeInteger(ctr)) return null;
  if (message[0] === kinds.taken) return message.length === HEAD ? { t: 'taken', ctr } : null;
  if (message[0] !== kinds.frame || message.length < HEAD + 2) return null;
  return { t: 'frame', ctr, frame: message.subarray(HEAD) };
}
