// When a person's tiles are told anew, on a clock of the test.
import { mock } from 'node:test';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openThrottle } from '../../services/api/throttle.ts';

test.before.each(() => mock.timers.enable({ apis: ['setTimeout'] }));
test.after.each(() => mock.timers.reset());

function tiles(...looking: string[]) {
  const seen = new Set(looking);
  const told: string[] = [];
  const throttle = openThrottle({ isSeen: (id) => seen.has(id), tell: (id) => told.push(id) });
  return { seen, told, throttle };
}

test('a change while somebody looks is told at once, with what changes beside it, and the next after a while', () => {
  const { told, throttle } = tiles('mia', 'tom');
  for (const id of ['mia', 'mia', 'tom', 'mia']) throttle.stirred(id);
  assert.equal(told, [], 'not each by itself');
  mock.timers.tick(30);
  assert.equal(told, ['mia', 'tom']);
  throttle.stirred('mia');
  throttle.stirred('mia');
  mock.timers.tick(1499);
  assert.is(told.length, 2);
  mock.timers.tick(1);
  assert.equal(told, ['mia', 'tom', 'mia']);
  mock.timers.tick(60_000);
  assert.is(told.length, 3, 'of nothing when nothing changed');
  throttle.stirred('mia');
  mock.timers.tick(30);
  assert.is(told.length, 4, 'and at once after a rest');
});

test('who stops looking before they are told is told when they look again', () => {
  const { seen, told, throttle } = tiles('mia');
  throttle.stirred('mia');
  seen.delete('mia');
  mock.timers.tick(60_000);
  assert.equal(told, []);
  seen.add('mia');
  throttle.looked('mia');
  assert.equal(told, ['mia']);
});

test('who begins to look on another screen does not wait for what is about to be told', () => {
  const { told, throttle } = tiles('mia');
  throttle.stirred('mia');
  mock.timers.tick(30);
  throttle.stirred('mia');
  throttle.looked('mia');
  assert.equal(told, ['mia', 'mia']);
  mock.timers.tick(60_000);
  assert.is(told.length, 2);
});

test('who does not look is told at the moment they do, once, and of nothing when nothing changed', () => {
  const { seen, told, throttle } = tiles();
  throttle.stirred('mia');
  throttle.stirred('mia');
  mock.timers.tick(60_000);
  assert.equal(told, []);
  seen.add('mia');
  throttle.looked('mia');
  throttle.looked('mia');
  throttle.looked('tom');
  assert.equal(told, ['mia']);
});

test('nobody is told after the end', () => {
  const { told, throttle } = tiles('mia');
  throttle.stirred('mia');
  throttle.close();
  mock.timers.tick(60_000);
  assert.equal(told, []);
});

test.run();
