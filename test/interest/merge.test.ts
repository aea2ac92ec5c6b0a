// Interest: durations, areas, requests, and what subscriptions come to. Pure.
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { covers, distanceKm } from '../../firmware/interest/area.ts';
import { isoDuration, msOf } from '../../firmware/interest/duration.ts';
import {
  dueAt,
  keyOf,
  living,
  MOST,
  merged,
  type Subscription,
  servedBy,
  subscribed,
} from '../../firmware/interest/merge.ts';
import { checkInterest, type Stream } from '../../firmware/interest/request.ts';
import type { IngleError } from '../../firmware/protocol/errors.ts';

const test = suite('interest');
const berlin = { lat: 52.52, lon: 13.405, radius_km: 10 };
const stream = (s: Partial<Stream> = {}): Stream => ({
  topic: 'weather.update',
  area: berlin,
  period_ms: 300_000,
  ttl_ms: 3_600_000,
  ...s,
});
const codeOf = (work: () => unknown): string => {
  try {
    work();
    return 'taken';
  } catch (e) {
    return (e as IngleError).code;
  }
};

test('a duration is read as people write it and told as ISO 8601 has it', () => {
  assert.equal(['30s', '5m', '8h', '1d'].map(msOf), [30_000, 300_000, 28_800_000, 86_400_000]);
  for (const [ms, text] of [
    [0, 'PT0S'],
    [-5, 'PT0S'],
    [1, 'PT1S'],
    [300_000, 'PT5M'],
    [3_600_000, 'PT1H'],
    [3_630_000, 'PT1H30S'],
    [90_061_000, 'PT25H1M1S'],
  ] as const)
    assert.is(isoDuration(ms), text);
});

test('distances are those of the globe, over the date line and at the poles too', () => {
  const at = (lat: number, lon: number) => ({ lat, lon, radius_km: 0 });
  assert.ok(Math.abs(distanceKm(at(52.52, 13.405), at(48.8566, 2.3522)) - 878) < 2);
  assert.ok(distanceKm(at(0, 179.9), at(0, -179.9)) < 23);
  assert.ok(distanceKm(at(90, 0), at(90, 180)) < 0.001);
  assert.ok(covers(berlin, { ...berlin, radius_km: 9 }));
  assert.not.ok(covers(berlin, { ...berlin, radius_km: 11 }));
  assert.not.ok(covers(berlin, { ...berlin, lon: 13.5 }));
  assert.not.ok(covers(undefined, berlin));
  assert.ok(covers(undefined, undefined));
});

test('a request is taken whole or refused with every fault', () => {
  const one = { topic: 'weather.update', area: berlin, period: '5m', ttl: '8h', format: 'compact' };
  assert.equal(checkInterest({ streams: [one] }), [
    { topic: 'weather.update', area: berlin, format: 'compact', period_ms: 300_000, ttl_ms: 28_800_000 },
  ]);
  const bad: unknown[] = [
    null,
    [],
    {},
    { streams: [] },
    { streams: Array.from({ length: 9 }, () => one) },
    { streams: [one], more: 1 },
    ...[
      { topic: 'A' },
      { topic: 'a..b' },
      { topic: 'a'.repeat(129) },
      { area: { ...berlin, lat: 91 } },
      { area: { ...berlin, lon: Number.NaN } },
      { area: { ...berlin, radius_km: -1 } },
      { area: { lat: 1, lon: 1 } },
      { period: '5' },
      { period: '0m' },
      { period: '5M' },
      { period: 'PT5M' },
      { period: '1s' },
      { period: '2d' },
      { ttl: '1s' },
      { ttl: '999999d' },
      { ttl: '4m' },
      { format: '' },
      { extra: 1 },
    ].map((x) => ({ streams: [{ ...one, ...x }] })),
  ];
  for (const body of bad)
    assert.is(
      codeOf(() => checkInterest(body)),
      'invalid_request',
      JSON.stringify(body),
    );
});

test('the same subscription renews, with another period too; another owner’s is another', () => {
  let all: Subscription[] = [];
  const add = (owner_id: string, streams: Stream[], now: number, id: string) => {
    const r = subscribed(all, { id, owner_id, streams }, now);
    all = r.all;
    return r.id;
  };
  assert.is(add('ann', [stream()], 0, 'a'), 'a');
  assert.is(add('ann', [stream({ period_ms: 60_000 })], 3_000_000, 'b'), 'a');
  assert.is(merged(all, 3_700_000)[0]!.until, 6_600_000, 'it lasts from its renewal');
  assert.is(add('bob', [stream()], 3_000_000, 'c'), 'c');
  assert.is(all.length, 2);
  assert.is(add('ann', [stream()], 6_600_000, 'd'), 'd', 'what has ended is not renewed');
});

test('subscriptions are bounded, for one owner and in all, and ended ones take no place', () => {
  let all: Subscription[] = [];
  const add = (owner: string, n: number, now: number) =>
    codeOf(() => {
      all = subscribed(
        all,
        { id: `${owner}${n}`, owner_id: owner, streams: [stream({ topic: `t${n}` })] },
        now,
      ).all;
    });
  for (const owner of ['a', 'b', 'c', 'd']) {
    for (let n = 0; n < MOST.owner; n++) assert.is(add(owner, n, 0), 'taken');
    assert.is(add(owner, 99, 0), 'conflict');
    assert.is(add(owner, 0, 0), 'taken', 'renewing needs no place');
  }
  assert.is(all.length, MOST.all);
  assert.is(add('e', 0, 0), 'conflict');
  assert.is(add('e', 0, 3_600_000), 'taken');
  assert.is(all.length, 1);
});

test('what another area covers is part of it, with the shorter of the periods', () => {
  const small = stream({ area: { ...berlin, radius_km: 1 }, period_ms: 60_000, ttl_ms: 60_000 });
  const all = [{ id: 'a', owner_id: 'ann', renewed: 0, streams: [small, stream(), stream({ format: 'x' })] }];
  const about = (now: number) => merged(all, now).map((w) => [w.area?.radius_km, w.format, w.period_ms]);
  assert.equal(about(0), [
    [10, undefined, 60_000],
    [10, 'x', 300_000],
  ]);
  assert.equal(about(60_000)[0], [10, undefined, 300_000], 'who has ended hastens nothing');
});

test('a clock that is set back prolongs nothing beyond its ttl from now', () => {
  const all = [{ id: 'a', owner_id: 'ann', renewed: 1e12, streams: [stream()] }];
  assert.is(merged(all, 5e11)[0]!.until, 5e11 + 3_600_000);
  assert.is(dueAt(merged(all, 5e11)[0]!, 1e12, 5e11), 5e11 + 300_000);
});

const arbStream = fc.record({
  topic: fc.constantFrom('a', 'b'),
  area: fc.record({
    lat: fc.integer({ min: 50, max: 53 }),
    lon: fc.integer({ min: 10, max: 13 }),
    radius_km: fc.constantFrom(0, 10, 150, 500),
  }),
  period_ms: fc.constantFrom(10_000, 60_000, 300_000),
  ttl_ms: fc.constantFrom(300_000, 600_000, 3_600_000),
});
const arbAll = fc.array(
  fc.record({
    owner_id: fc.constantFrom('ann', 'bob'),
    at: fc.integer({ min: 0, max: 900_000 }),
    streams: fc.array(arbStream, { minLength: 1, maxLength: 3 }),
  }),
  { maxLength: 10 },
);

test('property: each subscriber is served as often as it asked, nobody after the last ttl, nothing oftener than asked', () => {
  fc.assert(
    fc.property(arbAll, fc.integer({ min: 900_000, max: 4_600_000 }), (given, now) => {
      let all: Subscription[] = [];
      for (const [i, g] of given.sort((a, b) => a.at - b.at).entries())
        all = subscribed(all, { id: `${i}`, ...g }, g.at).all;
      const wanted = merged(all, now);
      const live = all
        .flatMap((s) => s.streams.map((x) => ({ x, end: s.renewed + x.ttl_ms })))
        .filter(({ end }) => end > now);
      for (const { x, end } of live) {
        const w = servedBy(wanted, x);
        assert.ok(w && w.topic === x.topic && covers(w.area, x.area), 'it is served, all of its area');
        assert.ok(w!.period_ms <= x.period_ms && w!.until >= end);
      }
      for (const w of wanted) {
        const its = live.filter(({ x }) => x.topic === w.topic && covers(w.area, x.area));
        assert.ok(
          its.some(({ x }) => x.period_ms === w.period_ms),
          'somebody asks for that period',
        );
        assert.ok(
          its.some(({ end }) => end === w.until),
          'somebody lasts so long',
        );
      }
      assert.is(new Set(wanted.map(keyOf)).size, wanted.length);
      assert.is(living(all, now).length === 0, wanted.length === 0);
    }),
  );
});

test.run();
