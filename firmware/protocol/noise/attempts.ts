// One try to get through to the hub at a time, and whether an answer belongs to it.
import { equal } from '../bytes.ts';
import type { Handshake } from './noise.ts';
import type { Proven } from './whom.ts';

/** Answers to tries of an earlier page that may still be on their way. */
const STRANGERS = 3;

/**
 * One run of CPace. Its frames are sent again as they were, never made anew: a proof lets somebody who plays the hub
 * check one guess, and the same proof again tells nothing more.
 */
export type Run =
  | {
      kind: 'cpace';
      run: Uint8Array;
      frame: Uint8Array;
      finish(yb: Uint8Array, hub: Uint8Array): Promise<{ ta: Uint8Array; tb: Uint8Array; psk: Uint8Array }>;
    }
  | { kind: 'proof'; frame: Uint8Array; sent: number; tb: Uint8Array; keys: Proven };

/** A handshake; `mark` is there once its message 1 was sent. */
export interface Shake {
  kind: 'noise';
  h: Handshake;
  rekey: boolean;
  pairing: boolean;
  mark: Uint8Array | null;
}

export type Attempt = Shake | Run;

export interface Attempts {
  /** The try under way; null when there is none, and while its first message is being made. */
  readonly now: Attempt | null;
  /** A try has begun and is not over. */
  readonly underWay: boolean;
  /**
   * Begins a try; a later one takes its place. `first` makes what it is and sends its first message.
   * @param first `mine` says whether this is still the try under way
   */
  begin(first: (mine: () => boolean, become: (a: Attempt) => void) => Promise<void>): void;
  /** The try goes on as another; its answer is awaited anew. */
  become(a: Attempt): void;
  /** The try has come to its end; the other side's next word is awaited. */
  done(): void;
  end(): void;
  /** The other side has had its word; a try that has begun meanwhile still awaits its answer. */
  answered(): void;
  /** What an answer to a message of this browser repeats. */
  own(mark: Uint8Array): void;
  /**
   * Whether what an answer repeats belongs to the present try. A late answer to an earlier try of ours is innocent, and
   * so are some to what an earlier page of the same session began: they come before any of ours, as all is in order.
   */
  isMine(said: Uint8Array, mine: Uint8Array): boolean;
}

/**
 * @param patience how long an answer is awaited, milliseconds
 * @param late called when none came, and when a first message could not be sent
 * @param altered called for an answer that repeats nothing this browser has said
 */
export function attempts(patience: number, late: () => void, altered: () => void): Attempts {
  let now: Attempt | 'begun' | null = null;
  let turn = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const marks = new Set<string>();
  /** Whether one of them was answered; answers before that to none of them. */
  let heard = false;
  let strangers = 0;
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(late, patience);
  };
  return {
    get now() {
      return now === 'begun' ? null : now;
    },
    get underWay() {
      return now !== null;
    },
    begin(first) {
      const me = ++turn;
      now = 'begun';
      wait();
      const mine = () => now !== null && turn === me;
      first(mine, (a) => {
        now = a;
      }).catch(() => mine() && late());
    },
    become(a) {
      turn++;
      now = a;
      wait();
    },
    done() {
      now = null;
      wait();
    },
    end() {
      now = null;
      clearTimeout(timer);
    },
    answered() {
      if (now === null) clearTimeout(timer);
    },
    own: (mark) => void marks.add(mark.join()),
    isMine(said, mine) {
      const ours = marks.has(said.join());
      if (!ours && (heard || ++strangers > STRANGERS)) altered();
      heard ||= ours;
      return equal(said, mine);
    },
  };
}
