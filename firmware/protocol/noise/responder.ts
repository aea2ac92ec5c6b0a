// The hub's end of a channel for one sid: answers handshakes its policy allows, proves nothing to the unproven.

import { openBucket, take } from '../bucket.ts';
import { concat, equal, random, u64 } from '../bytes.ts';
import { frameKind, resetReason } from '../wire.ts';
import type { Channel, Lost, ResponderOptions } from './channel.ts';
import { entrance, nextEpoch, openWindow, readFirst } from './entrance.ts';
import { openPending } from './pending.ts';
import { keysOf, type Link, link, MARK, numberMatches, prologue, purpose } from './transport.ts';
import { trials } from './trials.ts';

/** Handshakes answered at once before the rate limit bites. */
const BURST = 10;

/** The hub's end for one sid; it waits. */
export function responder(o: ResponderOptions): Channel {
  const l = link(o, judge, () => lose('overflow'));
  const words = prologue(o.sid, o.hubId);
  const sayReset = resets(l);
  const code = trials({
    l,
    words,
    keys: o.keys,
    window: () => openWindow(o.policy.window),
    refuse: sayReset,
  });
  const pending = openPending({ l, lose, refuse: sayReset, done: code.done, deliver });
  /** Highest number of a message 1 of a browser we let in: older ones are replays. */
  let lastStart = -1;
  const handshakes = { burst: BURST, perMs: 1 / l.timing.refill };
  const bucket = openBucket(handshakes, Date.now());

  function lose(reason: Lost): void {
    pending.drop();
    l.drop(reason);
    sayReset(resetReason.noKeys);
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
    if (frame[1] === pending.epoch) return pending.first(frame, ctr);
    if (!l.life) return sayReset(resetReason.noKeys);
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

  async function asked(isPsk: boolean, body: Uint8Array, ctr: number): Promise<void> {
    const got = await readFirst(o.keys(), words, isPsk, body);
    if (!got) return l.alarm('altered');
    const { h, payload } = got;
    const browser = h.remoteStatic!;
    const why = payload[0];
    if (!numberMatches(payload, 1, ctr) || ctr <= lastStart) return l.alarm('replayed');
    const by = await entrance({ isPsk, why, browser }, o.policy, code.of);
    if (typeof by === 'number') {
      if (by === resetReason.unknownBrowser) l.alarm('unknown_browser');
      return sayReset(by);
    }
    if (by.window) h.setPsk(by.psk);
    const rekey = why === purpose.rekey;
    const life = l.life;
    if (rekey) {
      if (!life || !equal(life.keys.opened.remoteStatic, browser)) return sayReset(resetReason.noKeys);
      if (ctr < life.expect) return l.alarm('replayed');
      if (ctr > life.expect) return lose('gap');
      life.expect = ctr + 1;
    }
    if (!isPsk) lastStart = ctr;
    const last = pending.epoch ?? life?.keys.opened.epoch ?? random(1)[0]!;
    const epoch = nextEpoch(last, life?.keys.opened.epoch);
    await l
      .transmit(async (n) => {
        const message = await h.write(concat(Uint8Array.of(epoch), u64(n)));
        const keys = await keysOf(h, { epoch, mode: by.mode, first: !rekey });
        pending.begin({ keys, rekey, expect: ctr + 1, window: by.window });
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
      pending.drop();
      code.giveUp();
      l.drop('closed');
      l.state = 'closed';
    },
  });
}

/** Says `reset`; that the keys are gone not too often. */
function resets(l: Link): (reason: number) => void {
  /** Milliseconds; when the browser was last told something. */
  let last = 0;
  return (reason) => {
    const now = Date.now();
    if (l.state === 'closed' || (reason === resetReason.noKeys && now - last < l.timing.refill / 2)) return;
    last = now;
    l.transmit(() => Uint8Array.of(frameKind.reset, reason)).catch(() => {});
  };
}
