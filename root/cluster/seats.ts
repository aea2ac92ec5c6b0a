// At which node the ends of a hub are to be, by the names that the nodes have told.
import { createHash } from 'node:crypto';
import type { Homes } from './homes.ts';
import type { Member } from './registry.ts';

/**
 * The node of a hub (rendezvous hashing, Thaler and Ravishankar 1998): all that know the same names say the same one, and
 * when a node comes or goes, only the hubs move that are to be at that one.
 */
export function seatOf(hubId: string, names: readonly string[]): string | undefined {
  const weight = (name: string) => createHash('sha256').update(`${name} ${hubId}`).digest('hex');
  return names
    .map((name) => ({ name, weight: weight(name) }))
    .sort((a, b) => (a.weight < b.weight ? -1 : 1))
    .at(-1)?.name;
}

/**
 * @param nodes this node and those it knows; a name is '' where nobody is to be sent @param mine this node's name
 * @param reaches whether a node answers this one
 */
export function openSeats(
  homes: Pick<Homes, 'homeOf'>,
  nodes: () => readonly Member[],
  mine: string,
  reaches: (id: string) => boolean,
) {
  return {
    /**
     * The name of the other node where an end is to be; null: here, or nothing is known.
     * @param isLed a hint has led it here: it stays, but where a browser's hub is at home in a node that this one cannot
     * reach; it would come back by the same hint for as long as that counts
     */
    async elsewhere(hubId: string, end: 'hub' | 'browser', isLed: boolean): Promise<string | null> {
      if (isLed && end === 'hub') return null;
      const all = nodes();
      // A browser goes where its hub is, which may be back only later.
      const home = end === 'hub' ? null : await homes.homeOf(hubId).catch(() => undefined);
      if (home === undefined || (isLed && (home === null || reaches(home)))) return null;
      const names = all.map((n) => n.name).filter((name) => name !== '');
      const name = home === null ? seatOf(hubId, names) : all.find((n) => n.id === home)?.name;
      return name && name !== mine ? name : null;
    },
  };
}
