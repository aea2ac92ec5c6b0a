// The browser's end of a channel: begins every handshake, tries again after every loss.
import { concat, equal, random, u64 } from '../bytes.ts';
import { IngleError } from '../errors.ts';
import { PAIRING_TRIES, PROOF_SENDS } from '../limits.ts';
import { frameKind, resetReason } from '../wire.ts';
import type { Channel, InitiatorOptions, Lost } from './channel.ts';
import { type Handshake, handshake } from './noise.ts';
import { keysOf, link, MARK, numberMatches, prologue, purpose } from './transport.ts';

/**
 * The CPace run of a typed code. Its frames are sent again as they were, never made anew: a proof lets somebody who
 * plays the hub check one guess, and the same proof again tells nothing more.
 */
type Run =
  | {
      kind: 'cpace';
      run: Uint8Array;
      frame: Uint8Array;
      finish(yb: Uint8Array, hub: Uint8Array): Promise<{ ta: Uint8Array; tb: Uint8Array; psk: Uint8Array }>;
    }
  | {
      kind: 'proof';
      frame: Uint8Array;
      sent: number;
      tb: Uint8Array;
      psk: Uint8Array;
      hubStatic: Uint8Array;
    };

type Attempt =
  | { kind: 'begun' }
  | { kind: 'noise'; h: Handshake; rekey: boolean; pairing: boolean; mark: Uint8Array | null }
  | Run;

/** More than this many messages under one key, and new ones are made (noise.ts stops at 2^24). */
const MANY = 2 ** 23;
/** Answers to tries of an earlier page that may still be on their way. */
const STRANGERS = 3;
const failure = (message: string) => new IngleError('pairing_failed', message);

/** The browser's end; it begins to shake hands at once. */
export function initiator(o: InitiatorOptions): Channel {
  const l = link(o, judge, () => lose('overflow'));
  const words = prologue(o.sid, o.hubId);
  let access = o.access;
  /** Keys that CPace proved, until the hub has forgotten them. */
  let typed: { hubStatic: Uint8Array; psk: Uint8Array } | null = null;
  /** The hub's key after a pairing handshake the hub has not confirmed yet. */
  let learned: Uint8Array | null = null;
  /** Every CPace run and every Noise handshake begun here, by what their answers repeat. */
  const runs = new Set<string>();
  /** Whether one of them was answered; answers before that to none of them. */
  let own = false;
  let strangers = 0;
  let attempt: Attempt | null = null;
  /** The run under way, over all losses, until the hub has proved itself. */
  let code: Run | null = null;
  /** Failed tries in a row; pairing tries the hub refused. */
  let failures = 0;
  let refused = 0;
  let confirmed = false;
  let heard = false;
  let pinged = false;
  /** When each sign of life was asked for that has no answer yet; answers come in the order of the questions. */
  let asked: number[] = [];
  let openedAt = 0;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let answer: ReturnType<typeof setTimeout> | undefined;
  let rekeyAt: ReturnType<typeof setTimeout> | undefined;
  const alive = setInterval(keepalive, l.timing.keepalive);
  const over = () => l.state === 'closed' || l.state === 'failed';

  function stopTimers(): void {
    for (const t of [retry, answer, rekeyAt]) clearTimeout(t);
  }
  function awaitAnswer(): void {
    clearTimeout(answer);
    answer = setTimeout(
      () => (l.life && !attempt && confirmed ? undefined : lose('timeout')),
      l.timing.handshake,
    );
  }
  function fail(message: string): void {
    stopTimers();
    clearInterval(alive);
    attempt = null;
    l.drop('closed');
    l.state = 'failed';
    l.emit('failed', failure(message));
  }
  /** Ends what is there and begins anew after a pause that grows while nothing holds. */
  function lose(reason: Lost, now = false): void {
    if (over()) return;
    stopTimers();
    attempt = null;
    if (!l.drop(reason) && reason === 'unknown_browser') l.emit('lost', reason);
    if (over()) return;
    if (openedAt && Date.now() - openedAt > l.timing.handshake) failures = 0;
    openedAt = 0;
    const pause =
      now || failures === 0 ? 0 : Math.min(l.timing.backoffMax, l.timing.backoff * 2 ** (failures - 1));
    failures++;
    retry = setTimeout(begin, pause * (0.75 + Math.random() / 2));
  }
  function keepalive(): void {
    if (!l.life) return;
    if (heard) pinged = false;
    else if (pinged) lose('timeout');
    else {
      pinged = true;
      ping();
    }
    heard = false;
  }
  /** An empty message: proves this side's keys, and the hub answers it. */
  function ping(): void {
    const at = performance.now();
    asked.push(at);
    l.sendPlain(new Uint8Array(0)).catch(() => {
      asked = asked.filter((other) => other !== at);
    });
  }

  /** Runs what sends the first message of a try; a later try takes its place. */
  function tryOut(first: (mine: () => boolean, become: (a: Attempt) => void) => Promise<void>): void {
    let now: Attempt = { kind: 'begun' };
    attempt = now;
    awaitAnswer();
    const mine = () => attempt === now;
    const become = (a: Attempt) => {
      attempt = now = a;
    };
    first(mine, become).catch(() => mine() && lose('timeout'));
  }

  function begin(): void {
    if (over()) return;
    const pair = 'psk' in access ? access : typed;
    if (access.mode === 'known') shake(access.hubStatic, purpose.start);
    else if (learned) shake(learned, purpose.start);
    else if (pair) shake(pair.hubStatic, purpose[access.mode], pair.psk);
    else if (code) repeat(code);
    else if (access.mode === 'typed') share(access.secret);
  }

  function shake(rs: Uint8Array, why: number, psk?: Uint8Array): void {
    tryOut(async (mine, become) => {
      const pattern = psk ? 'IKpsk2' : 'IK';
      const h = await handshake({ pattern, initiator: true, prologue: words, s: o.key, rs, psk });
      if (!mine()) return;
      const now: Attempt = { kind: 'noise', h, rekey: why === purpose.rekey, pairing: !!psk, mark: null };
      become(now);
      const kind = psk ? frameKind.ikpsk1 : frameKind.ik1;
      await l.transmit(async (ctr) => {
        const message = await h.write(concat(Uint8Array.of(why), u64(ctr)));
        now.mark = message.slice(0, MARK);
        runs.add(now.mark.join());
        return concat(Uint8Array.of(kind), message);
      }, mine);
    });
  }

  function share(secret: string): void {
    tryOut(async (mine, become) => {
      const { cpaceInitiator } = await import('../pairing/cpace.ts');
      const run = random(16);
      runs.add(run.join());
      const { ya, finish } = await cpaceInitiator({ secret, ci: words, sid: run }, o.key.publicKey);
      if (!mine()) return;
      const frame = concat(Uint8Array.of(frameKind.cpace1), run, ya, o.key.publicKey);
      code = { kind: 'cpace', run, frame, finish };
      become(code);
      await l.transmit(() => frame, mine);
    });
  }

  function repeat(r: Run): void {
    if (r.kind === 'proof' && ++r.sent > PROOF_SENDS) {
      unanswered();
      return;
    }
    tryOut(async (mine, become) => {
      become(r);
      await l.transmit(() => r.frame, mine);
    });
  }

  /** Whoever got the proof has had a guess, so the code is not tried again without a person. */
  function unanswered(): void {
    l.alarm('no_answer');
    fail(
      'The hub did not answer the proof of the code. The connection may be bad, or somebody is in between: ask the hub for a new code.',
    );
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
        return shared(body);
      case frameKind.cpace4:
        return proved(body);
      case frameKind.reset:
        return reset(body[0]);
    }
  }

  async function transport(frame: Uint8Array, ctr: number): Promise<void> {
    const life = l.life;
    if (!life) return;
    const plain = await l.openFrame(frame, ctr, lose);
    if (!plain) return;
    heard = true;
    if (!confirmed && frame[1] === life.keys.opened.epoch) {
      confirmed = true;
      clearTimeout(answer);
      refused = 0;
      // From the hub's first sealed word on both sides hold each other's keys: pairing is over.
      if (access.mode !== 'known') access = { mode: 'known', hubStatic: life.keys.opened.remoteStatic };
      typed = learned = null;
    }
    if (plain.length) l.emit('message', plain);
    else {
      const at = asked.shift();
      if (at !== undefined) l.emit('beat', performance.now() - at);
    }
    if (l.life === life && !attempt && life.keys.send.used + life.keys.receive.used > MANY) rekey();
  }

  /**
   * Whether what an answer repeats belongs to the present try. A late answer to an earlier try of ours is innocent, and
   * so are some to what an earlier page of the same session began: they come before any of ours, as all is in order.
   */
  function isMine(said: Uint8Array, mine: Uint8Array): boolean {
    const ours = runs.has(said.join());
    if (!ours && (own || ++strangers > STRANGERS)) l.alarm('altered');
    own ||= ours;
    return equal(said, mine);
  }

  async function answered(isPsk: boolean, body: Uint8Array, ctr: number): Promise<void> {
    const mine = attempt;
    if (mine?.kind !== 'noise' || mine.pairing !== isPsk || !mine.mark) return;
    if (!isMine(body.slice(0, MARK), mine.mark)) return;
    const before = l.life;
    if (mine.rekey && before && ctr !== before.expect)
      return ctr < before.expect ? l.alarm('replayed') : lose('gap');
    const payload = await mine.h.read(body.subarray(MARK)).catch(() => null);
    if (attempt !== mine) return;
    if (!payload || !numberMatches(payload, 1, ctr)) {
      l.alarm('altered');
      return again('altered');
    }
    const mode = isPsk ? access.mode : 'known';
    const keys = await keysOf(mine.h, { epoch: payload[0]!, mode, first: !mine.rekey });
    if (attempt !== mine || l.life !== before) return;
    attempt = null;
    confirmed = heard = pinged = false;
    if (isPsk) learned = keys.opened.remoteStatic;
    if (!mine.rekey) {
      openedAt = Date.now();
      asked = [];
    }
    awaitAnswer();
    clearTimeout(rekeyAt);
    rekeyAt = setTimeout(() => rekey(), l.timing.rekey);
    if (before) {
      before.previous = before.keys;
      before.keys = keys;
      before.expect = ctr + 1;
    }
    l.enter(before ?? { keys, expect: ctr + 1, previous: null, fresh: true });
    ping();
  }

  async function shared(body: Uint8Array): Promise<void> {
    const mine = attempt;
    if (mine?.kind !== 'cpace' || body.length !== 80) return;
    if (!isMine(body.slice(0, 16), mine.run)) return;
    const [yb, hubStatic] = [body.slice(16, 48), body.slice(48)];
    const keys = await mine.finish(yb, hubStatic).catch(() => null);
    if (attempt !== mine) return;
    if (!keys) {
      l.alarm('altered');
      return again('altered');
    }
    const frame = concat(Uint8Array.of(frameKind.cpace3), mine.run, keys.ta);
    attempt = code = { kind: 'proof', frame, sent: 1, tb: keys.tb, psk: keys.psk, hubStatic };
    awaitAnswer();
    l.emit('proving');
    await l.transmit(() => frame).catch(() => {});
  }

  async function proved(body: Uint8Array): Promise<void> {
    const mine = attempt;
    if (mine?.kind !== 'proof') return;
    const { confirm } = await import('../pairing/cpace.ts');
    try {
      confirm(mine.tb, body);
    } catch {
      l.alarm('wrong_code');
      return fail(
        'The hub did not prove that it knows the code. Somebody may be in between: ask the hub for a new code.',
      );
    }
    typed = { hubStatic: mine.hubStatic, psk: mine.psk };
    attempt = code = null;
    begin();
  }

  /** A pairing try that went wrong counts; after a few it is over. */
  function again(reason: Lost): void {
    if (access.mode === 'known' || ++refused < PAIRING_TRIES) lose(reason);
    else fail('Pairing did not succeed. Ask the hub for a new code and try again.');
  }

  function reset(reason: number | undefined): void {
    if (!attempt) {
      if (l.life) lose('reset');
    } else if (reason === resetReason.wrongCode && attempt.kind === 'proof') {
      l.alarm('wrong_code');
      fail('The hub did not accept the code. Check it, or ask the hub for a new one.');
    } else if (reason === resetReason.noPairing && attempt.kind === 'proof') unanswered();
    else if (reason === resetReason.noPairing && access.mode !== 'known') {
      typed = null;
      // Perhaps the window closed because this very browser got in, and died before it kept that.
      if ('psk' in access) learned = access.hubStatic;
      again('reset');
    } else if (reason === resetReason.unknownBrowser) {
      learned = null;
      lose(access.mode === 'known' ? 'unknown_browser' : 'reset');
    } else if (l.life) lose('reset');
  }

  function rekey(hubStatic?: Uint8Array): void {
    if (hubStatic) access = { mode: 'known', hubStatic };
    if (!l.life || attempt || over()) return;
    shake(hubStatic ?? l.life.keys.opened.remoteStatic, purpose.rekey);
  }

  retry = setTimeout(begin, 0);
  return l.channel({
    beat: () => l.life && ping(),
    restart: () => lose('restarted', true),
    rekey,
    close() {
      stopTimers();
      clearInterval(alive);
      attempt = null;
      l.drop('closed');
      l.state = 'closed';
    },
  });
}
