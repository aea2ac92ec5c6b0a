// What waits for receivers that do not keep up: bounded for each of them, for each owner, and for all together.

/** A connection that is written to. */
export interface Receiver {
  /** Whose it is: receivers of one owner share a bound. */
  owner: string;
  /** Bytes that wait for it, as last noted. */
  behind: number;
  /** Cuts the connection, as if its network had gone. */
  cut(): void;
}

export interface Backlog {
  /**
   * Notes how much waits for a receiver now. Beyond a bound somebody is cut off: this receiver, the largest of its
   * owner, or the largest of the owner with the most.
   * @returns false when it was this one
   */
  note(receiver: Receiver, bytes: number): boolean;
  /** Bytes that wait for all. */
  bytes(): number;
}

export interface BacklogBounds {
  owner: number;
  total: number;
}

const MIB = 1024 * 1024;
/** Bytes: a stopped hub (16 MiB) and a stopped browser (4 MiB) of one owner; 48 MiB keep root's growth under 64. */
export const backlogBounds: BacklogBounds = { owner: 20 * MIB, total: 48 * MIB };

export function openBacklog(bounds: BacklogBounds = backlogBounds): Backlog {
  const owners = new Map<string, { bytes: number; behind: Set<Receiver> }>();
  let total = 0;

  function set(r: Receiver, bytes: number): number {
    let mine = owners.get(r.owner);
    if (!mine) {
      mine = { bytes: 0, behind: new Set() };
      owners.set(r.owner, mine);
    }
    total += bytes - r.behind;
    mine.bytes += bytes - r.behind;
    r.behind = bytes;
    if (bytes > 0) mine.behind.add(r);
    else if (mine.behind.delete(r) && mine.behind.size === 0) owners.delete(r.owner);
    return mine.bytes;
  }
  function cutLargest(of: Iterable<Receiver>): Receiver {
    const all = [...of];
    const largest = all.reduce((a, b) => (b.behind > a.behind ? b : a));
    set(largest, 0);
    largest.cut();
    return largest;
  }
  return {
    note(r, bytes) {
      if (bytes === 0 && r.behind === 0) return true;
      const ofOwner = set(r, bytes);
      let alive = true;
      if (ofOwner > bounds.owner) alive = cutLargest(owners.get(r.owner)!.behind) !== r;
      while (total > bounds.total) {
        const most = [...owners.values()].reduce((a, b) => (b.bytes > a.bytes ? b : a));
        if (cutLargest(most.behind) === r) alive = false;
      }
      return alive;
    },
    bytes: () => total,
  };
}
