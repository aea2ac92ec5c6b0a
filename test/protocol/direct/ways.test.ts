import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { concat } from '../../../firmware/protocol/bytes.ts';
import {
  decodeMessage,
  encodeFrame,
  encodeTaken,
  MAX_DIRECT_MESSAGE,
} from '../../../firmware/protocol/direct/message.ts';
import { type Left, openWays, SILENT, STALLED, UNDER_WAY } from '../../../firmware/protocol/direct/ways.ts';

const frameOf = (ctr: number, size = 16) => {
  const f = new Uint8Array(size);
  new DataView(f.buffer).setUint32(0, ctr);
  return f;
};
const numberOf = (frame: Uint8Array) => new DataView(frame.buffer, frame.byteOffset).getUint32(0);

/** One end whose two ways are lists. */
function end(now = () => 0) {
  const relayed: number[] = [];
  const direct: Uint8Array[] = [];
  const got: number[] = [];
  const left: Left[] = [];
  const at = { takes: true };
  const ways = openWays({
    relay: (frame, ctr) => void (assert.is(numberOf(frame), ctr), relayed.push(ctr)),
    direct: (m) => at.takes && direct.push(m) > 0,
    receive: (frame, ctr) => void (assert.is(numberOf(frame), ctr), got.push(ctr)),
    left: (why) => void left.push(why),
    now,
  });
  const send = (ctr: number, size?: number) => ways.send(frameOf(ctr, size), ctr);
  const relay = (ctr: number) => ways.fromRelay(frameOf(ctr), ctr);
  const straight = (ctr: number, size?: number) => ways.fromDirect(encodeFrame(frameOf(ctr, size), ctr));
  const taken = (ctr: number) => ways.fromDirect(encodeTaken(ctr));
  return { ways, relayed, direct, got, left, at, send, relay, straight, taken };
}
const said = (direct: Uint8Array[]) => direct.map((m) => decodeMessage(m)!).map((m) => `${m.t} ${m.ctr}`);

test('frames go through root until the direct way stands, and straight from then on', () => {
  const e = end();
  e.send(5);
  e.ways.take();
  e.send(6);
  assert.equal([e.relayed, said(e.direct), e.ways.way], [[5], ['frame 6'], 'direct']);
});

test('what comes directly waits for what is still on its way through root', () => {
  const e = end();
  e.relay(1);
  e.ways.take();
  e.straight(4);
  e.straight(5);
  assert.equal(e.got, [1]);
  assert.not.ok(e.ways.settled);
  e.relay(2);
  e.relay(3);
  assert.equal(e.got, [1, 2, 3, 4, 5]);
  assert.ok(e.ways.settled);
  assert.equal(e.left, []);
});

for (const [name, fall] of [
  ['its transport closes', (e: ReturnType<typeof end>) => e.ways.leave('closed')],
  ['the other side sends through root again', (e: ReturnType<typeof end>) => e.relay(9)],
  [
    'it takes no more',
    (e: ReturnType<typeof end>) => {
      e.at.takes = false;
      void e.send(14);
    },
  ],
] as const)
  test(`when ${name}, what is not acknowledged goes through root, in order, before all that follows`, () => {
    const e = end();
    e.relay(7);
    e.send(9);
    e.ways.take();
    e.straight(8);
    for (const ctr of [10, 11, 12, 13]) e.send(ctr);
    e.taken(11);
    fall(e);
    e.send(15);
    assert.equal(
      e.relayed.filter((ctr) => ctr !== 14),
      [9, 12, 13, 15],
    );
    assert.is(e.left.length, 1);
    assert.is(e.ways.way, 'relay');
  });

test('a frame that came directly and comes through root once more is given once', () => {
  const e = end();
  e.relay(1);
  e.ways.take();
  e.straight(2);
  e.straight(3);
  e.relay(3);
  assert.equal(e.left, ['other']);
  e.relay(4);
  assert.equal(e.got, [1, 2, 3, 4]);
});

test('what still waited for root when the direct way fell is the other side to send again', () => {
  const e = end();
  e.relay(1);
  e.ways.take();
  e.straight(4);
  e.ways.leave('closed');
  e.relay(2);
  e.relay(3);
  assert.equal(e.got, [1, 2, 3]);
});

test('what the other side sent anew before the direct way came back does not end it', () => {
  const e = end();
  e.relay(1);
  e.ways.take();
  e.straight(2);
  e.straight(3);
  e.ways.leave('closed');
  e.ways.take();
  e.straight(4);
  // 2 and 3 had come; their acknowledgement had not.
  e.relay(2);
  e.relay(3);
  assert.equal(e.got, [1, 2, 3, 4]);
  assert.equal(e.left, ['closed']);
  assert.is(e.ways.way, 'direct');
});

test('an old frame that root repeats is the channel to judge', () => {
  const e = end();
  e.relay(1);
  e.relay(2);
  e.ways.take();
  e.straight(3);
  e.relay(2);
  assert.equal(e.got, [1, 2, 3, 2]);
  assert.is(e.ways.way, 'direct');
});

for (const [name, break_] of [
  ['garbage', (e: ReturnType<typeof end>) => e.ways.fromDirect(Uint8Array.of(7, 7, 7))],
  ['an empty message', (e: ReturnType<typeof end>) => e.ways.fromDirect(new Uint8Array(0))],
  ['a frame twice', (e: ReturnType<typeof end>) => (e.straight(2), e.straight(2))],
  ['a frame that leaves one out', (e: ReturnType<typeof end>) => (e.straight(2), e.straight(4))],
  ['an acknowledgement of what was never sent', (e: ReturnType<typeof end>) => e.taken(100)],
  [
    'more than may be under way',
    (e: ReturnType<typeof end>) => {
      for (let ctr = 50; ctr < 100; ctr++) e.straight(ctr, 60_000);
    },
  ],
] as const)
  test(`${name} ends the direct way and not the channel`, () => {
    const e = end();
    e.relay(1);
    e.ways.take();
    e.send(20);
    break_(e);
    assert.equal(e.left, ['broken']);
    assert.equal(e.relayed, [20]);
    e.relay(e.got.at(-1)! + 1);
    assert.equal(
      e.got,
      e.got.map((_, i) => i + 1),
    );
  });

/** The other side is silent for too long after a frame of ours. */
function doubted() {
  let now = 0;
  const e = end(() => now);
  const wait = (ms: number) => {
    now += ms;
    e.ways.tick();
  };
  e.relay(1);
  e.ways.take();
  e.straight(2);
  e.ways.tick();
  e.send(10);
  wait(SILENT + 1);
  return { ...e, wait };
}

test('silence brings the direct way into doubt only while something is under way', () => {
  let now = 0;
  const e = end(() => now);
  e.relay(1);
  e.ways.take();
  now += 10 * SILENT;
  e.ways.tick();
  e.send(2);
  now += SILENT;
  e.ways.tick();
  assert.equal(e.relayed, []);
  // A sign of life is as good as an acknowledgement: what it has to wait for comes through root.
  e.taken(0);
  now += SILENT;
  e.ways.tick();
  assert.equal(e.relayed, []);
  now += 1;
  e.ways.tick();
  assert.equal([e.ways.way, e.left, e.relayed], ['direct', [], [2]]);
});

test('in doubt frames go both ways, each through root once', () => {
  const e = doubted();
  e.send(11);
  e.wait(250);
  e.send(12);
  assert.equal(e.relayed, [10, 11, 12]);
  assert.equal(said(e.direct).slice(1), ['frame 10', 'frame 11', 'frame 12']);
});

test('a word of the other side ends the doubt, and then root is not needed', () => {
  const e = doubted();
  assert.not.ok(e.ways.settled);
  e.taken(10);
  e.send(11);
  assert.ok(e.ways.settled);
  e.wait(SILENT);
  assert.equal([e.ways.way, e.left, e.relayed], ['direct', [], [10]]);
  // What root has already is not given to it again.
  e.ways.leave('closed');
  e.send(12);
  assert.equal(e.relayed, [10, 11, 12]);
});

test('a word of root ends the direct way that is in doubt', () => {
  const e = doubted();
  e.relay(3);
  assert.equal([e.ways.way, e.left, e.relayed, e.got], ['relay', ['silent'], [10], [1, 2, 3]]);
});

test('where both are silent the doubt ends the direct way in the end', () => {
  const e = doubted();
  e.wait(STALLED - SILENT);
  assert.is(e.ways.way, 'direct');
  e.wait(1);
  assert.equal([e.ways.way, e.left, e.relayed], ['relay', ['silent'], [10]]);
});

test('whoever is in doubt still says what it waits for', () => {
  const e = doubted();
  e.straight(3);
  e.send(11);
  const before = e.direct.length;
  e.wait(SILENT + 1);
  assert.equal(said(e.direct.slice(before)), ['taken 3']);
});

test('whoever waits for root says so, and gives up where nothing comes', () => {
  let now = 0;
  const e = end(() => now);
  e.relay(1);
  e.ways.take();
  e.straight(4);
  now += STALLED;
  e.ways.tick();
  assert.equal(said(e.direct), ['taken 1']);
  e.relay(2);
  now += STALLED;
  e.ways.tick();
  assert.equal(said(e.direct), ['taken 1', 'taken 2']);
  now += 1;
  e.ways.tick();
  // The channel sees the gap.
  assert.equal([e.got, e.left], [[1, 2, 4], ['stalled']]);
});

test('it waits from when the first one waits, however long before nothing came', () => {
  let now = 0;
  const e = end(() => now);
  e.relay(1);
  e.ways.take();
  now += 2 * STALLED;
  e.straight(4);
  e.ways.tick();
  assert.equal([e.got, e.left], [[1], []]);
});

test('before any number is known what comes directly waits, be it number 0', () => {
  const e = end();
  e.ways.take();
  e.straight(0);
  assert.equal(e.got, []);
});

test('acknowledgements come with the tick, sooner where much has come, and not twice', () => {
  const e = end();
  e.relay(1);
  e.ways.take();
  e.straight(2);
  assert.equal(said(e.direct), []);
  e.ways.tick();
  e.ways.tick();
  assert.equal(said(e.direct), ['taken 2']);
  for (let ctr = 3; ctr < 6; ctr++) e.straight(ctr, 60_000);
  assert.equal(said(e.direct), ['taken 2', 'taken 5']);
});

test('a sender waits while too much is under way, until some of it is acknowledged or the way falls', async () => {
  for (const free of [
    (e: ReturnType<typeof end>) => e.taken(10),
    (e: ReturnType<typeof end>) => e.ways.leave('closed'),
  ]) {
    const e = end();
    e.ways.take();
    let ctr = 1;
    let held = e.send(ctr, 60_000);
    for (; !held; held = e.send(ctr, 60_000)) ctr++;
    assert.is(ctr, Math.floor(UNDER_WAY / 60_064) + 1);
    let free_ = false;
    void held.then(() => {
      free_ = true;
    });
    await Promise.resolve();
    assert.not.ok(free_);
    free(e);
    await held;
  }
});

test('a channel that begins anew takes any number', () => {
  const e = end();
  // Root makes one up.
  e.relay(1_000_000);
  e.ways.anew();
  e.relay(5);
  e.ways.take();
  e.straight(6);
  assert.equal(e.got, [1_000_000, 5, 6]);
});

test('a channel that begins anew gives root any number', () => {
  const e = end();
  e.send(1_000_000);
  e.ways.anew();
  e.ways.take();
  e.send(5);
  e.ways.leave('closed');
  assert.equal(e.relayed, [1_000_000, 5]);
});

test('a doubt ends with the direct way it was about', () => {
  const e = doubted();
  e.ways.leave('closed');
  e.ways.take();
  e.relay(3);
  assert.equal([e.ways.way, e.left], ['direct', ['closed']]);
});

test('messages are read as they were written, and whatever else comes is none', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 2, maxLength: 300 }),
      fc.nat(2 ** 31 - 1),
      fc.nat(2 ** 20),
      (frame, low, high) => {
        const ctr = high * 2 ** 32 + low;
        assert.equal(decodeMessage(encodeFrame(frame, ctr)), { t: 'frame', ctr, frame });
        assert.equal(decodeMessage(encodeTaken(ctr)), { t: 'taken', ctr });
      },
    ),
  );
  fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => void decodeMessage(bytes)));
  const frame = encodeFrame(new Uint8Array(2), 1);
  assert.is(decodeMessage(frame.subarray(0, 10)), null);
  assert.is(decodeMessage(concat(encodeTaken(1), new Uint8Array(1))), null);
  assert.is(decodeMessage(new Uint8Array(MAX_DIRECT_MESSAGE + 1).fill(1)), null);
  assert.is(decodeMessage(new Uint8Array(9 + 2).fill(255).fill(1, 0, 1)), null);
});

/** Two ends with root and data channels between them, and a clock; what happens is drawn. */
function world() {
  let now = 0;
  const roads = { relay: [[], []] as Numbered[][], given: [[], []] as number[][], next: [100, 7000] };
  /** Data channels, oldest first; each has a queue a direction, and is closed at each end by itself. */
  const lines: { queues: [Uint8Array[], Uint8Array[]]; up: [boolean, boolean]; dead: boolean }[] = [];
  const line: (number | null)[] = [null, null];
  const ends = [0, 1].map((me) =>
    openWays({
      relay: (frame, ctr) => void roads.relay[me]!.push({ frame, ctr }),
      direct(m) {
        const l = lines[line[me]!]!;
        if (!l.up[me as 0 | 1]) return false;
        if (!l.dead) l.queues[me as 0 | 1].push(m);
        return true;
      },
      receive: (frame, ctr) => void (assert.is(numberOf(frame), ctr), roads.given[me]!.push(ctr)),
      left() {
        lines[line[me]!]!.up[me as 0 | 1] = false;
        line[me] = null;
      },
      now: () => now,
    }),
  );
  interface Numbered {
    frame: Uint8Array;
    ctr: number;
  }
  const other = (me: number) => 1 - me;
  return {
    roads,
    send(me: number) {
      const ctr = roads.next[me]!++;
      void ends[me]!.send(frameOf(ctr), ctr);
    },
    relay(to: number) {
      const m = roads.relay[other(to)]!.shift();
      if (m) ends[to]!.fromRelay(m.frame, m.ctr);
      return m !== undefined;
    },
    direct(to: number) {
      const l = line[to] === null ? undefined : lines[line[to]!];
      const m = l?.queues[other(to) as 0 | 1].shift();
      if (m) ends[to]!.fromDirect(m);
      return m !== undefined;
    },
    /** A new data channel, which each end sees when it sees it. */
    connect: () => void lines.push({ queues: [[], []], up: [true, true], dead: false }),
    see(me: number) {
      const newest = lines.length - 1;
      if (newest < 0 || line[me] !== null || !lines[newest]!.up[me as 0 | 1]) return;
      line[me] = newest;
      ends[me]!.take();
    },
    /** All that is under way directly is lost, and nobody is told. */
    cut() {
      for (const l of lines) {
        l.dead = true;
        l.queues[0].length = l.queues[1].length = 0;
      }
    },
    /** An end hears that its data channel is closed. */
    closed: (me: number) => ends[me]!.leave('closed'),
    wait(ms: number) {
      now += ms;
      for (const e of ends) e.tick();
    },
    /** Everything arrives; what is silent is noticed. */
    settle() {
      for (let i = 0; i < 60; i++) {
        for (const me of [0, 1]) {
          for (let more = true; more; ) {
            const came = this.relay(me);
            more = this.direct(me) || came;
          }
        }
        now += 250;
        for (const e of ends) e.tick();
      }
    },
  };
}

const steps = fc.oneof(
  { weight: 12, arbitrary: fc.record({ do: fc.constant('send' as const), me: fc.nat(1) }) },
  { weight: 10, arbitrary: fc.record({ do: fc.constant('relay' as const), me: fc.nat(1) }) },
  { weight: 10, arbitrary: fc.record({ do: fc.constant('direct' as const), me: fc.nat(1) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('see' as const), me: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('connect' as const), me: fc.constant(0) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cut' as const), me: fc.constant(0) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('closed' as const), me: fc.nat(1) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), me: fc.constantFrom(100, 800, 1600) }),
  },
);

const isStraight = new Set(['send', 'direct', 'wait']);

test('whatever happens to the direct way, nothing is lost, doubled or out of order', () => {
  fc.assert(
    fc.property(fc.array(steps, { minLength: 20, maxLength: 300 }), (drawn) => {
      const w = world();
      // The channel stands before the direct way does: each side has heard the other.
      for (const me of [0, 1]) w.send(me);
      for (const me of [0, 1]) w.relay(me);
      for (const s of drawn) w[s.do](s.me);
      w.settle();
      for (const me of [0, 1]) {
        const first = me === 0 ? 7000 : 100;
        const sent = Array.from({ length: w.roads.next[1 - me]! - first }, (_, i) => first + i);
        assert.equal(w.roads.given[me], sent);
      }
    }),
    { numRuns: 3000 },
  );
});

test('while root is silent a direct way outlives every pause of the other side, and nothing waits for root', () => {
  fc.assert(
    fc.property(
      fc
        .array(steps, { minLength: 20, maxLength: 200 })
        .map((all) => all.filter((s) => isStraight.has(s.do))),
      (drawn) => {
        const w = world();
        for (const me of [0, 1]) w.send(me);
        for (const me of [0, 1]) w.relay(me);
        w.connect();
        for (const me of [0, 1]) w.see(me);
        /** For how long each has heard nothing. */
        const deaf = [0, 0];
        for (const s of drawn) {
          if (s.do === 'direct') {
            if (w.direct(s.me)) deaf[s.me] = 0;
          } else if (s.do !== 'wait') w[s.do](s.me);
          else if (Math.max(...deaf) + s.me <= STALLED) {
            for (const me of [0, 1]) deaf[me]! += s.me;
            w.wait(s.me);
          }
        }
        for (let more = true; more; ) more = [0, 1].map((me) => w.direct(me)).includes(true);
        assert.equal(
          w.roads.given.map((given) => given.length),
          [w.roads.next[1]! - 7000, w.roads.next[0]! - 100],
        );
      },
    ),
    { numRuns: 1000 },
  );
});

test.run();
