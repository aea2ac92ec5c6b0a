// Bodies that are under way: whoever sends one slowly holds a piece of root's memory for as long.
import { clientKey, networkKey } from './limit.ts';

/** Bodies at once; 64 MiB when all are as large as they may be. One that comes whole with its head takes no time. */
const MOST = { client: 64, network: 256, all: 1024 };

export interface Uploads {
  /** A body begins. @returns what to call when it has ended, or undefined when too many are under way */
  begin(ip: string): (() => void) | undefined;
}

/** @param most bodies at once of a client (`clientKey`), of its network (`networkKey`), and of all */
export function openUploads(most = MOST): Uploads {
  const counts = new Map<string, number>();
  const count = (key: string) => counts.get(key) ?? 0;
  function add(key: string, n: number): void {
    const now = count(key) + n;
    if (now === 0) counts.delete(key);
    else counts.set(key, now);
  }
  return {
    begin(ip) {
      const bounds = [
        ['all', most.all],
        [`client ${clientKey(ip)}`, most.client],
        [`network ${networkKey(ip)}`, most.network],
      ] as const;
      if (bounds.some(([key, bound]) => count(key) >= bound)) return undefined;
      for (const [key] of bounds) add(key, 1);
      let isUnderWay = true;
      return () => {
        if (isUnderWay) for (const [key] of bounds) add(key, -1);
        isUnderWay = false;
      };
    },
  };
}
