// Speech out (espeak-ng) and in (WebRTC VAD, pocketsphinx with a grammar). All offline.
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Answer,
  answerOf,
  type Phrases,
  phraseGrammar,
  wordsOf,
  yesNoGrammar,
} from '../../firmware/audio/grammar.ts';
import { levels } from '../../firmware/audio/level.ts';
import { fromS16, parseWav } from '../../firmware/audio/pcm.ts';
import { VAD_RATE, voiceDetector } from '../../firmware/audio/vad.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
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
  const pace = o.slow ? ['-s', '95', '-g', '25'] : ['-s', '150'];
  const wav = await must('espeak-ng', ['-v', voice[o.lang], ...pace, '--stdin', '--stdout'], {
    input: text,
    timeoutMs: 20_000,
    signal: o.signal,
  });
  const { rate, channels, data } = parseWav(wav);
  await play(sink, fromS16(data, channels)[0]!, rate, o.signal);
}

export interface Listening {
  heard: boolean;
  /** Short enough for a yes or a no: people talking, or a television, are not an answer. */
  short: boolean;
  /** From a little before the speech on, 16 kHz; erased by `erase`. */
  samples: Int16Array;
}

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
  let short = true;
  let over: () => void = () => {};
  const done = new Promise<void>((resolve) => (over = resolve));
  const c = capture(source, VAD_RATE, (samples, at) => {
    chunks.push(samples);
    detector.feed(samples);
    if (at - metered > 100) {
      metered = at;
      const l = levels(Float32Array.from(samples, (v) => v / 32768));
      o.onLevel(l.rms_db, l.peak_db);
    }
    if (detector.ended && !o.during) over();
  });
  const timer = setTimeout(over, timeoutMs);
  o.signal.addEventListener('abort', over, { once: true });
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

const model = '/usr/share/pocketsphinx/model/en-us';
const dictionary = join(model, 'cmudict-en-us.dict');
const anything = join(model, 'en-us.lm.bin');

function mustHaveModel(): void {
  if (!existsSync(model))
    throw new IngleError('not_supported', 'The English model of pocketsphinx is not installed.');
}

/**
 * Looks phrases over before anything is begun.
 * @throws IngleError `invalid_request` naming a word the recogniser has never heard, `not_supported`
 */
export function checkPhrases(phrases: Phrases): void {
  mustHaveModel();
  if (phrases.length === 0) return;
  phraseGrammar(phrases);
  const left = new Set(wordsOf(phrases));
  for (const [, word] of readFileSync(dictionary, 'latin1').matchAll(/^(\S+) /gm)) left.delete(word!);
  for (const word of left)
    throw new IngleError('invalid_request', `The recogniser does not know the word "${word}". Use another.`);
}

/**
 * Whether a recording (16 kHz, mono) says yes or no.
 * @throws IngleError `not_supported` without pocketsphinx and its English model.
 */
export async function recognise(
  samples: Int16Array,
  runtime: string,
  signal?: AbortSignal,
): Promise<{ answer: Answer; phrase: string }> {
  return answerOf(await heard(samples, { runtime, signal, grammar: yesNoGrammar }));
}

/**
 * What a recording (16 kHz, mono) says: one of the phrases, or anything without any.
 * @throws IngleError `not_supported` without pocketsphinx and its models.
 */
export async function transcribe(
  samples: Int16Array,
  o: { phrases: Phrases; runtime: string; signal: AbortSignal },
): Promise<string> {
  if (o.phrases.length === 0 && !existsSync(anything))
    throw new IngleError(
      'not_supported',
      'This hub has no model of all English. Say in "phrases" what may have been said.',
    );
  const grammar = o.phrases.length > 0 ? phraseGrammar(o.phrases) : undefined;
  return (await heard(samples, { ...o, grammar })).replace(/\s+/g, ' ').trim();
}

async function heard(
  samples: Int16Array,
  o: { runtime: string; signal?: AbortSignal | undefined; grammar: string | undefined },
): Promise<string> {
  mustHaveModel();
  const base = join(o.runtime, `ingle-answer-${randomUUID().slice(0, 8)}`);
  const bytes = Buffer.alloc(2 * samples.length);
  for (let i = 0; i < samples.length; i++) bytes.writeInt16LE(samples[i]!, 2 * i);
  try {
    if (o.grammar) writeFileSync(`${base}.gram`, o.grammar, { mode: 0o600 });
    writeFileSync(`${base}.raw`, bytes, { mode: 0o600 });
    const said = o.grammar ? ['-jsgf', `${base}.gram`] : ['-lm', anything];
    const args = ['-infile', `${base}.raw`, ...said, '-logfn', '/dev/null'];
    const where = ['-hmm', join(model, 'en-us'), '-dict', dictionary];
    const out = await must('pocketsphinx_continuous', [...args, ...where], {
      timeoutMs: 20_000,
      maxBytes: 64 * 1024,
      signal: o.signal,
    });
    return out.toString();
  } finally {
    bytes.fill(0);
    for (const f of [`${base}.gram`, `${base}.raw`]) if (existsSync(f)) unlinkSync(f);
  }
}
