// What both ends of a channel share: numbered sending in order, judged receiving in order, keys in use.
import mitt, { type Emitter } from 'mitt';
import { concat, u64, utf8 } from '../bytes.ts';
import { IngleError } from '../errors.ts';
import { MAX_MESSAGE, REHANDSHAKE_MS } from '../limits.ts';
import { openQueue } from '../queue.ts';
import { frameKind } from '../wire.ts';
import type { Alarm, Channel, ChannelEvents, Counters, EndOptions, Lost, Opened, Timing } from './channel.ts';
import { openInbox } from './inbox.ts';
import type { Cipher, Handshake } from './noise.ts';

/** Bytes that may wait to be sent. */
const MAX_UNSENT_BYTES = 32 * 1024 * 1024;
/** Numbers reserved at once (D6). */
const BLOCK = 4096;

const usual: Timing = {
  handshake: 10_000,
  backoff: 250,
  backoffMax: 30_000,
  rekey: REHANDSHAKE_MS,
  keepalive: 20_000,
  // Longer than a browser repeats its proof.
  proof: 90_000,
  refill: 500,
};

/** First byte of message 1's payload, before `[ctr u64]`: what the handshake is for. */
export const purpose = { start: 0, rekey: 1, link: 2, typed: 3, sealed: 4 } as const;

/** Bytes of message 1 that its answer repeats in the clear, so that a late answer is told from an altered one. */
export const MARK = 8;

/** The keys of one epoch. */
export interface Keys {
  send: Cipher;
  receive: Cipher;
  opened: Opened;
}

/** Frames that may get lost right after a handshake and still be told from altered ones. */
const MAX_MISSING = 64;

/**
 * Whether a frame that does not open is authentic all the same, and frames of these keys before it are missing: a
 * relay may lose some without being hostile.
 * @param from lowest number that a frame of these keys can have
 */
export async function someMissing(
  keys: Keys,
  frame: Uint8Array,
  ctr: number,
  from: number,
): Promise<boolean> {
  const most = Math.min(ctr - from, MAX_MISSING);
  return (await keys.receive.missing(frame.subarray(2), u64(ctr), most)) > 0;
}

/** A channel from its first epoch to its loss. */
export interface Life {
  keys: Keys;
  /** Number the next frame from the other side must have. */
  expect: number;
  /** Keys that no frame is sent with any more, but some may still be under way. */
  previous: Keys | null;
  /**
   * Nothing under the first keys has come yet. Until then frames of an earlier life may come in between; the
   * first nonce of the new keys shows that none of ours is missing.
   */
  fresh: boolean;
}

/** Both ids and the protocol's name, unambiguous: bound into every handshake. */
export function prologue(sid: string, hubId: string): Uint8Array {
  return utf8(JSON.stringify(['ingle/1', sid, hubId]));
}

export async function keysOf(h: Handshake, rest: Omit<Opened, 'hash' | 'remoteStatic'>): Promise<Keys> {
  const { send, receive, hash } = await h.split();
  return { send, receive, opened: { ...rest, hash, remoteStatic: h.remoteStatic! } };
}

/** The number in a handshake payload, from `at`; it must be the frame's own, else root has renumbered it. */
export function numberMatches(payload: Uint8Array, at: number, ctr: number): boolean {
  return payload.length === at + 8 && u64(ctr).every((b, i) => payload[at + i] === b);
}

export interface Link {
  life: Life | null;
  state: Channel['state'];
  readonly timing: Timing;
  readonly events: Emitter<ChannelEvents>;
  emit: Emitter<ChannelEvents>['emit'];
  /** Tells a kind of alarm once between two handshakes. */
  alarm(kind: Alarm): void;
  /** Sends the frame `build` makes for its number, after all before it; `alive` false drops it. */
  transmit(build: (ctr: number) => Uint8Array | Promise<Uint8Array>, alive?: () => boolean): Promise<void>;
  sendPlain(plaintext: Uint8Array): Promise<void>;
  /** Begins or goes on with keys; says `open`. */
  enter(life: Life): void;
  /** Ends the life, if there is one. */
  drop(reason: Lost): boolean;
  /** Judges one transport frame; gives its plaintext, or null when it is dropped. */
  openFrame(frame: Uint8Array, ctr: number, onLost: (reason: Lost) => void): Promise<Uint8Array | null>;
  receive: Channel['receive'];
  channel(rest: Pick<Channel, 'beat' | 'restart' | 'rekey' | 'close'>): Channel;
}

/** Numbers of sent frames, reserved in blocks. */
function numbers(counters: Counters): () => Promise<number> {
  let next = 0;
  let reservedTo = 0;
  return async () => {
    if (next === reservedTo) {
      next = await counters.reserve(BLOCK);
      reservedTo = next + BLOCK;
    }
    return next++;
  };
}

const gone = () => new IngleError('unavailable', 'The hub is not connected just now.');

/**
 * @param judge takes each frame, one at a time and in order.
 * @param overflow called when more waits than may.
 */
export function link(
  o: EndOptions & { timing?: Partial<Timing> },
  judge: (frame: Uint8Array, ctr: number) => Promise<void>,
  overflow: () => void,
): Link {
  const events = mitt<ChannelEvents>();
  const alarmed = new Set<Alarm>();
  const take = numbers(o.counters);
  const outgoing = openQueue();
  const inbox = openInbox(judge, overflow);
  let unsent = 0;

  const closed = () => l.state === 'closed';

  const l: Link = {
    life: null,
    state: 'shaking',
    timing: { ...usual, ...o.timing },
    events,
    emit: events.emit,
    alarm(kind) {
      if (alarmed.has(kind)) return;
      alarmed.add(kind);
      events.emit('alarm', kind);
    },
    transmit(build, alive = () => true) {
      return outgoing.add(async () => {
        if (closed() || !alive()) throw gone();
        const ctr = await take();
        const frame = await build(ctr);
        if (closed()) throw gone();
        await o.send(frame, ctr);
      });
    },
    sendPlain(plaintext) {
      const mine = l.life;
      if (!mine) return Promise.reject(gone());
      if (plaintext.length > MAX_MESSAGE)
        return Promise.reject(new IngleError('too_large', `A message has at most ${MAX_MESSAGE} bytes.`));
      if (unsent > MAX_UNSENT_BYTES)
        return Promise.reject(new IngleError('rate_limited', 'Too much is waiting to be sent.'));
      unsent += plaintext.length;
      const sent = l.transmit(
        async (ctr) => {
          const { keys } = mine;
          const sealed = await keys.send.encrypt(plaintext, u64(ctr));
          return concat(Uint8Array.of(frameKind.transport, keys.opened.epoch), sealed);
        },
        () => l.life === mine,
      );
      const done = () => {
        unsent -= plaintext.length;
      };
      sent.then(done, done);
      return sent;
    },
    enter(life) {
      l.life = life;
      l.state = 'open';
      alarmed.clear();
      events.emit('open', life.keys.opened);
    },
    drop(reason) {
      if (!l.life) return false;
      l.life = null;
      if (l.state === 'open') l.state = 'shaking';
      events.emit('lost', reason);
      return true;
    },
    async openFrame(frame, ctr, onLost) {
      const life = l.life!;
      const keys = frame[1] === life.keys.opened.epoch ? life.keys : life.previous;
      if (life.fresh && keys !== life.keys) return null;
      if (ctr < life.expect) {
        l.alarm('replayed');
        return null;
      }
      if (ctr > life.expect && !life.fresh) {
        onLost('gap');
        return null;
      }
      const plain =
        keys && keys.opened.epoch === frame[1]
          ? await keys.receive.decrypt(frame.subarray(2), u64(ctr)).catch(() => null)
          : null;
      // Whether the first frames under new keys got lost on the way, their numbers do not say.
      const gap = !plain && life.fresh && (await someMissing(life.keys, frame, ctr, life.expect));
      if (l.life !== life) return null;
      if (!plain) {
        if (!gap) l.alarm('altered');
        onLost(gap ? 'gap' : 'altered');
        return null;
      }
      life.expect = ctr + 1;
      life.fresh = false;
      if (keys === life.keys) life.previous = null;
      return plain;
    },
    receive(frame, ctr) {
      if (l.state !== 'closed' && l.state !== 'failed') inbox.put(frame, ctr);
    },
    channel: (rest) => ({
      on: events.on,
      off: events.off,
      get state() {
        return l.state;
      },
      get current() {
        return l.life?.keys.opened ?? null;
      },
      receive: l.receive,
      send: l.sendPlain,
      ...rest,
    }),
  };
  return l;
}
