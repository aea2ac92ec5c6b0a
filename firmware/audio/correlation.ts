// The cross-spectrum of what was heard with the sweep: its inverse transform is the impulse response. Pure.
import type { ProbeSpec } from './probe.ts';
import { powerOf, smooth } from './spectrum.ts';

/**
 * Width of one smoothing, hertz; it is done twice. Two of them together leave nothing of a ripple of this width, so a
 * reflection a millisecond and more behind the direct sound is not whitened: that would give it an echo before its time.
 */
const SMOOTH_HZ = 1000;

/**
 * Power that the weights go by: the recording's own, smoothed (Roth's processor; Knapp & Carter 1976), which takes
 * coloured noise and loudspeakers' slopes out. The sweep is pink, and smoothing a slope would bend it.
 */
export function smoothPower(heard: Float64Array, bin: number, p: ProbeSpec): Float64Array {
  const half = Math.round(SMOOTH_HZ / bin / 2);
  const power = powerOf(heard);
  for (let k = 0; k < power.length; k++) power[k]! *= k * bin < p.sweep.from || k * bin > p.sweep.to ? 0 : k;
  const even = smooth(smooth(power, half), half);
  for (let k = 1; k < even.length; k++) even[k]! /= k;
  return even;
}

/** Cross-spectrum of `heard` with `played`, interleaved, divided by `power`, within the probe's band. */
export function crossSpectrum(
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
    // Hamming's window: the side lobes of a loud reflection stay 42 dB below it.
    const window = 0.54 - 0.46 * Math.cos((2 * Math.PI * (k * bin - lo)) / (hi - lo));
    const w = window / (power[k]! + least);
    const a = heard[2 * k]!;
    const b = heard[2 * k + 1]!;
    const c = played[2 * k]!;
    const d = played[2 * k + 1]!;
    out[2 * k] = (a * c + b * d) * w;
    out[2 * k + 1] = (b * c - a * d) * w;
  }
  return out;
}
