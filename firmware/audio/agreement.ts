// Whether chirp and sweep hear the same first arrival. Pure.
//
// Gains that change while the probe plays (echo cancellers, gates) put echoes before a loud sound and take others away,
// which no room does. They do it to a slow sweep and to a quick chirp at other times, so what both hear is the room's.
import type { Decimated } from './decimate.ts';
import { around, chirpResponse, takeChirpDriftOut } from './drift.ts';
import { type ProbeSpec, probeBand } from './probe.ts';
import { analytic, complexSpectrum } from './spectrum.ts';

/** What is compared: from before the direct sound to after the loudest arrival, seconds. */
const LEAD = 0.0005;
const TAIL = 0.01;

export interface Agreement {
  /** Coherence of both responses from the direct sound to the loudest arrival, 0..1. */
  coherence: number;
  /** How far they differ at the direct sound, as a share of it there. */
  unlike: number;
}

/**
 * Compares the responses of chirp and sweep at the direct sound.
 *
 * @param response the sweep's impulse response without drift, interleaved, a point each `step` seconds
 * @param at when in it the loudest arrival is, seconds
 * @param direct when the direct sound is
 * @param drift seconds a second
 * @param power of the recording at a frequency in hertz, for weights
 */
export function agreementOf(
  heard: Decimated,
  response: Float64Array,
  step: number,
  at: number,
  direct: number,
  drift: number,
  power: (f: number) => number,
  p: ProbeSpec,
): Agreement {
  const { excerpt, begin, from, size, offset } = around(heard, response, step, at, p);
  const bin = heard.rate / size;
  const late = complexSpectrum(excerpt);
  const early = chirpResponse(heard, from, size, p);
  takeChirpDriftOut(early, drift, offset, bin, p);
  const lo = Math.round(probeBand.from / bin);
  const hi = Math.round(probeBand.to / bin);
  for (let k = lo; k < hi; k++) {
    const window = 0.54 - 0.46 * Math.cos((2 * Math.PI * (k - lo)) / (hi - lo));
    // The sweep is pink, the chirp is not.
    const w = window / (power(k * bin) + 1e-30) / (k * bin);
    late[2 * k]! *= window;
    late[2 * k + 1]! *= window;
    early[2 * k]! *= w;
    early[2 * k + 1]! *= w;
  }
  const points = size / 2;
  const tick = 1 / bin / points;
  const index = (t: number) => Math.round((t - begin * step) / tick);
  return compare(
    analytic(late, lo, hi, points),
    analytic(early, lo, hi, points),
    index(direct),
    index(direct - LEAD),
    index(at + TAIL),
  );
}

/** Both from `from` to `to`, with the gain of `b` that fits best, and at `here` with that gain. */
function compare(a: Float64Array, b: Float64Array, here: number, from: number, to: number): Agreement {
  let [re, im, aa, bb] = [0, 0, 1e-300, 1e-300];
  for (let i = from; i <= to; i++) {
    const [ar, ai, br, bi] = [a[2 * i]!, a[2 * i + 1]!, b[2 * i]!, b[2 * i + 1]!];
    re += ar * br + ai * bi;
    im += ai * br - ar * bi;
    aa += ar * ar + ai * ai;
    bb += br * br + bi * bi;
  }
  const [ar, ai, br, bi] = [a[2 * here]!, a[2 * here + 1]!, b[2 * here]!, b[2 * here + 1]!];
  const off = Math.hypot((re * br - im * bi) / bb - ar, (re * bi + im * br) / bb - ai);
  return { coherence: Math.hypot(re, im) / Math.sqrt(aa * bb), unlike: off / (Math.hypot(ar, ai) + 1e-300) };
}
