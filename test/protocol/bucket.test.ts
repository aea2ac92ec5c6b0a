import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openBucket, rate, take } from '../../firmware/protocol/bucket.ts';

const test = suite('a token bucket');

test('so much at once, then so much a second, and never more than a full bucket', () => {
  const r = rate(3, 2);
  const b = openBucket(r, 1000);
  for (const [ms, cost, passes] of [
    [1000, 1, true],
    [1000, 1, true],
    [1000, 1, true],
    [1000, 1, false],
    [1499, 1, false],
    [1500, 1, true],
    [1500, 1, false],
    // What is refused costs nothing.
    [2000, 2, false],
    [2000, 1, true],
    // An hour of silence fills it once, not more.
    [3_600_000, 4, false],
    [3_600_000, 3, true],
    [3_600_000, 0.5, false],
  ] as const)
    assert.is(take(b, r, ms, cost), passes, `${cost} at ${ms}`);
});

test('a clock that is set back takes nothing away and gives nothing', () => {
  const r = rate(2, 1);
  const b = openBucket(r, 1_000_000);
  assert.ok(take(b, r, 1_000_000));
  assert.ok(take(b, r, 0));
  assert.not(take(b, r, 0));
  assert.not(take(b, r, 999));
  assert.ok(take(b, r, 1000));
});

test('in any span no more passes than a full bucket and what came back meanwhile, and no less than that is refused', () => {
  const calls = fc.array(fc.record({ pause: fc.nat(3000), cost: fc.integer({ min: 1, max: 4 }) }), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 0, max: 10 }),
      calls,
      (burst, more, list) => {
        const r = rate(burst, more);
        const b = openBucket(r, 0);
        let now = 0;
        const passed: { now: number; cost: number }[] = [];
        for (const { pause, cost } of list) {
          now += pause;
          if (take(b, r, now, cost)) passed.push({ now, cost });
          // Refused only if some span up to now would else have let too much through.
          else
            assert.ok(
              spans(passed).some((s) => s.sum + cost > burst + ((now - s.from) * more) / 1000 - 1e-6),
            );
        }
        function spans(list: typeof passed) {
          const of = list.map((p, i) => ({
            from: p.now,
            sum: list.slice(i).reduce((n, x) => n + x.cost, 0),
          }));
          return [...of, { from: now, sum: 0 }];
        }
        for (const [i, first] of passed.entries()) {
          let sum = 0;
          for (const p of passed.slice(i)) {
            sum += p.cost;
            assert.ok(sum <= burst + ((p.now - first.now) * more) / 1000 + 1e-6);
          }
        }
      },
    ),
  );
});

test.run();
