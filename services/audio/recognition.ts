// What was said: pocketsphinx over one recording, with a grammar or a language model. All offline.
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import {
  type Answer,
  answerOf,
  confidenceOf,
  fitOf,
  grammarBeams,
  LEAST_CONFIDENCE,
  LEAST_FIT,
  type Phrases,
  phraseGrammar,
  type Scored,
  scoredOf,
  segmentsOf,
  wordsOf,
  yesNoGrammar,
} from '../../firmware/audio/grammar.ts';
import { VAD_RATE } from '../../firmware/audio/vad.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { must } from '../../firmware/system/exec.ts';
import type { Model } from './model.ts';

/** A large grammar may take this long on a small hub, milliseconds. */
const DECODE_MS = 20_000;

/** Words of a dictionary with each of their pronunciations. */
export function* entriesOf(file: string): Generator<[word: string, phones: string]> {
  for (const [, word, phones] of readFileSync(file, 'utf8').matchAll(/^(\S+?)(?:\(\d+\))?[ \t]+(.+?)\s*$/gm))
    yield [word!, phones!];
}

/**
 * Looks phrases over before anything is begun.
 * @throws IngleError `invalid_request` naming a word the recogniser has never heard
 */
export function checkPhrases(phrases: Phrases, model: Model): void {
  if (phrases.length === 0) return;
  phraseGrammar(phrases, model.language);
  const left = new Set(wordsOf(phrases));
  for (const [word] of entriesOf(model.dictionary)) left.delete(word);
  for (const word of left)
    throw new IngleError('invalid_request', `The recogniser does not know the word "${word}". Use another.`);
}

interface Hearing {
  model: Model;
  runtime: string;
  signal?: AbortSignal | undefined;
  /** How long one decoding may take, milliseconds; DECODE_MS when left out. */
  decodeMs?: number;
}

/** Whether a recording (16 kHz, mono) says yes or no, in English. */
export async function recognise(
  samples: Int16Array,
  o: Hearing,
): Promise<{ answer: Answer; phrase: string }> {
  return answerOf(await heardByText(samples, yesNoGrammar, o));
}

/**
 * What a recording (16 kHz, mono) says: one of the phrases, or anything without any.
 * @throws IngleError `not_supported` without a model for it
 */
export async function transcribe(samples: Int16Array, phrases: Phrases, o: Hearing): Promise<string> {
  if (phrases.length > 0) {
    return heardByText(samples, phraseGrammar(phrases, o.model.language), o);
  }
  const { anything } = o.model;
  if (!anything)
    throw new IngleError(
      'not_supported',
      'This hub has no model of a whole language. Say in "phrases" what may have been said.',
    );
  return heard(samples, ['-lm', anything, '-dict', o.model.dictionary], o);
}

/** A grammar that is kept: its file, that of its phones in any order, and the words of both. */
export interface Kept {
  grammar: string;
  phones: string;
  dictionary: string;
}

/** What a recording says of a grammar that is kept; empty when it is none of its sentences. */
export async function understood(samples: Int16Array, kept: Kept, o: Hearing): Promise<string> {
  return (await weighed(samples, kept, o)).text;
}

/** The same with how sure it is, for those who measure. */
export async function weighed(
  samples: Int16Array,
  kept: Kept,
  o: Hearing,
): Promise<{ text: string; best: string; confidence: number }> {
  return withRecording(samples, o.runtime, async (file) => {
    const [sentence, phones] = await Promise.all([
      scored(file, kept.grammar, kept, o),
      scored(file, kept.phones, kept, o),
    ]);
    const confidence = confidenceOf(sentence, phones, samples.length / VAD_RATE);
    return { text: confidence >= LEAST_CONFIDENCE ? sentence.text : '', best: sentence.text, confidence };
  });
}

/** Whether a recording is the phrase of a kept grammar, each of its words where it should be. */
export async function isPhrase(samples: Int16Array, kept: Kept, o: Hearing): Promise<boolean> {
  return (await phraseFit(samples, kept, o)) >= LEAST_FIT;
}

/** How well the worst word of the phrase fits, for those who measure. */
export async function phraseFit(samples: Int16Array, kept: Kept, o: Hearing): Promise<number> {
  return withRecording(samples, o.runtime, async (file) => {
    const [phrase, phones] = await Promise.all([
      batch(file, kept.grammar, kept, o, ['-hypseg']),
      // Without the weight of a language, as each phone is as good as another.
      batch(file, kept.phones, kept, o, ['-lw', '1', '-hypseg']),
    ]);
    return fitOf(segmentsOf(phrase), segmentsOf(phones));
  });
}

const scored = async (file: string, grammar: string, kept: Kept, o: Hearing): Promise<Scored> =>
  scoredOf(await batch(file, grammar, kept, o, ['-hyp']));

/**
 * pocketsphinx_batch takes a whole recording, which it levels before it decodes, and tells a score. It opens its lists by
 * name, so that pipes will not do.
 * @param how its arguments; the last one names what it writes
 */
async function batch(
  file: string,
  grammar: string,
  { dictionary }: Kept,
  o: Hearing,
  how: readonly string[],
): Promise<string> {
  const own = `${file}.${randomUUID().slice(0, 8)}`;
  const [list, said] = [`${own}.list`, `${own}.said`];
  try {
    writeFileSync(list, `${basename(file, '.raw')}\n`, { mode: 0o600 });
    const where = ['-cepdir', dirname(file), '-cepext', '.raw', '-adcin', 'yes', '-ctl', list];
    const by = ['-hmm', o.model.acoustic, '-dict', dictionary, '-jsgf', grammar, ...grammarBeams];
    await must('pocketsphinx_batch', [...where, ...by, ...how, said, '-logfn', '/dev/null'], {
      timeoutMs: o.decodeMs ?? DECODE_MS,
      signal: o.signal,
    });
    return readFileSync(said, 'utf8');
  } finally {
    for (const f of [list, said]) if (existsSync(f)) unlinkSync(f);
  }
}

async function heardByText(samples: Int16Array, grammar: string, o: Hearing): Promise<string> {
  const file = join(o.runtime, `ingle-answer-${randomUUID().slice(0, 8)}.gram`);
  try {
    writeFileSync(file, grammar, { mode: 0o600 });
    return await heard(samples, ['-jsgf', file, '-dict', o.model.dictionary], o);
  } finally {
    if (existsSync(file)) unlinkSync(file);
  }
}

async function heard(samples: Int16Array, how: string[], o: Hearing): Promise<string> {
  const out = await withRecording(samples, o.runtime, (file) =>
    must(
      'pocketsphinx_continuous',
      ['-infile', file, '-hmm', o.model.acoustic, '-logfn', '/dev/null', ...how],
      { timeoutMs: o.decodeMs ?? DECODE_MS, maxBytes: 64 * 1024, signal: o.signal },
    ),
  );
  return out.toString().replace(/\s+/g, ' ').trim();
}

/** A recording as a file that only this service reads, for as long as somebody needs it. */
async function withRecording<T>(
  samples: Int16Array,
  runtime: string,
  work: (file: string) => Promise<T>,
): Promise<T> {
  const file = join(runtime, `ingle-answer-${randomUUID().slice(0, 8)}.raw`);
  const bytes = Buffer.alloc(2 * samples.length);
  for (let i = 0; i < samples.length; i++) bytes.writeInt16LE(samples[i]!, 2 * i);
  try {
    writeFileSync(file, bytes, { mode: 0o600 });
    return await work(file);
  } finally {
    bytes.fill(0);
    if (existsSync(file)) unlinkSync(file);
  }
}
