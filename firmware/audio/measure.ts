// From a recording of the probe to delay, correlation, SNR and a verdict. Pure.
import { type Agreement, agreementOf } from './agreement.ts';
import {
  firstArrival,
  highestOf,
  highestOutside,
  meanPower,
  medianOf,
  refine,
  sumPower,
  tailOf,
} from './arrival.ts';
import { crossSpectrum, smoothPower } from './correlation.ts';
import { decimate } from './decimate.ts';
import { type Drift, driftOf, takeDriftOut } from './drift.ts';
import { type Levels, levels } from './level.ts';
import { exponentialSweep, type ProbeSpec, probeDuration, probeSpec, sweepStart } from './probe.ts';
import { analytic, magnitude, powerOfTwo, realSpectrum } from './spectrum.ts';

export type Verdict =
  | 'ok'
  | 'too_quiet'
  | 'too_loud'
  | 'noisy'
  | 'glitching'
  | 'no_estimate'
  | 'digital_loopback'
  | 'unplugged';

/** What kind of way the sound took, by its delay: under 15 ms, to 250 ms, above. */
export type Path = 'direct' | 'air' | 'bluetooth' | 'none';

export interface Recording {
  /** -1..1 */
  samples: Float32Array | Float64Array;
  rate: number;
  /** When the probe's first sample was at the sink, seconds after the recording's first sample. */
  origin: number;
  /** The source is a monitor or a loopback by its properties. */
  monitor?: boolean;
}

export interface Measurement {
  verdict: Verdict;
  /** How much of what was heard is the probe, 0..1: the root of its share of the power. */
  corr: number;
  /** Sink to microphone, direct sound, milliseconds. 0 without an estimate. */
  latency_ms: number;
  /** Power of the probe over that of everything else, while the sweep plays, within its band. */
  snr_db: number;
  /** 0..1; 0 without an estimate. */
  confidence: number;
  path: Path;
}

/** What the verdict is made of; for tests and for a technician's log. */
export interface Evidence extends Measurement {
  levels: Levels;
  /** Highest peak of the impulse response over its median. */
  peak_ratio: number;
  /** Highest peak over the highest one outside the room's own response. */
  prominence: number;
  /** Energy after the direct sound over that of the direct sound, decibels: at least and at most, as the noise allows. */
  tail_db: [number, number];
  /** Share of the highest peak below which a direct sound would not have been seen. */
  hidden: number;
  /** How the delay changes along the probe. */
  drift: Drift;
  /** Whether chirp and sweep hear the same first arrival. */
  agreement: Agreement;
}

/** Longest delay that is looked for, seconds: Bluetooth sinks take up to one. */
export const MAX_DELAY = 1.5;
const limits = {
  silence_db: -75,
  quiet_db: -60,
  clipped: 0.002,
  dropout_s: 0.012,
  peak_ratio: 9,
  corr: 0.4,
  /** Where a direct sound 12 dB below a reflection could drown unseen, there is no OK. */
  hidden: 0.25,
  /** Decibels from which noise is no excuse for a delay that changes. */
  quiet_snr: 6,
  /** Nor where a peak stands out so far: noise that loud leaves it 90 at most. */
  quiet_ratio: 100,
  /** Rooms leave more than 0 dB from a metre on, and about -15 dB at 10 cm; converters and filters under -30 dB. */
  tail_db: -18,
  /** How far the highest peak stands above all others that no room could have made. */
  prominence: 1.6,
  /** The chirp is there: rooms in which the delay is right leave 14 and more, chance at most 8. */
  chirp: 10,
  /** Crystals are 100 ppm at worst, and a pair of cheap ones 300. More is no crystal. */
  drift: 400e-6,
  /** Seconds, without noise; noise as loud as the probe makes five times as much. */
  step_s: 0.0001,
  /** Rooms leave 0.07 between chirp and sweep; noise as loud as the probe, so much more. */
  incoherent: 0.07,
  incoherent_noise: 0.06,
  /** Rooms leave 0.35; a direct sound that one of both lacks makes 0.8 and more. */
  unlike: 0.4,
} as const;

/**
 * Measures one recording of the probe.
 *
 * The impulse response is estimated by generalised cross-correlation with the sweep. A first one says where the probe
 * is; the chirp tells how two clocks drift from there, and the second one is free of it. The delay is the first
 * significant peak of its envelope, not the highest: a reflection may be louder.
 */
export function measure(r: Recording, p: ProbeSpec = probeSpec, longest = MAX_DELAY): Evidence {
  const level = levels(r.samples, r.rate);
  const low = decimate(r.samples, r.rate);
  const { samples, rate } = low;
  const sweep = exponentialSweep(rate, p.sweep.from, p.sweep.to, p.sweep.duration);
  const size = powerOfTwo(Math.max(samples.length, sweep.length));
  const heard = realSpectrum(samples, size);
  const bin = rate / size;
  const power = smoothPower(heard, bin, p);
  const cross = crossSpectrum(heard, realSpectrum(sweep, size), power, bin, p);

  const points = size / 2;
  const step = 2 / rate;
  let response = analytic(cross, 0, points, points);
  let e = magnitude(response, points);
  const zero = (r.origin + sweepStart(p)) / step;
  const first = Math.max(1, Math.floor(zero - 0.002 / step));
  const last = Math.min(points - 2, Math.ceil(zero + (longest + 0.05) / step));
  let highest = highestOf(e, first, last);
  const powerAt = (f: number) => power[Math.round(f / bin)]!;
  const drift = driftOf(low, response, step, highest * step, powerAt, p);
  const crystals = drift.clear >= limits.chirp && Math.abs(drift.rate) <= limits.drift ? drift.rate : 0;
  if (crystals !== 0) {
    takeDriftOut(cross, crystals, bin, p);
    response = analytic(cross, 0, points, points);
    e = magnitude(response, points);
    highest = highestOf(e, first, last);
  }
  const { direct, hidden } = firstArrival(e, highest, first, step);
  const arrives = refine(e, direct) * step;
  const latency = arrives - zero * step;
  const agreement = agreementOf(low, response, step, highest * step, arrives, crystals, powerAt, p);

  const median = medianOf(e, first, last);
  const ratio = median > 0 ? e[highest]! / median : 0;
  const floor = meanPower(e, direct - 0.3 / step, direct - 0.02 / step);
  const room = sumPower(e, direct - 0.002 / step, direct + 0.4 / step, floor);
  const noise = floor * points * ((p.sweep.duration * rate) / size);
  const snr = noise > 0 ? Math.max(0, room) / noise : 0;
  const snr_db = Math.min(60, Math.max(-40, 10 * Math.log10(snr + 1e-9)));
  const corr = Math.sqrt(snr / (1 + snr));
  const others = highestOutside(e, first, last, direct - 0.08 / step, direct + 0.8 / step);

  const evidence = {
    levels: level,
    peak_ratio: ratio,
    prominence: others > 0 ? e[highest]! / others : 0,
    tail_db: tailOf(e, direct, step, first, last),
    hidden,
    drift,
    agreement,
    snr_db,
  };
  const found =
    ratio >= limits.peak_ratio &&
    evidence.prominence >= limits.prominence &&
    level.peak_db > limits.silence_db;
  const sweepAt = r.origin + latency + sweepStart(p);
  const sweepEnds = sweepAt + p.sweep.duration;
  const gap = Math.max(
    found ? longestFlat(r, sweepAt, sweepEnds) : 0,
    missingEnd(r, found ? sweepEnds : r.origin + probeDuration(p)),
  );
  return {
    ...evidence,
    verdict: judge(r, evidence, found, gap, corr),
    corr: found ? corr : 0,
    latency_ms: found ? latency * 1000 : 0,
    snr_db: found ? snr_db : -40,
    confidence: found ? confidence(ratio, corr, isSteady(drift, snr_db)) : 0,
    path: found ? pathOf(latency) : 'none',
  };
}

/** Whether the delay is the same all along the probe, but for the drift of two crystals. */
export function isSteady(d: Drift, snr_db: number): boolean {
  const step = limits.step_s * (1 + 4 * 10 ** (-snr_db / 20));
  return d.clear >= limits.chirp && Math.abs(d.rate) <= limits.drift && d.step <= step;
}

/** Whether chirp and sweep heard the same room. */
function isAgreed(a: Agreement, snr_db: number): boolean {
  const least = 1 - limits.incoherent - limits.incoherent_noise * 10 ** (-snr_db / 10);
  return a.coherence >= least && a.unlike <= limits.unlike;
}

type Found = Pick<
  Evidence,
  'levels' | 'peak_ratio' | 'tail_db' | 'hidden' | 'drift' | 'agreement' | 'snr_db'
>;

/** Every doubt has a name; `ok` is what is left. */
function judge(r: Recording, f: Found, found: boolean, gap: number, corr: number): Verdict {
  if (f.levels.peak_db < limits.silence_db) return 'too_quiet';
  if (f.levels.clipped > limits.clipped) return 'too_loud';
  if (!found && gap <= limits.dropout_s) {
    if (f.levels.rms_db < limits.quiet_db) return 'too_quiet';
    return f.levels.rms_db > -40 ? 'noisy' : 'no_estimate';
  }
  if (r.monitor) return 'digital_loopback';
  if (gap > limits.dropout_s) return 'glitching';
  if (f.tail_db[1] < limits.tail_db) return 'digital_loopback';
  const { clear, rate } = f.drift;
  if (clear >= limits.chirp && Math.abs(rate) > limits.drift) return 'glitching';
  const drowned = corr < limits.corr || f.hidden > limits.hidden;
  // Noise hides the chirp as well; where there is little of it, something was lost or changed.
  const noise = f.snr_db < limits.quiet_snr && f.peak_ratio < limits.quiet_ratio;
  if (!isSteady(f.drift, f.snr_db)) return drowned && noise ? 'noisy' : 'glitching';
  if (drowned) return noise || isAgreed(f.agreement, f.snr_db) ? 'noisy' : 'glitching';
  if (!isAgreed(f.agreement, f.snr_db)) return noise ? 'noisy' : 'glitching';
  // A room must be heard, not only not be ruled out: otherwise noise would hide a loopback.
  return f.tail_db[0] > limits.tail_db ? 'ok' : 'noisy';
}

/** Longest run of one and the same value between two times of the recording, seconds: samples that never came. */
function longestFlat(r: Recording, from: number, to: number): number {
  let run = 0;
  let longest = 0;
  const end = Math.min(r.samples.length, Math.floor(to * r.rate));
  for (let i = Math.max(1, Math.ceil(from * r.rate)); i < end; i++) {
    run = r.samples[i] === r.samples[i - 1] ? run + 1 : 0;
    if (run > longest) longest = run;
  }
  return longest / r.rate;
}

/** What a recording that ends before a time lacks, seconds: so little of the sweep can be anything. */
function missingEnd(r: Recording, until: number): number {
  return until - r.samples.length / r.rate;
}

function confidence(ratio: number, corr: number, steady: boolean): number {
  const clear = 1 - Math.exp(-(ratio - limits.peak_ratio) / 15);
  return Math.max(0, Math.min(1, clear * (0.5 + 0.5 * corr) * (steady ? 1 : 0.5)));
}

/** Classes of delay: through air it takes 30 to 250 ms; below it the path may still be short air. */
function pathOf(seconds: number): Path {
  if (seconds < 0.015) return 'direct';
  return seconds <= 0.25 ? 'air' : 'bluetooth';
}
