// Which of many patterns a sentence can meet at all: those of whose needed words it has the rarest two. Pure.
import type { Language } from '../text/i18n.ts';
import { neededOf, type Program, programOf } from './program.ts';
import type { Parsed } from './schema.ts';

type Words = readonly string[];
/** A pattern with its program, and the words it needs beside those it hangs on. */
export interface Indexed extends Parsed, Program {
  /** Its place among all patterns. */
  order: number;
  needs: readonly Words[];
}

/**
 * Each pattern hangs on one needed word where few patterns need it, else on two; on each of the alternatives where it
 * needs one of several. Patterns of slots and optional words alone are met by every sentence.
 */
export interface Index {
  /** Numbers of the words that patterns hang on. */
  ids: ReadonlyMap<string, number>;
  byWord: ReadonlyMap<number, readonly Indexed[]>;
  byPair: ReadonlyMap<number, readonly Indexed[]>;
  always: readonly Indexed[];
}

/** So few patterns at one word need no second one. */
const FEW = 8;
/** Entries of one pattern in the table of pairs. */
const MAX_PAIRS = 16;
const pairOf = (a: number, b: number): number => Math.min(a, b) * 2 ** 26 + Math.max(a, b);

function put<K>(into: Map<K, Indexed[]>, key: K, pattern: Indexed): void {
  const there = into.get(key);
  if (!there) into.set(key, [pattern]);
  else if (there.at(-1) !== pattern) there.push(pattern);
}

/** @param ofSlot the first words that a slot of a type can begin with, where they are listed */
export function indexOf(patterns: readonly Parsed[], ofSlot: (type: string) => Words | undefined): Index {
  const needs = patterns.map((p) => neededOf(p.node, ofSlot));
  const uses = new Map<string, number>();
  for (const sets of needs)
    for (const word of new Set(sets.flat())) uses.set(word, (uses.get(word) ?? 0) + 1);
  const ids = new Map<string, number>();
  const idOf = (word: string): number => {
    const id = ids.get(word) ?? ids.size;
    ids.set(word, id);
    return id;
  };
  const byWord = new Map<number, Indexed[]>();
  const byPair = new Map<number, Indexed[]>();
  const always: Indexed[] = [];
  for (const [i, pattern] of patterns.entries()) {
    const [first, second, ...others] = needs[i]!.map((set) => ({
      set,
      cost: set.reduce((sum, w) => sum + uses.get(w)!, 0),
    }))
      .sort((a, b) => a.cost - b.cost)
      .map(({ set, cost }) => ({ set: set.map(idOf), words: set, cost }));
    const needsOf = (left: readonly { words: Words }[]) => left.map(({ words }) => words);
    const ready = (left: readonly { words: Words }[]): Indexed => ({
      ...pattern,
      order: i,
      ...programOf(pattern.node),
      needs: needsOf(left),
    });
    if (!first) always.push(ready([]));
    else if (!second || first.cost <= FEW || first.set.length * second.set.length > MAX_PAIRS) {
      const p = ready(second ? [second, ...others] : []);
      for (const id of first.set) put(byWord, id, p);
    } else {
      // Where both places can have the same word, they may be met by one word alone: that is a pair with itself.
      const p = ready(others);
      for (const a of first.set) for (const b of second.set) put(byPair, pairOf(a, b), p);
    }
  }
  return { ids, byWord, byPair, always };
}

/** The patterns that a sentence can meet, by their words, length and language; each once. */
export function candidates(index: Index, tokens: Words, language?: Language): Indexed[] {
  const words = new Set(tokens);
  const ids = [...words].flatMap((w) => index.ids.get(w) ?? []);
  const found = new Set<Indexed>();
  const add = (p: Indexed) => {
    if (
      p.least <= tokens.length &&
      tokens.length <= p.most &&
      (language === undefined || p.language === undefined || p.language === language) &&
      p.needs.every((set) => set.some((w) => words.has(w)))
    )
      found.add(p);
  };
  for (const [i, a] of ids.entries()) {
    for (const p of index.byWord.get(a) ?? []) add(p);
    if (index.byPair.size > 0)
      for (let k = i; k < ids.length; k++) for (const p of index.byPair.get(pairOf(a, ids[k]!)) ?? []) add(p);
  }
  for (const p of index.always) add(p);
  return [...found];
}
