// Data channels at the hub, all of them: how many there may be, and the library behind them, which comes with the first.
import { type Bucket, openBucket, rate, take } from '../protocol/bucket.ts';
import type { Description } from '../protocol/direct/description.ts';
import type { TransportEvents } from '../protocol/direct/switch.ts';
import { IngleError } from '../protocol/errors.ts';
import type { Config } from '../system/config.ts';
import type { Log } from '../system/log.ts';

/** Data channels at once: each takes memory that is not this process's to count. */
const MOST = 16;
/** Offers of all browsers: so many at once, and so many more a second. */
const OFFERS = rate(16, 0.5);

export interface Direct {
  /** What browsers are told; undefined: there is no direct way to this hub. */
  readonly stun: readonly string[] | undefined;
  /** Answers an offer. @throws IngleError `unavailable`, `rate_limited` */
  answer(offer: Description, on: TransportEvents): Promise<Description>;
  /** For good. */
  close(): void;
}

/** Opens nothing yet. */
export function openDirect({ direct: { on, stun, ports } }: Pick<Config, 'direct'>, log: Log): Direct {
  const offers: Bucket = openBucket(OFFERS, Date.now());
  const ends = new Map<symbol, () => void>();
  let library: Promise<typeof import('./datachannel.ts')> | undefined;
  let closed = false;

  function load(): NonNullable<typeof library> {
    library ??= import('./datachannel.ts').catch((error) => {
      log.warn('no data channels on this hub', { error: error as Error });
      throw new IngleError('unavailable', 'There is no direct way.');
    });
    return library;
  }
  return {
    stun: on ? stun : undefined,
    async answer(offer, events) {
      if (!on || closed) throw new IngleError('unavailable', 'There is no direct way.');
      if (ends.size >= MOST || !take(offers, OFFERS, Date.now()))
        throw new IngleError('rate_limited', 'Too many direct ways were asked for.');
      // Its place is taken while it is being made.
      const end = Symbol();
      ends.set(end, () => {});
      const ended = () => {
        ends.delete(end);
        events.closed();
      };
      try {
        const { answerTo } = await load();
        const answer = await answerTo({ ...{ offer, stun, ports }, on: { ...events, closed: ended } });
        if (ends.has(end)) ends.set(end, answer.close);
        if (closed) answer.close();
        return answer.description;
      } catch (e) {
        ends.delete(end);
        throw e;
      }
    },
    close(): void {
      closed = true;
      for (const end of [...ends.values()]) end();
      void library?.then((l) => l.endAll()).catch(() => {});
    },
  };
}
