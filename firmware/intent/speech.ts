// What can be said, as a grammar for the offline recogniser (pocketsphinx of Debian, which reads JSGF 1.0; its package
// pocketsphinx-en-us has an English model only). Pure.
import { MAX_PHRASE, MAX_PHRASES, phraseForm } from '../audio/grammar.ts';
import { IngleError } from '../protocol/errors.ts';
import type { Language } from '../text/i18n.ts';
import type { Compiled } from './match.ts';
import type { Kind } from './reading.ts';
import { languageOf, samplesOf } from './sample.ts';
import {
  type Cut,
  pruned,
  type Saying,
  type Scope,
  saying,
  scopeOfKind,
  scopeOfTypes,
  spokenTree,
} from './spoken.ts';
import type { Node } from './template.ts';

/** Characters of a grammar; patterns beyond are told as unspoken. */
export const MAX_GRAMMAR = 256_000;

/** Words of a grammar: letters alone, so that nothing of a pattern is grammar. */
const wordForm: Record<Language, RegExp> = { en: /^[a-z']+$/, ru: /^[а-я]+$/ };

/** A pattern that cannot be said, or not as a whole. */
export interface Unspoken {
  pattern: string;
  /** Place of its rule in the rule set. */
  rule: number;
  /** A free slot; a word or value that cannot be pronounced (digits, signs, unknown words); no room left. */
  why: Cut | 'full';
  /** Whether the rest of it can be said, without an optional part or an alternative. */
  partly: boolean;
}

export interface Speech {
  /** JSGF; empty when nothing can be said. */
  grammar: string;
  /** Its words, each once, for a look at the recogniser's dictionary. */
  words: string[];
  unspoken: Unspoken[];
}

/** The rules of a grammar under way, by kind. */
interface Book {
  how: Saying;
  rules: Map<string, { kind: Kind; text: string }>;
  words: Set<string>;
}

/** A tree in JSGF. The rules of its slots go into the book. */
function jsgf(node: Node, scope: Scope, book: Book): string {
  if (node.kind === 'word') {
    book.words.add(node.word);
    return node.word;
  }
  if (node.kind === 'slot') return ruleOf(scope(node.type)!, book);
  if (node.kind === 'optional') return `[ ${jsgf(node.of, scope, book)} ]`;
  if (node.kind === 'choice') {
    const of = node.of.map((n) => jsgf(n, scope, book));
    // An alternative of which nothing is left makes the others optional.
    const some = of.filter((text) => text !== '').join(' | ');
    if (some === '') return '';
    return of.includes('') ? `[ ${some} ]` : `( ${some} )`;
  }
  return node.parts
    .map((n) => jsgf(n, scope, book))
    .filter((text) => text !== '')
    .join(' ');
}

function ruleOf(kind: Kind, book: Book): string {
  const name = `<${kind.name}>`;
  const there = book.rules.get(name);
  if (there && there.kind !== kind) throw new IngleError('internal', `Two kinds have the name ${kind.name}.`);
  if (!there) {
    const rule = { kind, text: '' };
    book.rules.set(name, rule);
    rule.text = `${name} = ${jsgf(spokenTree(kind, book.how)!, scopeOfKind(kind), book)};`;
  }
  return name;
}

const lengthOf = (book: Book, texts: ReadonlySet<string>): number =>
  [...book.rules.values()].reduce((n, r) => n + r.text.length + 1, 0) +
  [...texts].reduce((n, t) => n + t.length + 3, 0);

/**
 * The JSGF grammar of all patterns of a language, those for both languages by their script. A closed grammar has no
 * place for any words: a pattern with a free slot is left out, or keeps what can be said without it; `unspoken` says
 * which. Numbers are those of 0 to 999, and days a month does not have are heard and then not understood.
 * @param o.knows whether the recogniser's dictionary has a word; all words without it
 */
export function speechGrammar(
  compiled: Compiled,
  o: { language?: Language; knows?: (word: string) => boolean } = {},
): Speech {
  const language = o.language ?? 'en';
  const how = saying(language, false, (word) => wordForm[language].test(word) && (o.knows?.(word) ?? true));
  const book: Book = { how, rules: new Map(), words: new Set() };
  const scope = scopeOfTypes(compiled.types);
  const texts = new Set<string>();
  const unspoken: Unspoken[] = [];
  let length = 0;
  for (const p of compiled.patterns.filter((q) => languageOf(q) === language)) {
    const tell = (why: Unspoken['why'], partly: boolean) =>
      unspoken.push({ pattern: p.text, rule: p.at, why, partly });
    const cuts = new Set<Cut>();
    const node = pruned(p.node, scope, how, cuts);
    const why = cuts.has('free') ? 'free' : 'word';
    if (!node) tell(why, false);
    else if (length > MAX_GRAMMAR) tell('full', false);
    else {
      const rules = book.rules.size;
      const text = jsgf(node, scope, book);
      if (!texts.has(text)) length += text.length + 3;
      texts.add(text);
      if (book.rules.size > rules) length = lengthOf(book, texts);
      if (cuts.has('free')) tell('free', true);
    }
  }
  if (texts.size === 0) return { grammar: '', words: [], unspoken };
  const lines = [
    '#JSGF V1.0;',
    'grammar intents;',
    `public <intent> = ${[...texts].join(' | ')};`,
    ...[...book.rules.values()].map((r) => r.text),
  ];
  return { grammar: `${lines.join('\n')}\n`, words: [...book.words], unspoken };
}

/**
 * Sentences for a recogniser that is given phrases (`phraseGrammar`): at most 50, one of each pattern before the second of
 * any. `isWhole` says that there are no others.
 */
export function speechPhrases(compiled: Compiled): { phrases: string[]; isWhole: boolean } {
  const form = new RegExp(phraseForm);
  const isPhrase = (text: string) => text.length <= MAX_PHRASE && form.test(text);
  const spoken = compiled.patterns.filter((p) => languageOf(p) === 'en');
  const scope = scopeOfTypes(compiled.types);
  const how = saying('en', false, (w) => wordForm.en.test(w));
  const cuts = new Set<Cut>();
  // Of so many patterns that one sentence of each is enough, no more are looked for.
  const isFew = spoken.length <= MAX_PHRASES;
  const columns: string[][] = [];
  for (const p of spoken) {
    if (!isFew && columns.length > MAX_PHRASES) break;
    const node = pruned(p.node, scope, how, cuts);
    const some = node ? samplesOf(compiled, { ...p, node }, { most: isFew ? MAX_PHRASES + 1 : 1 }) : [];
    if (some.length > 0) columns.push(some);
  }
  const all = new Set<string>();
  for (let i = 0; i <= MAX_PHRASES; i++)
    for (const column of columns) if (column[i] !== undefined) all.add(column[i]!);
  const said = [...all].filter(isPhrase);
  return {
    phrases: said.slice(0, MAX_PHRASES),
    isWhole: isFew && cuts.size === 0 && said.length === all.size && said.length <= MAX_PHRASES,
  };
}
