// Speaking with an open ear: the hub stops when somebody speaks, and hears them out.
import { echoGate } from '../../firmware/audio/echo-gate.ts';
import { fromS16, parseWav } from '../../firmware/audio/pcm.ts';
import { toSpeechRate } from '../../firmware/audio/resample.ts';
import { VAD_FRAME, VAD_RATE, voiceDetector } from '../../firmware/audio/vad.ts';
import { capture, play } from './sound.ts';

/** Who interrupts is heard out for so long at most, milliseconds. */
const OUT_MS = 8000;
/** What is kept from before the moment at which a voice is sure: its first words. */
const BEFORE = 0.7 * VAD_RATE;

/**
 * Plays speech (a WAV of espeak-ng) and listens meanwhile.
 * @returns what somebody said who interrupted it, from a little before, at 16 kHz; undefined when it was spoken to its end
 */
export async function tell(
  at: { sink: string; source: string },
  wav: Uint8Array,
  signal: AbortSignal,
): Promise<Int16Array | undefined> {
  const { rate, channels, data } = parseWav(wav);
  const sound = fromS16(data, channels)[0]!;
  const own = Int16Array.from(toSpeechRate(sound, rate), (v) => Math.round(v * 32_767));
  const gate = echoGate(own);
  const detector = await voiceDetector();
  const silence = new Int16Array(VAD_FRAME);
  const stop = new AbortController();
  const kept = samplesFrom(VAD_RATE);
  let over: () => void = () => {};
  const heardOut = new Promise<void>((resolve) => (over = resolve));
  let isInterrupted = false;
  const c = capture(at.source, VAD_RATE, (samples) => {
    for (const frame of kept.take(samples)) {
      // Only what is louder than the hub's own voice may be somebody's.
      detector.feed(gate.feed(frame) ? frame : silence);
      if (detector.spoken && !isInterrupted) {
        isInterrupted = true;
        kept.from(BEFORE);
        gate.cut();
        stop.abort();
      }
    }
    if (isInterrupted && detector.ended) over();
  });
  void c.ended.then(over);
  const ended = () => {
    stop.abort();
    over();
  };
  signal.addEventListener('abort', ended, { once: true });
  if (signal.aborted) ended();
  try {
    await play(at.sink, sound, rate, stop.signal).catch((e) => {
      if (!stop.signal.aborted) throw e;
    });
    if (!isInterrupted || signal.aborted) return undefined;
    const timer = setTimeout(over, OUT_MS);
    await heardOut;
    clearTimeout(timer);
    return signal.aborted ? undefined : kept.all();
  } finally {
    signal.removeEventListener('abort', ended);
    await c.stop();
    kept.erase();
    detector.free();
    own.fill(0);
    sound.fill(0);
  }
}

/** Samples as frames, of which the last ones are kept until `from`, and all after it. */
export function samplesFrom(most: number) {
  let chunks: Int16Array[] = [];
  let rest = new Int16Array(0);
  let isKeeping = false;
  const length = () => chunks.reduce((n, c) => n + c.length, 0);
  const drop = (to: number) => {
    while (chunks.length > 0 && length() - chunks[0]!.length >= to) chunks.shift()!.fill(0);
  };
  return {
    take(samples: Int16Array): Int16Array[] {
      const all = new Int16Array(rest.length + samples.length);
      all.set(rest);
      all.set(samples, rest.length);
      const frames: Int16Array[] = [];
      let at = 0;
      for (; at + VAD_FRAME <= all.length; at += VAD_FRAME) frames.push(all.slice(at, at + VAD_FRAME));
      rest = all.slice(at);
      chunks.push(...frames);
      if (!isKeeping) drop(most);
      return frames;
    },
    from(before: number): void {
      isKeeping = true;
      drop(before);
    },
    all(): Int16Array {
      const out = new Int16Array(length());
      let at = 0;
      for (const c of chunks) {
        out.set(c, at);
        at += c.length;
      }
      return out;
    },
    erase(): void {
      for (const c of chunks) c.fill(0);
      chunks = [];
    },
  };
}
