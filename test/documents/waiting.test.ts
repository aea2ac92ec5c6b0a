// What waits: for what may yet succeed, for a free place, for a budget that fills again.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { patience, queueOf } from '../../firmware/documents/waiting.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { allowance } from '../../firmware/skills/allowance.ts';

const test = suite('waiting');

test('what may yet succeed is tried again when woken, and what never will is not', async () => {
  const waits = patience(60_000);
  let tries = 0;
  const done = waits.patiently(async () => {
    if (++tries < 3) throw new IngleError('unavailable', 'Not yet.');
    return 'done';
  });
  while (tries < 3) {
    waits.wake();
    await new Promise((ok) => setImmediate(ok));
  }
  assert.is(await done, 'done');
  const refused = new IngleError('forbidden', 'No.');
  const said = await waits.patiently(() => Promise.reject(refused)).catch((e) => e);
  assert.is(said, refused);
});

test('nothing is tried for who leaves during a pause', async () => {
  const missing = new IngleError('unavailable', 'Not yet.');
  let tries = 0;
  let isThere = true;
  const waits = patience(60_000, () => isThere);
  const said = waits
    .patiently(() => {
      tries++;
      return Promise.reject(missing);
    })
    .catch((e) => e);
  await new Promise((ok) => setImmediate(ok));
  isThere = false;
  waits.wake();
  assert.is(await said, missing);
  assert.is(tries, 1);
});

test('pauses double from a quarter of a second to five seconds, and stay there', async () => {
  const own = globalThis.setTimeout;
  const pauses: number[] = [];
  let tries = 0;
  globalThis.setTimeout = ((go: () => void, ms: number) => {
    pauses.push(ms);
    return own(go, 0);
  }) as typeof setTimeout;
  try {
    await patience(60_000).patiently(async () => {
      if (++tries < 9) throw new IngleError('unavailable', 'Not yet.');
    });
  } finally {
    globalThis.setTimeout = own;
  }
  assert.equal(pauses, [250, 500, 1000, 2000, 4000, 5000, 5000, 5000]);
});

test('patience ends: then the last failure is the answer', async () => {
  const late = new IngleError('timeout', 'Too late.');
  assert.is(
    await patience(-1)
      .patiently(() => Promise.reject(late))
      .catch((e) => e),
    late,
  );
});

test('so many of a name pass at a time, the next in the order they came', async () => {
  const slots = queueOf(2);
  const order: number[] = [];
  const first = await slots('a');
  await slots('a');
  const third = slots('a').then((release) => (order.push(3), release));
  const fourth = slots('a').then((release) => (order.push(4), release));
  await slots('b');
  assert.equal(order, []);
  first();
  (await third)();
  await fourth;
  assert.equal(order, [3, 4]);
});

test('a skill may say so much at once and so much a second, counted in updates and in bytes', () => {
  let now = 0;
  const said = (bytes: number, most: number) => {
    const a = allowance(() => now);
    let n = 0;
    while (n < most && a.spend(bytes)) n++;
    return { a, n };
  };
  const small = said(1, 1000);
  assert.is(small.n, 200);
  now += 2000;
  assert.ok(small.a.spend(1));
  assert.is(said(1024 * 1024, 1000).n, 4);
});

test.run();
