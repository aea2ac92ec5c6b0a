// The hub's end of a channel for one sid: answers handshakes its policy allows, proves nothing to the unproven.

import { openBucket, take } from '../bucket.ts';
import { concat, equal, random, u64 } from '../bytes.ts';
import type { PairingWindow } from '../pairing/pairing.ts';
import { frameKind, resetReason } from '../wire.ts';
import type { Channel, Lost, ResponderOptions } from './channel.ts';
import { type Handshake, handshake } from './noise.ts';
import { type Keys, keysOf, link, MARK, numberMatches, prologue, purpose, someMissing } from './transport.ts';
import { trials } from './trials.ts';

interface Pending {
  keys: Keys;
  rekey: boolean;
  expect: number;
  /** The window this browser must still prove itself to; null when its static key is known. */
  window: PairingWindow | null;
}

/** Handshakes answered at once before the rate limit bites. */
const BURST = 10;

/** The hub's end for one sid; it waits. */
export function responder(o: ResponderOptions): Channel {
  const l = link(o, judge, () => lose('overflow'));
  const words = prologue(o.sid, o.hubId);
  const code = trials({ l, words, keys: o.keys, window: () => openWindow(), refuse: sayReset });
  /** A handshake answered, until the first frame under its keys proves the browser. */
  let pending: Pending | null = null;
  /** Highest number of a message 1 of a browser we let in: older ones are replays. */
  let lastStart = -1;
  const handshakes = { burst: BURST, perMs: 1 / l.timing.refill };
  const bucket = openBucket(handshakes, Date.now());
  /** Milliseconds; when the browser was last told that its keys are gone. */
  let lastReset = 0;

  function lose(reason: Lost): void {
    pending = null;
    l.drop(reason);
    sayReset(resetReason.noKeys);
  }
  function sayReset(reason: number): void {
    const now = Date.now();
    if (l.state === 'closed' || (reason === resetReason.noKeys && now - lastReset < l.timing.refill / 2))
      return;
    lastReset = now;
    l.transmit(() => Uint8Array.of(frameKind.reset, reason)).catch(() => {});
  }

  async function judge(frame: Uint8Array, ctr: number): Promise<void> {
    const kind = frame[0];
    if (kind === frameKind.transport) return transport(frame, ctr);
    if (kind === frameKind.cpace3) return code.proved(frame.subarray(1));
    if (kind !== frameKind.ik1 && kind !== frameKind.ikpsk1 && kind !== frameKind.cpace1) return;
    if (!take(bucket, handshakes, Date.now())) return;
    if (kind === frameKind.cpace1) return code.shared(frame.subarray(1));
    return asked(kind === frameKind.ikpsk1, frame.subarray(1), ctr);
  }

  async function transport(frame: Uint8Array, ctr: number): Promise<void> {
    if (pending && frame[1] === pending.keys.opened.epoch) return first(pending, frame, ctr);
    const life = l.life;
    if (!life) return sayReset(resetReason.noKeys);
    const plain = await l.openFrame(frame, ctr, lose);
    if (plain) deliver(plain);
  }

  function deliver(plain: Uint8Array): void {
    if (plain.length) l.emit('message', plain);
    // A sign of life is answered by one.
    else {
      l.sendPlain(plain).catch(() => {});
      l.emit('beat', 0);
    }
  }

  /** The first frame under new keys: whoever sealed it is the browser it says it is. */
  async function first(p: Pending, frame: Uint8Array, ctr: number): Promise<void> {
    const life = p.rekey ? l.life : null;
    if (ctr < (life?.expect ?? p.expect)) return l.alarm('replayed');
    if (life && ctr > life.expect) return lose('gap');
    const plain = await p.keys.receive.decrypt(frame.subarray(2), u64(ctr)).catch(() => null);
    const gap = !plain && (await someMissing(p.keys, frame, ctr, p.expect));
    if (pending !== p) return;
    if (gap) return lose('gap');
    if (!plain) {
      pending = null;
      // A typed code has had its try at its proof.
      const guess = p.window && p.keys.opened.mode !== 'typed' ? p.window : null;
      l.alarm(guess ? 'wrong_code' : 'altered');
      if (guess?.spend()) guess.failed('pairing_failed');
      // Who has proved nothing can end nothing.
      if (life || !l.life) lose('altered');
      return;
    }
    pending = null;
    if (p.window) {
      // Two browsers may have got here with the same code; only one may have it.
      if (!p.window.open) return sayReset(resetReason.noPairing);
      code.done();
      p.window.proven(p.keys.opened.remoteStatic);
    }
    if (life) {
      life.keys = p.keys;
      life.expect = ctr + 1;
    } else l.drop('restarted');
    l.enter(life ?? { keys: p.keys, expect: ctr + 1, previous: null, fresh: false });
    deliver(plain);
  }

  /** Message 1 under whichever of our keys it was made for. */
  async function read(
    isPsk: boolean,
    body: Uint8Array,
  ): Promise<{ h: Handshake; payload: Uint8Array } | null> {
    for (const s of o.keys()) {
      const h = await handshake({ pattern: isPsk ? 'IKpsk2' : 'IK', initiator: false, prologue: words, s });
      const payload = await h.read(body).catch(() => null);
      if (payload) return { h, payload };
    }
    return null;
  }

  const knows = (browser: Uint8Array) =>
    Promise.resolve(browser)
      .then(o.policy.knows)
      .catch(() => false);
  const openWindow = async (of = o.policy.window) => {
    const w = await Promise.resolve()
      .then(of)
      .catch(() => null);
    return w?.open ? w : null;
  };

  async function asked(isPsk: boolean, body: Uint8Array, ctr: number): Promise<void> {
    const got = await read(isPsk, body);
    if (!got) return l.alarm('altered');
    const { h, payload } = got;
    const browser = h.remoteStatic!;
    const why = payload[0];
    if (!numberMatches(payload, 1, ctr) || ctr <= lastStart) return l.alarm('replayed');
    let window: PairingWindow | null = null;
    if (isPsk) {
      const given = why === purpose.typed ? code.of(browser) : null;
      window = given?.window ?? null;
      if (why === purpose.link) window = await openWindow();
      else if (why === purpose.sealed && o.policy.sealed) window = await openWindow(o.policy.sealed);
      if (!window?.open) return sayReset(resetReason.noPairing);
      h.setPsk(given?.psk ?? window.psk);
    } else if ((why !== purpose.start && why !== purpose.rekey) || !(await knows(browser))) {
      l.alarm('unknown_browser');
      return sayReset(resetReason.unknownBrowser);
    }
    const rekey = why === purpose.rekey;
    const life = l.life;
    if (rekey) {
      if (!life || !equal(life.keys.opened.remoteStatic, browser)) return sayReset(resetReason.noKeys);
      if (ctr < life.expect) return l.alarm('replayed');
      if (ctr > life.expect) return lose('gap');
      life.expect = ctr + 1;
    }
    if (!isPsk) lastStart = ctr;
    const last = pending?.keys.opened.epoch ?? life?.keys.opened.epoch ?? random(1)[0]!;
    let epoch = (last + 1) & 255;
    if (epoch === life?.keys.opened.epoch) epoch = (epoch + 1) & 255;
    const mode = !isPsk
      ? 'known'
      : why === purpose.typed
        ? 'typed'
        : why === purpose.sealed
          ? 'sealed'
          : 'link';
    await l
      .transmit(async (n) => {
        const message = await h.write(concat(Uint8Array.of(epoch), u64(n)));
        pending = {
          keys: await keysOf(h, { epoch, mode, first: !rekey }),
          rekey,
          expect: ctr + 1,
          window,
        };
        return concat(
          Uint8Array.of(isPsk ? frameKind.ikpsk2 : frameKind.ik2),
          body.subarray(0, MARK),
          message,
        );
      })
      .catch(() => {});
  }

  return l.channel({
    beat() {},
    restart: () => lose('restarted'),
    rekey() {},
    close() {
      pending = null;
      code.giveUp();
      l.drop('closed');
      l.state = 'closed';
    },
  });
}
