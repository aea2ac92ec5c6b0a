// Browsers that knew the secret of a window and owe their assertion. Read from memory, written through.
import { PAIRING_TRIES } from '../protocol/limits.ts';
import { type Grant, sameGrant } from './grant.ts';
import type { Proven } from './rows.ts';
import type { UplinkStore } from './store.ts';

/** How long a browser that proved itself may take for its assertion, seconds. */
export const PROVEN_TTL = 600;
/** Browsers that owe their assertion at one time; a pairing window makes one. */
const MOST_PROVEN = 16;

export type ProvenStore = Pick<UplinkStore, 'proven' | 'putProven' | 'dropProven'>;

export async function openProven(store: ProvenStore, now: () => number) {
  const all = new Map((await store.proven()).map((p) => [p.id, p]));
  return {
    /** Such a browser, until it asserts or its time is up. */
    find(id: string): Proven | undefined {
      const p = all.get(id);
      return p && now() < p.expires_at ? p : undefined;
    },
    async add(id: string, newPasskey: boolean, grant: Grant): Promise<void> {
      const p: Proven = { id, new_passkey: newPasskey, grant, expires_at: now() + PROVEN_TTL, failures: 0 };
      all.delete(id);
      all.set(id, p);
      const work = [store.putProven(p)];
      for (const old of [...all.values()])
        if (now() >= old.expires_at || all.size > MOST_PROVEN) {
          all.delete(old.id);
          work.push(store.dropProven(old.id));
        }
      await Promise.all(work);
    },
    /** One wrong assertion; gives the tries left, and forgets the browser at none. @param isOver nothing counts any more */
    async fail(id: string, isOver: (grant: Grant) => boolean): Promise<number> {
      const p = all.get(id);
      if (!p || isOver(p.grant)) return 0;
      p.failures++;
      const left = PAIRING_TRIES - p.failures;
      if (left > 0) await store.putProven(p);
      else {
        all.delete(id);
        await store.dropProven(id);
      }
      return Math.max(0, left);
    },
    async drop(id: string): Promise<void> {
      if (all.delete(id)) await store.dropProven(id);
    },

    /** Takes one out of memory alone, for whoever changes the store. */
    take(id: string): Proven | undefined {
      const p = all.get(id);
      all.delete(id);
      return p;
    },
    /** The same with all whose code was for `grant`. */
    takeOf(grant: Grant): void {
      for (const p of [...all.values()]) if (sameGrant(p.grant, grant)) all.delete(p.id);
    },
    /** Takes everybody out. @returns what puts them back */
    takeAll: () => emptied(all),
    putBack: (p: Proven) => void all.set(p.id, p),
  };
}

/** Empties a map. @returns what fills it as it was */
export function emptied<K, V>(map: Map<K, V>): () => void {
  const kept = [...map];
  map.clear();
  return () => {
    for (const [k, v] of kept) map.set(k, v);
  };
}
