// How a typed slot is read: a kind finds its values at a place of a sentence, and knows how they are said. Pure.
import type { Language } from '../text/i18n.ts';
import { tokensOf } from './normal.ts';
import { canBeSilent, type Node, parseTemplate, wordsNode } from './template.ts';

/** Local date and time of who speaks: days since 1970-01-01, minutes since midnight. */
export interface Local {
  day: number;
  minute: number;
}

/** A value that ends before the word `next`. */
export interface Reading {
  next: number;
  value: number;
}

/** The words of one sentence, and what was read in them already. */
export interface Sentence {
  tokens: readonly string[];
  now: Local;
  memo: Map<Kind, (readonly Reading[] | undefined)[]>;
}

/**
 * One kind of value. All are numbers inside: minutes of a day, days since 1970, seconds, the place in a list. Both
 * languages are read wherever a kind stands: their words differ.
 */
export interface Kind {
  /** Name of its rule in the speech grammar; unique. */
  name: string;
  /** Every end a value can have from the word `at` on, the longest first, each once. */
  read(s: Sentence, at: number): Reading[];
  /** Whether a value can begin with a word: what makes most looks cheap. */
  starts(token: string): boolean;
  /** How it is said; undefined where it cannot be. Its slots name kinds of `parts`. */
  spoken: Record<Language, Node | undefined>;
  parts: Kinds;
  /** All words a value can begin with, where they are listed. */
  first?: readonly string[];
}
export type Kinds = Readonly<Record<string, Kind>>;

export const sentenceOf = (tokens: readonly string[], now: Local): Sentence => ({
  tokens,
  now,
  memo: new Map(),
});

/** As `kind.read`, each place once a sentence. */
export function readings(kind: Kind, s: Sentence, at: number): readonly Reading[] {
  const row = s.memo.get(kind) ?? [];
  if (row.length === 0) s.memo.set(kind, row);
  row[at] ??= at < s.tokens.length && kind.starts(s.tokens[at]!) ? kind.read(s, at) : [];
  return row[at];
}

/** The longest first; of those with the same end the first that was found. */
export function longestFirst(all: readonly Reading[]): Reading[] {
  const byEnd = new Map<number, Reading>();
  for (const r of all) if (!byEnd.has(r.next)) byEnd.set(r.next, r);
  return [...byEnd.values()].sort((a, b) => b.next - a.next);
}

type Values = Record<string, number>;
interface Walked {
  next: number;
  values: Values;
}

/** Every way a small tree of our own reads the words from `at` on. Patterns of others go through `match.ts`. */
function walk(node: Node, parts: Kinds, s: Sentence, from: readonly Walked[]): Walked[] {
  if (from.length === 0) return [];
  if (node.kind === 'word')
    return from.filter((w) => s.tokens[w.next] === node.word).map((w) => ({ ...w, next: w.next + 1 }));
  if (node.kind === 'optional') return [...walk(node.of, parts, s, from), ...from];
  if (node.kind === 'choice') return node.of.flatMap((n) => walk(n, parts, s, from));
  if (node.kind === 'sequence')
    return node.parts.reduce<readonly Walked[]>((at, n) => walk(n, parts, s, at), from) as Walked[];
  const { name, type } = node;
  return from.flatMap((w) =>
    readings(parts[type]!, s, w.next).map((r) => ({
      next: r.next,
      values: { ...w.values, [name]: r.value },
    })),
  );
}

/** What a tree can begin with. */
interface Start {
  words: Set<string>;
  kinds: Set<Kind>;
}

/** Adds what a tree can begin with; whether the tree can be left out, so that the next one may begin as well. */
function addStart(node: Node, parts: Kinds, start: Start): boolean {
  if (node.kind === 'word') start.words.add(node.word);
  else if (node.kind === 'slot') start.kinds.add(parts[node.type]!);
  else if (node.kind === 'optional') addStart(node.of, parts, start);
  else if (node.kind === 'choice') for (const n of node.of) addStart(n, parts, start);
  else for (const n of node.parts) if (!addStart(n, parts, start)) break;
  return canBeSilent(node);
}

function startOf(node: Node, parts: Kinds): (token: string) => boolean {
  const start: Start = { words: new Set(), kinds: new Set() };
  addStart(node, parts, start);
  const kinds = [...start.kinds];
  return (token) => start.words.has(token) || kinds.some((k) => k.starts(token));
}

/** A way to say a value, and what it means; undefined where it means nothing. */
export type Form = readonly [template: string, mean: (v: Values, now: Local) => number | undefined];
/** `written` forms are read in both languages and never spoken. */
export type Forms = Partial<Record<Language | 'written', readonly Form[]>>;

/** A kind whose values are said by forms; earlier forms win. A value outside the bounds is no value. */
export function kindOfForms(
  name: string,
  parts: Kinds,
  forms: Forms,
  bounds: readonly [number, number] = [0, Number.MAX_SAFE_INTEGER],
): Kind {
  const parsed = (['written', 'en', 'ru'] as const).map((of) =>
    (forms[of] ?? []).map(([template, mean]) => {
      const node = parseTemplate(template);
      return { node, mean, starts: startOf(node, parts) };
    }),
  );
  const all = parsed.flat();
  const [, en, ru] = parsed.map((rows): Node | undefined =>
    rows.length > 0 ? { kind: 'choice', of: rows.map((r) => r.node) } : undefined,
  );
  return {
    name,
    parts,
    spoken: { en, ru },
    starts: (token) => all.some((f) => f.starts(token)),
    read: (s, at) =>
      longestFirst(
        all
          .filter((f) => f.starts(s.tokens[at]!))
          .flatMap(({ node, mean }) =>
            walk(node, parts, s, [{ next: at, values: {} }]).flatMap(({ next, values }) => {
              const value = mean(values, s.now);
              return value !== undefined && value >= bounds[0] && value <= bounds[1] ? [{ next, value }] : [];
            }),
          ),
      ),
  };
}

/** One way to say a value. */
export interface Phrase {
  said: string;
  value: number;
  /** The language it is spoken in; none when it is only written. */
  language?: Language;
}

/** A kind whose values are listed phrase by phrase. Found by the first word, so that a long list costs nothing. */
export function kindOfPhrases(name: string, phrases: readonly Phrase[]): Kind {
  const byFirst = new Map<string, { words: string[]; value: number }[]>();
  const spoken: Record<Language, Node[]> = { en: [], ru: [] };
  for (const { said, value, language } of phrases) {
    const words = tokensOf(said);
    const [first] = words;
    if (first === undefined) continue;
    if (language) spoken[language].push(wordsNode(words));
    const there = byFirst.get(first);
    if (there) there.push({ words, value });
    else byFirst.set(first, [{ words, value }]);
  }
  const choice = (of: Node[]): Node | undefined => (of.length > 0 ? { kind: 'choice', of } : undefined);
  return {
    name,
    parts: {},
    first: [...byFirst.keys()],
    starts: (token) => byFirst.has(token),
    spoken: { en: choice(spoken.en), ru: choice(spoken.ru) },
    read: (s, at) =>
      longestFirst(
        (byFirst.get(s.tokens[at]!) ?? [])
          .filter(({ words }) => words.every((w, i) => s.tokens[at + i] === w))
          .map(({ words, value }) => ({ next: at + words.length, value })),
      ),
  };
}
