// The probe: a short chirp that wakes sinks up, then the sweep that is measured.

/** Times in seconds, frequencies in hertz, `level` a factor of full scale. */
export interface ProbeSpec {
  chirp: { from: number; to: number; duration: number };
  gap: number;
  sweep: { from: number; to: number; duration: number };
  level: number;
}

/** Chirp 250 ms (150 to 300 wake a sink up), then 1.75 s (1.5 to 2 are bearable) from 200 to 4000 Hz. */
export const probeSpec: ProbeSpec = {
  chirp: { from: 800, to: 3900, duration: 0.25 },
  gap: 0.15,
  sweep: { from: 200, to: 4000, duration: 1.75 },
  level: 0.5,
};

/** Where the sweep begins in the probe, seconds. */
export function sweepStart(p: ProbeSpec): number {
  return p.chirp.duration + p.gap;
}

/** Length of the probe, seconds. */
export function probeDuration(p: ProbeSpec): number {
  return sweepStart(p) + p.sweep.duration;
}

/**
 * Exponential sweep (Farina 2000), `duration` seconds at `rate`, peak 1, with raised-cosine edges.
 * Its spectrum is pink, so it has most energy where rooms and voices are noisiest, and harmonic distortion of a
 * small speaker lands before the direct sound, not in the room's tail.
 */
export function exponentialSweep(rate: number, from: number, to: number, duration: number): Float64Array {
  const n = Math.round(rate * duration);
  const out = new Float64Array(n);
  const growth = Math.log(to / from);
  const k = (2 * Math.PI * from * duration) / growth;
  for (let i = 0; i < n; i++) out[i] = Math.sin(k * (Math.exp((i / n) * growth) - 1));
  return edges(out, Math.round(rate * 0.03), Math.round(rate * 0.008));
}

/** Linear chirp, peak 1, with raised-cosine edges. */
export function linearChirp(rate: number, from: number, to: number, duration: number): Float64Array {
  const n = Math.round(rate * duration);
  const out = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const t = i / rate;
    out[i] = Math.sin(2 * Math.PI * (from * t + ((to - from) / (2 * duration)) * t * t));
  }
  return edges(out, Math.round(rate * 0.015), Math.round(rate * 0.015));
}

/** The whole probe at the sink's rate, mono, -1..1. */
export function renderProbe(p: ProbeSpec, rate: number): Float64Array {
  const out = new Float64Array(Math.round(rate * probeDuration(p)));
  out.set(linearChirp(rate, p.chirp.from, p.chirp.to, p.chirp.duration));
  out.set(
    exponentialSweep(rate, p.sweep.from, p.sweep.to, p.sweep.duration),
    Math.round(rate * sweepStart(p)),
  );
  for (let i = 0; i < out.length; i++) out[i]! *= p.level;
  return out;
}

function edges(x: Float64Array, head: number, tail: number): Float64Array {
  for (let i = 0; i < head && i < x.length; i++) x[i]! *= 0.5 - 0.5 * Math.cos((Math.PI * i) / head);
  for (let i = 0; i < tail && i < x.length; i++)
    x[x.length - 1 - i]! *= 0.5 - 0.5 * Math.cos((Math.PI * i) / tail);
  return x;
}

/** What chirp and sweep both play at full level, hertz. */
export const probeBand = { from: 850, to: 3800 } as const;

/** When the chirp plays frequency `f`, seconds after its own beginning. */
export function chirpTime(p: ProbeSpec, f: number): number {
  const { from, to, duration } = p.chirp;
  return (duration * (f - from)) / (to - from);
}

/** When the sweep plays frequency `f`, seconds after its own beginning. */
export function sweepTime(p: ProbeSpec, f: number): number {
  const { from, to, duration } = p.sweep;
  return (duration * Math.log(f / from)) / Math.log(to / from);
}
