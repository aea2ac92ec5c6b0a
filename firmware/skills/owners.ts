// Whom the skills serve: the owner of the hub, those it had before, and people. Bounded, and each place becomes free.
import { isPersonId } from '../people/person.ts';
import { IngleError } from '../protocol/errors.ts';
import { openQueue } from '../protocol/queue.ts';
import type { Store } from '../system/store.ts';

/** Each is kept on the disk, and served by every skill that is awake. */
const MOST_OWNERS = 64;

export type Owners = Awaited<ReturnType<typeof openOwners>>;

/**
 * @param o.makeRoom forgets somebody who is there no more, where it can; asked when every place is taken
 * @param o.seconds Unix time
 */
export async function openOwners(o: {
  store: Pick<Store, 'all' | 'run'>;
  makeRoom: () => Promise<void>;
  seconds: () => number;
}) {
  const { store } = o;
  const rows = await store.all<{ owner_id: string }>('SELECT owner_id FROM owners ORDER BY seen_at');
  const served = rows.map((row) => row.owner_id);
  /** Those whose things are still to be removed: a removal that failed is tried again. */
  const leaving = new Set<string>();
  /** People who were removed: a request of theirs that was under way brings nobody back. */
  const gone = new Set<string>();
  const adding = openQueue();
  const isFull = () => served.length + leaving.size >= MOST_OWNERS;

  return {
    /** The newest last. */
    served: (): readonly string[] => served,
    leaving: (): readonly string[] => [...leaving],
    /**
     * Serves one from now on.
     * @returns whether they are new
     * @throws IngleError `forbidden`, `unavailable`, `rate_limited`, and what the store throws: then nobody was added
     */
    add: (owner_id: string): Promise<boolean> =>
      adding.add(async () => {
        if (served.includes(owner_id)) return false;
        if (gone.has(owner_id))
          throw new IngleError('forbidden', 'You are not a person of this hub any more.');
        if (leaving.has(owner_id))
          throw new IngleError(
            'unavailable',
            'What was kept of you is being removed. Try again in a moment.',
          );
        if (isFull()) await o.makeRoom();
        if (isFull())
          throw new IngleError('rate_limited', `This hub serves ${MOST_OWNERS} owners and takes no more.`);
        await store.run(
          'INSERT OR IGNORE INTO owners (owner_id, seen_at) VALUES (?, ?)',
          owner_id,
          o.seconds(),
        );
        served.push(owner_id);
        return true;
      }),
    /**
     * Serves one no more. Their row goes last, so what a failure or a kill leaves is found and removed later.
     * @param drop removes what is kept of them
     */
    async remove(owner_id: string, drop: () => Promise<void>): Promise<void> {
      const at = served.indexOf(owner_id);
      if (at >= 0) {
        leaving.add(owner_id);
        served.splice(at, 1);
      }
      if (isPersonId(owner_id)) gone.add(owner_id);
      await drop();
      await store.run('DELETE FROM owners WHERE owner_id = ?', owner_id);
      leaving.delete(owner_id);
    },
  };
}
