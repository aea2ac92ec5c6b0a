// Samples between bytes and numbers. A view per channel comes from ndarray, without copies.
import ndarray from 'ndarray';
import { IngleError } from '../protocol/errors.ts';

/** 16-bit little endian to -1..1, one array a channel. An odd byte at the end is dropped. */
export function fromS16(bytes: Uint8Array, channels = 1): Float32Array[] {
  const frames = Math.floor(bytes.length / (2 * channels));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const flat = new Float32Array(frames * channels);
  for (let i = 0; i < flat.length; i++) flat[i] = view.getInt16(2 * i, true) / 32768;
  const all = ndarray(flat, [frames, channels]);
  return Array.from({ length: channels }, (_, c) => {
    const one = all.pick(null, c);
    const out = new Float32Array(frames);
    for (let i = 0; i < frames; i++) out[i] = one.get(i);
    return out;
  });
}

/** -1..1 to 16-bit little endian, clipped. */
export function toS16(x: Float32Array | Float64Array): Uint8Array {
  const out = new Uint8Array(2 * x.length);
  const view = new DataView(out.buffer);
  for (let i = 0; i < x.length; i++)
    view.setInt16(2 * i, Math.max(-32768, Math.min(32767, Math.round(x[i]! * 32768))), true);
  return out;
}

export interface Wav {
  rate: number;
  channels: number;
  data: Uint8Array;
  /** Bytes of `data` as the file says; other than its length where a writer was cut off, or lies. */
  declared: number;
}

/**
 * Reads a 16-bit PCM WAV (RIFF). A length that a cut-off writer left at zero or too large means: to the end.
 * @throws IngleError `invalid_request` for anything else.
 */
export function parseWav(bytes: Uint8Array): Wav {
  const bad = (why: string) => new IngleError('invalid_request', `This is no 16-bit WAV: ${why}.`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tag = (at: number) => String.fromCharCode(...bytes.subarray(at, at + 4));
  if (bytes.length < 12 || tag(0) !== 'RIFF' || tag(8) !== 'WAVE') throw bad('no RIFF header');
  let format: { rate: number; channels: number } | undefined;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const size = view.getUint32(at + 4, true);
    const body = at + 8;
    if (tag(at) === 'fmt ') {
      if (body + 16 > bytes.length) throw bad('its format is cut off');
      const kind = view.getUint16(body, true);
      const channels = view.getUint16(body + 2, true);
      const rate = view.getUint32(body + 4, true);
      if ((kind !== 1 && kind !== 0xfffe) || view.getUint16(body + 14, true) !== 16)
        throw bad('not 16-bit PCM');
      if (channels < 1 || channels > 32 || rate < 1000 || rate > 768_000) throw bad('a format nobody has');
      format = { rate, channels };
    }
    if (tag(at) === 'data') {
      if (!format) throw bad('data before its format');
      const end = size === 0 || body + size > bytes.length ? bytes.length : body + size;
      return { ...format, data: bytes.subarray(body, end), declared: size };
    }
    at = body + size + (size & 1);
  }
  throw bad('no data');
}
