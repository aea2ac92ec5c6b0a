// What two nodes say to each other, as bytes: a length (4 bytes), a kind (1 byte), and the rest.
//   say    anything v8 can write down (nodejs.org/api/v8.html#serialization-api); both sides are one program
//   frame  end (4 bytes), counter (8 bytes, IEEE 754), the relay frame
// All numbers are big-endian.
import { deserialize, serialize } from 'node:v8';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { MAX_FRAME } from '../../firmware/protocol/limits.ts';

export type Message =
  | { kind: 'say'; body: unknown }
  /** `end`: number of an end on this line. */
  | { kind: 'frame'; end: number; ctr: number; frame: Uint8Array };

/** Bytes of one message: what a hub answers (48 KiB and some words) or a frame fits; more is no message. */
const MOST = 2 * MAX_FRAME;
const SAY = 0;
const FRAME = 1;

/** @throws IngleError `too_large` */
export function say(body: unknown): Buffer {
  const bytes = serialize(body);
  // The other side would take it for no message, and the line would be cut for all.
  if (bytes.length >= MOST)
    throw new IngleError('too_large', 'This is too long for another process of root.');
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes.length + 1);
  head[4] = SAY;
  return Buffer.concat([head, bytes]);
}

/** The head of a frame's message; the frame itself follows it. */
export function frameHead(end: number, ctr: number, length: number): Buffer {
  const head = Buffer.allocUnsafe(17);
  head.writeUInt32BE(length + 13);
  head[4] = FRAME;
  head.writeUInt32BE(end, 5);
  head.writeDoubleBE(ctr, 9);
  return head;
}

function read(message: Buffer): Message {
  if (message[0] === SAY) return { kind: 'say', body: deserialize(message.subarray(1)) };
  if (message[0] !== FRAME || message.length < 13) throw new RangeError('not a message');
  return {
    kind: 'frame',
    end: message.readUInt32BE(1),
    ctr: message.readDoubleBE(5),
    frame: message.subarray(13),
  };
}

/**
 * Takes a stream of bytes apart, however it is cut.
 * @param take is given each message; a frame lies in the piece that came, so it is copied where it is kept
 * @returns what takes the next piece @throws RangeError where it is no message of ours
 */
export function reader(take: (m: Message) => void): (piece: Buffer) => void {
  let rest: Buffer[] = [];
  let have = 0;
  let need = 5;
  return (piece) => {
    rest.push(piece);
    have += piece.length;
    // A long message comes in many pieces, which are put together once.
    if (have < need) return;
    let all = rest.length === 1 ? piece : Buffer.concat(rest, have);
    for (;;) {
      need = 5;
      if (all.length < need) break;
      const length = all.readUInt32BE();
      if (length < 1 || length > MOST) throw new RangeError('not a message');
      need = length + 4;
      if (all.length < need) break;
      take(read(all.subarray(4, need)));
      all = all.subarray(need);
    }
    rest = all.length > 0 ? [all] : [];
    have = all.length;
  };
}
