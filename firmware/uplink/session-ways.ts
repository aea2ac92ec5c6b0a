// The ways of one web session's frames at the hub: through root, and through the data channel that its browser asks for.
import { openBucket, rate, take } from '../protocol/bucket.ts';
import { checkedDescription } from '../protocol/direct/description.ts';
import { openSwitch, type TransportEvents } from '../protocol/direct/switch.ts';
import type { Way } from '../protocol/direct/ways.ts';
import { SESSION_TTL } from '../protocol/limits.ts';
import type { Control } from '../protocol/wire.ts';
import type { Direct } from './direct.ts';

/** Offers of one session: so many at once, and so many more a second. */
const OFFERS = rate(4, 0.1);

export interface SessionWaysOptions {
  /** `came` takes a message of the data channel, to be given to `straight` when it is this session's turn. */
  direct: (Direct & { came(message: Uint8Array): void }) | undefined;
  /** Gives a frame to root. */
  relay(frame: Uint8Array, ctr: number): void;
  /** A frame for the channel. */
  receive(frame: Uint8Array, ctr: number): void;
  say(c: Control): void;
  changed(way: Way, why?: string): void;
}

export function sessionWays(o: SessionWaysOptions) {
  const offers = openBucket(OFFERS, Date.now());
  let latest: TransportEvents | undefined;
  let expiry: NodeJS.Timeout | undefined;
  const ways = openSwitch({
    relay: o.relay,
    receive: o.receive,
    changed(way, why) {
      clearTimeout(expiry);
      // No session of root's is older: whoever was put out there does not stay in here for longer.
      if (way === 'direct') expiry = setTimeout(ways.drop, SESSION_TTL * 1000).unref();
      o.changed(way, why);
    },
  });
  return {
    send: ways.send,
    fromRelay: ways.fromRelay,
    /** A message of the data channel, in its turn. */
    straight: (message: Uint8Array) => latest?.message(message),
    /** The browser has been let in. */
    admitted(): void {
      const stun = o.direct?.stun;
      if (stun) o.say({ t: 'direct', stun: [...stun] });
    },
    /** It asks for a data channel. */
    async offered({ id, end }: Control & { t: 'offer' }): Promise<void> {
      const description = checkedDescription(end);
      const { direct } = o;
      if (!direct || !description || !take(offers, OFFERS, Date.now())) return o.say({ t: 'answer', id });
      const events = ways.next();
      latest = events;
      try {
        o.say({
          t: 'answer',
          id,
          end: await direct.answer(description, { ...events, message: direct.came }),
        });
      } catch {
        o.say({ t: 'answer', id });
      }
    },
    /** The channel begins anew, through root. */
    anew: ways.anew,
    close: ways.drop,
  };
}

export type SessionWays = ReturnType<typeof sessionWays>;
