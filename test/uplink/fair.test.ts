import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { RelayMessage } from '../../firmware/protocol/wire.ts';
import { fairBounds, fairFrames } from '../../firmware/uplink/fair.ts';
import { until } from '../root/kit.ts';

const test = suite('fair');

/** A hub whose work on a frame takes `ms`. */
function hub(ms: number, bounds?: Parameters<typeof fairFrames>[1]) {
  const done: string[] = [];
  const give = fairFrames((m) => {
    for (const end = performance.now() + ms; performance.now() < end; );
    done.push(`${m.sid}${m.ctr}`);
  }, bounds);
  const frame = (sid: string, ctr: number, size = 8): RelayMessage => ({
    sid,
    ctr,
    frame: new Uint8Array(size),
  });
  return { done, give: (sid: string, ctr: number, size?: number) => give(frame(sid, ctr, size)) };
}

test('frames go on at once, and in order, while there is time', () => {
  const { done, give } = hub(0, { ...fairBounds, atOnce: 60_000 });
  for (let i = 0; i < 5; i++) give('a', i);
  assert.equal(done, ['a0', 'a1', 'a2', 'a3', 'a4']);
});

test('who floods one session waits for himself', async () => {
  const { done, give } = hub(1);
  for (let i = 0; i < 100; i++) give('a', i);
  give('b', 0);
  give('c', 0);
  const before = done.length;
  assert.ok(before < 50, `${before} frames were done in one turn of the loop`);
  await until(() => done.length === 102);
  assert.ok(done.indexOf('b0') <= before + 2, 'the others have the next turns');
  assert.ok(done.indexOf('c0') <= before + 2);
  assert.equal(
    done.filter((d) => d.startsWith('a')),
    Array.from({ length: 100 }, (_, i) => `a${i}`),
  );
});

test('the event loop has its turns in between', async () => {
  const { done, give } = hub(1);
  for (let i = 0; i < 100; i++) give('a', i);
  await new Promise((r) => setTimeout(r, 0));
  assert.ok(done.length < 100);
  await until(() => done.length === 100);
});

test('too much of one session is lost, and nothing of another', async () => {
  const { done, give } = hub(1, { frames: 10, bytes: 1000, all: 1500, sids: 4, atOnce: 8 });
  for (let i = 0; i < 30; i++) give('a', i);
  give('b', 0, 900);
  give('c', 0, 400);
  // Over all: the largest goes.
  give('d', 0, 400);
  await until(() => done.includes('c0') && done.includes('d0'));
  assert.not(done.includes('b0'));
  assert.ok(done.length < 32);
  give('b', 1);
  // All is well again.
  await until(() => done.includes('b1'));
});

test.run();
