// Whether the sound took one and the same time all along the probe, and how far the two clocks run apart. Pure.
//
// Chirp and sweep go the same way through the same room, one after the other. At each frequency they leave the same
// response, shifted by what the delay has changed in between, however much a room echoes. Where that shift grows with
// the time in between, two clocks drift; where it jumps, samples were lost or put in.
import { refine } from './arrival.ts';
import type { Decimated } from './decimate.ts';
import { chirpTime, linearChirp, type ProbeSpec, probeBand, sweepStart, sweepTime } from './probe.ts';
import { complexSpectrum, envelope, powerOfTwo, realSpectrum } from './spectrum.ts';

/** What of the responses is compared, seconds before and after the loudest arrival: jumps of 50 ms lie within. */
const BEFORE = 0.075;
const AFTER = 0.15;
/** Parts of the band of chirp and sweep, hertz; the sweep plays each of them within 0.14 to 0.2 s. */
const EDGES = [probeBand.from, 1180, 1630, 2270, 3000, probeBand.to] as const;

/** How the delay changes along the probe. */
export interface Drift {
  /** Seconds by which the delay grows each second: what the microphone's clock is faster. */
  rate: number;
  /** What the parts of the sweep differ from that at most, seconds. */
  step: number;
  /** How far the agreement of both responses stands out of chance, as a ratio of amplitudes; chance makes 5 to 8. */
  clear: number;
}

/**
 * Compares the responses of chirp and sweep.
 *
 * @param response the sweep's impulse response, interleaved, a point each `step` seconds
 * @param at when in it the loudest arrival is, seconds
 * @param power of the recording at a frequency in hertz, for weights
 */
export function driftOf(
  heard: Decimated,
  response: Float64Array,
  step: number,
  at: number,
  power: (f: number) => number,
  p: ProbeSpec,
): Drift {
  const { excerpt, from, size, offset } = around(heard, response, step, at, p);
  const bin = heard.rate / size;
  const late = complexSpectrum(excerpt);
  const early = chirpResponse(heard, from, size, p);

  const shift = new Float64Array(size);
  for (let k = Math.round(EDGES[0] / bin); k < EDGES.at(-1)! / bin; k++) {
    const w = 1 / (power(k * bin) + 1e-30);
    const [a, b, c, d] = [late[2 * k]!, late[2 * k + 1]!, early[2 * k]!, early[2 * k + 1]!];
    shift[2 * k] = (a * c + b * d) * w;
    shift[2 * k + 1] = (b * c - a * d) * w;
  }
  const part = (lo: number, hi: number) => {
    const { lag, clear } = lagOf(shift, Math.round(lo / bin), Math.round(hi / bin), size, 1 / bin);
    return { lag: lag + offset, clear, apart: timeBetween(p, lo, hi) };
  };
  const whole = part(EDGES[0], EDGES.at(-1)!);
  const drift = whole.lag / whole.apart;
  const steps = EDGES.slice(1).map((hi, i) => {
    const { lag, apart } = part(EDGES[i]!, hi);
    return Math.abs(lag - drift * apart);
  });
  return { rate: drift, step: Math.max(...steps), clear: whole.clear };
}

/** Turns phases as if both clocks ran alike; the delay is then that of the probe's first sample, all along the sweep. */
export function takeDriftOut(cross: Float64Array, drift: number, bin: number, p: ProbeSpec): void {
  // The spectrum of a stretched exponential sweep is the sweep's own, with this phase.
  turn(cross, bin, p.sweep, (f) => drift * (sweepStart(p) + sweepTime(p, f)));
}

/** The same for the chirp, whose response begins `offset` seconds earlier than the sweep's. */
export function takeChirpDriftOut(
  early: Float64Array,
  drift: number,
  offset: number,
  bin: number,
  p: ProbeSpec,
): void {
  turn(early, bin, p.chirp, (f) => offset + drift * chirpTime(p, f));
}

/** Turns phases as if each frequency came `sooner` seconds sooner. */
function turn(
  spectrum: Float64Array,
  bin: number,
  band: { from: number; to: number },
  sooner: (f: number) => number,
): void {
  for (let k = Math.ceil(band.from / bin); k < band.to / bin; k++) {
    const angle = 2 * Math.PI * k * bin * sooner(k * bin);
    const c = Math.cos(angle);
    const s = Math.sin(angle);
    const a = spectrum[2 * k]!;
    const b = spectrum[2 * k + 1]!;
    spectrum[2 * k] = a * c - b * s;
    spectrum[2 * k + 1] = a * s + b * c;
  }
}

/** What chirp and sweep leave around the loudest arrival. */
interface Around {
  /** The sweep's response from point `begin` on, `size` interleaved numbers. */
  excerpt: Float64Array;
  begin: number;
  /** Sample of the recording at which the chirp's response begins. */
  from: number;
  size: number;
  /** Both begin with whole samples of their own rate: how much earlier the chirp's does, seconds. */
  offset: number;
}

export function around(
  heard: Decimated,
  response: Float64Array,
  step: number,
  at: number,
  p: ProbeSpec,
): Around {
  const { rate } = heard;
  const size = powerOfTwo(rate * (p.chirp.duration + BEFORE + AFTER));
  const begin = Math.round((at - BEFORE) / step);
  const from = Math.round((begin * step - sweepStart(p)) * rate);
  const excerpt = new Float64Array(size);
  const points = response.length / 2;
  for (let i = 0; i < Math.round((BEFORE + AFTER) / step); i++) {
    const k = (((begin + i) % points) + points) % points;
    excerpt[2 * i] = response[2 * k]!;
    excerpt[2 * i + 1] = response[2 * k + 1]!;
  }
  return { excerpt, begin, from, size, offset: begin * step - sweepStart(p) - from / rate };
}

/** Spectrum of the chirp's response, lag 0 being sample `from` of the recording. */
export function chirpResponse(heard: Decimated, from: number, size: number, p: ProbeSpec): Float64Array {
  const { rate, samples } = heard;
  const segment = new Float64Array(Math.round((p.chirp.duration + BEFORE + AFTER) * rate));
  for (let i = 0; i < segment.length; i++) segment[i] = samples[from + i] ?? 0;
  const out = realSpectrum(segment, size);
  const chirp = realSpectrum(linearChirp(rate, p.chirp.from, p.chirp.to, p.chirp.duration), size);
  for (let k = 0; k < out.length / 2; k++) {
    const [a, b, c, d] = [out[2 * k]!, out[2 * k + 1]!, chirp[2 * k]!, chirp[2 * k + 1]!];
    out[2 * k] = a * c + b * d;
    out[2 * k + 1] = b * c - a * d;
  }
  return out;
}

/** The lag at which bins `from` .. `to` are most in phase, seconds; `period` is that of the spectrum. */
function lagOf(
  spectrum: Float64Array,
  from: number,
  to: number,
  size: number,
  period: number,
): { lag: number; clear: number } {
  // Four points and more for each independent one, so that a parabola fits the top.
  const points = Math.min(size, 4 * powerOfTwo(to - from));
  const e = envelope(spectrum, from, to, points);
  let most = 0;
  let sum = 0;
  for (let i = 0; i < points; i++) {
    sum += e[i]! ** 2;
    if (e[i]! > e[most]!) most = i;
  }
  const i = refine(e, most);
  return {
    lag: ((i > points / 2 ? i - points : i) / points) * period,
    clear: e[most]! / Math.sqrt(sum / points + 1e-300),
  };
}

/** Mean time from the chirp's to the sweep's part of a band, seconds, as a stretch of both sees it. */
function timeBetween(p: ProbeSpec, from: number, to: number): number {
  const STEPS = 16;
  let sum = 0;
  for (let i = 0; i < STEPS; i++) {
    const f = from + ((i + 0.5) / STEPS) * (to - from);
    // Stretched in time, a sweep is lowered in pitch as well, so that it plays f later still.
    const chirp = (p.chirp.duration * (2 * f - p.chirp.from)) / (p.chirp.to - p.chirp.from);
    const sweep = sweepTime(p, f) + p.sweep.duration / Math.log(p.sweep.to / p.sweep.from);
    sum += sweepStart(p) + sweep - chirp;
  }
  return sum / STEPS;
}
