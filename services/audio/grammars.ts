// Grammars that are kept, one a language: what can be said to the hub, with a dictionary of its words alone.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { grammarHash, MAX_KEPT, MAX_WORDS, phoneGrammar } from '../../firmware/audio/grammar.ts';
import { arpabet } from '../../firmware/audio/pronounce.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { must } from '../../firmware/system/exec.ts';
import type { Language } from '../../firmware/text/i18n.ts';
import type { Models } from './model.ts';
import { entriesOf, type Kept } from './recognition.ts';

/** Of the files' form: those of another are made anew. */
const FORM = 1;
const wordForm = /^[\p{Ll}']{1,60}$/u;

export interface Grammars {
  /**
   * Keeps a grammar in place of the language's last one.
   * @returns words that nobody knows how to pronounce; with any of them nothing was kept
   * @throws IngleError `invalid_request`, `not_supported` without a model
   */
  keep(o: { lang: Language; grammar: string; words: readonly string[] }): Promise<{ unknown: string[] }>;
  /** @throws IngleError `not_found` where another grammar is kept, or none */
  find(lang: Language, hash: string): Kept;
}

export function openGrammars(folder: string, models: Models): Grammars {
  const at = (lang: Language, of: 'gram' | 'phones' | 'dict' | 'json') => join(folder, `${lang}.${of}`);
  const put = (file: string, text: string) => {
    writeFileSync(`${file}.new`, text, { mode: 0o600, flush: true });
    renameSync(`${file}.new`, file);
  };
  return {
    async keep({ lang, grammar, words }) {
      checkGrammar(grammar, words);
      const model = models(lang);
      const { entries, phones, left } = lookUp(model.dictionary, words);
      const spelled = lang === 'en' ? await pronounced(left) : new Map<string, string>();
      const unknown = left.filter((w) => !spelled.has(w));
      if (unknown.length > 0) return { unknown };
      const any = phoneGrammar(phones);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const lines = [...entries, ...[...spelled].map(([w, p]) => `${w} ${p}`), ...any.entries];
      // The name of the whole is written last: without it there is no grammar.
      put(at(lang, 'json'), '{}');
      put(at(lang, 'dict'), `${lines.join('\n')}\n`);
      put(at(lang, 'gram'), grammar);
      put(at(lang, 'phones'), any.grammar);
      put(at(lang, 'json'), JSON.stringify({ hash: grammarHash(lang, grammar), form: FORM }));
      return { unknown: [] };
    },
    find(lang, hash) {
      if (hash === '' || nameOf(at(lang, 'json')) !== hash)
        throw new IngleError('not_found', 'This grammar is not here. Send it first.', { lang });
      return { grammar: at(lang, 'gram'), phones: at(lang, 'phones'), dictionary: at(lang, 'dict') };
    },
  };
}

function checkGrammar(grammar: string, words: readonly string[]): void {
  if (grammar.length > MAX_KEPT || words.length > MAX_WORDS)
    throw new IngleError(
      'invalid_request',
      `A grammar has at most ${MAX_KEPT} characters and ${MAX_WORDS} words.`,
    );
  if (!/^#JSGF V1\.0;\ngrammar \w+;\npublic <\w+> = /.test(grammar))
    throw new IngleError('invalid_request', 'This is no JSGF grammar.', { pointer: '/grammar' });
  const bad = words.find((w) => !wordForm.test(w));
  if (bad !== undefined)
    throw new IngleError('invalid_request', `"${bad.slice(0, 60)}" is no word of small letters.`, {
      pointer: '/words',
    });
}

function nameOf(file: string): string | undefined {
  try {
    const { hash, form } = JSON.parse(readFileSync(file, 'utf8')) as { hash?: string; form?: number };
    return form === FORM ? hash : undefined;
  } catch {
    return undefined;
  }
}

/** The entries of words in a model's dictionary, all phones of it, and the words it does not have. */
function lookUp(dictionary: string, words: readonly string[]) {
  const wanted = new Map(words.map((w) => [w, 0]));
  const entries: string[] = [];
  const phones = new Set<string>();
  for (const [word, said] of entriesOf(dictionary)) {
    for (const phone of said.split(' ')) phones.add(phone);
    const n = wanted.get(word);
    if (n === undefined) continue;
    entries.push(`${word}${n === 0 ? '' : `(${n + 1})`} ${said}`);
    wanted.set(word, n + 1);
  }
  return { entries, phones: [...phones].sort(), left: words.filter((w) => wanted.get(w) === 0) };
}

/** English words as espeak-ng reads them, those that have a sound the model lacks left out. */
async function pronounced(words: readonly string[]): Promise<Map<string, string>> {
  const out = new Map<string, string>();
  if (words.length === 0) return out;
  const lines = (
    await must('espeak-ng', ['-q', '--ipa', '-v', 'en-us', '--stdin'], { input: `${words.join('\n\n')}\n` })
  )
    .toString()
    .trim()
    .split('\n');
  // One line a word; whatever is read in another way cannot be told apart.
  if (lines.length !== words.length) return out;
  for (const [i, line] of lines.entries()) {
    const phones = /\s/.test(line.trim()) ? undefined : arpabet(line);
    if (phones) out.set(words[i]!, phones);
  }
  return out;
}
