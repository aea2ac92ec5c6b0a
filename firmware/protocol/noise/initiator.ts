// The browser's end of a channel: begins every handshake, tries again after every loss.
import { IngleError } from '../errors.ts';
import { frameKind, resetReason } from '../wire.ts';
import { attempts } from './attempts.ts';
import type { Channel, InitiatorOptions, Lost } from './channel.ts';
import { openEpochs } from './epochs.ts';
import { retries } from './retries.ts';
import { shaking } from './shaking.ts';
import { link, prologue, purpose } from './transport.ts';
import { typedCode } from './typed.ts';
import { whom } from './whom.ts';

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
  const epochs = openEpochs({
    ...{ l, lose, old: () => rekey() },
    confirmed(hubStatic) {
      tries.answered();
      hub.confirm(hubStatic);
    },
  });
  const hands = shaking({
    ...{ l, words, key: o.key, tries, altered, mode: () => hub.mode, gap: () => lose('gap') },
    keyed(keys, ctr, isPairing) {
      if (isPairing) hub.learn(keys.opened.remoteStatic);
      if (keys.opened.first) pause.opened();
      epochs.enter(keys, ctr);
    },
  });
  const code = typedCode({
    ...{ l, words, key: o.key, tries, altered, fail },
    proven(keys) {
      hub.proven(keys);
      tries.end();
      begin();
    },
  });
  const over = () => l.state === 'closed' || l.state === 'failed';

  function rest(): void {
    pause.stop();
    epochs.rest();
    tries.end();
  }
  function end(state: 'closed' | 'failed'): void {
    rest();
    epochs.stop();
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
    if (hub.again()) lose(reason);
    else fail('Pairing did not succeed. Ask the hub for a new code and try again.');
  }
  function altered(): void {
    l.alarm('altered');
    again('altered');
  }

  function begin(): void {
    if (over()) return;
    const { next, secret } = hub;
    if (next) hands.shake(next);
    else if (secret !== undefined) code.go(secret);
  }

  async function judge(frame: Uint8Array, ctr: number): Promise<void> {
    const body = frame.subarray(1);
    switch (frame[0]) {
      case frameKind.transport:
        return epochs.receive(frame, ctr);
      case frameKind.ik2:
      case frameKind.ikpsk2:
        return hands.answered(frame[0] === frameKind.ikpsk2, body, ctr);
      case frameKind.cpace2:
        return code.shared(body);
      case frameKind.cpace4:
        return code.proved(body);
      case frameKind.reset:
        return reset(body[0]);
    }
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
    hands.shake({ hubStatic: hubStatic ?? l.life.keys.opened.remoteStatic, purpose: purpose.rekey });
  }

  const pause = retries(l.timing, begin);
  return l.channel({
    beat: epochs.beat,
    restart: () => lose('restarted', true),
    rekey,
    close: () => end('closed'),
  });
}
