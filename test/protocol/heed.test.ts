// A client comes where root says. One that root told of its end comes back at a random time within what it said; one that
// was not told, as ever.
import fc from 'fast-check';
import mitt from 'mitt';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { heedRoot } from '../../firmware/protocol/heed.ts';

const test = suite('heed');

/** A socket whose events are made by hand, and a clock that stands. */
function lab(random: () => number) {
  const events = mitt<{
    restart: { in_ms: number };
    disconnect: undefined;
    connect_error: Error;
    connect: undefined;
  }>();
  const asked: number[] = [];
  const counts = { connects: 0, disconnects: 0 };
  const real = { set: globalThis.setTimeout, clear: globalThis.clearTimeout };
  let work: (() => void) | undefined;
  globalThis.setTimeout = ((w: () => void, ms: number) => {
    asked.push(ms);
    work = w;
    return 1;
  }) as never;
  globalThis.clearTimeout = (() => {
    work = undefined;
  }) as never;
  const opts: { query?: Record<string, unknown> } = { query: { at: '' } };
  const socket = {
    io: { opts },
    on: events.on as never,
    connect: () => counts.connects++,
    disconnect: () => counts.disconnects++,
  };
  const stop = heedRoot(socket, random);
  return {
    ...{ counts, asked, stop, opts },
    refused: (data?: unknown) => events.emit('connect_error', Object.assign(new Error('no'), { data })),
    told: (m: unknown) => events.emit('restart', m as { in_ms: number }),
    lost: () => events.emit('disconnect'),
    came: () => events.emit('connect'),
    pass: () => work?.(),
    end() {
      globalThis.setTimeout = real.set;
      globalThis.clearTimeout = real.clear;
    },
  };
}
function inLab(random: () => number, work: (l: ReturnType<typeof lab>) => void): void {
  const l = lab(random);
  try {
    work(l);
  } finally {
    l.end();
  }
}

test('it waits a part of what root says, never more than a minute, whatever root says', () => {
  const said = fc.oneof(
    fc.anything(),
    fc.record({ in_ms: fc.anything() }),
    fc.record({ in_ms: fc.double() }),
  );
  fc.assert(
    fc.property(said, fc.double({ min: 0, max: 1, noNaN: true }), (m, r) =>
      inLab(
        () => r,
        (l) => {
          l.told(m);
          l.lost();
          assert.ok(
            l.asked.every((ms) => ms >= 0 && ms <= 60_000),
            String(l.asked),
          );
          assert.is(l.counts.disconnects, l.asked.length);
        },
      ),
    ),
  );
});

test('the pause is of the next loss only, and then it comes back', () =>
  inLab(
    () => 0.25,
    (l) => {
      l.lost();
      assert.equal(l.asked, [], 'nothing was said');
      l.told({ in_ms: 8000 });
      assert.is(l.counts.disconnects, 0, 'it stays as long as root does');
      l.lost();
      assert.equal([l.asked, l.counts], [[2000], { connects: 0, disconnects: 1 }]);
      l.pass();
      assert.is(l.counts.connects, 1);
      l.lost();
      assert.equal(l.asked, [2000]);
    },
  ));

test('one that is closed for good stays away', () =>
  inLab(
    () => 0.5,
    (l) => {
      l.told({ in_ms: 1000 });
      l.lost();
      l.stop();
      l.pass();
      assert.is(l.counts.connects, 0);
      l.told({ in_ms: 1000 });
      l.lost();
      assert.equal(l.asked, [500]);
    },
  ));

test('the first hint since it was connected is followed at once, a further one with the next try', () =>
  inLab(
    () => 0.5,
    (l) => {
      const hint = (steer: string) => l.refused({ error: 'unavailable', details: { steer } });
      for (const data of [undefined, {}, { error: 'unavailable' }, { details: {} }]) l.refused(data);
      assert.equal([l.opts.query, l.counts.connects], [{ at: '' }, 0], 'other refusals name no place');
      hint('node1.9.x');
      assert.equal([l.opts.query, l.counts.connects], [{ at: 'node1.9.x' }, 1]);
      hint('node2.9.x');
      assert.equal([l.opts.query, l.counts.connects], [{ at: 'node2.9.x' }, 1], 'it does not hurry again');
      l.came();
      hint('node3.9.x');
      assert.equal([l.opts.query, l.counts.connects], [{ at: 'node3.9.x' }, 2]);
    },
  ));

test('a refusal without a hint ends the one it has, a network that breaks does not, and what is no hint is none', () =>
  inLab(
    () => 0.5,
    (l) => {
      const hint = (steer: unknown) => l.refused({ error: 'unavailable', details: { steer } });
      hint('node1.9.x');
      l.refused();
      assert.is(l.opts.query?.['at'], 'node1.9.x');
      l.refused({ error: 'unavailable' });
      assert.is(l.opts.query?.['at'], '', 'where it led it was not wanted');
      for (const wrong of [7, {}, ['a'], 'x'.repeat(100)]) {
        hint(wrong);
        assert.equal([l.opts.query?.['at'], l.counts.connects], ['', 1]);
      }
    },
  ));

test.run();
