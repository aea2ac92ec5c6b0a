// The keys a browser has in use, one epoch after another: taken up, confirmed by the hub's first word, replaced in time.
import type { Lost } from './channel.ts';
import { pulse } from './pulse.ts';
import type { Keys, Link } from './transport.ts';

/** More than this many messages under one key, and new ones are made (noise.ts stops at 2^24). */
const MANY = 2 ** 23;

export interface Epochs {
  /** Takes up the keys that the hub's frame `ctr` made. */
  enter(keys: Keys, ctr: number): void;
  /** A transport frame of the hub. */
  receive(frame: Uint8Array, ctr: number): Promise<void>;
  /** Asks for a sign of life, while the channel is open. */
  beat(): void;
  /** The channel is over; another may come. */
  rest(): void;
  /** None comes any more. */
  stop(): void;
}

/**
 * @param o.confirmed told of the hub's first sealed word under new keys: both sides hold each other's
 * @param o.old told that it is time for new keys
 */
export function openEpochs(o: {
  l: Link;
  lose(reason: Lost): void;
  confirmed(hubStatic: Uint8Array): void;
  old(): void;
}): Epochs {
  const { l } = o;
  const beats = pulse(l, () => o.lose('timeout'));
  /** The hub has sealed a word under the present keys. */
  let confirmed = false;
  let rekeyAt: ReturnType<typeof setTimeout> | undefined;
  const rest = () => clearTimeout(rekeyAt);
  return {
    enter(keys, ctr) {
      confirmed = false;
      beats.anew(keys.opened.first);
      rest();
      rekeyAt = setTimeout(o.old, l.timing.rekey);
      const before = l.life;
      if (before) {
        before.previous = before.keys;
        before.keys = keys;
        before.expect = ctr + 1;
      }
      l.enter(before ?? { keys, expect: ctr + 1, previous: null, fresh: true });
      beats.ask();
    },
    async receive(frame, ctr) {
      const mine = l.life;
      if (!mine) return;
      const plain = await l.openFrame(frame, ctr, o.lose);
      if (!plain) return;
      beats.heard();
      if (!confirmed && frame[1] === mine.keys.opened.epoch) {
        confirmed = true;
        o.confirmed(mine.keys.opened.remoteStatic);
      }
      if (plain.length) l.emit('message', plain);
      else beats.answered();
      if (l.life === mine && mine.keys.send.used + mine.keys.receive.used > MANY) o.old();
    },
    beat() {
      if (l.life) beats.ask();
    },
    rest,
    stop() {
      rest();
      beats.stop();
    },
  };
}
