// timeout: 600 s, patient
// Three processes of root behind HAProxy as its file in root/ops has it: hubs and browsers come back by themselves when a
// process is killed, stands still for a minute, or ends for another version.
import type { ChildProcess } from 'node:child_process';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { freePort } from '../../services/cli/house/runtime.ts';
import { child, ended } from '../lab/child.ts';
import { started } from '../lab/started.ts';
import { tried, until } from '../lab/wait.ts';
import { call, type Hub, newHub } from './kit.ts';
import { type Nodes, type Place, paired, startNodes, stopNodes } from './nodes.ts';

type Pair = Awaited<ReturnType<typeof paired>>;
interface World extends Nodes {
  haproxy: ChildProcess;
  /** What clients know. */
  front: { url: string; origin: string };
  pairs: Pair[];
  /** Those of them that take root's hints. */
  steered: Pair[];
}
const test = suite<World>('balancer');

test.before(async (c) => {
  const port = await freePort('127.0.0.1');
  const [origin, url] = [`http://localhost:${port}`, `http://127.0.0.1:${port}`];
  const drain = { INGLE_ROOT_DRAIN: '3' };
  Object.assign(c, await startNodes(3, { INGLE_ROOT_ORIGIN: origin, INGLE_ROOT_AUDIENCE: url, ...drain }));
  const nodes = Object.fromEntries(c.nodes.map((n, i) => [`NODE_${i + 1}`, `127.0.0.1:${n.port}`]));
  // Fewer connections than the file has: a test may not raise its limit of descriptors.
  c.haproxy = child('haproxy', ['-db', '-q', '-n', '2000', '-f', 'root/ops/haproxy.cfg'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, LISTEN: `127.0.0.1:${port}`, ...nodes },
  });
  c.front = { url, origin };
  await until(
    tried(async () => (await call(c.front, 'GET', '/health/ready')).status === 200),
    'a node behind HAProxy',
  );
  c.pairs = await started(...Array.from({ length: 4 }, () => paired(c.front, c.front)));
  await until(
    async () => (await c.redis.say('HVALS', 'ingle:names')).match(/node/g)?.length === 3,
    'the nodes to have names',
  );
  c.steered = [];
  const isBare = (n: Place) => !c.steered.some((p) => hubIsAt(n, p.hub));
  // The log has the first letters of a sid, which are the time it was made.
  const second = () => Math.floor(Date.now() / 1000);
  // Chance leaves a node without a hub once in a million times.
  while (c.steered.length < 40 && (c.steered.length < 4 || c.nodes.some(isBare))) {
    const before = second();
    await until(() => second() > before, 'the next second');
    const pair = await paired(c.front, c.front, { at: '' });
    c.steered.push(pair);
    c.pairs.push(pair);
  }
});
test.after(async (c) => {
  for (const p of c.pairs ?? []) p.close();
  if (c.haproxy) await ended(c.haproxy, 'SIGKILL', 'HAProxy');
  await stopNodes(c);
});

/** Whether a hub or a browser has been connected there. */
const hubIsAt = (node: Place, { hub_id }: Pick<Hub, 'hub_id'>) =>
  new RegExp(`hub online.*${hub_id}`).test(node.log());
const tabIsAt = (node: Place, { sid }: Pair['tab']) =>
  new RegExp(`browser connected.*${sid.slice(0, 6)}`).test(node.log());

/** Waits until frames pass between all of them. */
async function allPass(pairs: Pair[], what: string): Promise<void> {
  const began = performance.now();
  await Promise.all(pairs.map((p) => p.passes(what)));
  console.log(`FIGURE all back ${what} ${Math.round(performance.now() - began)} ms`);
}

test('clients land where HAProxy sends them, and meet', async ({ nodes, pairs, steered }) => {
  for (const p of pairs) await p.passes('by way of HAProxy');
  const loose = pairs.filter((p) => !steered.includes(p));
  for (const n of nodes)
    assert.ok(
      loose.some((p) => hubIsAt(n, p.hub) || tabIsAt(n, p.tab)),
      'each node has some of them',
    );
});

test('hubs and browsers that take hints come to one node, and every node has some', async ({
  nodes,
  steered,
}) => {
  for (const n of nodes) assert.ok(steered.some((p) => hubIsAt(n, p.hub)));
  for (const p of steered)
    await until(async () => {
      if (nodes.some((n) => hubIsAt(n, p.hub) && tabIsAt(n, p.tab))) return true;
      // A node that is late has no name for a while, and who comes just then stays where it lands.
      for (const s of [p.line, p.owner]) s.disconnect().connect();
      await new Promise((resolve) => setTimeout(resolve, 3000));
    }, 'both to be at one node');
});

/** Connects a hub, by way of HAProxy or straight to a node. @returns the hint root gave it, '' where it was let in at once */
async function hintFor(hub: Hub, at: string, node?: Place): Promise<string> {
  const hints: string[] = [];
  const line = hub.socket(node ? { at, url: node.url } : { at });
  line.on('connect_error', (e: Error & { data?: { details?: { steer?: string } } }) => {
    // A node that has just become the home of a hub may refuse it for other reasons.
    if (e.data?.details?.steer) hints.push(e.data.details.steer);
  });
  await until(() => line.connected, 'the hub to be let in');
  line.close();
  assert.ok(hints.length <= 1, `refused ${hints.length} times`);
  return hints[0] ?? '';
}
const nameIn = (hint: string) => hint.split('.')[0];

test('hints that do not count change nothing, and one that counts is served wherever it lands', async ({
  nodes,
  front,
}) => {
  const hub = await newHub(front);
  /** What each node says to a hub that comes straight to it, as with a balancer that reads no hints. */
  const ledBy = (one: Hub, at: string) =>
    until(async () => {
      const hints: string[] = [];
      for (const n of nodes) hints.push(await hintFor(one, at, n));
      // A node that is late has no name for a while.
      return hints.filter((h) => h !== '').length === 2 && hints;
    }, 'two nodes that lead to the third');
  const said = await ledBy(hub, '');
  const seat = said.indexOf('');
  const hint = said.find((h) => h !== '')!;
  for (const h of said) assert.is(nameIn(h), h && `node${seat + 1}`);
  for (const n of [undefined, ...nodes])
    assert.is(await hintFor(hub, hint, n), '', 'served wherever it lands');
  const wrong = nodes[(seat + 1) % 3]!;
  const isLed = async (one: Hub, at: string) => (await hintFor(one, at, wrong)) !== '';
  const later = Math.floor(Date.now() / 1000) + 60;
  const forged = (name: string) => `${name}.${later}.${'A'.repeat(22)}`;
  const prolonged = hint.replace(/\d{10}/, (until) => String(Number(until) + 1));
  for (const at of ['x', `${hint}0`, prolonged, forged(`node${((seat + 1) % 3) + 1}`), forged('node9')])
    await until(() => isLed(hub, at), `${at} to be as none`);
  await ledBy(await newHub(front), hint);
});

test('a node that is killed', async ({ nodes: [a], pairs }) => {
  a!.killed = Date.now();
  await a!.kill();
  await allPass(pairs, 'after a kill');
  await a!.again();
});

test('a node that stands still for a minute', async ({ nodes: [, b], pairs }) => {
  const end = performance.now() + 60_000;
  process.kill(b!.pid(), 'SIGSTOP');
  await allPass(pairs, 'past a node that stands still');
  // They stay where they are meanwhile.
  while (performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 2000));
    for (const p of pairs) await p.passes('while it stands still');
  }
  const connected = pairs.map((p) => p.owner.id);
  process.kill(b!.pid(), 'SIGCONT');
  await until(() => /begins anew/.test(b!.log()), 'the node to know that its time is over');
  for (const p of pairs) await p.passes('after it woke');
  assert.equal(
    pairs.map((p) => p.owner.id),
    connected,
    'nobody was disturbed by it',
  );
});

test('all nodes are replaced, one after the other, and no request fails', async ({ nodes, pairs, front }) => {
  const answers: number[] = [];
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      const { status } = await call(front, 'GET', '/v1/hub').catch(() => ({ status: 0 }));
      answers.push(status);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  for (const n of nodes) {
    assert.is(await n.terminate(), 0);
    await allPass(pairs, 'after one ended');
    await n.again();
    await until(async () => (await call(n, 'GET', '/health/ready')).status === 200, 'it to be ready');
    // HAProxy looks once a second.
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
  isOver = true;
  await asking;
  assert.ok(answers.length > 100);
  assert.equal(
    answers.filter((s) => s !== 404 && s !== 405),
    [],
  );
});

test.run();
