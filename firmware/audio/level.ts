// What the raw samples tell before any correlation: level and clipping.

export interface Levels {
  /** Decibels of full scale; -200 for nothing at all. */
  peak_db: number;
  rms_db: number;
  /** Share of samples that sit on a flat top at the peak. */
  clipped: number;
}

export function decibels(factor: number): number {
  return factor > 1e-10 ? 20 * Math.log10(factor) : -200;
}

/** Levels of a recording, samples -1..1. */
export function levels(x: Float32Array | Float64Array, rate = 48_000): Levels {
  let peak = 0;
  let power = 0;
  for (let i = 0; i < x.length; i++) {
    const v = x[i]!;
    power += v * v;
    if (v > peak) peak = v;
    else if (-v > peak) peak = -v;
  }
  const rms = Math.sqrt(power / Math.max(1, x.length));
  // A converter clips at its own end, which gain behind it may have moved below full scale. The top of a slow pure
  // tone is flat for a sample or two as well, and a quiet one is flat because its steps are coarse.
  const top = peak * 0.9999;
  const least = rate < 32_000 ? 3 : 4;
  let onTop = 0;
  let run = 0;
  for (let i = 0; peak > 0.05 && i < x.length; i++) {
    const v = x[i]!;
    if (v >= top || v <= -top) {
      run++;
      if (run === least) onTop += least;
      else if (run > least) onTop++;
    } else run = 0;
  }
  return {
    peak_db: decibels(peak),
    rms_db: decibels(rms),
    clipped: onTop / Math.max(1, x.length),
  };
}
