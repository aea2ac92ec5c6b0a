import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { follow } from '../../services/cli/house/follow.ts';
import { until } from '../lab/wait.ts';

const test = suite('hearing a bus that may go');

/** A bus that goes when told, and its `listen`, which fails while `fails` is above 0. */
function world() {
  const heard: number[] = [];
  const over = new AbortController();
  let n = 0;
  let fails = 0;
  let go: () => void = () => {};
  return {
    heard,
    over,
    failNext: (times: number) => (fails = times),
    go: () => go(),
    connection: async () => ({ id: ++n, closed: new Promise<void>((done) => (go = done)) }),
    listen: async ({ id }: { id: number }) => {
      if (fails-- > 0) throw new Error('The connection to the message bus is gone.');
      heard.push(id);
    },
  };
}

test('each successor of the daemon is listened to', async () => {
  const w = world();
  const done = follow(w.connection, w.listen, w.over.signal, 1);
  await until(() => w.heard.length === 1);
  w.go();
  await until(() => w.heard.length === 2);
  w.over.abort();
  await done;
  assert.equal(w.heard, [1, 2]);
});

test('a bus that is lost while a call is on its way is only the next try', async () => {
  const w = world();
  w.failNext(3);
  const done = follow(w.connection, w.listen, w.over.signal, 1);
  await until(() => w.heard.length === 1);
  assert.equal(w.heard, [4]);
  w.over.abort();
  await done;
});

test('an end while it listens, waits or connects is no error and begins nothing', async () => {
  for (const stage of ['listen', 'connect', 'wait']) {
    const w = world();
    let asked = 0;
    const done = follow(
      async () => {
        asked++;
        if (stage === 'connect') w.over.abort();
        if (stage !== 'listen') throw new Error('no daemon');
        return w.connection();
      },
      async () => {
        w.over.abort();
        throw new Error('The connection to the message bus is gone.');
      },
      w.over.signal,
      60_000,
    );
    if (stage === 'wait') setTimeout(() => w.over.abort(), 5);
    await done;
    assert.is(asked, 1, stage);
  }
});

test.run();
