// The two ways a frame of the channel can take, through root and straight to the other side, and the change between
// them. Frames are numbered without a gap (ctr, D6), so the number tells the order whichever way they come, and nothing
// has to be agreed on: a side that can send straight does so with its next frame, keeps what is not yet acknowledged,
// and sends that through root when the direct way falls.
import { type DirectMessage, decodeMessage, encodeFrame, encodeTaken } from './message.ts';

export type Way = 'relay' | 'direct';

const KIB = 1024;
/** Bytes that may be under way directly and not acknowledged. */
export const UNDER_WAY = 1024 * KIB;
/** What a frame costs beside its bytes. */
const PIECE = 64;
/** An acknowledgement is due after so many bytes, and else with the next `tick`. */
const OWED = 128 * KIB;
/**
 * Frames are under way and the other side has said nothing for so long: the direct way is in doubt, milliseconds. They
 * go through root as well from then on, and the first word decides: one of the other side's ends the doubt, one of
 * root's the direct way. Where both are silent, none is better than the other, so none is left.
 */
export const SILENT = 1500;
/** A doubt ends the direct way, or what must come through root before frames that came directly does not, milliseconds. */
export const STALLED = 10_000;

/**
 * Why the direct way is left. `closed`: its transport is gone, or we do not want it any more. `silent`: nothing is
 * acknowledged. `other`: the other side sends through root again. `broken`: what came is against the protocol.
 * `stalled`: frames through root are missing.
 */
export type Left = 'closed' | 'silent' | 'other' | 'broken' | 'stalled';

export interface WaysOptions {
  /** Gives a frame to root. */
  relay(frame: Uint8Array, ctr: number): void | Promise<void>;
  /** Gives a message to the direct way; false: it does not take any. */
  direct(message: Uint8Array): boolean;
  /** A frame for the channel; each once, in the order of their numbers. */
  receive(frame: Uint8Array, ctr: number): void;
  /** Frames go through root again; the direct way's transport is of no more use. */
  left(why: Left): void;
  /** Highest number that has come through root already; none where it is absent. */
  given?: number;
  /** Milliseconds. */
  now(): number;
}

export interface Ways {
  /** The way the next frame takes. */
  readonly way: Way;
  /** Both sides send directly, and nothing of what went through root is missing: root may go. */
  readonly settled: boolean;
  /** Sends a frame; a promise holds further ones back until it settles. */
  send(frame: Uint8Array, ctr: number): void | Promise<void>;
  /** A frame through root. */
  fromRelay(frame: Uint8Array, ctr: number): void;
  /** A message of the direct way, whatever it holds. */
  fromDirect(message: Uint8Array): void;
  /** The direct way stands: the next frame goes by it. */
  take(): void;
  /** The direct way is gone: what it may have lost goes through root. */
  leave(why: Left): void;
  /** The channel begins anew: what its frames' numbers were says nothing any more. Leaves the direct way. */
  anew(): void;
  /** To be called a few times a second while the way is `direct`. */
  tick(): void;
}

interface Numbered {
  frame: Uint8Array;
  ctr: number;
}

/** Frames given to root, and those sent directly that the other side has not acknowledged. */
function openSent(o: Pick<WaysOptions, 'relay' | 'now'>) {
  /** Highest number given to root, which takes each once. */
  let byRoot = -1;
  let frames: (Numbered & { at: number })[] = [];
  let bytes = 0;
  const waiting: (() => void)[] = [];
  function relay(frame: Uint8Array, ctr: number): void | Promise<void> {
    byRoot = ctr;
    return o.relay(frame, ctr);
  }
  const wake = () => {
    for (const go of waiting.splice(0)) go();
  };
  return {
    /** When the first of those was sent that are not acknowledged. */
    get oldest(): number | undefined {
      return frames[0]?.at;
    },
    /** Root has some of them. */
    get isInRoot(): boolean {
      return frames[0] !== undefined && frames[0].ctr <= byRoot;
    },
    relay,
    /** All that are not acknowledged go through root, too. */
    relayAll(): void {
      for (const { frame, ctr } of frames) if (ctr > byRoot) void relay(frame, ctr);
    },
    /** Keeps a frame; a promise settles when there is room for the next. */
    keep(frame: Uint8Array, ctr: number): void | Promise<void> {
      frames.push({ frame, ctr, at: o.now() });
      bytes += frame.length + PIECE;
      if (bytes > UNDER_WAY) return new Promise((resolve) => waiting.push(resolve));
    },
    /** The other side has all up to `ctr`. */
    taken(ctr: number): void {
      while (frames[0] && frames[0].ctr <= ctr) bytes -= frames.shift()!.frame.length + PIECE;
      if (bytes <= UNDER_WAY) wake();
    },
    /** Keeps none any more. */
    clear(): void {
      frames = [];
      bytes = 0;
      wake();
    },
    /** The channel begins anew. */
    anew(): void {
      byRoot = -1;
    },
  };
}

/** What came directly before all that goes through root has, in order. */
function openHeld(now: () => number) {
  let moved = 0;
  const frames: Numbered[] = [];
  let bytes = 0;
  return {
    get size(): number {
      return frames.length;
    },
    /** What must come through root before them does not. */
    get isStalled(): boolean {
      return frames.length > 0 && now() - moved > STALLED;
    },
    /** The channel was given something. */
    moved(): void {
      moved = now();
    },
    /** False: the other side sends more than may be under way. */
    push(frame: Uint8Array, ctr: number): boolean {
      if (frames.length === 0) moved = now();
      frames.push({ frame, ctr });
      bytes += frame.length + PIECE;
      return bytes <= 2 * UNDER_WAY;
    },
    /** The next one, if its number is at most `ctr`. */
    upTo(ctr: number): Numbered | undefined {
      if (!frames[0] || frames[0].ctr > ctr) return undefined;
      bytes -= frames[0].frame.length + PIECE;
      return frames.shift();
    },
    drain(): Numbered[] {
      bytes = 0;
      return frames.splice(0);
    },
  };
}

/** Whether the other side still speaks directly. */
function openSilence(now: () => number) {
  let heard = 0;
  let doubtedAt: number | undefined;
  return {
    get isDoubted(): boolean {
      return doubtedAt !== undefined;
    },
    /** It has spoken. */
    broken(): void {
      heard = now();
      doubtedAt = undefined;
    },
    /** @param since when what it has to acknowledge was sent */
    judged(since: number): 'fine' | 'doubted' | 'dead' {
      if (now() - Math.max(since, heard) <= SILENT) return 'fine';
      doubtedAt ??= now();
      return now() - doubtedAt > STALLED - SILENT ? 'dead' : 'doubted';
    },
  };
}

export function openWays(o: WaysOptions): Ways {
  const sent = openSent(o);
  const silence = openSilence(o.now);
  let way: Way = 'relay';
  /** Since the way stands: highest number sent directly, lowest and highest got directly; -1: none. */
  let sentTo = -1;
  let gotFrom = -1;
  let gotTo = -1;
  /** Highest number the channel has been given, and the highest that came through root; -1: not known. */
  let given = o.given ?? -1;
  let relayed = given;
  const held = openHeld(o.now);
  /** Bytes that came directly and are not acknowledged. */
  let owed = 0;

  function give(frame: Uint8Array, ctr: number): void {
    given = ctr;
    held.moved();
    o.receive(frame, ctr);
  }
  function giveHeld(): void {
    for (let next = held.upTo(given + 1); next; next = held.upTo(given + 1))
      if (next.ctr === given + 1) give(next.frame, next.ctr);
  }
  function acknowledge(): void {
    owed = 0;
    if (!o.direct(encodeTaken(given))) leave('closed');
  }
  function leave(why: Left): void {
    if (way === 'relay') return;
    way = 'relay';
    held.drain();
    owed = 0;
    sent.relayAll();
    sent.clear();
    o.left(why);
  }
  function judge(): void {
    const verdict = sent.oldest === undefined ? 'fine' : silence.judged(sent.oldest);
    if (verdict === 'dead') leave('silent');
    else if (verdict === 'doubted') sent.relayAll();
  }
  function stalled(): void {
    const late = held.drain();
    leave('stalled');
    // The channel sees that some are missing, and begins anew.
    for (const { frame, ctr } of late) give(frame, ctr);
  }
  function gotFrame(frame: Uint8Array, ctr: number): void {
    if (gotFrom < 0) gotFrom = ctr;
    gotTo = ctr;
    owed += frame.length + PIECE;
    if (ctr === given + 1 && given >= 0) give(frame, ctr);
    else if (ctr > given && !held.push(frame, ctr)) leave('broken');
    if (owed >= OWED) acknowledge();
  }
  function heardDirect(m: DirectMessage): void {
    silence.broken();
    // One way takes all frames while it stands, in order; and nobody has what was never sent.
    const isWrong = m.t === 'frame' ? gotTo >= 0 && m.ctr !== gotTo + 1 : sentTo >= 0 && m.ctr > sentTo;
    if (isWrong) leave('broken');
    else if (m.t === 'frame') gotFrame(m.frame, m.ctr);
    else sent.taken(m.ctr);
  }

  return {
    get way() {
      return way;
    },
    get settled() {
      return way === 'direct' && gotTo >= 0 && held.size === 0 && !sent.isInRoot;
    },
    send(frame, ctr) {
      if (way === 'relay') return sent.relay(frame, ctr);
      const room = sent.keep(frame, ctr);
      sentTo = ctr;
      if (!o.direct(encodeFrame(frame, ctr))) leave('closed');
      else if (silence.isDoubted) sent.relayAll();
      return room;
    },
    fromRelay(frame, ctr) {
      // What root makes up, or sends again, is for the channel to judge.
      if (!Number.isSafeInteger(ctr) || ctr <= relayed) return o.receive(frame, ctr);
      relayed = ctr;
      // Root is not silent.
      if (silence.isDoubted) leave('silent');
      // A number that came directly, or one after those: the other side has left the direct way.
      if (gotFrom >= 0 && (ctr > gotTo || (ctr >= gotFrom && ctr <= given))) leave('other');
      if (ctr <= given) return;
      give(frame, ctr);
      giveHeld();
    },
    fromDirect(message) {
      if (way === 'relay') return;
      const m = decodeMessage(message);
      if (m) heardDirect(m);
      else leave('broken');
    },
    take() {
      way = 'direct';
      sentTo = gotFrom = gotTo = -1;
      silence.broken();
    },
    leave,
    anew() {
      leave('closed');
      given = relayed = -1;
      sent.anew();
    },
    tick() {
      if (way === 'relay') return;
      judge();
      if (held.isStalled) stalled();
      else if (owed > 0 || held.size > 0) acknowledge();
    },
  };
}
