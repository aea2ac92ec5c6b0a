// timeout: 400 s
// Several processes of root on one PostgreSQL and one Redis: hubs and browsers at whichever of them, while nodes are
// killed and frozen, and while Redis is away. Nodes that are cut off: partition.test.ts.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CODE_TRIES_PER_IP_MINUTE } from '../../firmware/protocol/limits.ts';
import { call, heard, newTab, refusal, signedIn, until } from './kit.ts';
import { homesOf, type Nodes, type Place, pairAt, startNodes, stopNodes } from './nodes.ts';

const test = suite<Nodes>('cluster');
const ORIGIN = 'http://localhost:9';

test.before(async (c) => void Object.assign(c, await startNodes(3, { INGLE_ROOT_ORIGIN: ORIGIN })));
test.after(stopNodes);

const pair = (hubAt: Place, tabAt: Place) => pairAt(hubAt, tabAt, ORIGIN);

const failed = async (work: Promise<{ status: number; body: { error?: string } }>) => {
  const { status, body } = await work;
  return `${status} ${body.error}`;
};

test('a hub and its browsers meet, whichever nodes they came to', async ({ nodes: [a, b, c] }) => {
  const p = await pair(a!, b!);
  const frames = 300;
  const big = Buffer.alloc(40_000, 7);
  const sizes: number[] = [];
  p.owner.on('relay.to_browser', (m: { frame: Buffer }) => sizes.push(m.frame.length));
  for (let ctr = 1; ctr <= frames; ctr++) {
    p.line.emit('relay.to_browser', { sid: p.tab.sid, frame: ctr % 9 === 0 ? big : Buffer.from([1]), ctr });
    p.owner.emit('relay.to_hub', { sid: p.tab.sid, frame: Buffer.from([1]), ctr });
  }
  await until(() => p.heard.hub.length === frames && p.heard.browser.length === frames, 'all frames');
  const inOrder = Array.from({ length: frames }, (_, i) => i + 1);
  assert.equal(p.heard.hub, inOrder);
  assert.equal(p.heard.browser, inOrder);
  assert.is(sizes.filter((n) => n === big.length).length, Math.floor(frames / 9));
  // What does not count up, or is another one's, is dropped where the hub is at home.
  p.owner.emit('relay.to_hub', { sid: p.tab.sid, frame: Buffer.from([1]), ctr: 5 });
  p.owner.emit('relay.to_hub', { sid: 'other', frame: Buffer.from([1]), ctr: 1000 });
  p.owner.emit('relay.to_hub', { sid: p.tab.sid, frame: Buffer.from([1]), ctr: 1001 });
  await until(() => p.heard.hub.at(-1) === 1001, 'the last frame');
  assert.is(p.heard.hub.length, frames + 1);
  // A third node knows of both.
  assert.is(await at(c!, p.tab).stage(), 'ONLINE');
  p.owner.close();
  const next = p.tab.socket({ announce: false, first: { frame: 'AQ', ctr: 2000 } });
  await until(() => p.heard.hub.at(-1) === 2000, 'what its next connection begins with');
  const offer = await at(c!, p.tab).offer();
  assert.equal(offer.body, { routed_to_hub: true });
  next.close();
  p.close();
});

/** The same tab, as if its next request came to another node. */
function at(node: Place, tab: Awaited<ReturnType<typeof newTab>>) {
  const post = (path: string, body: object, more: Record<string, string> = {}) =>
    call(node, 'POST', path, body, { ...tab.from, cookie: tab.cookie, origin: ORIGIN, ...more });
  return {
    stage: async () => (await post('/v1/session', { sid: tab.sid })).body.stage as string,
    offer: () => post('/v1/browser/pairing/offer', { sid: tab.sid }, tab.bearer()),
    logout: () => post('/v1/owner/logout', {}, tab.bearer()),
  };
}

test('who signs out at one node is out at all of them', async ({ nodes: [a, b, c] }) => {
  const p = await pair(a!, b!);
  const gone = heard(p.owner, 'disconnect');
  assert.is((await at(c!, p.tab).logout()).status, 200);
  assert.equal((await gone)[0], 'io server disconnect');
  assert.is(await failed(at(a!, p.tab).offer()), '401 unauthenticated');
  p.close();
});

test('a hub that is removed at one node is out at the one it is at, and its browser with it', async ({
  nodes: [a, b, c],
}) => {
  const p = await pair(a!, b!);
  const gone = [heard(p.line, 'disconnect'), heard(p.owner, 'disconnect')];
  const { status } = await call(c!, 'DELETE', `/v1/owner/hubs/${p.hub.hub_id}`, undefined, p.tab.bearer());
  assert.is(status, 200);
  await Promise.all(gone);
  const why = await refusal(p.line.connect());
  assert.is(why?.data?.error, 'unauthenticated');
  p.close();
});

test('a hub takes its home along to another node, and its browsers find it', async ({ nodes: [a, b, c] }) => {
  const p = await pair(a!, b!);
  for (const to of [b!, c!, a!]) {
    p.move({ hub: to });
    await p.back('the hub at another node');
    await p.passes('after a move');
  }
  p.move({ tab: c! });
  await p.back('the browser at another node');
  await p.passes('after the browser moved');
  p.close();
});

test('a browser that came before its hub is told when it is there', async ({ nodes: [a, b] }) => {
  const p = await pair(a!, a!);
  p.line.close();
  await until(() => p.owner.last?.hub_online === false, 'the hub to be away');
  p.move({ hub: b! });
  p.line.connect();
  await p.back('the route');
  await p.passes('from the node the hub came to');
  p.close();
});

test('a node that is killed takes nobody along, and none is set back by its start', async ({
  nodes: [a, b, c],
  database,
}) => {
  const pairs = [await pair(a!, b!), await pair(b!, a!), await pair(a!, a!)];
  const began = performance.now();
  a!.killed = Date.now();
  await a!.kill();
  for (const p of pairs) p.move({ hub: b!, tab: c! });
  for (const p of pairs) await p.back('a route after a node was killed');
  console.log(`FIGURE back after ${Math.round(performance.now() - began)} ms`);
  for (const p of pairs) await p.passes('after a node was killed');
  const stages = async () => {
    const sids = pairs.map((p) => `'${p.tab.sid}'`).join();
    return (await database.ask(`SELECT stage FROM session_web WHERE sid IN (${sids})`)).split('\n');
  };
  const isOnline = async () => (await stages()).every((s) => s === 'ONLINE');
  await until(isOnline, 'their stages to be on record');
  await a!.again();
  assert.ok(await isOnline());
  for (const p of pairs) {
    p.move({ tab: a! });
    await p.back('a route to a node that came back');
    await p.passes('by a node that came back');
    p.close();
  }
});

test('a node that was frozen acts for nobody when it wakes', async ({ nodes: [a, b, c] }) => {
  const p = await pair(a!, a!);
  // It stays at the frozen node, and does not know.
  const stayed = await pair(a!, a!);
  process.kill(a!.pid(), 'SIGSTOP');
  const began = performance.now();
  p.move({ hub: b!, tab: c! });
  await p.back('a route past a frozen node');
  console.log(`FIGURE back after ${Math.round(performance.now() - began)} ms`);
  await p.passes('past a frozen node');
  const before = [stayed.heard.hub.length, stayed.heard.browser.length];
  for (let ctr = 1000; ctr < 1100; ctr++) {
    stayed.owner.emit('relay.to_hub', { sid: stayed.tab.sid, frame: Buffer.alloc(9), ctr });
    stayed.line.emit('relay.to_browser', { sid: stayed.tab.sid, frame: Buffer.alloc(9), ctr });
  }
  const cut = heard(stayed.owner, 'disconnect');
  process.kill(a!.pid(), 'SIGCONT');
  await cut;
  assert.equal([stayed.heard.hub.length, stayed.heard.browser.length], before);
  await until(stayed.bound, 'a route by the node that woke');
  await stayed.passes('by the node that woke');
  p.close();
  stayed.close();
});

test('while Redis is away what runs goes on, and what it needs Redis for is told so', async ({
  nodes,
  redis,
}) => {
  const [a, b] = nodes as [Place, Place];
  const p = await pair(a, b);
  const other = await pair(a, b);
  other.line.close();
  await until(() => other.owner.last?.hub_online === false, 'the hub to be away');
  other.owner.close();
  const ready = () => call(a, 'GET', '/health/ready');
  // Longer than Redis grants; once as long as somebody may need to start it again.
  for (const [how, ms] of [
    ['kill', 30_000],
    ['freeze', 5000],
  ] as const) {
    if (how === 'kill') await redis.kill();
    else redis.signal('SIGSTOP');
    await until(async () => (await ready()).status === 503, 'a node to notice');
    assert.equal((await ready()).body.not_ready, ['cluster']);
    const end = performance.now() + ms;
    let lost = 0;
    p.owner.on('disconnect', () => lost++);
    // A hub that nobody has, or another node had last, is told to come again.
    for (const node of nodes.slice(1)) {
      const late = other.hub.socket({ url: node.url });
      // It would.
      late.off('connect_error');
      assert.is((await refusal(late))?.data?.error, 'unavailable');
      late.close();
    }
    while (performance.now() < end) await p.passes('without Redis');
    // What asks nothing of Redis is answered.
    assert.is(await at(b, p.tab).stage(), 'ONLINE');
    assert.is(lost, 0);
    if (how === 'kill') await redis.start();
    else redis.signal('SIGCONT');
    await until(async () => (await ready()).status === 200, 'a node to be ready again');
    await p.passes('after Redis came back');
    assert.is(lost, 0);
  }
  const late = other.hub.socket();
  await until(() => late.connected, 'a hub that comes after it');
  late.close();
  p.close();
  other.close();
});

test('while PostgreSQL is away for half a minute frames pass, and what needs it is told so at every node', async ({
  nodes,
  database,
}) => {
  const [a, b, c] = nodes as [Place, Place, Place];
  const p = await pair(a, b);
  let lost = 0;
  for (const s of [p.line, p.owner]) s.on('disconnect', () => lost++);
  await database.signal('SIGKILL');
  const end = performance.now() + 30_000;
  for (const node of nodes) {
    const ready = await call(node, 'GET', '/health/ready');
    assert.equal([ready.status, ready.body.not_ready], [503, ['records']]);
    for (const path of ['/health/live', '/health/serving'])
      assert.is((await call(node, 'GET', path)).status, 200, path);
    assert.is(await failed(at(node, p.tab).offer()), '503 unavailable');
    const come = await signedIn({ url: node.url, origin: ORIGIN }).catch((e) => e);
    assert.ok(come.isPassing, String(come));
  }
  while (performance.now() < end) await p.passes('without PostgreSQL');
  assert.is(lost, 0);
  await database.start();
  for (const node of nodes)
    await until(async () => (await call(node, 'GET', '/health/ready')).status === 200, 'a node to be ready');
  await p.passes('after PostgreSQL came back');
  assert.is(lost, 0);
  p.move({ hub: c });
  await p.back('the hub at another node');
  await p.passes('from there');
  const next = await pair(b, c);
  await next.passes('between those who came after it');
  next.close();
  p.close();
});

test('a Redis that forgot everything within a moment learns it again from the nodes', async ({
  nodes,
  redis,
}) => {
  const [a, b, c] = nodes as [Place, Place, Place];
  const p = await pair(a, b);
  await redis.kill();
  await redis.start();
  // Its home is where it was: another node leads there, and does not take it.
  p.move({ tab: c });
  await p.back('a route after Redis forgot it');
  await p.passes('after Redis forgot it');
  p.close();
});

test('no hub had two homes at any time', async ({ nodes }) => {
  assert.ok(homesOf(nodes) > 10);
});

test('one address gets no more sessions by asking every node', async ({ nodes }) => {
  const from = { origin: ORIGIN, 'x-forwarded-for': '10.200.1.1' };
  let [made, refused] = [0, 0];
  // As many as no node refuses by itself.
  while (refused < 20 && made + refused < 690) {
    const asked = Array.from({ length: 30 }, (_, i) => call(nodes[i % 3]!, 'POST', '/v1/session', {}, from));
    for (const { status, body } of await Promise.all(asked)) {
      assert.ok([200, 429].includes(status), `${status} ${body.error}`);
      if (status === 429) refused++;
      else made++;
    }
  }
  assert.ok(refused >= 20, `${refused} refused, ${made} sessions`);
});

// The last one: codes cost work afterwards.
test('codes are guessed as seldom at all nodes together as at one', async ({ nodes }) => {
  const tabs = await Promise.all(nodes.map(async (n) => newTab({ url: n.url, origin: ORIGIN })));
  const from = { 'x-forwarded-for': tabs[0]!.from['x-forwarded-for'] };
  let [tries, refused, looked] = [0, 0, 0];
  for (let i = 0; i < CODE_TRIES_PER_IP_MINUTE + 15; i++) {
    const tab = await newTab({ url: nodes[i % 3]!.url, origin: ORIGIN }, { cookie: tabs[i % 3]!.cookie });
    const body = { device_code: '000-000', sid: tab.sid };
    const r = await call(nodes[i % 3]!, 'POST', '/v1/owner/login/verify', body, {
      ...{ cookie: tab.cookie, origin: ORIGIN, ...from },
    });
    tries++;
    if (r.status === 429 && !r.body.details.pow) refused++;
    if (r.status === 400) looked++;
    // What one node counted is on its way to the others.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.ok(refused >= 10, `${refused} of ${tries} refused`);
  assert.ok(looked <= 8, `${looked} codes were looked up`);
});

test.run();
