// timeout: 480 s
// gate: out, 25 s of a processor
// Rooms in which something is wrong between speaker and samples: wherever it says OK, the delay is still right.
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Evidence, measure } from '../../firmware/audio/measure.ts';
import { probeSpec, sweepStart } from '../../firmware/audio/probe.ts';
import * as canceller from './cancellers.ts';
import * as fault from './faults.ts';
import * as room from './room.ts';

const test = suite('faults');
const PREROLL = 0.45;
/** Milliseconds. */
const RIGHT = 0.5;

interface Heard {
  samples: Float64Array;
  rate: number;
  delay_s: number;
  snr_db: number;
  r: () => number;
}

/** A room from a seed, recorded from 5 to 30 dB; most at 16 kHz, which simulates faster. */
function hear(
  seed: number,
  drift_ppm: (r: () => number) => number,
  bend: (h: Float64Array, rate: number, r: () => number) => Float64Array = (h) => h,
): Heard {
  const r = room.random(seed);
  const rate = ([16_000, 16_000, 44_100, 16_000, 48_000] as const)[seed % 5]!;
  const response = bend(room.impulseResponse(room.randomRoom(r), rate, r), rate, r);
  const delay_s = 0.005 * 200 ** r();
  const snr_db = room.between(r, 5, 30);
  const scene = { rate, response, delay_s, snr_db, noise: room.noises[seed % 4]!, r, preroll_s: PREROLL };
  const samples = room.record({ ...scene, drift_ppm: drift_ppm(r), peak: room.between(r, 0.05, 0.9) });
  return { samples, rate, delay_s, snr_db, r };
}

const kept = new Map<number, Omit<Heard, 'samples'> & { bits: Int16Array }>();

/** A plain room with two usual crystals. The tests use the same seeds, so each is recorded once; `r` begins anew. */
function hearPlain(seed: number): Heard {
  let k = kept.get(seed);
  if (!k) {
    const { samples, ...h } = hear(seed, crystals);
    k = { ...h, bits: Int16Array.from(samples, (v) => v * 32_768) };
    kept.set(seed, k);
  }
  return { ...k, samples: Float64Array.from(k.bits, (v) => v / 32_768), r: room.random(seed + 7) };
}

const crystals = (r: () => number) => room.between(r, -100, 100);

interface Tally {
  verdicts: Map<string, number>;
  errors: number[];
}

/** Measures what `scene` makes of `runs` seeds; no OK may have a wrong delay. Prints and returns what was said. */
function tally(
  name: string,
  runs: number,
  scene: (seed: number) => { h: Heard; samples?: Float64Array },
  also: (e: Evidence, h: Heard) => void = () => {},
): Tally {
  const t: Tally = { verdicts: new Map(), errors: [] };
  fc.assert(
    fc.property(fc.nat(1_000_000), (seed) => {
      const { h, samples = h.samples } = scene(seed);
      const m = measure({ samples, rate: h.rate, origin: PREROLL });
      const error = Math.abs(m.latency_ms - h.delay_s * 1000);
      t.verdicts.set(m.verdict, (t.verdicts.get(m.verdict) ?? 0) + 1);
      if (m.verdict === 'ok') {
        t.errors.push(error);
        assert.ok(error <= RIGHT, `ok, ${error.toFixed(2)} ms off`);
      }
      also(m, h);
    }),
    { numRuns: runs, seed: 21, endOnFailure: true },
  );
  t.errors.sort((a, b) => a - b);
  const worst = t.errors.at(-1) ?? 0;
  console.log(
    `\nFIGURE audio.faults.${name} ${runs}: ${[...t.verdicts].map((v) => v.join(' ')).join(', ')}; worst error of an OK ${worst.toFixed(3)} ms`,
  );
  return t;
}

const share = (t: Tally, verdict: string, runs: number) => (t.verdicts.get(verdict) ?? 0) / runs;

/** When the probe's second `t` is in the recording. */
const arrives = (h: Heard, t: number) => PREROLL + h.delay_s + t;

test('samples lost or put in while the probe plays never make a wrong OK', () => {
  const RUNS = 150;
  tally('slips', RUNS, (seed) => {
    const h = hearPlain(seed);
    let { samples } = h;
    let later = 0;
    // From one sample at 48 kHz to 2,400 of them, at one place or up to four, from the chirp on.
    const places = 1 + Math.floor(4 * h.r() ** 2);
    for (let i = 0; i < places; i++) {
      const count = Math.max(1, Math.round((2400 ** h.r() / 48_000) * h.rate));
      const t = h.r() * (sweepStart(probeSpec) + probeSpec.sweep.duration);
      const twice = h.r() < 0.5;
      samples = fault.slip(samples, h.rate, arrives(h, t), twice ? count : -count);
      // What is there twice from the chirp's soft beginning on is a whole chirp, and a sweep, that much later.
      if (twice && t - count / h.rate < 0.015) later += count / h.rate;
    }
    h.delay_s += later;
    return { h, samples };
  });
});

test('a millisecond and more lost or put in within the sweep is told as glitching', () => {
  const RUNS = 60;
  const t = tally('slips_in_sweep', RUNS, (seed) => {
    const h = hearPlain(seed);
    const count = Math.round(room.between(h.r, 0.001, 0.05) * h.rate);
    const at = arrives(h, sweepStart(probeSpec) + room.between(h.r, 0.05, 0.9) * probeSpec.sweep.duration);
    return { h, samples: fault.slip(h.samples, h.rate, at, h.r() < 0.5 ? count : -count) };
  });
  assert.is(share(t, 'glitching', RUNS), 1);
});

test('direct sound 3 to 12 dB weaker than a reflection 1 to 10 ms later is what counts', () => {
  const RUNS = 80;
  const t = tally('weak_direct', RUNS, (seed) => ({
    h: hear(seed, crystals, (response, rate, r) => {
      const weaker_db = room.between(r, 3, 12);
      const tail = room.between(r, 0.5, 10 ** (weaker_db / 20));
      return fault.weakDirect(response, rate, weaker_db, room.between(r, 1, 10), tail);
    }),
  }));
  assert.ok(share(t, 'ok', RUNS) > 0.9);
});

test('clocks 300 ppm apart leave the delay within half a millisecond, and are told apart', () => {
  const RUNS = 60;
  let ppm = 0;
  const t = tally(
    'drift_300_ppm',
    RUNS,
    (seed) => ({
      h: hear(seed, (r) => {
        ppm = r() < 0.5 ? -300 : 300;
        return ppm;
      }),
    }),
    (m) => {
      // The microphone's clock is slow by the sink's drift, so the delay shrinks.
      if (m.verdict === 'ok') assert.ok(Math.abs(m.drift.rate * 1e6 + ppm) < 40, `${m.drift.rate * 1e6}`);
    },
  );
  assert.ok(share(t, 'ok', RUNS) > 0.9);
});

test('clocks that no two crystals explain are told as glitching', () => {
  const RUNS = 15;
  const t = tally('drift_1000_ppm', RUNS, (seed) => ({ h: hear(seed, (r) => (r() < 0.5 ? -1000 : 1000)) }));
  assert.is(share(t, 'glitching', RUNS), 1);
});

test('a sink that swallows the chirp is told as glitching: its delay cannot be checked', () => {
  const RUNS = 15;
  const t = tally('no_chirp', RUNS, (seed) => {
    const h = hearPlain(seed);
    const samples = h.samples.slice();
    const end = Math.round(arrives(h, sweepStart(probeSpec) - 0.01) * h.rate);
    samples.fill(0, 0, end);
    return { h, samples };
  });
  assert.is(share(t, 'ok', RUNS), 0);
});

for (const [name, least, harm] of [
  ['lost_packets', 0, (h: Heard) => fault.lose(h.samples, h.rate, gaps(h), room.between(h.r, 10, 20), false)],
  [
    'concealed_packets',
    0.7,
    (h: Heard) => fault.lose(h.samples, h.rate, gaps(h), room.between(h.r, 10, 20), true),
  ],
  ['gain_control', 0.8, (h: Heard) => fault.gainControl(h.samples, h.rate)],
  ['gains_that_jump', 0, (h: Heard) => canceller.changeGains(h.samples, h.rate, h.r, 0)],
  ['gains_that_change', 0.6, (h: Heard) => canceller.changeGains(h.samples, h.rate, h.r, 0.8)],
  [
    'echo_suppressor',
    0,
    (h: Heard) => canceller.suppress(h.samples, played(h, 0), h.rate, 10 ** (room.between(h.r, -25, 3) / 10)),
  ],
  ['echo_canceller', 0, cancel],
  ['telephone', 0.8, (h: Heard) => fault.telephone(h.samples, h.rate)],
] as const)
  test(`${name.replaceAll('_', ' ')}: no wrong OK`, () => {
    const RUNS = 30;
    const t = tally(name, RUNS, (seed) => {
      const h = hearPlain(seed);
      return { h, samples: room.convert(harm(h), 1) };
    });
    assert.ok(share(t, 'ok', RUNS) >= least);
  });

/** What the sink played, as loud as the recording, `ms` before it arrives. */
function played(h: Heard, ms: number): Float64Array {
  const probe = room.probeAt(h.rate);
  const out = new Float64Array(h.samples.length);
  const power = (x: Float64Array) => x.reduce((a, v) => a + v * v, 0);
  const gain = Math.sqrt(power(h.samples) / power(probe));
  out.set(
    probe.map((v) => v * gain),
    Math.round((arrives(h, 0) - ms / 1000) * h.rate),
  );
  return out;
}

/** Linear stage of 30 to 60 ms, then the suppressor. The linear stage is slow, so half of them do at 16 kHz only. */
function cancel(h: Heard): Float64Array {
  const [filter_s, pace, left] = [room.between(h.r, 0.03, 0.06), room.between(h.r, 0.02, 0.7), h.r()];
  if (h.rate > 16_000) return canceller.suppress(h.samples, played(h, 0), h.rate, 0.1 * left);
  const y = canceller.adapt(h.samples, played(h, 10 * h.r()), Math.round(filter_s * h.rate), pace);
  return canceller.suppress(y, played(h, 0), h.rate, 10 ** (room.between(h.r, -40, -5) / 10));
}

function gaps(h: Heard): number[] {
  return [0, 1, 2].map(() => arrives(h, sweepStart(probeSpec) + h.r() * probeSpec.sweep.duration));
}

test.run();
