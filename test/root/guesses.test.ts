// timeout: 300 s
// gate: out, 20 s of a processor
// Guessing of codes, as root/CODES.md reckons it: the real limits on a clock of ours, attackers with many addresses.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readConfig } from '../../root/config.ts';
import { openGuesses } from '../../root/guesses.ts';
import { limit, networkKey } from '../../root/limit.ts';
import { openLimits } from '../../root/root.ts';

const test = suite('guesses');
// Millions of refusals; what costs is their stack.
Error.stackTraceLimit = 0;
const BUDGET = readConfig([], {}).guesses;
const TTL_MS = 600_000;
const YEAR_MS = 365 * 86_400_000;

/** 10,000 IPv4 addresses in as many networks; or as many /48 of one /32, and addresses of theirs without end. */
const ipv4 = (i: number) => `${100 + Math.floor(i / 65_536)}.${(i >> 8) & 255}.${i & 255}.9`;
const ipv6 = (i: number) => `2001:db8:${(i % 65_536).toString(16)}:${((i >> 4) & 65_535).toString(16)}::1`;

/** What a guess comes to: looked for among all codes, among those of the address, or not at all. */
function tryFrom(g: ReturnType<typeof openGuesses>, ip: string): 'far' | 'near' | 'no' {
  try {
    return g.begin(ip).near ? 'near' : 'far';
  } catch {
    return 'no';
  }
}

test('an IPv6 network is a /48, an IPv4 one a /24', () => {
  assert.is(networkKey('2001:db8:1:2::1'), networkKey('2001:db8:1:ffff::9'));
  assert.is.not(networkKey('2001:db8:1::1'), networkKey('2001:db8:2::1'));
  assert.is(networkKey('203.0.113.9'), networkKey('::ffff:203.0.113.200'));
  assert.is.not(networkKey('203.0.113.9'), networkKey('203.0.114.9'));
});

test('in no ten minutes are more than twice the budget looked for, however the tries are timed', () => {
  const step = fc.record({ wait: fc.nat(120_000), burst: fc.integer({ min: 1, max: 30 }) });
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 120 }), fc.boolean(), (steps, six) => {
      let t = 1e12;
      let n = 0;
      const g = openGuesses(BUDGET, () => t);
      const far: number[] = [];
      for (const { wait, burst } of steps) {
        t += wait;
        for (let i = 0; i < burst; i++) if (tryFrom(g, (six ? ipv6 : ipv4)(n++)) === 'far') far.push(t);
      }
      for (const at of far) assert.ok(far.filter((x) => x >= at && x < at + TTL_MS).length <= 2 * BUDGET);
    }),
  );
});

test('one network burns half of the budget at most, and one address gets few tries beyond', () => {
  let t = 1e12;
  for (const [one, beside] of [
    [(i: number) => `198.51.100.${i % 256}`, '203.0.113.1'],
    [(i: number) => `2001:db8:7:${(i % 65_536).toString(16)}::${i}`, '2001:db8:8::1'],
  ] as [(i: number) => string, string][]) {
    const g = openGuesses(BUDGET, () => t);
    const all = Array.from({ length: 1000 }, (_, i) => tryFrom(g, one(i)));
    assert.is(all.filter((x) => x === 'far').length, BUDGET / 2);
    assert.is(tryFrom(g, beside), 'far', 'the network beside is undisturbed');
  }
  const g = openGuesses(BUDGET, () => t);
  const same = Array.from({ length: 1000 }, () => tryFrom(g, '192.0.2.1'));
  assert.is(same.filter((x) => x !== 'no').length, BUDGET);
  t += 2 * TTL_MS;
  assert.is(tryFrom(g, '192.0.2.1'), 'far', 'and it passes');
});

test('a right code costs nothing, also when it was begun in the window before', () => {
  let t = 1e12;
  const g = openGuesses(BUDGET, () => t);
  for (let i = 0; i < 1000; i++) {
    const guess = g.begin('192.0.2.1');
    assert.not(guess.near);
    if (i % 7 === 0) t += TTL_MS / 2;
    guess.refund();
  }
  const l = limit(1, 60, () => t);
  const back = l.take('a');
  t += 300_000;
  l.take('a');
  back();
  assert.throws(() => l.take('a'), /Too many/);
});

/** A year of one hub that opens a code `codes` times, each to its end, under attack without a pause. */
function year(address: (i: number) => string, codes: number, knowsWhen: boolean) {
  let t = Math.ceil(1e12 / TTL_MS) * TTL_MS;
  const g = openGuesses(BUDGET, () => t);
  const perAddress = openLimits(() => t).verify;
  const end = t + YEAR_MS;
  const every = Math.floor(YEAR_MS / codes);
  let n = 0;
  let looked = 0;
  let whileOpen = 0;
  const attempt = () => {
    const ip = address(n++ % 10_000);
    try {
      perAddress.take(ip);
    } catch {
      return;
    }
    if (tryFrom(g, ip) !== 'far') return;
    looked++;
    // He who knows when the code is open is met by codes that lie across the border of two windows: the worst for us.
    const at = (t - (knowsWhen ? TTL_MS / 2 : 0)) % every;
    if (at >= 0 && at < TTL_MS) whileOpen++;
  };
  // More often than this changes nothing: the budget is used up.
  for (; t < end; t += knowsWhen ? 20_000 : 60_000) {
    // Who knows saves up what there is for the moment it counts.
    const at = (t - TTL_MS / 2) % every;
    if (knowsWhen && (at < 0 || at >= TTL_MS)) continue;
    for (let i = 0; i < (knowsWhen ? 40 : 3); i++) attempt();
    if (n % 3000 === 0) {
      g.sweep();
      perAddress.sweep();
    }
  }
  return { looked, whileOpen };
}

test('a year of attack hits a hub with a chance below 1 in 1,000: 10,000 IPv4 addresses, or a /32 of IPv6', () => {
  // A code a week, each left open for all of its ten minutes.
  const codes = 50;
  for (const [name, address] of [
    ['ipv4', ipv4],
    ['ipv6', ipv6],
  ] as const)
    for (const knowsWhen of [false, true]) {
      const { looked, whileOpen } = year(address, codes, knowsWhen);
      const chance = whileOpen / 1e6;
      console.log(
        `FIGURE root.codes.chance_a_year ${chance.toExponential(2)} ${name} ${knowsWhen ? 'knows when' : 'all year'}, ${looked} looked for`,
      );
      assert.ok(looked > 0 && whileOpen > 0, 'the attack takes place');
      assert.ok(whileOpen <= codes * 2 * BUDGET);
      assert.ok(chance < 1e-3, `${name} ${chance}`);
      // Nobody gets through more than the budget in the long run.
      assert.ok(looked <= (YEAR_MS / TTL_MS + 1) * BUDGET + codes * BUDGET);
    }
});

test('the sum is right: hits in a code space a thousand times smaller are as many as reckoned', () => {
  // 50 codes a year, 20 guesses each: 1 hit a year in 1,000 codes where it is 0.001 in 1,000,000; 400 years.
  const space = 1000;
  let hits = 0;
  const years = 400;
  for (let y = 0; y < years; y++)
    for (let i = 0; i < 50; i++) {
      let t = 1e12 + TTL_MS - (1e12 % TTL_MS) - 1;
      const g = openGuesses(BUDGET, () => t);
      const code = Math.floor(Math.random() * space);
      const first = Math.floor(Math.random() * space);
      let guess = 0;
      for (const end = t + TTL_MS; t < end; t += 30_000)
        for (let n = 0; n < 15; n++)
          if (tryFrom(g, ipv4(guess * 31 + n)) === 'far' && (first + guess++) % space === code) hits++;
    }
  // Poisson with a mean of at most 400: six deviations.
  assert.ok(hits <= years + 6 * Math.sqrt(years), `${hits} hits`);
  assert.ok(hits > years / 2, `${hits} hits: the attack takes place`);
});

test.run();
