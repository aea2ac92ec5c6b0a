// A handshake the hub has answered, until the first frame under its keys proves the browser.
import { u64 } from '../bytes.ts';
import type { PairingWindow } from '../pairing/pairing.ts';
import { resetReason } from '../wire.ts';
import type { Lost } from './channel.ts';
import { type Keys, type Life, type Link, someMissing } from './transport.ts';

export interface Answered {
  keys: Keys;
  rekey: boolean;
  /** Lowest number of a frame under these keys. */
  expect: number;
  /** The window this browser must still prove itself to; null when its static key is known. */
  window: PairingWindow | null;
}

export interface Pending {
  /** That of the handshake which waits for its proof; undefined where none does. */
  readonly epoch: number | undefined;
  /** Waits for the proof of a handshake; one before it is given up. */
  begin(answered: Answered): void;
  /** The first frame under its keys: whoever sealed it is the browser it says it is. */
  first(frame: Uint8Array, ctr: number): Promise<void>;
  drop(): void;
}

/** @param o.done told when a browser has got in by a window @param o.deliver takes what the first frame says */
export function openPending(o: {
  l: Link;
  lose(reason: Lost): void;
  refuse(reason: number): void;
  done(): void;
  deliver(plain: Uint8Array): void;
}): Pending {
  const { l } = o;
  let pending: Answered | null = null;

  /** A frame that was not sealed by who knows the keys. */
  function unproven(p: Answered): void {
    // A typed code has had its try at its proof.
    const guess = p.window && p.keys.opened.mode !== 'typed' ? p.window : null;
    l.alarm(guess ? 'wrong_code' : 'altered');
    if (guess?.spend()) guess.failed('pairing_failed');
  }

  async function first(p: Answered, frame: Uint8Array, ctr: number): Promise<void> {
    const life = p.rekey ? l.life : null;
    const plain = await open(p, life, frame, ctr);
    if (pending !== p) return;
    if (plain === 'replayed') return l.alarm(plain);
    if (plain === 'gap') return o.lose(plain);
    pending = null;
    if (plain === 'altered') {
      unproven(p);
      // Who has proved nothing can end nothing.
      if (life || !l.life) o.lose(plain);
      return;
    }
    if (p.window) {
      // Two browsers may have got here with the same code; only one may have it.
      if (!p.window.open) return o.refuse(resetReason.noPairing);
      o.done();
      p.window.proven(p.keys.opened.remoteStatic);
    }
    if (life) {
      life.keys = p.keys;
      life.expect = ctr + 1;
    } else l.drop('restarted');
    l.enter(life ?? { keys: p.keys, expect: ctr + 1, previous: null, fresh: false });
    o.deliver(plain);
  }

  return {
    get epoch() {
      return pending?.keys.opened.epoch;
    },
    begin(answered) {
      pending = answered;
    },
    async first(frame, ctr) {
      if (pending) await first(pending, frame, ctr);
    },
    drop() {
      pending = null;
    },
  };
}

/** What a frame says, or why it does not open. @param life that which the keys go on with, if any */
async function open(
  p: Answered,
  life: Life | null,
  frame: Uint8Array,
  ctr: number,
): Promise<Uint8Array | 'replayed' | 'gap' | 'altered'> {
  if (ctr < (life?.expect ?? p.expect)) return 'replayed';
  if (life && ctr > life.expect) return 'gap';
  const plain = await p.keys.receive.decrypt(frame.subarray(2), u64(ctr)).catch(() => null);
  if (plain) return plain;
  return (await someMissing(p.keys, frame, ctr, p.expect)) ? 'gap' : 'altered';
}
