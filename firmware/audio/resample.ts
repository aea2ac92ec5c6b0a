// Any usual rate to the 16 kHz a recogniser takes: a windowed sinc, one row of taps for each phase.

/** What recognisers take, hertz. */
export const SPEECH_RATE = 16_000;
/** Zero crossings of the sinc on each side: the stop band is some 60 dB down, enough for speech. */
const CROSSINGS = 16;

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

/** Samples at `rate` hertz as samples at SPEECH_RATE. */
export function toSpeechRate(input: Float32Array, rate: number): Float32Array {
  if (rate === SPEECH_RATE) return input;
  const common = gcd(rate, SPEECH_RATE);
  const [phases, step] = [SPEECH_RATE / common, rate / common];
  // A little below the lower of both Nyquist frequencies, so that nothing folds back.
  const cut = 0.92 * Math.min(1, SPEECH_RATE / rate);
  const half = Math.ceil(CROSSINGS / cut);
  const rows = Array.from({ length: phases }, (_, p) => taps(p / phases, cut, half));
  const out = new Float32Array(Math.floor((input.length * phases) / step));
  for (let i = 0; i < out.length; i++) {
    const at = i * step;
    const row = rows[at % phases]!;
    const first = Math.floor(at / phases) - half + 1;
    let sum = 0;
    for (let k = Math.max(0, -first); k < row.length && first + k < input.length; k++)
      sum += row[k]! * input[first + k]!;
    out[i] = sum;
  }
  return out;
}

/** Weights of the samples around a place `fraction` after one of them; together they are 1. */
function taps(fraction: number, cut: number, half: number): Float64Array {
  const row = Float64Array.from({ length: 2 * half }, (_, k) => {
    const x = k - half + 1 - fraction;
    const sinc = x === 0 ? cut : Math.sin(Math.PI * cut * x) / (Math.PI * x);
    return sinc * Math.cos((Math.PI * x) / (2 * (half + 1))) ** 2;
  });
  const sum = row.reduce((a, b) => a + b, 0);
  return row.map((v) => v / sum);
}
