// The worker that draws charts, as the page keeps it: one drawing after another, and none that takes all others with it.
import { mock } from 'node:test';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { IDLE, type Order, openThread, PATIENCE, type Thread } from '../../spa/vega-thread.ts';

const test = suite('the thread of charts');

/** A worker that does what the test says. */
interface Played extends Thread {
  orders: string[];
  isEnded: boolean;
}
let workers: Played[];
let refused: boolean;
let thread: ReturnType<typeof openThread>;
const say = (worker: Played, data: unknown) => worker.onmessage!.call(null as never, { data } as never);
const start = (): Thread => {
  if (refused) throw new Error('no worker here');
  const worker = {
    ...{ orders: [], isEnded: false, onmessage: null, onerror: null },
    postMessage: (order: Order) => worker.orders.push(order.rows),
    terminate: () => {
      worker.isEnded = true;
    },
  } as unknown as Played;
  workers.push(worker);
  return worker;
};
test.before.each(() => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  [workers, refused] = [[], false];
  thread = openThread(start);
});
test.after.each(() => mock.timers.reset());

const turn = () => new Promise((done) => setImmediate(done));
/** What became of a drawing, as soon as something did. */
function drawing(name: string, isGone = () => false) {
  const it: { is?: unknown } = {};
  thread.drawn({ rows: name } as Order, isGone).then(
    (parts) => (it.is = parts ?? 'none'),
    (e: Error) => (it.is = e.message),
  );
  return it;
}
/** Lets it begin, and says that the worker is there. */
async function ready(nth = 0): Promise<Played> {
  await turn();
  say(workers[nth]!, 'ready');
  await turn();
  return workers[nth]!;
}
async function seconds(n: number): Promise<void> {
  for (let i = 0; i < n; i++) mock.timers.tick(1000);
  await turn();
}

test('one worker draws one order after another, each with its own parts', async () => {
  const [a, b] = [drawing('a'), drawing('b')];
  const worker = await ready();
  assert.equal(worker.orders, ['a']);
  for (const data of [['a1'], ['a2'], 'drawn']) say(worker, data);
  await turn();
  assert.equal(
    [a.is, worker.orders],
    [
      [['a1'], ['a2']],
      ['a', 'b'],
    ],
  );
  say(worker, ['b1']);
  assert.is(b.is, undefined);
  say(worker, 'drawn');
  await turn();
  assert.equal([b.is, workers.length], [[['b1']], 1]);
});

test('a drawing that fails fails alone', async () => {
  const [a, b] = [drawing('a'), drawing('b')];
  const worker = await ready();
  say(worker, ['a1']);
  say(worker, 'fault');
  await turn();
  say(worker, 'drawn');
  await turn();
  assert.equal([a.is, b.is, worker.isEnded], ['The chart cannot be drawn.', [], false]);
});

test('a drawing that takes too long is given up with its worker, and another worker draws the others', async () => {
  const [a, b, c] = [drawing('a'), drawing('b'), drawing('c')];
  const worker = await ready();
  await seconds(PATIENCE - 1);
  assert.equal([a.is, worker.isEnded], [undefined, false]);
  await seconds(1);
  assert.equal([a.is, worker.isEnded], ['The chart was given up.', true]);
  const next = await ready(1);
  // What the first one still had to say is of nobody's drawing.
  say(worker, ['late']);
  say(next, ['b1']);
  say(next, 'drawn');
  await turn();
  await seconds(PATIENCE - 1);
  say(next, 'drawn');
  await turn();
  assert.equal([b.is, c.is, worker.orders, next.orders], [[['b1']], [], ['a'], ['b', 'c']]);
});

test('a worker that breaks takes only what it was drawing with it', async () => {
  const [a, b] = [drawing('a'), drawing('b')];
  const worker = await ready();
  worker.onerror!.call(null as never, {} as never);
  await turn();
  assert.equal([a.is, worker.isEnded], ['The chart was given up.', true]);
  say(await ready(1), 'drawn');
  await turn();
  assert.equal(b.is, []);
});

test('what nobody waits for any more is not drawn', async () => {
  const [a, b, c] = [drawing('a'), drawing('b', () => true), drawing('c')];
  const worker = await ready();
  say(worker, 'drawn');
  await turn();
  say(worker, 'drawn');
  await turn();
  assert.equal([a.is, b.is, c.is, worker.orders], [[], 'none', [], ['a', 'c']]);
});

test('where no worker can be started each drawing says so, and the next one tries it again', async () => {
  refused = true;
  const a = drawing('a');
  await turn();
  assert.is(a.is, 'no worker here');
  refused = false;
  const b = drawing('b');
  await turn();
  workers[0]!.onerror!.call(null as never, {} as never);
  await turn();
  assert.equal([b.is, workers[0]!.isEnded], ['No worker can be started.', true]);
  const c = drawing('c');
  say(await ready(1), 'drawn');
  await turn();
  assert.equal(c.is, []);
});

test('without charts the worker ends after a while, and with the next chart comes another', async () => {
  const [release, other] = [thread.hold(), thread.hold()];
  drawing('a');
  const worker = await ready();
  say(worker, 'drawn');
  await turn();
  release();
  await seconds(IDLE / 1000);
  assert.is(worker.isEnded, false);
  other();
  await seconds(IDLE / 1000 - 1);
  const again = thread.hold();
  await seconds(1);
  assert.is(worker.isEnded, false);
  again();
  await seconds(IDLE / 1000);
  assert.is(worker.isEnded, true);
  const b = drawing('b');
  say(await ready(1), 'drawn');
  await turn();
  assert.equal([b.is, workers.length], [[], 2]);
});

test('a worker whose chart went before it came ends as well', async () => {
  void thread.ready();
  const worker = await ready();
  await seconds(IDLE / 1000);
  assert.is(worker.isEnded, true);
});

test.run();
