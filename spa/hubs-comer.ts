// Who came by the code that was made for a hub. Pure.
import type { Node } from './hubs-hub.ts';

type Known = Pick<Node, 'hub_id' | 'state' | 'since'>;

const isIn = (n: Known | undefined) => n !== undefined && n.state !== 'left';

/** Of the nodes now, who has come since the code was made, when there were those of `then`. */
export const comer = <N extends Known>(now: readonly N[], then: readonly Known[]): N | undefined =>
  now.find((n) => {
    const before = then.find((b) => b.hub_id === n.hub_id);
    // A member that is let in once more was one before.
    return isIn(n) && (!isIn(before) || (n.state === 'joined' && n.since !== before?.since));
  });
