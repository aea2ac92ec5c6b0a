// What must be counted over all nodes together: wrong codes, and who may not try so often. Each node counts for itself,
// tells the others, and counts along what they tell. A message that is lost is a try too many, so nothing waits for it.
import type { Guesses } from '../guesses.ts';
import type { Limit } from '../limit.ts';
import type { Surge } from '../surge.ts';

/** What others do, counted here. @returns what takes it back */
type Count = (key: string) => (() => void) | undefined;
type Told = { id: number; name: string; key: string };

export type Along = ReturnType<typeof openAlong>;

/** Things that may still be taken back; of more the oldest stay counted. */
const MOST = 4096;

/** @param tell says something to every other node */
export function openAlong(tell: (what: 'count' | 'uncount', of: object) => void) {
  const counts = new Map<string, Count>();
  const undo = new Map<string, () => void>();
  let last = 0;

  /** Tells the others that it happened here. @returns tells them that it did not count */
  function told(name: string, key: string): () => void {
    const id = ++last;
    tell('count', { id, name, key } satisfies Told);
    return () => tell('uncount', { id });
  }
  return {
    /** A limit that counts for all nodes. */
    limit(name: string, here: Limit): Limit {
      counts.set(name, (key) => quietly(() => here.take(key)));
      return {
        take(key) {
          const both = [here.take(key), told(name, key)];
          return () => {
            for (const one of both) one();
          };
        },
        sweep: here.sweep,
      };
    },
    guesses(here: Guesses): Guesses {
      counts.set('guess', (ip) => quietly(() => here.begin(ip).refund));
      return {
        begin(ip) {
          const { near, refund } = here.begin(ip);
          const both = [refund, told('guess', ip)];
          return {
            near,
            refund() {
              for (const one of both) one();
            },
          };
        },
        sweep: here.sweep,
      };
    },
    surge(name: string, here: Surge): Surge {
      counts.set(name, () => void here.failed());
      // Work that was done for one node counts once, at one of them.
      counts.set(`${name} solution`, (both) => {
        const at = both.indexOf(' ');
        quietly(() => here.check(both.slice(0, at), both.slice(at + 1)));
        return undefined;
      });
      return {
        failed() {
          here.failed();
          told(name, '');
        },
        check(sid, solution) {
          const isUsed = here.check(sid, solution);
          if (isUsed) told(`${name} solution`, `${sid} ${solution}`);
          return isUsed;
        },
      };
    },
    /** Another node tells. */
    count(node: string, { id, name, key }: Told): void {
      const back = counts.get(name)?.(key);
      if (!back) return;
      undo.set(`${node} ${id}`, back);
      if (undo.size > MOST) undo.delete(undo.keys().next().value!);
    },
    uncount(node: string, { id }: Pick<Told, 'id'>): void {
      undo.get(`${node} ${id}`)?.();
      undo.delete(`${node} ${id}`);
    },
  };
}

/** What is over its bound here as well counts no more. */
function quietly<T>(count: () => T): T | undefined {
  try {
    return count();
  } catch {
    return undefined;
  }
}
