// From a recording of the probe to delay, correlation, SNR and a verdict. Pure.
import { decimate } from './decimate.ts';
import { type Levels, levels } from './level.ts';
import { exponentialSweep, type ProbeSpec, probeSpec, sweepStart } from './probe.ts';
import { envelope, powerOfTwo, realSpectrum, smoothPower } from './spectrum.ts';

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
  /** Share of the strongest arrival that each part of the sweep has at the direct sound. */
  agreement: number[];
}

/** Longest delay that is looked for, seconds: Bluetooth sinks take up to one. */
export const MAX_DELAY = 1.5;
const limits = {
  silence_db: -75,
  quiet_db: -60,
  clipped: 0.002,
  dropout_s: 0.012,
  peak_ratio: 9,
  /** Where a weak direct sound could drown unseen below a louder reflection, there is no OK. */
  ok_ratio: 15,
  corr: 0.4,
  /** Rooms leave more than 0 dB from a metre on, and about -15 dB at 10 cm; converters and filters under -30 dB. */
  tail_db: -18,
  agreement: 0.3,
  /** How far the highest peak stands above all others that no room could have made. */
  prominence: 1.6,
  /** Narrower smoothing would whiten single reflections too, and give each an echo before its time. */
  smooth_hz: 300,
  /** First peaks: a share of the highest, and so many times the median. */
  first_share: 0.45,
  first_median: 4.6,
} as const;

/** Parts of the sweep, hertz: each is played at another time, so a gap in the recording parts their delays. */
const parts = [
  [450, 900],
  [900, 1850],
  [1850, 3800],
] as const;

/**
 * Measures one recording of the probe.
 *
 * The impulse response is estimated by generalised cross-correlation: the cross-spectrum with the sweep, weighted by
 * the recording's own smoothed power (Roth's processor; Knapp & Carter 1976), which whitens coloured noise and gives
 * a narrow peak. The delay is the first significant peak of its envelope, not the highest: a reflection may be louder.
 */
export function measure(r: Recording, p: ProbeSpec = probeSpec, longest = MAX_DELAY): Evidence {
  const level = levels(r.samples, r.rate);
  const { samples, rate } = decimate(r.samples, r.rate);
  const sweep = exponentialSweep(rate, p.sweep.from, p.sweep.to, p.sweep.duration);
  const size = powerOfTwo(Math.max(samples.length, sweep.length));
  const heard = realSpectrum(samples, size);
  const played = realSpectrum(sweep, size);
  const bin = rate / size;
  const power = smoothPower(heard, Math.round(limits.smooth_hz / bin));
  const cross = crossSpectrum(heard, played, power, bin, p);

  const points = size / 2;
  const step = 2 / rate;
  const e = envelope(cross, 0, points, points);
  const zero = (r.origin + sweepStart(p)) / step;
  const first = Math.max(1, Math.floor(zero - 0.002 / step));
  const last = Math.min(points - 2, Math.ceil(zero + (longest + 0.05) / step));
  const median = medianOf(e, first, last);

  let highest = first;
  for (let i = first; i <= last; i++) if (e[i]! > e[highest]!) highest = i;
  const ratio = median > 0 ? e[highest]! / median : 0;
  const direct = firstPeak(e, highest, first, Math.round(0.06 / step), median);
  const at = refine(e, direct);
  const latency = (at - zero) * step;

  const floor = meanPower(e, direct - 0.3 / step, direct - 0.02 / step);
  const room = sumPower(e, direct - 0.002 / step, direct + 0.4 / step, floor);
  const noise = floor * points * ((p.sweep.duration * rate) / size);
  const snr = noise > 0 ? Math.max(0, room) / noise : 0;
  const snr_db = Math.min(60, Math.max(-40, 10 * Math.log10(snr + 1e-9)));
  const corr = Math.sqrt(snr / (1 + snr));

  const others = highestOutside(e, first, last, direct - 0.08 / step, direct + 0.8 / step);
  const tail_db = tailOf(e, direct, step, first, last);
  const agreement = parts.map(([lo, hi]) => share(cross, bin, lo, hi, at / points, size / rate));

  const evidence = {
    levels: level,
    peak_ratio: ratio,
    prominence: others > 0 ? e[highest]! / others : 0,
    tail_db,
    agreement,
  };
  const found =
    ratio >= limits.peak_ratio &&
    evidence.prominence >= limits.prominence &&
    level.peak_db > limits.silence_db;
  const sweepAt = r.origin + latency + sweepStart(p);
  const gap = found ? longestFlat(r, sweepAt, sweepAt + p.sweep.duration) : 0;
  const verdict = judge(r, evidence, found, gap, corr);
  return {
    ...evidence,
    verdict,
    corr: found ? corr : 0,
    latency_ms: found ? latency * 1000 : 0,
    snr_db: found ? snr_db : -40,
    confidence: found ? confidence(ratio, corr, agreement) : 0,
    path: found ? pathOf(latency) : 'none',
  };
}

type Found = Pick<Evidence, 'levels' | 'peak_ratio' | 'tail_db' | 'agreement'>;

/** Every doubt has a name; `ok` is what is left. */
function judge(r: Recording, f: Found, found: boolean, gap: number, corr: number): Verdict {
  if (f.levels.peak_db < limits.silence_db) return 'too_quiet';
  if (f.levels.clipped > limits.clipped) return 'too_loud';
  if (!found) {
    if (f.levels.rms_db < limits.quiet_db) return 'too_quiet';
    return f.levels.rms_db > -40 ? 'noisy' : 'no_estimate';
  }
  if (r.monitor) return 'digital_loopback';
  if (gap > limits.dropout_s) return 'glitching';
  if (f.tail_db[1] < limits.tail_db) return 'digital_loopback';
  if (corr < limits.corr || f.peak_ratio < limits.ok_ratio) return 'noisy';
  if (Math.min(...f.agreement) < limits.agreement) return 'glitching';
  // A room must be heard, not only not be ruled out: otherwise noise would hide a loopback.
  return f.tail_db[0] > limits.tail_db ? 'ok' : 'noisy';
}

function crossSpectrum(
  heard: Float64Array,
  played: Float64Array,
  power: Float64Array,
  bin: number,
  p: ProbeSpec,
): Float64Array {
  const out = new Float64Array(heard.length);
  const lo = p.sweep.from * 1.1;
  const hi = p.sweep.to * 0.97;
  let least = 0;
  for (let k = Math.floor(lo / bin); k < hi / bin && k < power.length; k++)
    least = Math.max(least, power[k]!);
  least = least * 1e-7 + 1e-30;
  for (let k = Math.ceil(lo / bin); k < hi / bin && k < power.length; k++) {
    const f = k * bin;
    // Soft edges keep the side lobes of the peak low.
    const edge = Math.min(1, (f - lo) / 250, (hi - f) / 900);
    const w = (0.5 - 0.5 * Math.cos(Math.PI * edge)) / (power[k]! + least);
    const a = heard[2 * k]!;
    const b = heard[2 * k + 1]!;
    const c = played[2 * k]!;
    const d = played[2 * k + 1]!;
    out[2 * k] = (a * c + b * d) * w;
    out[2 * k + 1] = (b * c - a * d) * w;
  }
  return out;
}

/** The earliest peak within `back` points before the highest that stands out of both the noise and the highest. */
function firstPeak(e: Float64Array, highest: number, first: number, back: number, median: number): number {
  const least = Math.max(limits.first_share * e[highest]!, limits.first_median * median);
  for (let i = Math.max(first, highest - back); i < highest; i++)
    if (e[i]! >= least && e[i]! >= e[i - 1]! && e[i]! > e[i + 1]!) return i;
  return highest;
}

/** Vertex of the parabola through the logarithms around a peak: exact for a Gaussian one. */
function refine(e: Float64Array, i: number): number {
  const a = Math.log(e[i - 1]! + 1e-30);
  const b = Math.log(e[i]! + 1e-30);
  const c = Math.log(e[i + 1]! + 1e-30);
  const curve = a - 2 * b + c;
  return curve < 0 ? i + Math.max(-0.5, Math.min(0.5, (0.5 * (a - c)) / curve)) : i;
}

/** How strong one part of the sweep is at the direct sound (a time as a share of the period), beside its own strongest. */
function share(
  cross: Float64Array,
  bin: number,
  lo: number,
  hi: number,
  when: number,
  period: number,
): number {
  const from = Math.round(lo / bin);
  const to = Math.round(hi / bin);
  const points = powerOfTwo(to - from);
  const e = envelope(cross, from, to, points);
  const step = period / points;
  const centre = when * points;
  const near = Math.max(1, Math.round(0.0015 / step));
  const far = Math.round(0.06 / step);
  let here = 0;
  let most = 0;
  for (let i = Math.round(centre) - far; i <= Math.round(centre) + far; i++) {
    const v = e[(i + points) % points]!;
    if (v > most) most = v;
    if (Math.abs(i - centre) <= near && v > here) here = v;
  }
  return most > 0 ? here / most : 0;
}

function medianOf(e: Float64Array, from: number, to: number): number {
  const some: number[] = [];
  for (let i = from; i <= to; i += 4) some.push(e[i]!);
  const sorted = Float64Array.from(some).sort();
  return sorted[sorted.length >> 1] ?? 0;
}

/**
 * Energy from 4 to 120 ms after the direct sound over that of the direct sound, least and most, decibels. Noise that
 * comes and goes may be stronger there than before, so its share is bounded by the quietest and the loudest stretch.
 */
function tailOf(
  e: Float64Array,
  direct: number,
  step: number,
  first: number,
  last: number,
): [number, number] {
  const length = Math.round(0.116 / step);
  const stretches: number[] = [];
  for (let at = direct - 0.02 / step - length; at > direct - 0.5 / step; at -= length / 2)
    stretches.push(meanPower(e, at, at + length));
  for (let at = Math.max(first, direct + 0.8 / step); at + length < last; at += length / 2)
    stretches.push(meanPower(e, at, at + length));
  const loud = 1.6 * Math.max(...stretches);
  const quiet = 0.5 * Math.min(...stretches);
  const near = 0.0015 / step;
  const direct_ = Math.max(1e-30, sumPower(e, direct - near, direct + near, quiet));
  const from = direct + 0.004 / step;
  const db = (floor: number) =>
    10 * Math.log10(Math.max(1e-9, sumPower(e, from, from + length, floor) / direct_));
  return [db(loud), db(quiet)];
}

function highestOutside(e: Float64Array, first: number, last: number, from: number, to: number): number {
  let most = 0;
  for (let i = first; i <= last; i++) if ((i < from || i > to) && e[i]! > most) most = e[i]!;
  return most;
}

/**
 * Longest run of one and the same value between two times of the recording, seconds: samples that never came. What a
 * recording that ends too early lacks counts as well: so little of the sweep can be anything.
 */
function longestFlat(r: Recording, from: number, to: number): number {
  let run = 0;
  let longest = 0;
  const end = Math.min(r.samples.length, Math.floor(to * r.rate));
  for (let i = Math.max(1, Math.ceil(from * r.rate)); i < end; i++) {
    run = r.samples[i] === r.samples[i - 1] ? run + 1 : 0;
    if (run > longest) longest = run;
  }
  return Math.max(longest / r.rate, to - r.samples.length / r.rate);
}

function meanPower(e: Float64Array, from: number, to: number): number {
  let sum = 0;
  let n = 0;
  for (let i = Math.round(from); i < to; i++, n++) sum += e[(i + e.length) % e.length]! ** 2;
  return n > 0 ? sum / n : 0;
}

function sumPower(e: Float64Array, from: number, to: number, floor: number): number {
  let sum = 0;
  for (let i = Math.round(from); i < to; i++) sum += e[(i + e.length) % e.length]! ** 2 - floor;
  return sum;
}

function confidence(ratio: number, corr: number, agreement: number[]): number {
  const clear = 1 - Math.exp(-(ratio - limits.peak_ratio) / 15);
  return Math.max(0, Math.min(1, clear * (0.5 + 0.5 * corr) * (0.5 + 0.5 * Math.min(...agreement))));
}

/** Classes of delay: spec "air delay 30 to 250 ms"; below it the path may still be short air. */
function pathOf(seconds: number): Path {
  if (seconds < 0.015) return 'direct';
  return seconds <= 0.25 ? 'air' : 'bluetooth';
}
