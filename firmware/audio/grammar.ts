// For pocketsphinx: the grammars it is given, and what its words mean. Pure.
import { IngleError } from '../protocol/errors.ts';

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
/** Phrases in one grammar, and the longest, characters. */
export const MAX_PHRASES = 50;
export const MAX_PHRASE = 80;

/** JSGF grammar of one of the phrases. @throws IngleError `invalid_request` */
export function phraseGrammar(phrases: Phrases): string {
  const form = new RegExp(phraseForm);
  if (phrases.length > MAX_PHRASES || phrases.some((p) => p.length > MAX_PHRASE || !form.test(p)))
    throw new IngleError(
      'invalid_request',
      `Phrases are English words with single spaces between them: at most ${MAX_PHRASES}, of at most ${MAX_PHRASE} characters.`,
    );
  return `#JSGF V1.0;\ngrammar phrases;\npublic <phrase> = ${phrases.map((p) => p.toLowerCase()).join(' | ')};\n`;
}

/** The words of phrases, each once. */
export const wordsOf = (phrases: Phrases): string[] => [
  ...new Set(phrases.flatMap((p) => p.toLowerCase().split(' '))),
];
