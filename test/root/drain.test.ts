// timeout: 300 s
// Root is told to end: it says so first, finishes what it has begun, and its clients come back spread over a while.
import { type ClientRequest, request } from 'node:http';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { heedRoot } from '../../firmware/protocol/heed.ts';
import { within } from '../lab/wait.ts';
import { ask, bound, call, heard, newHub, startRoot, until } from './kit.ts';

const test = suite('the end of root');

/** A request whose body is half sent. @returns what sends the rest and gives the status */
async function halfSent(root: { port: number; origin: string }) {
  const body = JSON.stringify({ padding: 'x'.repeat(200) });
  let req!: ClientRequest;
  const status = new Promise<number>((resolve, reject) => {
    req = request(
      {
        ...{ port: root.port, host: '127.0.0.1', method: 'POST', path: '/v1/session', agent: false },
        headers: { 'content-type': 'application/json', 'content-length': body.length, origin: root.origin },
      },
      (res) => {
        res.resume();
        resolve(res.statusCode!);
      },
    );
    req.on('error', reject);
  });
  status.catch(() => {});
  await new Promise<void>((done) => req.write(body.slice(0, 100), () => done()));
  return {
    status,
    leave: () => req.destroy(),
    rest(): Promise<number> {
      req.end(body.slice(100));
      return within(status, 'the answer');
    },
  };
}

/** Root always has a request under way: one in the place of the last each second, as root lets none stand still for long. */
async function busy(root: { url: string; port: number; origin: string }) {
  let half = await halfSent(root);
  let turn = Promise.resolve();
  const timer = setInterval(() => {
    turn = turn.then(async () => {
      const old = half;
      half = await halfSent(root);
      // Root has taken it once it answers what came later.
      await call(root, 'GET', '/health/live');
      old.leave();
    });
  }, 1000);
  return {
    /** The last one is sent whole. */
    async finish(): Promise<number> {
      clearInterval(timer);
      await turn;
      return half.rest();
    },
  };
}

test('readiness ends first, frames pass and answers are given until the end, and all are told', async () => {
  const root = await startRoot({ INGLE_ROOT_DRAIN: '30' });
  const { hub, tab, line, owner } = await bound(root);
  const latecomer = await newHub(root);
  const half = await busy(root);
  // It has begun once its connection is taken.
  await call(root, 'GET', '/health/live');
  const told = [heard(line, 'restart'), heard(owner, 'restart')];
  const over = root.terminate();
  for (const [m] of await Promise.all(told)) assert.equal(m, { in_ms: 30_000 });
  const ready = await call(root, 'GET', '/health/ready');
  assert.is(ready.status, 503);
  assert.equal(
    [ready.body.ready, ready.body.not_ready, ready.body.error],
    [false, ['draining'], 'unavailable'],
  );
  assert.is((await call(root, 'GET', '/health/live')).status, 200);
  // Who comes now is told, too.
  const late = latecomer.socket();
  assert.equal((await heard(late, 'restart'))[0], { in_ms: 30_000 });
  const up = heard(line, 'relay.to_hub');
  assert.is((await ask(owner, 'relay.to_hub', { sid: tab.sid, frame: Buffer.from([1]), ctr: 1 })).ok, true);
  await up;
  // Longer than root stays for those who look at its readiness: it is there for the answer.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  assert.is((await call(root, 'GET', '/health/live')).status, 200);
  const gone = heard(line, 'disconnect');
  // What it is answered does not matter; that it is answered does.
  assert.is(await half.finish(), 400);
  assert.equal((await gone)[0], 'transport close');
  await over;
  assert.match(root.log(), /stopping why=SIGTERM/);
  assert.not.match(root.log(), / error /);
  await root.stop();
});

test('a client that never finishes its request does not keep root', async () => {
  const root = await startRoot({ INGLE_ROOT_DRAIN: '1' });
  const half = await halfSent(root);
  await root.terminate();
  assert.is(root.alive(), false);
  assert.ok(
    await half.status.then(
      () => false,
      () => true,
    ),
    'it was cut off',
  );
  await root.stop();
});

test('two hundred clients come back, each at its own time within the window', async () => {
  const root = await startRoot({ INGLE_ROOT_DRAIN: '3' });
  const hubs: Awaited<ReturnType<typeof newHub>>[] = [];
  for (let i = 0; i < 20; i++)
    hubs.push(...(await Promise.all(Array.from({ length: 10 }, () => newHub(root)))));
  // Halton's sequence: as even as chance, and the same each time.
  let drawn = 0;
  const halton = () => {
    let part = 0;
    for (let [n, f] = [++drawn, 0.5]; n > 0; n >>= 1, f /= 2) part += (n & 1) * f;
    return part;
  };
  const clients = hubs.map((hub) => {
    const socket = hub.socket();
    const client = { socket, part: -1, isLost: false };
    heedRoot(socket, () => {
      client.part = halton();
      return client.part;
    });
    return client;
  });
  const all = () => clients.every((c) => c.socket.connected);
  await until(all, 'all to connect');
  const order: number[] = [];
  for (const c of clients) {
    c.socket.once('disconnect', () => {
      c.isLost = true;
    });
    // The first try after the loss, whether root is there again or not.
    const tries = () => {
      if (c.isLost) order.push(c.part);
      c.isLost = false;
    };
    c.socket.on('connect', tries);
    c.socket.on('connect_error', tries);
  }
  await root.terminate();
  await root.again();
  await until(all, 'all to be back');
  const tenths = Array.from(
    { length: 10 },
    (_, t) => clients.filter((c) => Math.floor(c.part * 10) === t).length,
  );
  console.log(`FIGURE clients back in each tenth of the window ${tenths.join(' ')}`);
  for (const n of tenths) assert.ok(n >= 15 && n <= 25, String(tenths));
  assert.is(order.length, 200);
  // They came in the order of their pauses, but for neighbours.
  const sorted = [...order].sort((a, b) => a - b);
  const place = new Map(sorted.map((part, i) => [part, i]));
  const off = order.map((part, i) => Math.abs(place.get(part)! - i));
  const mean = off.reduce((a, b) => a + b) / off.length;
  console.log(`FIGURE places out of order, mean of 200 ${mean.toFixed(1)}`);
  assert.ok(mean < 30, `${mean}: chance alone has 67`);
  await root.stop();
});

test.run();
