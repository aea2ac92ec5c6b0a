import { mock } from 'node:test';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { heartbeat, LATE, LOST, PAUSE } from '../../spa/heartbeat.ts';

const test = suite('heartbeat');
let now = 0;
let said: string[];
let pulse: ReturnType<typeof heartbeat>;
test.before.each(() => {
  now = 1000;
  said = [];
  mock.timers.enable({ apis: ['setTimeout'] });
  mock.method(performance, 'now', () => now);
  pulse = heartbeat({
    ask: (done) => said.push(done ? 'asked' : 'ask'),
    late: () => said.push('late'),
    lost: () => said.push('lost'),
    answered: (ms) => said.push(`${ms} ms`),
  });
});
test.after.each(() => {
  mock.timers.reset();
  mock.restoreAll();
});
function pass(ms: number): void {
  now += ms;
  mock.timers.tick(ms);
}

test('one question at a time, the next a pause after the answer', () => {
  pulse.beat();
  pass(30);
  pulse.heard(30);
  pass(PAUSE - 1);
  assert.equal(said, ['ask', '30 ms']);
  pass(1);
  assert.equal(said, ['ask', '30 ms', 'ask']);
});

test('a question that went with the handshake is the first one, and its answer counts', () => {
  pass(200);
  pulse.beat(true);
  pass(30);
  pulse.heard(230);
  pass(PAUSE);
  assert.equal(said, ['asked', '230 ms', 'ask']);
  pulse.beat(true);
  pass(LATE);
  assert.equal(said.slice(3), ['asked', 'late']);
});

test('a silent hub shows within four seconds, once, and a late answer counts', () => {
  assert.ok(PAUSE + LATE < 4000);
  pulse.beat();
  pass(LATE);
  assert.equal(said, ['ask', 'late']);
  pass(LOST - LATE);
  assert.equal(said, ['ask', 'late', 'lost']);
  pass(60_000);
  assert.is(said.length, 3);
  pulse.heard(LOST + 60_000);
  assert.equal(said.slice(3), ['66000 ms']);
});

test('after stop nothing moves, whatever was under way', () => {
  pulse.beat();
  pulse.stop();
  pass(60_000);
  pulse.heard(5);
  pass(60_000);
  pulse.beat();
  pass(10);
  pulse.heard(10);
  pulse.stop();
  pass(60_000);
  assert.equal(said, ['ask', 'ask', '10 ms']);
});

test('an answer to an earlier question says nothing of now', () => {
  pulse.beat();
  pass(LATE);
  pulse.stop();
  pass(60_000);
  pulse.beat();
  pass(5);
  pulse.heard(60_000 + LATE + 5);
  assert.equal(said, ['ask', 'late', 'ask']);
  pass(LATE);
  assert.equal(said.at(-1), 'late');
});

test.run();
