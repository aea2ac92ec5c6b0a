// Speech out (espeak-ng), and listening for it (WebRTC VAD). All offline.
import { levels } from '../../firmware/audio/level.ts';
import { fromS16, parseWav } from '../../firmware/audio/pcm.ts';
import { VAD_RATE, voiceDetector } from '../../firmware/audio/vad.ts';
import { must } from '../../firmware/system/exec.ts';
import type { Language } from '../../firmware/text/i18n.ts';
import { capture, play } from './sound.ts';

const voice: Record<Language, string> = { en: 'en-us', ru: 'ru' };

/**
 * Speaks on one sink. The text goes through a pipe, never an argument: it may hold a password, and arguments are
 * there for every process to see.
 */
export async function speak(
  sink: string,
  text: string,
  o: { lang: Language; slow: boolean; signal?: AbortSignal },
): Promise<void> {
  const { rate, channels, data } = parseWav(await spokenWav(text, o));
  await play(sink, fromS16(data, channels)[0]!, rate, o.signal);
}

/** A text as sound: a WAV file. */
export function spokenWav(
  text: string,
  o: { lang: Language; slow: boolean; signal?: AbortSignal | undefined },
): Promise<Buffer> {
  const pace = o.slow ? ['-s', '95', '-g', '25'] : ['-s', '150'];
  return must('espeak-ng', ['-v', voice[o.lang], ...pace, '--stdin', '--stdout'], {
    input: text,
    timeoutMs: 20_000,
    signal: o.signal,
  });
}

export interface Listening {
  heard: boolean;
  /** Short enough for a yes or a no: people talking, or a television, are not an answer. */
  short: boolean;
  /** From a little before the speech on, 16 kHz; erased by `erase`. */
  samples: Int16Array;
}

/** What is kept from before the moment at which a voice is sure, samples: 1 s. */
const BEFORE = VAD_RATE;
/** Longest utterance that is taken for an answer, seconds of speech. */
const ANSWER_S = 2;

/** Listens until an utterance has ended, at most `timeoutMs`. `during` runs meanwhile and ends the listening after it. */
export async function listen(
  source: string,
  timeoutMs: number,
  o: {
    signal: AbortSignal;
    onLevel: (rms_db: number, peak_db: number) => void;
    during?: () => Promise<void>;
  },
): Promise<Listening> {
  const detector = await voiceDetector();
  const chunks: Int16Array[] = [];
  let metered = 0;
  let held = 0;
  let short = true;
  let over: () => void = () => {};
  const done = new Promise<void>((resolve) => (over = resolve));
  const c = capture(source, VAD_RATE, (samples, at) => {
    chunks.push(samples);
    detector.feed(samples);
    // Of the silence before somebody speaks a little is kept: their first sound.
    if (!detector.spoken && !o.during)
      for (held += samples.length; held - chunks[0]!.length > BEFORE; ) {
        held -= chunks[0]!.length;
        chunks.shift()!.fill(0);
      }
    if (at - metered > 100) {
      metered = at;
      const l = levels(Float32Array.from(samples, (v) => v / 32768));
      o.onLevel(l.rms_db, l.peak_db);
    }
    if (detector.ended && !o.during) over();
  });
  const timer = setTimeout(over, timeoutMs);
  o.signal.addEventListener('abort', over, { once: true });
  if (o.signal.aborted) over();
  void c.ended.then(over);
  try {
    if (o.during) {
      await o.during();
      // What was played is still on its way through sink, air and microphone.
      setTimeout(over, 1500);
    }
    await done;
  } finally {
    clearTimeout(timer);
    o.signal.removeEventListener('abort', over);
    await c.stop();
    short = detector.seconds <= ANSWER_S;
    detector.free();
  }
  const samples = new Int16Array(chunks.reduce((n, x) => n + x.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    samples.set(chunk, at);
    at += chunk.length;
    chunk.fill(0);
  }
  return { heard: detector.spoken, short, samples };
}
