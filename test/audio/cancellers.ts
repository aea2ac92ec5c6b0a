// Echo cancellers, which take the probe for echo: what they change is not the room's.
import FFT from 'fft.js';

/** Gains of 3 to 18 dB less, new every 10 ms; `keep` is what stays of the last one: 0 jumps, 0.8 is smooth. */
export function changeGains(x: Float64Array, rate: number, r: () => number, keep: number): Float64Array {
  const frame = Math.round(0.01 * rate);
  const out = x.slice();
  let gain = 1;
  for (let at = 0; at < out.length; at += frame) {
    const next = keep * gain + (1 - keep) * 10 ** (-(3 + 15 * r()) / 20);
    for (let i = 0; i < frame && at + i < out.length; i++) out[at + i]! *= gain + ((next - gain) * i) / frame;
    gain = next;
  }
  return out;
}

const BLOCK_S = 0.004;
/** Blocks at the beginning from which the noise is learnt. */
const LEARN = 60;

/**
 * A residual echo suppressor as in WebRTC's AEC3: frames of 4 ms, a gain for each bin from echo to sound and echo to
 * noise, which at most doubles its power from frame to frame. `echo` is the reference at its delay, as loud as the
 * recording; `misjudged` the power of it that the suppressor believes in.
 */
export function suppress(x: Float64Array, echo: Float64Array, rate: number, misjudged: number): Float64Array {
  const hop = Math.round(BLOCK_S * rate);
  const size = 2 ** Math.ceil(Math.log2(2 * hop));
  const fft = new FFT(size);
  const window = Float64Array.from({ length: 2 * hop }, (_, i) =>
    Math.sin((Math.PI * (i + 0.5)) / (2 * hop)),
  );
  const out = new Float64Array(x.length);
  const bins = size / 2 + 1;
  const [near, residual, noise] = [0, 0, 0].map(() => new Float64Array(bins)) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  const last = new Float64Array(bins).fill(1);
  const transform = (y: Float64Array, at: number) => {
    const frame = new Float64Array(size);
    for (let i = 0; i < 2 * hop; i++) frame[i] = y[at + i]! * window[i]!;
    const s = new Float64Array(2 * size);
    fft.realTransform(s, frame);
    return s;
  };
  for (let at = 0, block = 0; at + 2 * hop <= x.length; at += hop, block++) {
    const sound = transform(x, at);
    const played = transform(echo, at);
    for (let k = 0; k < bins; k++) {
      const power = sound[2 * k]! ** 2 + sound[2 * k + 1]! ** 2;
      near[k] = block ? 0.75 * near[k]! + 0.25 * power : power;
      const believed = misjudged * (played[2 * k]! ** 2 + played[2 * k + 1]! ** 2);
      residual[k] = Math.max(believed, 0.83 * residual[k]!);
      if (block < LEARN) noise[k]! += power / LEARN;
      const gain = gainOf(residual[k]!, near[k]!, noise[k]!, (k * rate) / size > 1000);
      last[k] = Math.min(1, gain, Math.max(1e-5, 2 * last[k]!));
      sound[2 * k]! *= Math.sqrt(last[k]!);
      sound[2 * k + 1]! *= Math.sqrt(last[k]!);
    }
    fft.completeSpectrum(sound);
    const back = new Float64Array(2 * size);
    fft.inverseTransform(back, sound);
    for (let i = 0; i < 2 * hop; i++) out[at + i]! += back[2 * i]! * window[i]!;
  }
  return out;
}

/** Gain of power; AEC3's default thresholds of low and high bands. */
function gainOf(echo: number, near: number, noise: number, high: boolean): number {
  const [transparent, gone] = high ? [0.07, 0.1] : [0.3, 0.4];
  const share = echo / (near + 1e-12);
  const heard = echo / (noise + 1e-12);
  if (share <= transparent || heard <= 0.3) return 1;
  return Math.max((gone - share) / (gone - transparent), 0.3 / heard);
}

/** The linear stage: a filter of `taps` that learns (NLMS) what of `played` is in `x`, and takes it out. */
export function adapt(x: Float64Array, played: Float64Array, taps: number, pace: number): Float64Array {
  const filter = new Float64Array(taps);
  const out = x.slice();
  let power = 0;
  for (let i = 0; i < x.length; i++) {
    power += played[i]! ** 2 - (i >= taps ? played[i - taps]! ** 2 : 0);
    if (power < 1e-6) continue;
    const n = Math.min(taps, i + 1);
    let echo = 0;
    for (let k = 0; k < n; k++) echo += filter[k]! * played[i - k]!;
    out[i] = x[i]! - echo;
    const step = (pace * out[i]!) / (power + 1e-3);
    for (let k = 0; k < n; k++) filter[k]! += step * played[i - k]!;
  }
  return out;
}
