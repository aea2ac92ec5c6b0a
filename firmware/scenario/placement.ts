// Which hub of a subnet does a run: one that has what its scenario needs. Pure.

/** A hub as far as that matters. `has` holds constraints it meets, as `has:mic` or `region:eu`. */
export interface Candidate {
  hub_id: string;
  has: ReadonlySet<string>;
  /** It is heard now. */
  isHere: boolean;
  /** Runs it has already. */
  load: number;
}

export type Placement = { at: 'here' } | { at: 'member'; hub_id: string } | { at: 'none'; lacks: string };

/**
 * This hub does what it can do itself. Otherwise the member with the fewest runs does it of those that are heard and
 * have everything; of equals the first by id, so the answer is the same each time.
 */
export function placementOf(
  constraints: readonly string[],
  own: ReadonlySet<string>,
  members: readonly Candidate[],
): Placement {
  const lacks = constraints.find((c) => !own.has(c));
  if (lacks === undefined) return { at: 'here' };
  const able = members
    .filter((m) => m.isHere && constraints.every((c) => m.has.has(c)))
    .sort((a, b) => a.load - b.load || (a.hub_id < b.hub_id ? -1 : 1));
  return able[0] ? { at: 'member', hub_id: able[0].hub_id } : { at: 'none', lacks };
}

/** A constraint in words: what a hub would have to have. */
export const wordsOf = (constraint: string): string => constraint.replace(/^has:/, '').replace(':', ' ');
