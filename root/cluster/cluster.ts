// Several processes of root that share a database, and Redis. A hub is at home in one of them, which relays for it: where
// its socket is, or, while it has none, where the first of its browsers came. Redis says which; who is connected
// elsewhere reaches it on a line between nodes.
import type { Backlog } from '../backlog.ts';
import type { End } from '../ends.ts';
import type { Live } from '../links.ts';
import { log } from '../log.ts';
import type { Records } from '../records/records.ts';
import type { Relay } from '../relay.ts';
import { local, type Ways } from '../ways.ts';
import { type Along, openAlong } from './along.ts';
import { arrivals } from './arrivals.ts';
import { openFar, openNear } from './far.ts';
import { type Homes, openHomes } from './homes.ts';
import { keepGoing, type Node, newNode } from './node.ts';
import { type Handlers, type Line, openPeers, type Peers } from './peers.ts';
import { openRegistry } from './registry.ts';
import { openSeats } from './seats.ts';
import { type Asked, openTalk, type Talk } from './talk.ts';

export { newNode };

interface Options {
  /** Redis's address. */
  redis: string;
  /** 32 bytes that all nodes of a database share. */
  key: Buffer;
  node: Node;
  /** Where it listens for the others. */
  listen: { host: string; port: number };
  relay: Relay;
  records: Records;
  backlog: Backlog;
}

export type Cluster = Awaited<ReturnType<typeof openCluster>>;

/** @throws Error with a sentence for the operator when the port for other nodes is taken */
export async function openCluster({ node, relay, backlog, ...o }: Options) {
  const registry = openRegistry(o.redis);
  const homes = openHomes(node, registry, relay, o.records);
  const near = openNear(backlog);
  const far = openFar(relay);
  const along = openAlong((what, of) => {
    for (const line of peers.lines()) void talk.ask(line, what, of).catch(() => {});
  });
  const talk: Talk = openTalk({
    ...answers(relay, homes, far),
    count: (of: Parameters<Along['count']>[1], line: Line) => along.count(line.id, of),
    uncount: (of: { id: number }, line: Line) => along.uncount(line.id, of),
  });
  const side = (of: typeof near | typeof far): Handlers => ({
    said: (line, body) => void (talk.heard(line, body) || of.said(line, body)),
    framed: of.framed,
    lost(line) {
      talk.lost(line);
      of.lost(line);
    },
  });
  let going: ReturnType<typeof keepGoing> | undefined;
  const peers: Peers = await openPeers({
    confirmed: () => going?.confirm(),
    node,
    listen: o.listen,
    key: o.key,
    from: side(far),
    to: side(near),
  });
  going = keepGoing({
    node,
    registry,
    hubs: homes.ids,
    lost: homes.lost,
    others: peers.keep,
    goneAt: peers.goneAt,
    anew() {
      homes.clear();
      peers.reset();
    },
  });
  const reach = openReach(node, homes, peers, talk);
  return {
    ways: {
      ...openSeats(homes, going.nodes, node.me.name, peers.reaches),
      ...clusterWays(relay, homes, reach),
      ...arrivals(node, relay, homes, reach, near),
      ...local(relay),
      drop(sid: string) {
        relay.drop(sid);
        for (const line of peers.lines()) void talk.ask(line, 'drop', { sid }).catch(() => {});
      },
    } satisfies Ways as Ways,
    along,
    /** Whether this node may take hubs. */
    isReady: () => node.tenure.mayTake(),
    /** Whether this node has lost its hubs and could not begin anew. */
    isOut: going.isOut,
    sweep: homes.sweep,
    /** This node ends soon: nobody is sent to it any more. */
    drain(): void {
      node.isLeaving = true;
    },
    /** Says that this node ends: its hubs may be taken at once. */
    async close(): Promise<void> {
      going?.close();
      peers.close();
      await registry.leave(node.me).catch(() => {});
      registry.close();
    },
  };
}

/** What a node answers others, on a line of theirs. */
function answers(relay: Relay, homes: Homes, far: ReturnType<typeof openFar>) {
  return {
    async up({ end, session, member }: Asked['up'], line: Parameters<typeof far.open>[0]) {
      const up = (e: End) =>
        member ? { link: relay.memberUp(session, e), status: null } : relay.browserUp(session, e);
      return (await far.open(line, end, homes.takeHere(session.hub_id!), up)).status;
    },
    // What is being taken here is waited for: its routes are read from the records meanwhile.
    async route({ session, pub }: Asked['route']) {
      await homes.takeHere(session.hub_id!);
      return relay.route(session, pub);
    },
    async bind({ hubId, sid, sealed }: Asked['bind']) {
      await homes.takeHere(hubId);
      await relay.bind(hubId, sid, sealed);
    },
    live: ({ sid }: Asked['sid']) => relay.live(sid),
    letGo: ({ hubId, sid }: Asked['letGo']) => relay.letGo(hubId, sid),
    online: ({ hubId }: Asked['hub']) => homes.has(hubId) && relay.isOnline(hubId),
    ask: ({ hubId, event, message, ms }: Asked['ask']) => relay.ask(hubId, event, message, ms),
    tell: ({ hubId, event, message }: Asked['ask']) => relay.tell(hubId, event, message),
    yield: ({ hubId }: Asked['hub']) => homes.yieldTo(hubId),
    drop: ({ sid }: Asked['sid']) => relay.drop(sid),
    extend: ({ sid }: Asked['sid']) => relay.extend(sid),
    rotated: ({ hubId, cut }: Asked['rotated']) => relay.rotated(hubId, cut),
  };
}

type Reach = ReturnType<typeof openReach>;

function openReach(node: Node, homes: Homes, peers: Peers, talk: Talk) {
  /**
   * Does something where a hub is at home, here or by asking `what`. @returns undefined where it has no home
   * @throws IngleError `unavailable`, and what it says there
   */
  async function atHome<T>(hubId: string, here: () => T | Promise<T>, what: string, of: object, ms?: number) {
    if (homes.has(hubId)) return here();
    const home = await homes.homeOf(hubId);
    if (home === null) return undefined;
    if (home === node.me.id) return here();
    return talk.ask<T>(await peers.lineTo(home), what, of, ms);
  }
  return {
    atHome,
    /** Without an answer. Where the home cannot be reached it is frozen or gone, and its ends come back anyway. */
    sayAtHome(hubId: string, here: () => void, what: string, of: object): void {
      atHome(hubId, here, what, of).catch((e) => log('debug', `${what} did not arrive`, { cause: e }));
    },
    lineTo: peers.lineTo,
    ask: talk.ask,
  };
}

/** What is asked of a hub's home, wherever that is. */
function clusterWays(
  relay: Relay,
  homes: Homes,
  { atHome, sayAtHome }: Reach,
): Omit<
  Ways,
  'settle' | 'isSettled' | 'elsewhere' | 'browserUp' | 'memberUp' | 'toHub' | 'browserDown' | 'drop'
> {
  return {
    async route(session, pub, left) {
      if (left !== null) {
        const of: Asked['letGo'] = { hubId: left, sid: session.sid };
        sayAtHome(left, () => relay.letGo(left, session.sid), 'letGo', of);
      }
      const of: Asked['route'] = { session, pub };
      return (await atHome(session.hub_id!, () => relay.route(session, pub), 'route', of)) ?? false;
    },
    async bind(hubId, sid, sealed) {
      const bind = async () => {
        await relay.bind(hubId, sid, sealed);
        return null;
      };
      const of: Asked['bind'] = { hubId, sid, sealed };
      // A hub without a home has no browser that waits: that says the relay here.
      if ((await atHome<null>(hubId, bind, 'bind', of)) === undefined && !homes.has(hubId)) await bind();
    },
    extend({ sid, hub_id }) {
      if (hub_id !== null) sayAtHome(hub_id, () => relay.extend(sid), 'extend', { sid });
    },
    rotated: (hubId, cut) => sayAtHome(hubId, () => relay.rotated(hubId, cut), 'rotated', { hubId, cut }),
    live: async ({ sid, hub_id }) =>
      hub_id === null ? undefined : atHome<Live | undefined>(hub_id, () => relay.live(sid), 'live', { sid }),
    isOnline: async (hubId) =>
      (await atHome(hubId, () => relay.isOnline(hubId), 'online', { hubId })) ?? false,
    async ask(hubId, event, message, ms) {
      const here = () => relay.ask(hubId, event, message, ms);
      const of: Asked['ask'] = { hubId, event, message, ms };
      return (await atHome(hubId, here, 'ask', of, ms + 1000)) ?? here();
    },
    tell: (hubId, event, message) =>
      sayAtHome(hubId, () => relay.tell(hubId, event, message), 'tell', { hubId, event, message, ms: 0 }),
  };
}
