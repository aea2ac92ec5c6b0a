// How a room writes what a skill sends: after a rest at once, and what follows together.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import * as Y from 'yjs';
import { makeRoom } from '../../firmware/documents/room.ts';
import { until } from '../lab/wait.ts';

const test = suite('rooms');

/** Updates that each set `n`, as a skill sends them. */
function sent(count: number): Uint8Array[] {
  const doc = new Y.Doc();
  const all: Uint8Array[] = [];
  doc.on('update', (u: Uint8Array) => all.push(u));
  for (let n = 1; n <= count; n++) doc.getMap('content').set('n', n);
  return all;
}

test('the first update after a rest is written before any time passes, those right behind it in one', async () => {
  const commits: number[] = [];
  const room = makeRoom(
    'o1/lamp/state:main',
    new Y.Doc(),
    1e6,
    async () => void commits.push(commits.length),
  );
  const [first, ...others] = sent(20);
  const fail = (e: unknown) => {
    throw e;
  };
  room.gather(first!, undefined, fail);
  // Timers end in the order of their times, however slow the machine is.
  await new Promise((done) => setTimeout(done, 20));
  assert.is(commits.length, 1);
  for (const u of others) room.gather(u, undefined, fail);
  await until(() => room.doc.getMap('content').get('n') === 20, 'the newest');
  assert.is(commits.length, 2);
  room.close();
});

test('who needs what was sent before does not wait for the gathering', async () => {
  let commits = 0;
  const room = makeRoom(
    'o1/lamp/state:main',
    new Y.Doc(),
    1e6,
    async () => void commits++,
  );
  for (const u of sent(3)) room.gather(u, undefined, () => {});
  await room.flush();
  assert.equal([commits, room.doc.getMap('content').get('n')], [1, 3]);
  room.close();
});

test.run();
