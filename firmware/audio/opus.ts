// Opus by libopus as WebAssembly: no download, no native build. It is loaded with the first recording that needs it.
import { OpusDecoder } from 'opus-decoder';
import { IngleError } from '../protocol/errors.ts';
import { OPUS_RATE, readOgg } from './ogg.ts';
import { SPEECH_RATE } from './resample.ts';

/** What the decoder has room for, bytes of a packet a channel (256 kbit/s over 120 ms). */
const MAX_BYTES = 3840;
const nothing = new Float32Array();
const damaged = () => new IngleError('invalid_request', 'This Opus recording is damaged. Record it again.');

/**
 * The sound of an Ogg Opus file at 16 kHz, mono.
 * @param seconds the longest that is taken
 * @throws IngleError `invalid_request`, `not_supported`
 */
export async function readOpus(bytes: Uint8Array, seconds: number): Promise<Int16Array> {
  const { channels, skip, samples, packets } = readOgg(bytes, seconds * OPUS_RATE);
  if (packets.some((p) => p.length > MAX_BYTES * channels))
    throw new IngleError('invalid_request', 'This recording has more than 256 kbit/s. Send less.');
  const decoder = new OpusDecoder({ sampleRate: SPEECH_RATE, channels });
  await decoder.ready;
  try {
    const rate = (n: number) => Math.round((n * SPEECH_RATE) / OPUS_RATE);
    const out = new Int16Array(rate(samples));
    let at = -rate(skip);
    for (const packet of packets) {
      const { channelData, errors } = decoder.decodeFrame(packet);
      // The first is enough: each one is a line in the log.
      if (errors.length > 0) throw damaged();
      const [left = nothing, right = left] = channelData;
      for (const [i, v] of left.entries()) {
        const mean = 32_768 * ((v + right[i]!) / 2);
        if (at >= 0 && at < out.length) out[at] = Math.max(-32_768, Math.min(32_767, Math.round(mean)));
        at++;
      }
      for (const part of channelData) part.fill(0);
    }
    return out;
  } catch (e) {
    // What a program makes of bytes that are no Opus is no fault of ours.
    throw e instanceof IngleError ? e : damaged();
  } finally {
    decoder.free();
  }
}
