// timeout: 400 s, patient
// Three processes of root behind HAProxy as its file in root/ops has it: hubs and browsers come back by themselves when a
// process is killed, stands still for a minute, or ends for another version.
import type { ChildProcess } from 'node:child_process';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { freePort } from '../../services/cli/house/runtime.ts';
import { child, ended } from '../lab/child.ts';
import { started } from '../lab/started.ts';
import { tried, until } from '../lab/wait.ts';
import { call } from './kit.ts';
import { type Nodes, type Place, paired, startNodes, stopNodes } from './nodes.ts';

type Pair = Awaited<ReturnType<typeof paired>>;
interface World extends Nodes {
  haproxy: ChildProcess;
  /** What clients know. */
  front: { url: string; origin: string };
  pairs: Pair[];
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
  c.pairs = await started(...Array.from({ length: 6 }, () => paired(c.front, c.front)));
});
test.after(async (c) => {
  for (const p of c.pairs ?? []) p.close();
  if (c.haproxy) await ended(c.haproxy, 'SIGKILL', 'HAProxy');
  await stopNodes(c);
});

/** Where a connection of a client, or a hub's home, is just now. */
const isAt = (node: Place, what: RegExp) => what.test(node.log());

/** Waits until frames pass between all of them. */
async function allPass(pairs: Pair[], what: string): Promise<void> {
  const began = performance.now();
  await Promise.all(pairs.map((p) => p.passes(what)));
  console.log(`FIGURE all back ${what} ${Math.round(performance.now() - began)} ms`);
}

test('clients land where HAProxy sends them, and meet', async ({ nodes, pairs }) => {
  for (const p of pairs) await p.passes('by way of HAProxy');
  for (const n of nodes) assert.ok(isAt(n, /browser connected|hub online/), 'each node has some of them');
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
