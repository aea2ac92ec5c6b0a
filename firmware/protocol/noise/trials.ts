// A typed code on the hub's side: CPace with one browser at a time, each run at the price of a try until it is proved.
import { concat, equal } from '../bytes.ts';
import type { PairingWindow } from '../pairing/pairing.ts';
import { frameKind, resetReason } from '../wire.ts';
import type { Link } from './transport.ts';
import type { KeyPair } from './x25519.ts';

/** One CPace run. Its try is taken when the share goes out, and given back for the right proof. */
interface Trial {
  asked: Uint8Array;
  answer: Uint8Array;
  run: Uint8Array;
  ta: Uint8Array;
  tb: Uint8Array;
  psk: Uint8Array;
  browser: Uint8Array;
  window: PairingWindow;
}

export interface TrialsOptions {
  l: Link;
  /** Who talks to whom, as in every handshake of the channel. */
  words: Uint8Array;
  /** The hub's static keys, newest first. */
  keys(): readonly KeyPair[];
  /** The window now open. */
  window(): Promise<PairingWindow | null>;
  refuse(reason: number): void;
}

export interface Trials {
  /** CPace 1: a browser's share. */
  shared(body: Uint8Array): Promise<void>;
  /** CPace 3: its proof. */
  proved(body: Uint8Array): Promise<void>;
  /** What a browser has proved: its handshake goes under this psk. */
  of(browser: Uint8Array): Pick<Trial, 'psk' | 'window'> | null;
  /** The browser has got in. */
  done(): void;
  /** The proof of a share that went out did not come: the try stays used. */
  giveUp(): void;
}

export function trials(o: TrialsOptions): Trials {
  const { l } = o;
  /** A share that waits for the browser's proof, then the psk that came of it. */
  let trial: Trial | null = null;
  let typed: Trial | null = null;
  let late: ReturnType<typeof setTimeout> | undefined;

  function giveUp(): void {
    clearTimeout(late);
    const unproven = trial;
    trial = null;
    if (!unproven) return;
    l.alarm('no_answer');
    unproven.window.failed('timeout');
  }

  return {
    giveUp,
    async shared(body) {
      if (body.length !== 80) return;
      // The same question after a loss gets the same answer, and costs no further try.
      const again = trial && equal(trial.asked, body) ? trial : null;
      if (again) return l.transmit(() => again.answer).catch(() => {});
      giveUp();
      const window = await o.window();
      if (!window) return o.refuse(resetReason.noPairing);
      const [sid, browser] = [body.slice(0, 16), body.slice(48)];
      const hub = o.keys()[0]!.publicKey;
      const { cpaceResponder } = await import('../pairing/cpace.ts');
      const run = { secret: window.secret, ci: o.words, sid };
      const keys = await cpaceResponder(run, body.slice(16, 48), browser, hub).catch(() => null);
      // Nobody would be there for the proof.
      if (l.state === 'closed') return;
      if (!keys) return l.alarm('altered');
      if (!window.spend()) return o.refuse(resetReason.noPairing);
      const answer = concat(Uint8Array.of(frameKind.cpace2), sid, keys.yb, hub);
      trial = { ...keys, asked: body.slice(), answer, run: sid, browser, window };
      late = setTimeout(giveUp, l.timing.proof);
      await l.transmit(() => answer).catch(() => {});
    },
    async proved(body) {
      if (body.length !== 80) return;
      const isOf = (t: Trial | null) => t !== null && equal(t.run, body.slice(0, 16));
      const isRight = (t: Trial) => equal(t.ta, body.slice(16));
      const prove = (t: Trial) =>
        l.transmit(() => concat(Uint8Array.of(frameKind.cpace4), t.tb)).catch(() => {});
      // Our proof got lost, and the browser's came again.
      if (isOf(typed)) return isRight(typed!) ? prove(typed!) : undefined;
      const t = trial;
      if (!t) return o.refuse(resetReason.noPairing);
      if (!isOf(t)) return;
      trial = null;
      clearTimeout(late);
      if (!isRight(t)) {
        l.alarm('wrong_code');
        t.window.failed('pairing_failed');
        return o.refuse(resetReason.wrongCode);
      }
      t.window.refund();
      // Meanwhile another browser may have used the code.
      if (!t.window.open) return o.refuse(resetReason.noPairing);
      typed = t;
      await prove(t);
    },
    of: (browser) => (typed && equal(typed.browser, browser) ? typed : null),
    done() {
      typed = null;
    },
  };
}
