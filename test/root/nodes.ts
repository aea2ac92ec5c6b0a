// Several processes of root on one PostgreSQL and one Redis, and clients that meet by way of them.
import type { Socket } from 'socket.io-client';
import { freePort } from '../../services/cli/house/runtime.ts';
import { openCable } from '../lab/cable.ts';
import type { Net } from '../lab/netns.ts';
import { type Postgres, startPostgres } from '../lab/postgres.ts';
import { type Redis, startRedis } from '../lab/redis.ts';
import { started } from '../lab/started.ts';
import { granted, Refused, type RootProcess, signedIn, startRoot, until } from './kit.ts';

/** A node, and when it was killed last. */
export type Place = RootProcess & { killed: number };
export interface Nodes {
  database: Postgres;
  redis: Redis;
  nodes: Place[];
}

/** Databases and nodes on them. @param placeOf where a node is, and the words before its program */
async function nodesAt(
  count: number,
  o: { open?: boolean },
  env: Record<string, string>,
  placeOf: (i: number) => { host: string; databases: string; words: string[] },
): Promise<Nodes> {
  const [database, redis] = await started(startPostgres({ flush: false, ...o }), startRedis(o));
  const node = async (_: unknown, i: number) => {
    const { host, databases, words } = placeOf(i);
    const at = {
      INGLE_ROOT_DATABASE: database.url('postgres', databases),
      INGLE_ROOT_REDIS: `redis://${databases}:${redis.port}`,
      INGLE_ROOT_HOST: host,
      INGLE_ROOT_PEER: `${host}:${await freePort('127.0.0.1')}`,
      INGLE_ROOT_NAME: `node${i + 1}`,
      INGLE_LOG: 'debug',
    };
    return { ...(await startRoot({ ...at, ...env }, words)), killed: 0 };
  };
  try {
    return { database, redis, nodes: await started(...Array.from({ length: count }, node)) };
  } catch (e) {
    await stopNodes({ database, redis });
    throw e;
  }
}

export const startNodes = (count: number, env: Record<string, string>): Promise<Nodes> =>
  nodesAt(count, {}, env, () => ({ host: '127.0.0.1', databases: '127.0.0.1', words: [] }));

/** Each in a network of its own, which reaches databases and the others by way of the middle one, where this process is. */
export const startNodesIn = (nets: readonly Net[], env: Record<string, string>): Promise<Nodes> =>
  nodesAt(nets.length, { open: true }, env, (i) => {
    const { name, address, middle } = nets[i]!;
    return { host: address, databases: middle, words: ['ip', 'netns', 'exec', name] };
  });

export async function stopNodes(c: Partial<Nodes>): Promise<void> {
  for (const n of c.nodes ?? []) await n.stop();
  await c.redis?.stop();
  await c.database?.stop();
}

interface Seat {
  url: string;
  origin: string;
}

/**
 * What `work` comes to. It begins anew where it was cut, or root could not tell just then: on a busy machine a node may
 * be late, or be taken for gone, and a code that was spent in an answer that was cut is spent.
 */
function untilServed<T extends object>(work: () => Promise<T>, what: string): Promise<T> {
  const attempt = () =>
    work().catch((e) => {
      // What `fetch` says of a connection that broke.
      if (e instanceof TypeError || (e instanceof Refused && e.isPassing)) return undefined;
      throw e;
    });
  return until(attempt, what) as Promise<T>;
}

/** A hub and a browser that come to root at these addresses, with their route bound; `at`: both take hints, and bring this one. */
export async function paired(hubSeat: Seat, tabSeat: Seat, o: { at?: string } = {}) {
  const { hub, tab } = await untilServed(() => signedIn(hubSeat, tabSeat), 'a browser to be signed in');
  const line = hub.socket(o);
  const owner = tab.socket({ announce: false, ...o });
  let isOver = false;
  const again = (s: Socket) => setTimeout(() => isOver || s.connect(), 200);
  // As ours do, a browser that root does not take just then comes back, and so does a hub that root let go.
  const online = (ack: { ok: boolean }) => ack.ok || again(owner.disconnect());
  owner.on('connect', () => owner.emit('owner.online', tab.online(), online));
  line.on('disconnect', (why) => why === 'io server disconnect' && again(line));
  const heard = { hub: [] as number[], browser: [] as number[] };
  line.on('relay.to_hub', (m: { sid: string; ctr: number }) => m.sid === tab.sid && heard.hub.push(m.ctr));
  owner.on('relay.to_browser', (m: { ctr: number }) => heard.browser.push(m.ctr));
  // What was told on a connection counts as long as that lives.
  owner.on('disconnect', () => delete owner.last);
  await untilServed(async () => granted(await tab.offer()), 'an offer to be taken');
  let ctr = 0;
  let was: string | undefined;
  let offered = performance.now();
  /** As a browser does, it asks again where its hub is there and does not answer. */
  async function bound(): Promise<boolean> {
    const { route, hub_online } = owner.last ?? {};
    if (route === 'waiting' && hub_online && performance.now() - offered > 2000) {
      offered = performance.now();
      await tab.offer();
    }
    return owner.connected && owner.last?.route === 'bound' && owner.last.hub_online;
  }
  await until(bound, 'a bound route');
  return {
    ...{ hub, tab, line, owner, heard, bound },
    /** From now on `back` means another connection of the browser than the present one. */
    leaves() {
      was = owner.id;
    },
    /** The browser has come back, and its route is bound. */
    back: (what: string) => until(async () => owner.id !== was && (await bound()), what),
    /** Frames pass both ways. A frame of a route that just broke may be lost, and another one goes. */
    async passes(what: string) {
      const [up, down] = [heard.hub.length, heard.browser.length];
      await until(async () => {
        ctr++;
        const m = { sid: tab.sid, frame: Buffer.alloc(9, 1), ctr };
        owner.emit('relay.to_hub', m);
        line.emit('relay.to_browser', m);
        await new Promise((resolve) => setTimeout(resolve, 20));
        return heard.hub.length > up && heard.browser.length > down;
      }, `frames ${what}`).catch((e) => {
        console.error(`hub connected: ${line.connected}, browser: ${owner.connected}`, owner.last);
        throw e;
      });
    },
    close() {
      isOver = true;
      line.close();
      owner.close();
    },
  };
}

/** The way of one client to its node: what a balancer is for it. */
async function seat(node: Place, origin: string) {
  let now = node;
  const cable = await openCable(() => now.port);
  return {
    url: `http://127.0.0.1:${cable.port}`,
    origin,
    /** From now on its connections go to another node; those it has break off. */
    move(to: Place) {
      now = to;
      cable.plug();
    },
    close: cable.close,
  };
}

/** A hub at one node and a browser at another, with their route bound. */
export async function pairAt(hubAt: Place, tabAt: Place, origin: string) {
  const [hubSeat, tabSeat] = [await seat(hubAt, origin), await seat(tabAt, origin)];
  const p = await paired(hubSeat, tabSeat);
  return {
    ...p,
    /** One of them, or both, come to another node. */
    move(to: { hub?: Place; tab?: Place }) {
      p.leaves();
      if (to.hub) hubSeat.move(to.hub);
      if (to.tab) tabSeat.move(to.tab);
    },
    close() {
      p.close();
      hubSeat.close();
      tabSeat.close();
    },
  };
}

/** What is looked at of a node afterwards. */
export type Told = Pick<Place, 'log' | 'alive' | 'killed'>;

/** When a node said that a hub is at home in it, and until when. */
function tenures(nodes: readonly Told[]) {
  const found: { hub: string; node: string; from: number; to: number }[] = [];
  for (const n of nodes) {
    const open = new Map<string, (typeof found)[number]>();
    for (const line of n.log().split('\n')) {
      const at = Date.parse(line.split(' ')[0]!);
      if (Number.isNaN(at) && line !== '') throw new Error(`no time in ${line}`);
      const field = (name: string) => new RegExp(` ${name}=(\\S+)`).exec(line)?.[1]?.replace(/"/g, '') ?? '';
      const [hub, node] = [field('hub_id'), field('node')];
      if (/is at home here/.test(line)) {
        const t = { hub, node, from: at, to: Number.POSITIVE_INFINITY };
        found.push(t);
        open.set(hub, t);
      } else if (/has left/.test(line)) {
        const t = open.get(hub);
        if (t) t.to = at;
        open.delete(hub);
      } else if (/begins anew/.test(line) || /listening/.test(line)) {
        const until = /listening/.test(line) ? n.killed : Date.parse(field('until'));
        for (const t of open.values()) t.to = Math.min(t.to, until);
        open.clear();
      }
    }
    if (!n.alive()) for (const t of open.values()) t.to = Math.min(t.to, n.killed);
  }
  return found;
}

/** How often a hub was at home anywhere. @throws Error where one was at home in two nodes at any time */
export function homesOf(nodes: readonly Told[]): number {
  const found = tenures(nodes);
  for (const x of found)
    for (const y of found)
      if (x !== y && x.hub === y.hub && x.from <= y.from && !(x.to <= y.from))
        throw new Error(`${x.hub}: ${x.node} until ${x.to}, ${y.node} from ${y.from}`);
  return found.length;
}
