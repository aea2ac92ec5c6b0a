// gate: in, it starts nothing of what it imports
// A hub that root refuses asks to be enrolled anew, soon after a try that failed and ever more seldom.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Core } from '../../firmware/uplink/core.ts';
import { openUpkeep } from '../../firmware/uplink/upkeep.ts';

const test = suite<{ at: number }>('upkeep');
const { now } = performance;
test.before.each((c) => {
  c.at = 0;
  performance.now = () => c.at * 1000;
});
test.after.each(() => {
  performance.now = now;
});

function openFor(o: { wall: () => number }) {
  let tries = 0;
  let isUp = false;
  const core = {
    place: {
      identity: { certificate: 'c', expires_at: 1e12, issued_at: 0 },
      async enrol() {
        tries++;
        throw new Error('root is away');
      },
    },
    store: { dropCounters: async () => {} },
    ring: { keys: { e2e: [{}] } },
    root: {},
    outside: { warn: () => {}, notice: () => {} },
    now: o.wall,
  } as unknown as Core;
  const connection = () => ({ sessions: () => undefined, isUp: () => isUp }) as never;
  const upkeep = openUpkeep(core, connection, async () => {});
  return {
    upkeep,
    tries: () => tries,
    async connected() {
      isUp = true;
      await upkeep.run();
      isUp = false;
    },
  };
}

test('the pauses double from two seconds to a minute, and begin anew after a connection', async (c) => {
  const u = openFor({ wall: () => 0 });
  const at: number[] = [];
  for (let before = 0; c.at < 200; c.at += 0.5) {
    u.upkeep.reenrol();
    if (u.tries() > before) at.push(c.at);
    before = u.tries();
  }
  assert.equal(at, [0, 2, 6, 14, 30, 62, 122, 182]);
  await u.connected();
  c.at = 300;
  u.upkeep.reenrol();
  c.at = 302;
  u.upkeep.reenrol();
  assert.is(u.tries(), at.length + 2);
  u.upkeep.stop();
});

test('a clock that goes back by years holds nothing up', (c) => {
  let wall = 2e9;
  const u = openFor({ wall: () => wall });
  u.upkeep.reenrol();
  wall = 0;
  c.at = 2;
  u.upkeep.reenrol();
  assert.is(u.tries(), 2);
  u.upkeep.stop();
});

test.run();
