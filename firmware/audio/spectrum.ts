// FFT work shared by the analysis, on fft.js. Spectra are interleaved re, im.
import FFT from 'fft.js';

const plans = new Map<number, FFT>();

function plan(size: number): FFT {
  let p = plans.get(size);
  if (!p) {
    p = new FFT(size);
    plans.set(size, p);
  }
  return p;
}

/** Smallest power of two that is not below `n`. */
export function powerOfTwo(n: number): number {
  let p = 2;
  while (p < n) p *= 2;
  return p;
}

/** Bins 0 .. size/2 of a real signal, zero-padded to `size`: size + 2 numbers. */
export function realSpectrum(x: Float64Array, size: number): Float64Array {
  let input = x;
  if (x.length !== size) {
    input = new Float64Array(size);
    input.set(x.length > size ? x.subarray(0, size) : x);
  }
  const out = new Float64Array(2 * size);
  plan(size).realTransform(out, input);
  return out.subarray(0, size + 2);
}

/**
 * The analytic signal whose spectrum is bins `from` .. `to` of `spectrum` (and nothing else), at `points` equally
 * spaced times over the whole period, interleaved. The band is moved to zero first, which turns phases and leaves
 * magnitudes as they are, so `points` need only exceed the number of bins.
 */
export function analytic(spectrum: Float64Array, from: number, to: number, points: number): Float64Array {
  const band = new Float64Array(2 * points);
  band.set(spectrum.subarray(2 * from, 2 * Math.min(to, from + points)));
  const time = new Float64Array(2 * points);
  plan(points).inverseTransform(time, band);
  return time;
}

/** Its magnitude, scaled so that it does not depend on `points`. */
export function envelope(spectrum: Float64Array, from: number, to: number, points: number): Float64Array {
  return magnitude(analytic(spectrum, from, to, points), points);
}

/** Magnitudes of interleaved numbers, times `scale`. */
export function magnitude(z: Float64Array, scale: number): Float64Array {
  const out = new Float64Array(z.length / 2);
  for (let i = 0; i < out.length; i++) {
    const re = z[2 * i]!;
    const im = z[2 * i + 1]!;
    out[i] = Math.sqrt(re * re + im * im) * scale;
  }
  return out;
}

/** Spectrum of an interleaved signal, its length a power of two. */
export function complexSpectrum(z: Float64Array): Float64Array {
  const out = new Float64Array(z.length);
  plan(z.length / 2).transform(out, z);
  return out;
}

/** Power of each bin. */
export function powerOf(spectrum: Float64Array): Float64Array {
  const out = new Float64Array(spectrum.length / 2);
  for (let k = 0; k < out.length; k++) out[k] = spectrum[2 * k]! ** 2 + spectrum[2 * k + 1]! ** 2;
  return out;
}

/** Each number averaged over `2 * half + 1` neighbours. */
export function smooth(x: Float64Array, half: number): Float64Array {
  const sum = new Float64Array(x.length + 1);
  for (let k = 0; k < x.length; k++) sum[k + 1] = sum[k]! + x[k]!;
  const out = new Float64Array(x.length);
  for (let k = 0; k < x.length; k++) {
    const a = Math.max(0, k - half);
    const b = Math.min(x.length, k + half + 1);
    out[k] = (sum[b]! - sum[a]!) / (b - a);
  }
  return out;
}

/** Linear convolution of two real signals. */
export function convolve(a: Float64Array, b: Float64Array): Float64Array {
  const size = powerOfTwo(a.length + b.length - 1);
  const p = plan(size);
  const fa = new Float64Array(2 * size);
  const fb = new Float64Array(2 * size);
  const pad = new Float64Array(size);
  pad.set(a);
  p.realTransform(fa, pad);
  pad.fill(0);
  pad.set(b);
  p.realTransform(fb, pad);
  for (let k = 0; k <= size / 2; k++) {
    const re = fa[2 * k]! * fb[2 * k]! - fa[2 * k + 1]! * fb[2 * k + 1]!;
    const im = fa[2 * k]! * fb[2 * k + 1]! + fa[2 * k + 1]! * fb[2 * k]!;
    fa[2 * k] = re;
    fa[2 * k + 1] = im;
  }
  p.completeSpectrum(fa);
  p.inverseTransform(fb, fa);
  const out = new Float64Array(a.length + b.length - 1);
  for (let i = 0; i < out.length; i++) out[i] = fb[2 * i]!;
  return out;
}
