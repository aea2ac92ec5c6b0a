// The messages of /sync: y-websocket's framing over y-protocols (sync, awareness, auth). Pure.
import { createDecoder, hasContent, readVarUint, readVarUint8Array } from 'lib0/decoding';
import { createEncoder, toUint8Array, writeVarString, writeVarUint } from 'lib0/encoding';
import { IngleError } from '../protocol/errors.ts';

const kind = { sync: 0, awareness: 1, auth: 2, queryAwareness: 3 } as const;
const step = { one: 0, two: 1, update: 2 } as const;

export type ClientMessage =
  | { type: 'step1'; stateVector: Uint8Array }
  /** Sync step 2 or an update: both carry changes. `answer` is the former, which has all that step 1 asked for. */
  | { type: 'update'; update: Uint8Array; answer: boolean }
  | { type: 'awareness'; update: Uint8Array }
  | { type: 'query-awareness' };

const MAX_AWARENESS = 16 * 1024;

/** Reads a browser's message. @throws IngleError `invalid_request` for anything malformed. */
export function decodeMessage(bytes: Uint8Array): ClientMessage {
  try {
    return decode(bytes);
  } catch (e) {
    throw e instanceof IngleError ? e : new IngleError('invalid_request', 'The sync message is malformed.');
  }
}

const bad = (says: string) => new IngleError('invalid_request', `The sync message ${says}.`);

/** The bytes that end a message. */
function rest(d: ReturnType<typeof createDecoder>): Uint8Array {
  const body = readVarUint8Array(d);
  if (hasContent(d)) throw bad('has bytes left over');
  return body;
}

function decode(bytes: Uint8Array): ClientMessage {
  const d = createDecoder(bytes);
  switch (readVarUint(d)) {
    case kind.sync: {
      const what = readVarUint(d);
      const body = rest(d);
      if (what === step.one) return { type: 'step1', stateVector: body };
      if (what === step.two || what === step.update)
        return { type: 'update', update: body, answer: what === step.two };
      throw bad('is of an unknown step');
    }
    case kind.awareness: {
      const update = rest(d);
      if (update.length > MAX_AWARENESS)
        throw new IngleError('too_large', 'The awareness message is too large.');
      return { type: 'awareness', update };
    }
    case kind.queryAwareness:
      if (hasContent(d)) throw bad('has bytes left over');
      return { type: 'query-awareness' };
    default:
      throw bad('is of an unknown kind');
  }
}

/**
 * Written at once where lib0's encoder would grow and be copied: every update goes through here. A `Buffer`, as a small
 * array of its own would get memory outside of V8's heap once the socket asks for its bytes.
 */
function message(head: readonly number[], body: Uint8Array): Buffer {
  const length: number[] = [];
  let left = body.length;
  for (; left > 127; left >>>= 7) length.push((left & 127) | 128);
  length.push(left);
  const bytes = Buffer.allocUnsafe(head.length + length.length + body.length);
  bytes.set(head);
  bytes.set(length, head.length);
  bytes.set(body, head.length + length.length);
  return bytes;
}

export const encodeStep1 = (stateVector: Uint8Array) => message([kind.sync, step.one], stateVector);
export const encodeStep2 = (update: Uint8Array) => message([kind.sync, step.two], update);
export const encodeUpdate = (update: Uint8Array) => message([kind.sync, step.update], update);
export const encodeAwareness = (update: Uint8Array) => message([kind.awareness], update);

/** "Permission denied", with the reason. */
export function encodeDenied(reason: string): Uint8Array {
  const e = createEncoder();
  writeVarUint(e, kind.auth);
  writeVarUint(e, 0);
  writeVarString(e, reason);
  return toUint8Array(e);
}

/**
 * WebSocket close code of an error: 4400-4499 mirror HTTP's 4xx (asking again cannot help), 4500-4599 its 5xx.
 * y-websocket's provider gives up on the former and comes back on the latter. Too fast is told as 4529: come back.
 */
export function closeCode(error: IngleError): number {
  return error.status === 429 || error.status === 408 ? 4529 : 4000 + error.status;
}
