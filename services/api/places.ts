// Places for requests: so many at once, so many of one who asks, and few with a large body, as those are held in memory.
import { IngleError } from '../../firmware/protocol/errors.ts';
import { MAX_BODY } from '../../firmware/protocol/limits.ts';

/** What a request has taken. */
export interface Place {
  isTaken: boolean;
  /** The places of who asks, once that is known. */
  of: Places | undefined;
  /** The largest body there is room for, bytes. */
  most: number;
}

/** Places that one who asks has taken. */
interface Places {
  taken: number;
}

const MAX_REQUESTS = 256;
/** Requests under way of one who asks: a browser has this many streams, and one may not take all places. */
const MAX_OF_ONE = 64;
/** Bodies above MAX_BODY under way. */
const MAX_LARGE = 4;

/** What throws, throws IngleError `rate_limited`, and takes nothing. */
export function openPlaces() {
  /**
   * Those who ask now, and some who did. An entry set and deleted for each request would leave V8 a new table of the map
   * every few requests, each held by the one before: what a thousand requests had in memory outlived every scavenge.
   */
  const byWho = new Map<string, Places>();
  let requests = 0;
  let large = 0;

  function come(who: string): Places {
    if (byWho.size >= MAX_REQUESTS) for (const [id, { taken }] of byWho) if (taken === 0) byWho.delete(id);
    const places: Places = { taken: 0 };
    byWho.set(who, places);
    return places;
  }
  return {
    requests: (): number => requests,
    take(p: Place): void {
      if (requests >= MAX_REQUESTS)
        throw new IngleError('rate_limited', 'Too many requests at once.', { retry_after: 1 });
      requests++;
      p.isTaken = true;
    },
    takeFor(p: Place, who: string): void {
      const mine = byWho.get(who) ?? come(who);
      if (mine.taken >= MAX_OF_ONE)
        throw new IngleError('rate_limited', 'Too many requests of one browser at once.', { retry_after: 1 });
      p.of = mine;
      mine.taken++;
    },
    /**
     * Makes room for a body of `size` bytes, of which the endpoint takes at most `largest`.
     * @throws IngleError `too_large`, too
     */
    makeRoom(p: Place, size: number, largest: number): void {
      if (!(size > p.most)) return;
      if (size > largest) throw new IngleError('too_large', `A body may have at most ${largest} bytes.`);
      if (large >= MAX_LARGE)
        throw new IngleError('rate_limited', 'Too many large bodies at once.', { retry_after: 2 });
      large++;
      p.most = largest;
    },
    leave(p: Place): void {
      p.isTaken = false;
      requests--;
      if (p.most > MAX_BODY) large--;
      if (p.of) p.of.taken--;
    },
  };
}
