// The probe ends at 4 kHz; the analysis needs no more than 10 kHz of rate, and costs a quarter at 12 kHz.

/** Lowest rate the analysis works at, hertz. */
const ENOUGH = 10_000;
/** Highest frequency that must pass untouched, hertz. */
const PASS = 4_100;

export interface Decimated {
  samples: Float64Array;
  rate: number;
}

/**
 * Lowers the rate by a whole factor behind a linear-phase low-pass (Kaiser, about 60 dB). Sample i of the result
 * lies at the time of sample `i * factor` of the input: the filter's delay is taken out.
 */
export function decimate(input: Float32Array | Float64Array, rate: number): Decimated {
  const factor = Math.max(1, Math.floor(rate / ENOUGH));
  if (factor === 1) return { samples: Float64Array.from(input), rate };
  const taps = lowPass(rate, factor);
  const half = (taps.length - 1) / 2;
  const n = Math.floor(input.length / factor);
  const out = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const centre = i * factor;
    let sum = taps[half]! * input[centre]!;
    if (centre >= half && centre + half < input.length) {
      // The taps are symmetric: one product for two samples.
      for (let k = 1; k <= half; k++) sum += taps[half + k]! * (input[centre - k]! + input[centre + k]!);
    } else {
      for (let k = 1; k <= half; k++)
        sum += taps[half + k]! * ((input[centre - k] ?? 0) + (input[centre + k] ?? 0));
    }
    out[i] = sum;
  }
  return { samples: out, rate: rate / factor };
}

/** Kaiser's design (Oppenheim & Schafer, 7.6): what folds onto the pass band is 60 dB down. */
function lowPass(rate: number, factor: number): Float64Array {
  const stop = rate / factor - PASS;
  const width = (2 * Math.PI * (stop - PASS)) / rate;
  const half = Math.ceil((60 - 8) / (2.285 * width) / 2);
  const beta = 0.1102 * (60 - 8.7);
  const cut = (PASS + stop) / 2 / rate;
  const taps = new Float64Array(2 * half + 1);
  let sum = 0;
  for (let i = -half; i <= half; i++) {
    const sinc = i === 0 ? 2 * cut : Math.sin(2 * Math.PI * cut * i) / (Math.PI * i);
    taps[i + half] = (sinc * bessel0(beta * Math.sqrt(1 - (i / half) ** 2))) / bessel0(beta);
    sum += taps[i + half]!;
  }
  return taps.map((t) => t / sum);
}

/** Modified Bessel function of the first kind, order 0, by its series. */
function bessel0(x: number): number {
  let term = 1;
  let sum = 1;
  for (let k = 1; k < 40; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}
