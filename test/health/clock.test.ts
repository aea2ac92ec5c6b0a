import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Clocks, clockRuns } from '../../firmware/health/clock.ts';

/** A machine whose clock runs `speed` times as fast as it should; `on` runs before each reading of it. */
function machine(speed: number, on: (m: { now: number; wall: number; reads: number }) => void = () => {}) {
  const m = { now: 1000, wall: 1.7e12, reads: 0 };
  const pass = (ms: number) => {
    m.now += ms;
    m.wall += ms * speed;
  };
  const clocks: Clocks = {
    wall() {
      m.reads++;
      on(m);
      return m.wall;
    },
    steady: () => m.now,
    wait: async (ms) => pass(ms),
  };
  return { clocks, m, pass };
}

for (const speed of [1, 1.2, 0.8])
  test(`a clock that runs ${speed} times as fast is one that runs`, async () =>
    assert.is(await clockRuns(machine(speed).clocks), true));

for (const speed of [0, 0.4, 1.7, -1])
  test(`a clock that runs ${speed} times as fast is found`, async () =>
    assert.is(await clockRuns(machine(speed).clocks), false));

test('a machine that stops between two readings is no clock that jumps', async () => {
  // Two of three readings are 900 ms late.
  const { clocks, m } = machine(1, (x) => {
    if (x.reads % 3) [x.now, x.wall] = [x.now + 900, x.wall + 900];
  });
  assert.is(await clockRuns(clocks), true);
  assert.ok(m.reads >= 10);
});

test('a clock that is set once is looked at again; one that jumps at each look is found', async () => {
  const once = machine(1, (x) => {
    if (x.reads === 7) x.wall += 86_400_000;
  });
  assert.is(await clockRuns(once.clocks), true);
  const always = machine(1, (x) => {
    if (x.reads % 10 === 6) x.wall += 5000;
  });
  assert.is(await clockRuns(always.clocks), false);
});

test('the clock of this machine runs', async () => assert.is(await clockRuns(), true));

test.run();
