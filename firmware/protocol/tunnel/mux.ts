// What both ends of a tunnel share: streams by number, and what may arrive for them.

import { utf8 } from '../bytes.ts';
import { IngleError, toIngleError } from '../errors.ts';
import type { Channel } from '../noise/channel.ts';
import { messageKind } from '../wire.ts';
import { bad, decodeReset, encode, readU32, type Stream, stream } from './stream.ts';

export const lostError = () =>
  new IngleError('unavailable', 'The connection to the hub was lost before the answer was complete.');

export interface Mux {
  readonly size: number;
  /** Makes a stream; numbers only grow. */
  open(id: number): Stream;
  send(message: Uint8Array): Promise<void>;
  /** Ends a stream on both sides; nothing where its channel is over, as another stream may have its number by now. */
  reset(s: Stream, e: IngleError): void;
  close(): void;
}

/**
 * @param onHead takes `open` and `head` messages; a throw resets that stream alone.
 * @param onStart called when a new channel begins: numbers start again.
 */
export function mux(
  channel: Channel,
  onHead: (kind: number, id: number, flags: number, head: Uint8Array) => void,
  onStart: () => void = () => {},
): Mux {
  const streams = new Map<number, Stream>();
  const m: Mux = {
    get size() {
      return streams.size;
    },
    open(id) {
      const s = stream(id, m.send, () => {
        if (streams.get(id) === s) streams.delete(id);
      });
      streams.set(id, s);
      return s;
    },
    send: (message) => channel.send(message),
    reset(s, e) {
      if (streams.get(s.id) === s) resetNumber(s.id, e);
    },
    close() {
      channel.off('message', receive);
      channel.off('lost', lost);
      channel.off('open', opened);
      lost();
    },
  };

  function resetNumber(id: number, e: IngleError): void {
    streams.get(id)?.fail(e);
    m.send(encode(messageKind.reset, id, utf8(e.code))).catch(() => {});
  }
  function receive(message: Uint8Array): void {
    const kind = message[0]!;
    if (kind < messageKind.open || kind > messageKind.reset) return;
    if (message.length < 6) return;
    const id = readU32(message, 1);
    try {
      dispatch(kind, id, message);
    } catch (e) {
      resetNumber(id, toIngleError(e));
    }
  }
  function dispatch(kind: number, id: number, message: Uint8Array): void {
    const s = streams.get(id);
    if (kind === messageKind.open || kind === messageKind.head)
      onHead(kind, id, message[5]!, message.subarray(6));
    // What is for a stream that has ended was on its way when it did.
    else if (!s) return;
    else if (kind === messageKind.data) s.push(message.subarray(6), message[5]!);
    else if (kind === messageKind.reset) s.fail(decodeReset(message.subarray(5)));
    else if (message.length !== 9) throw bad('A credit message has nine bytes.');
    else s.addCredit(readU32(message, 5));
  }
  function lost(): void {
    for (const s of [...streams.values()]) s.fail(lostError());
    streams.clear();
  }
  function opened(o: { first: boolean }): void {
    if (o.first) onStart();
  }
  channel.on('message', receive);
  channel.on('lost', lost);
  channel.on('open', opened);
  return m;
}
