// Simulated rooms: image-source impulse responses, noises, converters. All from one seed.

import { probeDuration, probeSpec, renderProbe } from '../../firmware/audio/probe.ts';
import { analytic, convolve, powerOfTwo, realSpectrum } from '../../firmware/audio/spectrum.ts';

/** mulberry32: small, seeded, good enough for rooms. */
export function random(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export function between(r: () => number, a: number, b: number): number {
  return a + (b - a) * r();
}

export function gauss(r: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - r())) * Math.cos(2 * Math.PI * r());
}

export interface Room {
  /** Metres. */
  size: [number, number, number];
  speaker: [number, number, number];
  microphone: [number, number, number];
  rt60: number;
}

const SPEED = 343;

export function randomRoom(r: () => number): Room {
  const size: [number, number, number] = [between(r, 2.2, 8), between(r, 2.2, 7), between(r, 2.3, 3.5)];
  const place = (): [number, number, number] => [
    between(r, 0.3, size[0] - 0.3),
    between(r, 0.3, size[1] - 0.3),
    between(r, 0.4, Math.min(2, size[2] - 0.3)),
  ];
  const speaker = place();
  let microphone = place();
  while (distance(speaker, microphone) < 0.3) microphone = place();
  return { size, speaker, microphone, rt60: between(r, 0.2, 0.9) };
}

export function distance(a: readonly number[], b: readonly number[]): number {
  return Math.hypot(a[0]! - b[0]!, a[1]! - b[1]!, a[2]! - b[2]!);
}

/**
 * Impulse response by the image-source method (Allen & Berkley 1979), direct sound at sample 0 with amplitude 1. Images
 * to half the reverberation time (at most 0.25 s), then decaying noise of the same power: late images are too many to
 * tell one from another.
 */
export function impulseResponse(room: Room, rate: number, r: () => number): Float64Array {
  const [lx, ly, lz] = room.size;
  const volume = lx * ly * lz;
  const surface = 2 * (lx * ly + ly * lz + lx * lz);
  // Eyring's formula gives the walls' absorption that makes this RT60.
  const absorption = 1 - Math.exp((-0.161 * volume) / (surface * room.rt60));
  const wall = -Math.sqrt(1 - absorption);
  const d0 = distance(room.speaker, room.microphone);
  const until = Math.min(0.25, room.rt60 / 2);
  const out = new Float64Array(Math.ceil((room.rt60 + 0.02) * rate));
  const reach = until * SPEED + d0;
  const n = [Math.ceil(reach / (2 * lx)), Math.ceil(reach / (2 * ly)), Math.ceil(reach / (2 * lz))];
  const axis = (s: number, m: number, l: number, count: number): [number, number][] => {
    const list: [number, number][] = [];
    for (let k = -count; k <= count; k++) {
      list.push([s + 2 * k * l - m, Math.abs(2 * k)]);
      list.push([-s + 2 * k * l - m, Math.abs(2 * k - 1)]);
    }
    return list;
  };
  const xs = axis(room.speaker[0], room.microphone[0], lx, n[0]!);
  const ys = axis(room.speaker[1], room.microphone[1], ly, n[1]!);
  const zs = axis(room.speaker[2], room.microphone[2], lz, n[2]!);
  const powers = Array.from({ length: 400 }, (_, k) => wall ** k);
  for (const [x, kx] of xs)
    for (const [y, ky] of ys) {
      const xy = x * x + y * y;
      if (xy > reach * reach) continue;
      for (const [z, kz] of zs) {
        const d = Math.sqrt(xy + z * z);
        if (d > reach) continue;
        const gain = (powers[kx + ky + kz]! * d0) / d;
        const at = ((d - d0) / SPEED) * rate;
        const i = Math.floor(at);
        if (i + 1 >= out.length) continue;
        out[i]! += gain * (1 - (at - i));
        out[i + 1]! += gain * (at - i);
      }
    }
  const join = Math.floor(until * rate);
  const look = Math.floor(0.03 * rate);
  let power = 0;
  for (let i = join - look; i < join; i++) power += out[i]! ** 2 / look;
  const decay = Math.log(1000) / (room.rt60 * rate);
  for (let i = join; i < out.length; i++)
    out[i] = gauss(r) * Math.sqrt(power) * Math.exp(-decay * (i - join));
  return out;
}

export type Noise = 'white' | 'pink' | 'babble' | 'music';
export const noises: Noise[] = ['white', 'pink', 'babble', 'music'];
const tables = new Map<string, { samples: Float64Array; power: Float64Array }>();

/** Length of a noise's table, seconds. */
const TABLE = 12;

/** A stretch of noise with power 1 within the probe's band. @throws RangeError when it is longer than the table. */
export function noise(kind: Noise, rate: number, length: number, r: () => number): Float64Array {
  if (length > rate * TABLE) throw new RangeError(`there are ${TABLE} s of noise`);
  const key = `${kind}${rate}`;
  let table = tables.get(key);
  if (!table) {
    const samples = makeNoise(kind, rate, Math.round(rate * TABLE), random(kind.length * 977 + rate));
    table = { samples, power: powerUntil(band(samples, rate)) };
    tables.set(key, table);
  }
  const from = Math.floor(r() * (table.samples.length - length));
  const power = (table.power[from + length]! - table.power[from]!) / length;
  const gain = (r() < 0.5 ? -1 : 1) / Math.sqrt(power);
  return table.samples.slice(from, from + length).map((v) => v * gain);
}

/** Power summed up to each sample. */
function powerUntil(x: Float64Array): Float64Array {
  const out = new Float64Array(x.length + 1);
  for (let i = 0; i < x.length; i++) out[i + 1] = out[i]! + x[i]! ** 2;
  return out;
}

/** What of a signal lies between 200 and 4000 Hz. */
function band(x: Float64Array, rate: number): Float64Array {
  const size = powerOfTwo(x.length);
  const s = realSpectrum(x, size);
  s.fill(0, 0, 2 * Math.ceil((200 * size) / rate));
  s.fill(0, 2 * Math.floor((4000 * size) / rate));
  const half = analytic(s, 0, size / 2, size);
  return new Float64Array(x.length).map((_, i) => 2 * half[2 * i]!);
}

function makeNoise(kind: Noise, rate: number, length: number, r: () => number): Float64Array {
  const out = new Float64Array(length);
  if (kind === 'white') return out.map(() => gauss(r));
  if (kind === 'pink') {
    // Kellet's filter.
    const b = [0, 0, 0];
    for (let i = 0; i < length; i++) {
      const w = gauss(r);
      b[0] = 0.99765 * b[0]! + w * 0.099046;
      b[1] = 0.963 * b[1]! + w * 0.2965164;
      b[2] = 0.57 * b[2]! + w * 1.0526913;
      out[i] = b[0]! + b[1]! + b[2]! + w * 0.1848;
    }
    return out;
  }
  if (kind === 'babble') {
    for (let voice = 0; voice < 5; voice++) speak(out, rate, r);
    return out;
  }
  play(out, rate, r);
  return out;
}

/** Speech-like: pulses of a wandering pitch through moving formants, in syllables. */
function speak(out: Float64Array, rate: number, r: () => number): void {
  const pitch = between(r, 90, 240);
  let phase = 0;
  let at = 0;
  while (at < out.length) {
    const syllable = Math.floor(between(r, 0.08, 0.3) * rate);
    const formants = [between(r, 250, 850), between(r, 850, 2400), between(r, 2300, 3400)];
    const f0 = pitch * between(r, 0.85, 1.2);
    const glide = between(r, -0.3, 0.3);
    const voiced = r() < 0.8;
    const state = formants.map(() => [0, 0]);
    const loud = between(r, 0.3, 1);
    for (let i = 0; i < syllable && at + i < out.length; i++) {
      const x = i / syllable;
      phase += (f0 * (1 + glide * x)) / rate;
      let source = gauss(r) * 0.15;
      if (voiced && phase >= 1) source += 6;
      phase %= 1;
      let v = 0;
      formants.forEach((f, k) => {
        const q = Math.exp((-Math.PI * 90) / rate);
        const s = state[k]!;
        const y = source + 2 * q * Math.cos((2 * Math.PI * f) / rate) * s[0]! - q * q * s[1]!;
        s[1] = s[0]!;
        s[0] = y;
        v += (y * (f / rate) * 3) / (k + 1);
      });
      out[at + i]! += v * loud * Math.sin(Math.PI * x);
    }
    at += syllable + (r() < 0.25 ? Math.floor(between(r, 0.05, 0.5) * rate) : 0);
  }
}

/** Chords, a melody with slides, drums. */
function play(out: Float64Array, rate: number, r: () => number): void {
  const beat = Math.floor(rate * between(r, 0.22, 0.45));
  for (let at = 0; at < out.length; at += beat) {
    const root = 110 * 2 ** (Math.floor(r() * 12) / 12);
    const notes = [1, 1.26, 1.5, r() < 0.5 ? 2 : 1.78, 4 * 2 ** (Math.floor(r() * 12) / 12)];
    const slide = r() < 0.3 ? between(r, -0.5, 1) : 0;
    notes.forEach((n, voice) => {
      const f = root * n;
      for (let i = 0; i < 2 * beat && at + i < out.length; i++) {
        const t = i / rate;
        const bend = voice === 4 ? 1 + (slide * i) / (4 * beat) : 1;
        const p = 2 * Math.PI * f * bend * t;
        out[at + i]! +=
          (Math.exp(-3 * t) * (Math.sin(p) + 0.5 * Math.sin(2 * p) + 0.3 * Math.sin(3 * p))) /
          (1 + voice * 0.3);
      }
    });
    if (r() < 0.7)
      for (let i = 0; i < beat / 2 && at + i < out.length; i++)
        out[at + i]! += 1.5 * gauss(r) * Math.exp((-40 * i) / rate);
  }
}

const probes = new Map<number, Float64Array>();
export function probeAt(rate: number): Float64Array {
  let p = probes.get(rate);
  if (!p) {
    p = renderProbe(probeSpec, rate);
    probes.set(rate, p);
  }
  return p;
}

export interface Scene {
  rate: number;
  /** Of the room; none = a digital path. */
  response: Float64Array;
  delay_s: number;
  snr_db: number;
  noise: Noise;
  drift_ppm: number;
  /** The microphone's level, full scale = 1, of the loudest sample before clipping. */
  peak: number;
  /** 16-bit converter, hard clip at 1. */
  r: () => number;
  preroll_s: number;
}

/** What the microphone records: the probe through the room, late, with noise, through another clock and a converter. */
export function record(s: Scene): Float64Array {
  const length = Math.round(s.rate * (s.preroll_s + probeDuration(probeSpec) + 1.5 + 0.3));
  const wet = convolve(probeAt(s.rate), s.response);
  const out = new Float64Array(length);
  const start = (s.preroll_s + s.delay_s) * s.rate;
  // The microphone's sample i is at the sink's time i * (1 + drift): the two clocks meet at the probe's start.
  const zero = s.preroll_s * s.rate;
  for (let i = 0; i < length; i++) {
    const at = zero + (i - zero) * (1 + s.drift_ppm * 1e-6) - start;
    const k = Math.floor(at);
    if (k < 1 || k + 2 >= wet.length) continue;
    out[i] = cubic(wet[k - 1]!, wet[k]!, wet[k + 1]!, wet[k + 2]!, at - k);
  }
  // The probe has nothing outside its band.
  const probe = Math.sqrt(out.reduce((a, v) => a + v * v, 0) / (s.rate * probeDuration(probeSpec)));
  const n = noise(s.noise, s.rate, length, s.r);
  const gain = probe / 10 ** (s.snr_db / 20);
  let peak = 0;
  for (let i = 0; i < length; i++) {
    out[i]! += n[i]! * gain;
    peak = Math.max(peak, Math.abs(out[i]!));
  }
  return convert(out, s.peak / peak);
}

/** A 16-bit converter. */
export function convert(x: Float64Array, gain: number): Float64Array {
  return x.map((v) => Math.max(-32768, Math.min(32767, Math.round(v * gain * 32768))) / 32768);
}

function cubic(a: number, b: number, c: number, d: number, t: number): number {
  return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}
