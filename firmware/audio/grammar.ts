// For pocketsphinx: the grammars it is given, and what its words mean. Pure.
import { createHash } from 'node:crypto';
import { IngleError } from '../protocol/errors.ts';
import type { Language } from '../text/i18n.ts';

/** JSGF grammar of the answers. The fillers take what is neither, so that noise need not become a yes. */
export const yesNoGrammar = `#JSGF V1.0;
grammar answer;
<yes> = yes | yeah | yep | okay | sure;
<no> = no | nope;
public <answer> = <yes> | <no>;
`;

const yes = new Set(['yes', 'yeah', 'yep', 'okay', 'sure']);
const no = new Set(['no', 'nope']);

export type Answer = 'yes' | 'no' | 'none';

const header = '#JSGF V1.0;';

/** What the recogniser's line means. */
export function answerOf(hypothesis: string): { answer: Answer; phrase: string } {
  const words = hypothesis
    .toLowerCase()
    .split(/[^a-z']+/)
    .filter((w) => yes.has(w) || no.has(w));
  const first = words[0];
  if (first === undefined) return { answer: 'none', phrase: '' };
  return { answer: yes.has(first) ? 'yes' : 'no', phrase: first };
}

export type Phrases = readonly string[];

/** What a phrase may be: words of letters and apostrophes, so that nothing of it is grammar. */
export const phraseForm = "^[A-Za-z']+( [A-Za-z']+)*$";
const phraseForms: Record<Language, RegExp> = {
  en: new RegExp(phraseForm),
  ru: /^[А-Яа-яЁё]+( [А-Яа-яЁё]+)*$/,
};
const languageNames: Record<Language, string> = { en: 'English', ru: 'Russian' };
/** Phrases in one grammar, and the longest, characters. */
export const MAX_PHRASES = 50;
export const MAX_PHRASE = 80;

/** JSGF grammar of one of the phrases. @throws IngleError `invalid_request` */
export function phraseGrammar(phrases: Phrases, language: Language = 'en'): string {
  const form = phraseForms[language];
  if (phrases.length > MAX_PHRASES || phrases.some((p) => p.length > MAX_PHRASE || !form.test(p)))
    throw new IngleError(
      'invalid_request',
      `Phrases are ${languageNames[language]} words with single spaces between them: at most ${MAX_PHRASES}, of at most ${MAX_PHRASE} characters.`,
    );
  return `${header}\ngrammar phrases;\npublic <phrase> = ${phrases.map((p) => p.toLowerCase()).join(' | ')};\n`;
}

/** The words of phrases, each once. */
export const wordsOf = (phrases: Phrases): string[] => [
  ...new Set(phrases.flatMap((p) => p.toLowerCase().split(' '))),
];

/**
 * Arguments of pocketsphinx for these grammars. With the beams it has by itself the right words of a large grammar fall
 * out early: of 33 sentences of a household, said by espeak-ng, 7 ended as nothing and 19 were understood; with these
 * beams 1 and 25, in 1.1 times the time.
 */
export const grammarBeams: readonly string[] = ['-beam', '1e-80', '-wbeam', '1e-60'];

/** Characters and words of a grammar that is kept. */
export const MAX_KEPT = 300_000;
export const MAX_WORDS = 10_000;

/** By which a grammar is known: the same for the same text. */
export const grammarHash = (language: Language, grammar: string): string =>
  createHash('sha256').update(`${language}\n${grammar}`).digest('base64url');

/** A grammar of phones in any order: how well anything at all fits a recording, beside which a sentence is weighed. */
export function phoneGrammar(phones: readonly string[]): { grammar: string; entries: string[] } {
  // Words of sentences have small letters only.
  const words = phones.map((p) => `X_${p}`);
  return {
    grammar: `${header}\ngrammar anything;\npublic <anything> = ( ${words.join(' | ')} )+;\n`,
    entries: words.map((w, i) => `${w} ${phones[i]}`),
  };
}

/** What pocketsphinx_batch makes of a recording: its words, and their logarithmic score. */
export interface Scored {
  text: string;
  score: number;
}

/** Its line, as `set a timer (said -4711)`. */
export function scoredOf(line: string): Scored {
  const m = /^(.*?)\s*\(\S+ (-?\d+)\)\s*$/m.exec(line);
  return m ? { text: m[1]!, score: Number(m[2]) } : { text: '', score: Number.NEGATIVE_INFINITY };
}

/**
 * A sentence may fit worse than phones in any order by so much, a hundredth of a second. Measured
 * (test/bench/README.md, voice): nearer to zero more of what is said is refused, further away more is taken for
 * something that nobody said.
 */
export const LEAST_CONFIDENCE = -6;

/** How well a sentence fits, beside phones in any order: about 0 for the very words, below for others. */
export const confidenceOf = (sentence: Scored, phones: Scored, seconds: number): number =>
  sentence.text === '' ? Number.NEGATIVE_INFINITY : (sentence.score - phones.score) / (100 * seconds);

/** A word or phone in a recording: its frames (a hundredth of a second each), and how well the sound fits it. */
export interface Segment {
  word: string;
  from: number;
  to: number;
  score: number;
}

/** Its line of `-hypseg`: `id S 0 T -4924 A -3913 L -1011`, four fields a segment (first frame, scores, word), the end. */
export function segmentsOf(line: string): Segment[] {
  const [, fields = ''] = / L -?\d+ (.*)$/m.exec(line) ?? [];
  const found = [...fields.matchAll(/(\d+) (-?\d+) -?\d+ (\S+) (?=(\d+))/g)];
  return found.map(([, from, score, word, to]) => ({
    ...{ word: word!, from: Number(from), to: Number(to), score: Number(score) },
  }));
}

/**
 * A word of the wake phrase may fit its place worse than phones in any order by so much, a hundredth of a second.
 * Measured with "okay computer", said by three voices of espeak-ng in a noisy room (12 each at 20, 10 and 5 dB): with
 * this bound 11, 11 and 5 are heard, of 40 other sentences one is taken for it, and of 45 that are built to be like it
 * ("okay commuter", "my computer") 13.
 */
export const LEAST_FIT = -2;

/**
 * How well the worst word of a phrase fits. Score over the whole recording would let one word that fits well carry
 * another, and silences carry both.
 */
export function fitOf(phrase: readonly Segment[], phones: readonly Segment[]): number {
  // Silence and noise are <sil> and ++NOISE++.
  const words = phrase.filter((s) => /^[\p{L}']/u.test(s.word));
  if (words.length === 0) return Number.NEGATIVE_INFINITY;
  return Math.min(
    ...words.map(({ from, to, score }) => {
      let best = 0;
      for (const p of phones) {
        const shared = Math.min(to, p.to) - Math.max(from, p.from);
        if (shared > 0) best += (p.score * shared) / (p.to - p.from);
      }
      return (score - best) / (to - from);
    }),
  );
}
