// The end-to-end channel between a browser and its hub over a relay that nobody trusts.
// The browser is always the Noise initiator. Each handshake makes an epoch; a rehandshake changes keys while
// the channel goes on; a lost channel starts anew and whoever sits on top of it starts anew too.
import type { Emitter } from 'mitt';
import type { IngleError } from '../errors.ts';
import type { PairingWindow } from '../pairing/pairing.ts';
import type { KeyPair } from './x25519.ts';

/** Hands out numbers for sent frames: one counter a sid and direction, never used twice (D6). */
export interface Counters {
  /** Reserves `count` numbers and resolves, once that is durable, to the first. Successive blocks of one run must be contiguous. */
  reserve(count: number): Promise<number>;
}

/** How a browser gets to its hub. */
export type Access =
  /** Paired: the hub's pinned static key. */
  | { mode: 'known'; hubStatic: Uint8Array }
  /** From the link's fragment: both 32 bytes. */
  | { mode: 'link'; hubStatic: Uint8Array; psk: Uint8Array }
  /** INSECURE: from the hub's `sealed_secret` (ARCHITECTURE D35); else as from a link. */
  | { mode: 'sealed'; hubStatic: Uint8Array; psk: Uint8Array }
  /** The second group of the typed code, digits only. */
  | { mode: 'typed'; secret: string };

export type Mode = Access['mode'];

/** What the hub decides. */
export interface Policy {
  /**
   * Whether this browser static key may open a channel by plain IK. From `PairingWindow.proven` on it must say yes
   * for that key, though the browser is not yet admitted: else a connection that drops in between cannot come back.
   */
  knows(remoteStatic: Uint8Array): boolean | Promise<boolean>;
  /** The pairing window now open (shared by all sids), or null. */
  window(): PairingWindow | null | Promise<PairingWindow | null>;
  /** INSECURE: the window of the secret sealed for this sid. Without it none is taken. */
  sealed?(): PairingWindow | null | Promise<PairingWindow | null>;
}

/**
 * Why a channel was lost.
 * `gap`: frames are missing. `altered`: a frame was not authentic. `reset`: the other side holds no keys (a hint).
 * `timeout`: no answer. `restarted`: the browser began anew, or `restart()` was called. `overflow`: the queue is
 * full. `unknown_browser`: the hub says it does not know this browser: pair anew (a hint, and the one reason that
 * may come while no channel is open). `closed`: by us.
 */
export type Lost =
  | 'gap'
  | 'altered'
  | 'reset'
  | 'timeout'
  | 'restarted'
  | 'overflow'
  | 'unknown_browser'
  | 'closed';

/**
 * Signs that somebody on the way interferes; each has its words in text/channel.ts. At most one of a kind a handshake.
 * `altered`: a frame that does not carry the other side's seal. `replayed`: an old frame again. `wrong_code`: the
 * other side does not know the pairing code (mistyped, or somebody in the middle). `unknown_browser`: a browser
 * that is not paired knocked. `no_answer`: the other side of a typed pairing did not prove itself in time (a bad
 * connection, or somebody who had a guess at the code).
 */
export type Alarm = 'altered' | 'replayed' | 'wrong_code' | 'unknown_browser' | 'no_answer';

export interface Opened {
  /** Handshake hash, 32 bytes: what a passkey signs for the hub (assertion.ts). */
  hash: Uint8Array;
  /** The other side's static public key: the browser pins the hub's, the hub looks the browser up. */
  remoteStatic: Uint8Array;
  epoch: number;
  mode: Mode;
  /** True for a new channel, false for a rehandshake of one that goes on. */
  first: boolean;
}

export type ChannelEvents = {
  open: Opened;
  /** A whole plaintext, in order. */
  message: Uint8Array;
  /** An open channel ended; the browser's end tries again by itself. */
  lost: Lost;
  /** Browser: the hub has answered `beat()`, after so many milliseconds. Hub: a browser asked, 0. */
  beat: number;
  alarm: Alarm;
  /** The browser's proof of the typed code goes out now: the code must not be proved again without a person. */
  proving: undefined;
  /** Pairing did not succeed and is not tried again: `pairing_failed`. */
  failed: IngleError;
};

export interface Channel {
  readonly on: Emitter<ChannelEvents>['on'];
  readonly off: Emitter<ChannelEvents>['off'];
  /** `open` carries messages; `failed` and `closed` are final. */
  readonly state: 'shaking' | 'open' | 'failed' | 'closed';
  /** The present handshake, while open. */
  readonly current: Opened | null;
  /** A frame from the relay. Never throws; whatever it holds is judged inside, in order. */
  receive(frame: Uint8Array, ctr: number): void;
  /**
   * Sends one plaintext (at most MAX_MESSAGE bytes) and resolves when it was given to the relay.
   * @throws IngleError `unavailable` when the channel is not open, or ends before.
   */
  send(plaintext: Uint8Array): Promise<void>;
  /** Browser: asks for a sign of life, which nobody but the hub can seal; `beat` tells the answer. Hub: nothing. */
  beat(): void;
  /** Browser: begin anew (socket reconnected, route's generation grew). Hub: drop the keys and say so. */
  restart(): void;
  /** Browser: new keys, the channel goes on; with `hubStatic` towards the hub's rotated key, pinned from then on. */
  rekey(hubStatic?: Uint8Array): void;
  close(): void;
}

export interface EndOptions {
  sid: string;
  hubId: string;
  counters: Counters;
  /** Gives a frame to the relay; a promise holds further frames back until it settles. */
  send(frame: Uint8Array, ctr: number): void | Promise<void>;
}

export interface InitiatorOptions extends EndOptions {
  /** The browser's static key. */
  key: KeyPair;
  access: Access;
  /** Times in milliseconds; tests shorten them. */
  timing?: Partial<Timing>;
}

export interface ResponderOptions extends EndOptions {
  /** The hub's static keys, newest first: two while a rotation is under way. */
  keys(): readonly KeyPair[];
  policy: Policy;
  timing?: Partial<Timing>;
}

export interface Timing {
  /** Answer to a handshake message is awaited this long. */
  handshake: number;
  /** Pause before a further try: doubles from `backoff` to `backoffMax`. */
  backoff: number;
  backoffMax: number;
  /** New keys after this (REHANDSHAKE_MS). */
  rekey: number;
  /** Silence after which the browser asks for a sign of life; the same again, and the channel is lost. */
  keepalive: number;
  /** The hub waits so long for the proof of a typed code it has answered; then the try is used. */
  proof: number;
  /** The hub answers ten handshakes at once, then one in this time; the rest is dropped. */
  refill: number;
}
