// A recording that somebody sends: read with suspicion, and made what a recogniser takes. Pure.
import { IngleError } from '../protocol/errors.ts';
import { fromS16, parseWav } from './pcm.ts';
import { SPEECH_RATE, toSpeechRate } from './resample.ts';

/** Largest file, bytes, and longest recording, seconds. */
export const MAX_UPLOAD = 2 * 1024 * 1024;
export const MAX_SECONDS = 30;

const rates: ReadonlySet<number> = new Set([
  8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000,
]);
const bad = (says: string) => new IngleError('invalid_request', says);

/**
 * The sound of a file that was sent, WAV or Ogg Opus, at 16 kHz, mono.
 * @throws IngleError `invalid_request`, `too_large`, `not_supported` for Ogg with something else in it
 */
export async function readUpload(bytes: Uint8Array): Promise<Int16Array> {
  if (String.fromCharCode(...bytes.subarray(0, 4)) !== 'OggS') return readWav(bytes);
  checkSize(bytes);
  const { readOpus } = await import('./opus.ts');
  return readOpus(bytes, MAX_SECONDS);
}

function checkSize(bytes: Uint8Array): void {
  if (bytes.length > MAX_UPLOAD)
    throw new IngleError('too_large', `A recording may have at most ${MAX_UPLOAD} bytes.`);
}

/**
 * The sound of a WAV file (RIFF, PCM, 16 bit, mono or stereo) at 16 kHz, mono.
 * @throws IngleError `invalid_request`, `too_large`
 */
export function readWav(bytes: Uint8Array): Int16Array {
  checkSize(bytes);
  const { rate, channels, data, declared } = parseWav(bytes);
  if (declared !== data.length) throw bad('This WAV is cut off, or lies about its size. Record it again.');
  if (channels > 2) throw bad(`This WAV has ${channels} channels. Send mono or stereo.`);
  if (!rates.has(rate)) throw bad(`This WAV has a rate of ${rate} Hz. Send 8 to 96 kHz, as recorders use.`);
  const frames = Math.floor(data.length / (2 * channels));
  if (frames * 2 * channels !== data.length) throw bad('This WAV ends in the middle of a sample.');
  if (frames === 0) throw bad('This WAV has no sound in it.');
  if (frames > MAX_SECONDS * rate) throw bad(`A recording may have at most ${MAX_SECONDS} seconds.`);
  const [left, right] = fromS16(data, channels) as [Float32Array, Float32Array?];
  const mono = right ? left.map((v, i) => (v + right[i]!) / 2) : left;
  const sound = toSpeechRate(mono, rate);
  const out = Int16Array.from(sound, (v) => Math.max(-32_768, Math.min(32_767, Math.round(v * 32_768))));
  for (const part of [left, right, mono, sound]) part?.fill(0);
  return out;
}

export const durationMs = (samples: Int16Array): number => Math.round((1000 * samples.length) / SPEECH_RATE);
