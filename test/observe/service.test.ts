// gate: in, it starts nothing of what it imports
// The stream beside a bus and a socket that are played, where time is moved by hand.
import { mock } from 'node:test';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Bus } from '../../firmware/system/bus.ts';
import { observe } from '../../services/api/observe.ts';

const test = suite('observing');
test.before.each(() => mock.timers.enable({ apis: ['setTimeout', 'setInterval'] }));
test.after.each(() => mock.timers.reset());

/** A bus that counts who hears it. */
function played() {
  const hearing = new Set<(s: { sender: string; body: unknown[] }) => void>();
  let isBroken = false;
  const bus = {
    name: ':1.1',
    async match(_: unknown, f: (s: { sender: string; body: unknown[] }) => void) {
      if (isBroken) throw new Error('no bus');
      hearing.add(f);
      return async () => void hearing.delete(f);
    },
  } as unknown as Bus;
  return {
    observing: observe(bus),
    hearing,
    break: (now: boolean) => (isBroken = now),
    say(topic: string, payload: unknown) {
      for (const f of hearing) f({ sender: ':1.2', body: [topic, { signature: 'i', value: payload }] });
    },
  };
}

type Hub = ReturnType<typeof played>;
const settle = async () => {
  for (let i = 0; i < 20; i++) await Promise.resolve();
};

/** A reader whose socket takes what it is told to. */
async function reader(hub: Hub, last_event_id?: string, room = Number.POSITIVE_INFINITY) {
  const r = await hub.observing.stream('', { query: {}, last_event_id });
  const at = { room, said: '', writes: 0 };
  const streaming = r.stream!((chunk) => {
    at.said += chunk;
    at.writes++;
    return at.said.length < at.room;
  });
  return {
    at,
    ...streaming,
    last: () => [...at.said.matchAll(/^id: (.*)$/gm)].at(-1)![1]!,
    events: () =>
      [...at.said.matchAll(/^event: gap$|"payload":(\d+)/gm)].map((m) => (m[1] ? Number(m[1]) : 'gap')),
  };
}

test('the bus is heard while somebody reads and a minute longer, so that who comes back has missed nothing', async () => {
  const hub = played();
  const first = await reader(hub);
  (await reader(hub)).stop();
  mock.timers.tick(3600_000);
  await settle();
  assert.is(hub.hearing.size, 1);
  hub.say('x', 1);
  first.stop();
  mock.timers.tick(59_000);
  hub.say('x', 2);
  const second = await reader(hub, first.last());
  assert.equal(second.events(), [2]);
  mock.timers.tick(120_000);
  hub.say('x', 3);
  assert.equal(second.events(), [2, 3]);
  const last = second.last();
  second.stop();
  mock.timers.tick(60_000);
  await settle();
  assert.is(hub.hearing.size, 0);
  hub.say('x', 4);
  hub.observing.event('x', 5);
  const third = await reader(hub, last);
  assert.is(hub.hearing.size, 1);
  assert.equal(third.events(), ['gap', 5], 'what this service itself said is there');
  hub.say('x', 6);
  assert.equal(third.events(), ['gap', 5, 6]);
  third.stop();
});

test('a request that is given up before its stream begins leaves nobody listening', async () => {
  const hub = played();
  await hub.observing.stream('', { query: {} });
  mock.timers.tick(60_000);
  await settle();
  assert.is(hub.hearing.size, 0);
});

test('a bus that fails is told, and tried again', async () => {
  const hub = played();
  hub.break(true);
  const failed = await hub.observing.stream('', { query: {} }).catch((e: Error) => e);
  assert.instance(failed, Error);
  hub.break(false);
  const r = await reader(hub);
  hub.say('x', 1);
  assert.equal(r.events(), [1]);
  r.stop();
});

test('a socket that takes nothing is given no more than a page, and goes on where it was', async () => {
  const hub = played();
  const r = await reader(hub, undefined, 1);
  const before = r.at.writes;
  for (let n = 0; n < 1000; n++) hub.say('x', n);
  mock.timers.tick(60_000);
  assert.is(r.at.writes, before, 'not even a sign of life');
  r.writable();
  assert.is(r.at.writes, before + 1, 'the try that showed no room');
  r.at.room = r.at.said.length + 200;
  r.writable();
  assert.equal(r.events(), [...Array(16).keys()]);
  r.at.room = Number.POSITIVE_INFINITY;
  r.writable();
  assert.equal(r.events(), [...Array(1000).keys()]);
  r.at.room = 1;
  for (let n = 1000; n < 4000; n++) hub.say('x', n);
  r.at.room = Number.POSITIVE_INFINITY;
  r.writable();
  // One page was on its way when the room was over; the journal holds the last 2000.
  assert.equal(r.events(), [
    ...Array(1001).keys(),
    'gap',
    ...Array.from({ length: 2000 }, (_, n) => n + 2000),
  ]);
  r.stop();
});

test('a sign of life says how far a reader is, though nothing was for it', async () => {
  const hub = played();
  const r = await hub.observing.stream('mine.', { query: {} });
  let said = '';
  const { stop } = r.stream!((chunk) => {
    said += chunk;
    return true;
  });
  const last = () => [...said.matchAll(/^id: (.*)$/gm)].at(-1)![1]!;
  for (let n = 0; n < 3000; n++) hub.say('other', n);
  mock.timers.tick(15_000);
  stop();
  assert.not.match(said, /event:/);
  const again = await reader(hub, last());
  assert.equal(again.events(), []);
  again.stop();
});

test('sixteen may listen', async () => {
  const hub = played();
  const all = await Promise.all(Array.from({ length: 16 }, () => reader(hub)));
  const more = () => hub.observing.stream('', { query: {} }).catch((e) => e.code);
  assert.is(await more(), 'rate_limited');
  all[0]!.stop();
  assert.is.not(await more(), 'rate_limited');
  for (const r of all.slice(1)) r.stop();
});

test.run();
