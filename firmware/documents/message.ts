// The messages of /sync: y-websocket's framing over y-protocols (sync, awareness, auth). Pure.
import { createDecoder, hasContent, readVarUint, readVarUint8Array } from 'lib0/decoding';
import { createEncoder, toUint8Array, writeVarString, writeVarUint, writeVarUint8Array } from 'lib0/encoding';
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

function decode(bytes: Uint8Array): ClientMessage {
  const bad = (says: string) => new IngleError('invalid_request', `The sync message ${says}.`);
  const d = createDecoder(bytes);
  const only = <T>(value: T): T => {
    if (hasContent(d)) throw bad('has bytes left over');
    return value;
  };
  switch (readVarUint(d)) {
    case kind.sync: {
      const what = readVarUint(d);
      const body = only(readVarUint8Array(d));
      if (what === step.one) return { type: 'step1', stateVector: body };
      if (what === step.two || what === step.update)
        return { type: 'update', update: body, answer: what === step.two };
      throw bad('is of an unknown step');
    }
    case kind.awareness: {
      const update = only(readVarUint8Array(d));
      if (update.length > MAX_AWARENESS)
        throw new IngleError('too_large', 'The awareness message is too large.');
      return { type: 'awareness', update };
    }
    case kind.queryAwareness:
      return only({ type: 'query-awareness' });
    default:
      throw bad('is of an unknown kind');
  }
}

function message(first: number, second: number | null, body: Uint8Array): Uint8Array {
  const e = createEncoder();
  writeVarUint(e, first);
  if (second !== null) writeVarUint(e, second);
  writeVarUint8Array(e, body);
  return toUint8Array(e);
}

export const encodeStep1 = (stateVector: Uint8Array) => message(kind.sync, step.one, stateVector);
export const encodeStep2 = (update: Uint8Array) => message(kind.sync, step.two, update);
export const encodeUpdate = (update: Uint8Array) => message(kind.sync, step.update, update);
export const encodeAwareness = (update: Uint8Array) => message(kind.awareness, null, update);

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
