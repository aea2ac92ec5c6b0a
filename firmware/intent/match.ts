// Sentences to intents. Pure.
import { refusal } from '../protocol/endpoint/check.ts';
import { IngleError } from '../protocol/errors.ts';
import type { Language } from '../text/i18n.ts';
import { localOf, type Now } from './dates.ts';
import { listType, type SlotType, type SlotValue, slotTypes } from './kinds.ts';
import { readText } from './normal.ts';
import { candidates, type Index, type Indexed, indexOf } from './pattern-index.ts';
import { readings, type Sentence, sentenceOf } from './reading.ts';
import { type Parsed, type RuleSet, readRules } from './schema.ts';
import { FREE, MAX_FREE } from './template.ts';

export interface Compiled {
  patterns: readonly Parsed[];
  types: ReadonlyMap<string, SlotType>;
  index: Index;
  board: Board;
}

/** How specific a match is: the larger `words`, then the smaller `free`, then the smaller `slots`. */
export interface Specificity {
  /** Literal words. */
  words: number;
  /** Words that free slots took. */
  free: number;
  /** Slots that were filled, free ones counting twice. */
  slots: number;
}

export interface Recognized {
  intent: string;
  /** Filled and fixed slots; free ones as they were written. A slot of a part that was not said is not there. */
  slots: Record<string, SlotValue>;
  /** Of filled slots: their type, the words they took, and the ISO 8601 form of a duration, in whole seconds. */
  said: Record<string, { type: string; words: string; iso?: string }>;
  pattern: string;
  /** Place of the rule in the rule set. */
  rule: number;
  language?: Language;
  specificity: Specificity;
}

/**
 * A rule set, ready to match; 10,000 patterns take half a second, in one piece.
 * @throws IngleError `invalid_request` with every fault of the rule set
 */
export function compileIntents(ruleSet: unknown): Compiled {
  const { faults, patterns } = readRules(ruleSet);
  if (faults.length > 0) throw refusal(faults, "The rule set's");
  const { lists = {} } = ruleSet as RuleSet;
  const types = new Map<string, SlotType>(Object.entries(slotTypes));
  for (const [name, values] of Object.entries(lists)) types.set(name, listType(name, values));
  return {
    patterns,
    types,
    index: indexOf(patterns, (type) => types.get(type)?.kind.first),
    board: { scores: new Float64Array(4096), from: new Int32Array(4096) },
  };
}

// A specificity in one number, to be compared and added: literal words, less free words, less slots.
const WORD = 1 << 16;
const FREE_WORD = 1 << 8;
const worth = { slot: 1, freeSlot: 2 };
const specificityOf = (score: number): Specificity => {
  // Without a literal word the ceiling is -0.
  const words = Math.ceil(score / WORD) + 0;
  const rest = words * WORD - score;
  return { words, free: rest >> 8, slots: rest & 255 };
};

/** The best way to each step at each place: its score, and the cell it was reached from. Used again by the next match. */
interface Board {
  scores: Float64Array;
  from: Int32Array;
}
const NOT_REACHED = Number.NEGATIVE_INFINITY;

function clear(board: Board, cells: number): void {
  if (board.scores.length < cells) {
    board.scores = new Float64Array(2 * cells);
    board.from = new Int32Array(2 * cells);
  }
  board.scores.fill(NOT_REACHED, 0, cells);
}

/** The score of the best way through a program, which the board then holds; undefined when there is none. */
function fill(p: Indexed, s: Sentence, { types, board }: Compiled): number | undefined {
  const width = p.steps.length + 1;
  clear(board, width * (s.tokens.length + 1));
  const { scores, from } = board;
  const reach = (cell: number, score: number, origin: number) => {
    if (score <= scores[cell]!) return;
    scores[cell] = score;
    from[cell] = origin;
  };
  scores[0] = 0;
  for (let at = 0; at <= s.tokens.length; at++)
    for (let i = 0; i < p.steps.length; i++) {
      const cell = at * width + i;
      const score = scores[cell]!;
      if (score === NOT_REACHED) continue;
      const step = p.steps[i]!;
      if (step.kind === 'fork') for (const to of step.to) reach(at * width + to, score, cell);
      else if (step.kind === 'word') {
        if (s.tokens[at] === step.word) reach(cell + width + 1, score + WORD, cell);
      } else if (step.type === FREE) {
        const most = Math.min(MAX_FREE, s.tokens.length - at);
        for (let n = 1; n <= most; n++)
          reach(cell + n * width + 1, score - n * FREE_WORD - worth.freeSlot, cell);
      } else
        for (const { next } of readings(types.get(step.type)!.kind, s, at))
          reach(next * width + i + 1, score - worth.slot, cell);
    }
  const end = scores[s.tokens.length * width + p.steps.length]!;
  return end === NOT_REACHED ? undefined : end;
}

/** Reads the filled slots off the board, from the end back. */
function told(
  p: Indexed,
  s: Sentence,
  { types, board }: Compiled,
  score: number,
  wordsAt: (at: number, end: number) => string,
): Recognized {
  const width = p.steps.length + 1;
  const out: Recognized = {
    intent: p.rule.intent,
    slots: {},
    said: {},
    pattern: p.text,
    rule: p.at,
    ...(p.language ? { language: p.language } : {}),
    specificity: specificityOf(score),
  };
  for (let cell = s.tokens.length * width + p.steps.length; cell > 0; ) {
    const origin = board.from[cell]!;
    const step = p.steps[origin % width]!;
    if (step.kind === 'slot') {
      const [at, end] = [Math.floor(origin / width), Math.floor(cell / width)];
      const words = wordsAt(at, end);
      const type = types.get(step.type);
      const value = type && readings(type.kind, s, at).find((r) => r.next === end)!.value;
      out.slots[step.name] = type ? type.tell(value!) : words;
      out.said[step.name] = {
        type: step.type,
        words,
        ...(type?.iso ? { iso: type.iso(value!) } : {}),
      };
    }
    cell = origin;
  }
  for (const [name, { value }] of Object.entries(p.rule.slots ?? {}))
    if (value !== undefined) out.slots[name] = value;
  return out;
}

/**
 * What a sentence means, or undefined. The most specific pattern wins, in this order: it has more literal words; fewer
 * words went into its free slots; it has fewer slots, of which a free one counts as two; its rule stands earlier, and in
 * one rule its pattern. Within a pattern the same order picks among the ways it can match, then the shortest words for
 * the earlier free slot. Never throws for the text, whatever it is: at most 500 characters and 100 words are looked at,
 * a longer text means nothing.
 * @param o.now local time of who speaks, as 2026-11-25T20:04
 * @param o.language leaves out the patterns that another language has for itself
 * @throws IngleError `invalid_request` for a wrong `now`
 */
export function recognize(
  compiled: Compiled,
  text: string,
  o: { now: Now; language?: Language },
): Recognized | undefined {
  const { plain, tokens } = readText(text);
  const s = sentenceOf(
    tokens.map((t) => t.word),
    localOf(o.now),
  );
  let best: { pattern: Indexed; score: number } | undefined;
  if (s.tokens.length === 0) return undefined;
  for (const p of candidates(compiled.index, s.tokens, o.language)) {
    if (best && p.literals * WORD < best.score) continue;
    const score = fill(p, s, compiled);
    if (score === undefined) continue;
    if (!best || score > best.score || (score === best.score && p.order < best.pattern.order))
      best = { pattern: p, score };
  }
  if (!best) return undefined;
  const again = fill(best.pattern, s, compiled);
  if (again !== best.score) throw new IngleError('internal', 'A sentence matched in two ways.');
  const wordsAt = (at: number, end: number) => plain.slice(tokens[at]!.from, tokens[end - 1]!.to);
  return told(best.pattern, s, compiled, best.score, wordsAt);
}
