// timeout: 500 s
// Two and three processes of root, each in a network of its own, behind HAProxy as its file in root/ops has it. In the
// midst of long transfers, changes and edits one is killed, stands still, or is cut off, from the others or from all but
// its clients. The hub's end is its own services; the browser's is the application's link (page.ts).
import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fromBase64url, toBase64url } from '../../firmware/protocol/bytes.ts';
import { challengeOf } from '../../firmware/protocol/pairing/assertion.ts';
import type { RelayMessage } from '../../firmware/protocol/wire.ts';
import { freePort } from '../../services/cli/house/runtime.ts';
import { type Cable, openCable } from '../lab/cable.ts';
import { child, ended } from '../lab/child.ts';
import { type Cut, inOwnNet, type Net, noNets, openNets } from '../lab/netns.ts';
import { started } from '../lab/started.ts';
import { tried, until } from '../lab/wait.ts';
import { startHub, type TestHub } from '../services/hub.ts';
import { accessOf, localApi, signIn, startUplink, type UplinkProcess } from '../uplink/kit.ts';
import { call } from './kit.ts';
import { homesOf, type Nodes, type Place, paired, startNodesIn, stopNodes } from './nodes.ts';
import type { Order, Told } from './page.ts';
import { HELD, PIECE, sha256, whole } from './payload.ts';

const why = await noNets();
if (why) console.log(`SKIP root in networks of its own: ${why}`);
else await inOwnNet();

const ORIGIN = 'http://localhost:9';
const MIDST = 3_000_000;
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

type Page = Awaited<ReturnType<typeof openPage>>;
interface World extends Nodes {
  nets: Awaited<ReturnType<typeof openNets<'n1' | 'n2' | 'n3'>>>;
  haproxy: ChildProcess;
  /** Ports of HAProxy that lead to one node each. */
  straight: number[];
  hub: TestHub;
  api: Awaited<ReturnType<typeof localApi>>;
  uplink: UplinkProcess;
  at: Awaited<ReturnType<UplinkProcess['enrolled']>>;
  /** Where hub and pages are led, until they are left to HAProxy. */
  hubWay: Seat;
  big: ReturnType<typeof big>;
  pages: Page[];
  /** Another hub and its browser. */
  others: Awaited<ReturnType<typeof paired>>;
  /** What came to them and is not theirs. */
  strange: RelayMessage[];
}
const test = suite<World>('partition');
const check = why ? test.skip : test;

/** A client's way to HAProxy: to its front, or for now to the port that leads to one node. */
type Seat = Awaited<ReturnType<typeof openSeat>>;
async function openSeat(front: number) {
  let to = front;
  let byHint = 0;
  const cable: Cable = await openCable(
    () => to,
    (said) => {
      if (/^GET \/socket\.io\/\?\S*\bat=node\d\./.test(said.toString('latin1'))) byHint++;
    },
  );
  return {
    url: `http://127.0.0.1:${cable.port}`,
    /** How often it came with a hint of root's. */
    byHint: () => byHint,
    /** It comes back by this port; what comes later finds its own way. */
    sit(port: number) {
      to = port;
      cable.plug();
    },
    free() {
      to = front;
    },
    close: cable.close,
  };
}

/** Root's own file, and a port for each node that shares its checks. */
async function startProxy(nodes: readonly Place[], dir: string, front: number, straight: readonly number[]) {
  const at = nodes.map((n) => n.url.slice('http://'.length));
  const listens = at.map(
    (address, i) => `listen straight${i + 1}
  bind 127.0.0.1:${straight[i]}
  server only ${address} track nodes/node${i + 1} on-marked-down shutdown-sessions
`,
  );
  const file = join(dir, 'straight.cfg');
  writeFileSync(file, listens.join(''));
  const env = Object.fromEntries(at.map((address, i) => [`NODE_${i + 1}`, address]));
  return child('haproxy', ['-db', '-q', '-n', '2000', '-f', 'root/ops/haproxy.cfg', '-f', file], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, LISTEN: `127.0.0.1:${front}`, ...env },
  });
}

/** What is long at the hub's API: given, and taken. */
function big() {
  let isGoing = false;
  const taken: string[] = [];
  return {
    /** What came whole. */
    taken,
    hold(held: boolean) {
      isGoing = !held;
    },
    async serve(q: IncomingMessage, s: ServerResponse, body: string): Promise<void> {
      if (q.url !== '/big') return void s.end('{}');
      if (q.method === 'POST') {
        taken.push(createHash('sha256').update(body).digest('hex'));
        return void s.end(JSON.stringify({ sha256: taken.at(-1) }));
      }
      for (let at = 0; at < whole.length && !s.destroyed; at += PIECE) {
        while (at > HELD && !isGoing) await pause(5);
        await new Promise((done) => s.write(whole.subarray(at, at + PIECE), done));
        await pause(4);
      }
      s.end();
    },
  };
}

/** A browser that has paired with the hub. */
async function openPage(c: World, seat: Seat, root: { url: string; origin: string }) {
  const { code, access } = accessOf((await c.uplink.calls.IssueCode({ new_passkey: false })).link);
  const keys = c.pages[0]?.keys;
  const tab = await signIn(root, `${code.slice(0, 3)}-${code.slice(3)}`, keys ? { keys } : {});
  const { hub_id, owner_id, subnet_id } = c.at;
  const args = ['--import', 'tsx', 'test/root/page.ts', seat.url, ORIGIN];
  const program = child(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const told: Told[] = [];
  const of = <T extends Told['t']>(t: T) => told.filter((m): m is Told & { t: T } => m.t === t);
  const order = (o: Order) => void program.send(o);
  program.on('message', async (m: Told) => {
    told.push(m);
    if (m.t !== 'asks') return;
    const bytes = fromBase64url(m.handshake);
    const challenge = await challengeOf({ purpose: 'hub', context: hub_id, bytes });
    order({ do: 'assert', credential: tab.keys.get({ challenge, rpId: 'localhost' }) });
  });
  const used = tab.keys.keys[0]!;
  order({
    do: 'visit',
    room: `${owner_id}/desktop/state:owner/${owner_id}`,
    session: {
      ...{ sid: tab.sid, browser: tab.browser, session_jwt: tab.token, hub_id, owner_id, subnet_id },
      ...{ browser_key_id: tab.browser_key_id, passkey: { id: used.id, public_key: used.cose } },
      access: {
        mode: 'link',
        hubStatic: toBase64url(access.hubStatic),
        psk: toBase64url(access.psk),
      },
    },
  });
  await until(() => of('up').length > 0, 'a page to be up');
  return {
    ...{ seat, keys: tab.keys, order, of },
    /** Nothing that was told counts any more. */
    forget: () => void told.splice(0),
    async content() {
      const before = of('content').length;
      order({ do: 'content' });
      await until(() => of('content').length > before, 'what a page has');
      return of('content').at(-1)!.content;
    },
    close() {
      program.kill('SIGKILL');
      seat.close();
    },
  };
}

test.before(async (c) => {
  if (why) return;
  Object.assign(c, { pages: [], big: big() });
  c.nets = await openNets(['n1', 'n2', 'n3'], { here: true });
  const { n1, n2, n3 } = c.nets.nets;
  const front = await freePort('127.0.0.1');
  c.straight = [];
  for (let i = 0; i < 3; i++) c.straight.push(await freePort('127.0.0.1'));
  const [url, api] = [`http://127.0.0.1:${front}`, `http://localhost:${front}`];
  const root = { url, api, origin: ORIGIN };
  c.hubWay = await openSeat(front);
  const env = { INGLE_ROOT_ORIGIN: ORIGIN, INGLE_ROOT_API: api, INGLE_ROOT_AUDIENCE: c.hubWay.url };
  const [world, hub] = await started(
    startNodesIn([n1, n2, n3], env).then((w) => ({ ...w, stop: () => stopNodes(w) })),
    startHub(),
  );
  Object.assign(c, { database: world.database, redis: world.redis, nodes: world.nodes, hub });
  c.haproxy = await startProxy(c.nodes, hub.data, front, c.straight);
  await until(
    tried(async () => (await call(root, 'GET', '/health/ready')).status === 200),
    'HAProxy',
  );
  c.api = await localApi(hub.token(), { sockets: Number(new URL(hub.base).port) });
  c.api.use(c.big.serve);
  c.uplink = await startUplink({
    ...{ root: c.hubWay.url, apiPort: c.api.port, token: hub.token() },
    beside: { bus: hub.bus.address, data: hub.data },
  });
  c.at = await c.uplink.enrolled();
  for (let i = 0; i < 2; i++) c.pages.push(await openPage(c, await openSeat(front), root));
  c.others = await paired(root, root, { at: '' });
  c.strange = [];
  const theirs = Buffer.alloc(9, 1);
  const look = (m: RelayMessage) =>
    void ((m.sid === c.others.tab.sid && theirs.equals(m.frame)) || c.strange.push(m));
  c.others.line.on('relay.to_hub', look);
  c.others.owner.on('relay.to_browser', look);
});
test.after(async (c) => {
  for (const p of c.pages ?? []) p.close();
  c.others?.close();
  await c.uplink?.stop();
  await c.api?.stop();
  await c.hub?.stop();
  if (c.haproxy) await ended(c.haproxy, 'SIGKILL', 'HAProxy');
  await stopNodes(c);
  c.hubWay?.close();
  c.nets?.remove();
});

/** What befalls the hub's home. @returns what mends it */
type Fault = (c: World, home: number, others: number[]) => Promise<() => Promise<void>>;
const netOf = ({ nets }: World, i: number): Net => Object.values(nets.nets)[i]!;
const faults: Record<string, Fault> = {
  'is killed': async ({ nodes }, i) => {
    const home = nodes[i]!;
    home.killed = Date.now();
    await home.kill();
    return home.again;
  },
  'stands still for a minute': async ({ nodes }, i) => {
    const home = nodes[i]!;
    const before = home.log().length;
    process.kill(home.pid(), 'SIGSTOP');
    const end = performance.now() + 60_000;
    return async () => {
      await pause(end - performance.now());
      process.kill(home.pid(), 'SIGCONT');
      await until(() => /begins anew/.test(home.log().slice(before)), 'it to know that its time is over');
    };
  },
  'is cut off from the others': async (c, home, others) => {
    await c.nets.cut(...others.map((i): Cut => [netOf(c, home), netOf(c, i)]));
    return () => c.nets.cut();
  },
  'is cut off from all but its clients': async (c, home, others) => {
    const between = others.map((i): Cut => [netOf(c, home), netOf(c, i)]);
    await c.nets.cut(...between, [netOf(c, home), [c.database.port, c.redis.port]]);
    return async () => {
      for (const path of ['/health/ready', '/health/serving'])
        assert.is((await call(c.nodes[home]!, 'GET', path)).status, 503);
      await c.nets.cut();
    };
  },
};

const ready = (nodes: readonly Place[]) =>
  until(
    tried(async () => {
      for (const n of nodes) if ((await call(n, 'GET', '/health/ready')).status !== 200) return false;
      return true;
    }),
    'all nodes to be ready',
  );
/** The hub and a page at one node, the other page at another one. */
async function takeSeats(c: World, home: number, far: number): Promise<void> {
  for (const p of c.pages) p.forget();
  c.hubWay.sit(c.straight[home]!);
  c.pages[0]!.seat.sit(c.straight[far]!);
  c.pages[1]!.seat.sit(c.straight[home]!);
  for (const p of c.pages) await until(() => p.of('up').length > 0, 'a page to be up');
  for (const s of [c.hubWay, ...c.pages.map((p) => p.seat)]) s.free();
}

async function survives(c: World, count: number, name: string, fault: Fault): Promise<void> {
  const { api, pages, others } = c;
  const nodes = c.nodes.slice(0, count);
  if (nodes.length < c.nodes.length && c.nodes.at(-1)!.alive()) await leave(c.nodes);
  await ready(nodes);
  const [home, far] = [count % 2, (count + 1) % 2];
  await takeSeats(c, home, far);
  const before = api.runs;
  c.big.hold(true);
  const ways = count % 2 ? (['down', 'up'] as const) : (['up', 'down'] as const);
  for (const [i, p] of pages.entries()) p.order({ do: 'work', name: `${count} ${name} ${i}`, way: ways[i]! });
  let isOver = false;
  const beside = (async () => {
    while (!isOver) await others.passes(`beside one that ${name}`);
  })();
  beside.catch(() => {});
  const isMidst = (p: Page) => (p.of('has').at(-1)?.bytes ?? 0) > MIDST;
  await until(() => pages.every(isMidst), 'the transfers to be in their midst');
  const mend = await fault(
    c,
    home,
    nodes.map((_, i) => i).filter((i) => i !== home),
  );
  try {
    for (const p of pages) assert.equal(p.of('through'), []);
    c.big.hold(false);
    for (const p of pages) p.order({ do: 'go' });
    await until(() => pages.every((p) => p.of('worked').length > 0), 'all that was begun to be done');
  } finally {
    // Others' frames pass while it comes back, too.
    await mend().finally(() => {
      isOver = true;
    });
  }
  await beside;

  const worked = pages.map((p) => p.of('worked')[0]!);
  const silent = Math.max(...worked.map((w) => w.silent));
  console.log(
    `\nFIGURE root.${count}_nodes.${name.replaceAll(' ', '_')}.silent_s ${(silent / 1000).toFixed(1)}`,
  );
  for (const [i, p] of pages.entries()) {
    assert.equal(p.of('wrong'), []);
    assert.equal(p.of('through'), [{ t: 'through', way: ways[i], sha256 }]);
  }
  assert.ok(pages[0]!.of('broke').length > 0, 'its transfer was told as broken');
  assert.not.match(c.uplink.log(), /alarm=/);
  assert.ok(
    c.big.taken.every((s) => s === sha256),
    'what came in part is nothing to the hub',
  );
  const changes = worked.flatMap((w) => w.changes);
  assert.is(api.runs - before, changes.length, 'each change is done once');
  for (const id of changes) assert.ok(api.done.has(id));
  const edits = worked.flatMap((w) => w.edits);
  await until(async () => {
    const [a, b] = await Promise.all(pages.map((p) => p.content()));
    return edits.every((key) => key in a! && key in b!);
  }, 'both pages to have all edits');
  assert.equal(c.strange, [], 'a frame that is not theirs');
  for (const heard of [others.heard.hub, others.heard.browser])
    assert.ok(
      heard.every((ctr, i) => i === 0 || ctr > heard[i - 1]!),
      'their frames, each once',
    );
}

/** The third one goes for good. */
async function leave(nodes: readonly Place[]): Promise<void> {
  const last = nodes.at(-1)!;
  last.killed = Date.now();
  await last.kill();
}

for (const count of [3, 2])
  for (const [name, fault] of Object.entries(faults))
    check(`of ${count} nodes one ${name}: transfers, changes and edits go on, each once`, (c) =>
      survives(c, count, name, fault),
    );

check('the hub and the pages follow the hints of root', ({ hubWay, pages }) => {
  for (const seat of [hubWay, ...pages.map((p) => p.seat)]) assert.ok(seat.byHint() > 0);
});

check('no hub had two homes at any time', ({ nodes }) => {
  assert.ok(homesOf(nodes) > 10);
});

test.run();
