// The browser's end of a channel: begins every handshake, tries again after every loss.
import { concat, u64 } from '../bytes.ts';
import { IngleError } from '../errors.ts';
import { PAIRING_TRIES } from '../limits.ts';
import { frameKind, resetReason } from '../wire.ts';
import { attempts, type Shake } from './attempts.ts';
import type { Channel, InitiatorOptions, Lost } from './channel.ts';
import { handshake } from './noise.ts';
import { pulse } from './pulse.ts';
import { retries } from './retries.ts';
import { keysOf, link, MARK, numberMatches, prologue, purpose } from './transport.ts';
import { typedCode } from './typed.ts';
import { type With, whom } from './whom.ts';

/** More than this many messages under one key, and new ones are made (noise.ts stops at 2^24). */
const MANY = 2 ** 23;

/** The browser's end; it begins to shake hands at once. */
export function initiator(o: InitiatorOptions): Channel {
  const l = link(o, judge, () => lose('overflow'));
  const words = prologue(o.sid, o.hubId);
  const hub = whom(o.access);
  const tries = attempts(
    l.timing.handshake,
    () => lose('timeout'),
    () => l.alarm('altered'),
  );
  const beats = pulse(l, () => lose('timeout'));
  const code = typedCode({
    ...{ l, words, key: o.key, tries },
    proven(keys) {
      hub.proven(keys);
      tries.end();
      begin();
    },
    altered,
    fail(alarm, message) {
      l.alarm(alarm);
      fail(message);
    },
  });
  /** Pairing tries the hub refused. */
  let refused = 0;
  /** The hub has sealed a word under the present keys. */
  let confirmed = false;
  let rekeyAt: ReturnType<typeof setTimeout> | undefined;
  const over = () => l.state === 'closed' || l.state === 'failed';

  function rest(): void {
    pause.stop();
    clearTimeout(rekeyAt);
    tries.end();
  }
  function end(state: 'closed' | 'failed'): void {
    rest();
    beats.stop();
    l.drop('closed');
    l.state = state;
  }
  function fail(message: string): void {
    end('failed');
    l.emit('failed', new IngleError('pairing_failed', message));
  }
  /** Ends what is there and begins anew. */
  function lose(reason: Lost, now = false): void {
    if (over()) return;
    rest();
    if (!l.drop(reason) && reason === 'unknown_browser') l.emit('lost', reason);
    if (!over()) pause.again(now);
  }
  /** A pairing try that went wrong counts; after a few it is over. */
  function again(reason: Lost): void {
    if (hub.mode === 'known' || ++refused < PAIRING_TRIES) lose(reason);
    else fail('Pairing did not succeed. Ask the hub for a new code and try again.');
  }
  function altered(): void {
    l.alarm('altered');
    again('altered');
  }

  function begin(): void {
    if (over()) return;
    const { next, secret } = hub;
    if (next) shake(next);
    else if (secret !== undefined) code.go(secret);
  }

  function shake({ hubStatic: rs, purpose: why, psk }: With): void {
    tries.begin(async (mine, become) => {
      const pattern = psk ? 'IKpsk2' : 'IK';
      const h = await handshake({ pattern, initiator: true, prologue: words, s: o.key, rs, psk });
      if (!mine()) return;
      const now: Shake = { kind: 'noise', h, rekey: why === purpose.rekey, pairing: !!psk, mark: null };
      become(now);
      const kind = psk ? frameKind.ikpsk1 : frameKind.ik1;
      await l.transmit(async (ctr) => {
        const message = await h.write(concat(Uint8Array.of(why), u64(ctr)));
        now.mark = message.slice(0, MARK);
        tries.own(now.mark);
        return concat(Uint8Array.of(kind), message);
      }, mine);
    });
  }

  async function judge(frame: Uint8Array, ctr: number): Promise<void> {
    const body = frame.subarray(1);
    switch (frame[0]) {
      case frameKind.transport:
        return transport(frame, ctr);
      case frameKind.ik2:
      case frameKind.ikpsk2:
        return answered(frame[0] === frameKind.ikpsk2, body, ctr);
      case frameKind.cpace2:
        return code.shared(body);
      case frameKind.cpace4:
        return code.proved(body);
      case frameKind.reset:
        return reset(body[0]);
    }
  }

  async function transport(frame: Uint8Array, ctr: number): Promise<void> {
    const mine = l.life;
    if (!mine) return;
    const plain = await l.openFrame(frame, ctr, lose);
    if (!plain) return;
    beats.heard();
    if (!confirmed && frame[1] === mine.keys.opened.epoch) {
      // From the hub's first sealed word on both sides hold each other's keys.
      confirmed = true;
      tries.answered();
      refused = 0;
      hub.confirm(mine.keys.opened.remoteStatic);
    }
    if (plain.length) l.emit('message', plain);
    else beats.answered();
    if (l.life === mine && mine.keys.send.used + mine.keys.receive.used > MANY) rekey();
  }

  async function answered(isPsk: boolean, body: Uint8Array, ctr: number): Promise<void> {
    const mine = tries.now;
    if (mine?.kind !== 'noise' || mine.pairing !== isPsk || !mine.mark) return;
    if (!tries.isMine(body.slice(0, MARK), mine.mark)) return;
    const before = l.life;
    if (mine.rekey && before && ctr !== before.expect)
      return ctr < before.expect ? l.alarm('replayed') : lose('gap');
    const payload = await mine.h.read(body.subarray(MARK)).catch(() => null);
    if (tries.now !== mine) return;
    if (!payload || !numberMatches(payload, 1, ctr)) return altered();
    const mode = isPsk ? hub.mode : 'known';
    const keys = await keysOf(mine.h, { epoch: payload[0]!, mode, first: !mine.rekey });
    if (tries.now !== mine || l.life !== before) return;
    tries.done();
    confirmed = false;
    if (isPsk) hub.learn(keys.opened.remoteStatic);
    beats.anew(!mine.rekey);
    if (!mine.rekey) pause.opened();
    clearTimeout(rekeyAt);
    rekeyAt = setTimeout(() => rekey(), l.timing.rekey);
    if (before) {
      before.previous = before.keys;
      before.keys = keys;
      before.expect = ctr + 1;
    }
    l.enter(before ?? { keys, expect: ctr + 1, previous: null, fresh: true });
    beats.ask();
  }

  function reset(reason: number | undefined): void {
    if (!tries.underWay) {
      if (l.life) lose('reset');
      return;
    }
    const { wrongCode, noPairing, unknownBrowser } = resetReason;
    if ((reason === wrongCode || reason === noPairing) && code.refused(reason === wrongCode)) return;
    if (reason === noPairing && hub.mode !== 'known') {
      hub.noPairing();
      again('reset');
    } else if (reason === unknownBrowser) {
      hub.unknown();
      lose(hub.mode === 'known' ? 'unknown_browser' : 'reset');
    } else if (l.life) lose('reset');
  }

  function rekey(hubStatic?: Uint8Array): void {
    if (hubStatic) hub.rotate(hubStatic);
    if (!l.life || tries.underWay || over()) return;
    shake({ hubStatic: hubStatic ?? l.life.keys.opened.remoteStatic, purpose: purpose.rekey });
  }

  const pause = retries(l.timing, begin);
  return l.channel({
    beat: () => l.life && beats.ask(),
    restart: () => lose('restarted', true),
    rekey,
    close: () => end('closed'),
  });
}
