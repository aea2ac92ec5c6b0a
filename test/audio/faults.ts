// What devices, drivers and links do to a recording, and rooms whose direct sound is weak.

/** A response whose direct sound, at sample 0, is `weaker_db` below a reflection `after_ms` later; `tail` scales the rest of the room. */
export function weakDirect(
  response: Float64Array,
  rate: number,
  weaker_db: number,
  after_ms: number,
  tail: number,
): Float64Array {
  const out = response.map((v) => v * tail);
  out[0] = 1;
  out[Math.round((after_ms / 1000) * rate)]! += 10 ** (weaker_db / 20);
  return out;
}

/** Samples that are not there (`count` < 0) or there twice (`count` > 0) from second `at` on: an overrun, an underrun. */
export function slip(x: Float64Array, rate: number, at: number, count: number): Float64Array {
  const out = new Float64Array(x.length);
  const from = Math.round(at * rate);
  out.set(x.subarray(0, from));
  const rest = x.subarray(Math.max(0, from - count));
  out.set(rest.subarray(0, Math.max(0, x.length - from)), from);
  return out;
}

/** Packets of `ms` that were lost at seconds `at`: silence, or concealed by fading copies of the one before. */
export function lose(
  x: Float64Array,
  rate: number,
  at: readonly number[],
  ms: number,
  concealed: boolean,
): Float64Array {
  const out = x.slice();
  const length = Math.round((ms / 1000) * rate);
  for (const t of at) {
    const from = Math.round(t * rate);
    for (let i = 0; i < length && from + i < out.length; i++)
      out[from + i] = concealed ? (out[from + i - length] ?? 0) * (1 - i / (2 * length)) : 0;
  }
  return out;
}

/** Automatic gain: brings the level of the last moments to -20 dB of full scale, by at most 30 dB, fast down and slowly up. */
export function gainControl(x: Float64Array, rate: number): Float64Array {
  const down = Math.exp(-1 / (0.01 * rate));
  const up = Math.exp(-1 / (0.3 * rate));
  let power = 1e-4;
  return x.map((v) => {
    const keep = v * v > power ? down : up;
    power = keep * power + (1 - keep) * v * v;
    return Math.max(-1, Math.min(1, v * Math.min(31.6, 0.1 / Math.sqrt(power + 1e-9))));
  });
}

/** A telephone's band, 300 to 3400 Hz, by two second-order filters at either end (Bristow-Johnson's cookbook). */
export function telephone(x: Float64Array, rate: number): Float64Array {
  let y = x;
  for (const [f, high] of [
    [300, true],
    [300, true],
    [3400, false],
    [3400, false],
  ] as const) {
    const w = (2 * Math.PI * f) / rate;
    const cos = Math.cos(w);
    const alpha = Math.sin(w) / Math.SQRT2;
    const b0 = (high ? 1 + cos : 1 - cos) / 2;
    const b1 = high ? -(1 + cos) : 1 - cos;
    const a0 = 1 + alpha;
    let [x1, x2, y1, y2] = [0, 0, 0, 0];
    y = y.map((v) => {
      const out = (b0 * v + b1 * x1 + b0 * x2 + 2 * cos * y1 - (1 - alpha) * y2) / a0;
      [x2, x1, y2, y1] = [x1, v, y1, out];
      return out;
    });
  }
  return y;
}
