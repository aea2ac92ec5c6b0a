// Ends that come to this node: each is let in where its hub is at home, here or on a line to another node.
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { RouteStatus } from '../../firmware/protocol/wire.ts';
import type { End } from '../ends.ts';
import type { Relay } from '../relay.ts';
import type { Routed } from '../table.ts';
import type { Way, Ways } from '../ways.ts';
import type { openNear } from './far.ts';
import type { Homes } from './homes.ts';
import type { Node } from './node.ts';
import type { Peers } from './peers.ts';
import type { Asked, Talk } from './talk.ts';

/** How long to wait before a hub's home is looked for again, milliseconds, each time. */
const MOVING = [50, 200, 500];

type Arrived = { way: Way; status: RouteStatus | null };

export function arrivals(
  node: Pick<Node, 'me'>,
  relay: Pick<Relay, 'browserUp' | 'memberUp'>,
  homes: Pick<Homes, 'homeFor' | 'check' | 'takeHere' | 'has'>,
  { lineTo, ask }: Pick<Peers, 'lineTo'> & Pick<Talk, 'ask'>,
  near: Pick<ReturnType<typeof openNear>, 'open' | 'way'>,
): Pick<Ways, 'settle' | 'isSettled' | 'browserUp' | 'memberUp'> {
  /** The newest end of each sid that is being let in. */
  const coming = new Map<string, End>();

  /** An end whose hub is at home in another node. */
  async function farUp(home: string, s: Routed, end: End, member: boolean): Promise<Arrived> {
    const line = await lineTo(home);
    const number = near.open(line, s.sid, end);
    const way = near.way(line, number);
    const session = {
      ...{ sid: s.sid, stage: s.stage },
      ...{ owner_id: s.owner_id, subnet_id: s.subnet_id, hub_id: s.hub_id },
    };
    try {
      const of: Asked['up'] = { end: number, session, member };
      return { way, status: await ask<RouteStatus | null>(line, 'up', of) };
    } catch (e) {
      way.down();
      throw e;
    }
  }
  /** A hub may be moving: what does not find it looks again, where it is then. */
  async function again<T>(work: () => Promise<T>): Promise<T> {
    for (const wait of MOVING)
      try {
        return await work();
      } catch (e) {
        if (!(e instanceof IngleError) || e.code !== 'unavailable') throw e;
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
    return work();
  }
  async function up(session: Routed, end: End, member: boolean): Promise<Arrived> {
    const home = await homes.homeFor(session.hub_id!);
    // Whoever is let in last has the sid, so one that has gone, or was overtaken while it waited, would put out the newer.
    const isNewest = coming.get(session.sid) === end;
    if (!isNewest) end.disconnect(true);
    if (!isNewest || end.connected === false)
      throw new IngleError('conflict', 'This connection has given way to a newer one.');
    if (home !== node.me.id) return farUp(home, session, end, member);
    homes.check(session.hub_id!);
    if (member) return { way: relay.memberUp(session, end), status: null };
    const { link, status } = relay.browserUp(session, end);
    return { way: link, status };
  }
  async function arrive(session: Routed, end: End, member: boolean): Promise<Arrived> {
    coming.set(session.sid, end);
    try {
      return await again(() => up(session, end, member));
    } finally {
      if (coming.get(session.sid) === end) coming.delete(session.sid);
    }
  }
  return {
    settle: (hubId) =>
      again(async () => {
        const home = await homes.homeFor(hubId);
        if (home !== node.me.id) await ask(await lineTo(home), 'yield', { hubId } satisfies Asked['hub']);
        await homes.takeHere(hubId);
      }),
    isSettled: homes.has,
    async browserUp(session, end) {
      const { way, status } = await arrive(session, end, false);
      return { way, status: status! };
    },
    memberUp: async (session, end) => (await arrive({ ...session, stage: 'AUTH' }, end, true)).way,
  };
}
