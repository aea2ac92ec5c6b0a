// Phrases that nothing understood, kept for the owner to teach. Pure: the caller keeps the list.
import { IngleError } from '../protocol/errors.ts';
import type { SlotValue } from './kinds.ts';
import { tokensOf } from './normal.ts';
import { numberWords } from './number-words.ts';
import type { Rule } from './schema.ts';
import { parseTemplate } from './template.ts';

/** Phrases that are kept; the oldest falls out. */
export const MAX_UNMATCHED = 100;
/** Words of a phrase that is kept. */
const MAX_PHRASE_WORDS = 30;

export interface Unmatched {
  /** In words as `tokensOf` has them. */
  phrase: string;
  count: number;
  /** Milliseconds since 1970 of the last time. */
  at: number;
}

/** Digits in a row, spoken ones as well, from which on a phrase may hold a code, a card or a telephone number. */
const SECRET_DIGITS = 4;

/** Whether a phrase may hold a secret: four digits or more in a row. A time (19:30) and a date are none. */
export function maybeSecret(tokens: readonly string[]): boolean {
  let row = 0;
  for (const token of tokens) {
    const word = numberWords.get(token);
    if (/^\d{1,2}:\d{2}$|^\d{4}-\d{2}-\d{2}$|^\d{1,2}\.\d{1,2}\.\d{4}$/.test(token)) row = 0;
    else if (/\d/.test(token)) row += token.replace(/\D/g, '').length;
    else if (word && word.value < 100) row += word.value < 10 ? 1 : 2;
    else row = 0;
    if (row >= SECRET_DIGITS) return true;
  }
  return false;
}

/**
 * With a phrase that was not understood, newest last; one that was there is counted and moves. A phrase without words, a
 * long one, and one that may hold a secret leave the list as it is.
 */
export function withUnmatched(all: readonly Unmatched[], text: string, at: number): readonly Unmatched[] {
  const tokens = tokensOf(text);
  if (tokens.length === 0 || tokens.length > MAX_PHRASE_WORDS || maybeSecret(tokens)) return all;
  const phrase = tokens.join(' ');
  const count = (all.find((u) => u.phrase === phrase)?.count ?? 0) + 1;
  return [...all.filter((u) => u.phrase !== phrase), { phrase, count, at }].slice(-MAX_UNMATCHED);
}

/** Without the phrases that are understood by now. */
export const stillUnmatched = (
  all: readonly Unmatched[],
  isUnderstood: (phrase: string) => boolean,
): readonly Unmatched[] => all.filter((u) => !isUnderstood(u.phrase));

/** A phrase as the list has it. */
const knownAs = (phrase: string): string => tokensOf(phrase).join(' ');

/** Words of the phrase that become a slot, by their places: `from` the first, `to` the one behind the last. */
export interface Mark {
  from: number;
  to: number;
  slot: string;
  /** free, number, time, date, duration or the name of a list; free without it. */
  type?: string;
}

/**
 * The rule that binds a phrase to an intent: its words, with marked ones as slots.
 * @throws IngleError `invalid_request` when there are no words, marks overlap or lie outside, or the pattern is none
 */
export function ruleFor(
  phrase: string,
  o: { intent: string; marks?: readonly Mark[]; slots?: Readonly<Record<string, SlotValue>> },
): Rule {
  const tokens = tokensOf(phrase);
  const marks = [...(o.marks ?? [])].sort((a, b) => a.from - b.from);
  const parts: string[] = [];
  let at = 0;
  for (const { from, to, slot, type } of marks) {
    if (!Number.isInteger(from) || !Number.isInteger(to) || from < at || to <= from || to > tokens.length)
      throw new IngleError('invalid_request', 'The marked words overlap or are not in the phrase.');
    parts.push(...tokens.slice(at, from), type ? `{${slot}:${type}}` : `{${slot}}`);
    at = to;
  }
  const pattern = [...parts, ...tokens.slice(at)].join(' ');
  parseTemplate(pattern);
  const fixed = Object.entries(o.slots ?? {}).map(([name, value]) => [name, { value }] as const);
  return {
    intent: o.intent,
    pattern,
    ...(fixed.length > 0 ? { slots: Object.fromEntries(fixed) } : {}),
  };
}

/**
 * A phrase is bound to an intent: its rule, and the list without it.
 * @throws IngleError `not_found` when the phrase is not in the list, `invalid_request` as `ruleFor`
 */
export function taught(
  all: readonly Unmatched[],
  phrase: string,
  o: Parameters<typeof ruleFor>[1],
): { rule: Rule; unmatched: readonly Unmatched[] } {
  const known = knownAs(phrase);
  if (!all.some((u) => u.phrase === known))
    throw new IngleError('not_found', 'This phrase is not among those that were not understood.');
  return { rule: ruleFor(known, o), unmatched: all.filter((u) => u.phrase !== known) };
}

/** How the intents of taught phrases begin; what follows is the name of their scenario. */
const TAUGHT = 'taught.';

/** The owner's rules, as far as teaching changes them. */
interface Taught {
  rules: readonly Rule[];
  /** Scenario ids by intent. */
  bindings: Readonly<Record<string, string>>;
}

/** The intent that begins a scenario by taught phrases: the one it has, or a new one. */
function intentFor(scenario_id: string, bindings: Taught['bindings']): string {
  const own = Object.keys(bindings).find((i) => i.startsWith(TAUGHT) && bindings[i] === scenario_id);
  if (own) return own;
  const name = `${TAUGHT}${scenario_id.split('/').at(-1)}`;
  let intent = name;
  for (let n = 2; Object.hasOwn(bindings, intent); n++) intent = `${name}.${n}`;
  return intent;
}

/**
 * A phrase begins a scenario from now on.
 * @throws IngleError `not_found` when the phrase is not in the list
 */
export function teach(
  kept: Taught,
  all: readonly Unmatched[],
  phrase: string,
  scenario_id: string,
): Taught & { unmatched: readonly Unmatched[] } {
  const intent = intentFor(scenario_id, kept.bindings);
  const { rule, unmatched } = taught(all, phrase, { intent });
  return { rules: [rule, ...kept.rules], bindings: { ...kept.bindings, [intent]: scenario_id }, unmatched };
}

/**
 * A phrase is taken off the list, or begins no scenario any more.
 * @throws IngleError `not_found` when it is neither in the list nor taught
 */
export function forget(
  kept: Taught,
  all: readonly Unmatched[],
  phrase: string,
): Taught & { unmatched: readonly Unmatched[] } {
  const known = knownAs(phrase);
  const unmatched = all.filter((u) => u.phrase !== known);
  const rules = kept.rules.filter((r) => !(r.intent.startsWith(TAUGHT) && r.pattern === known));
  if (unmatched.length === all.length && rules.length === kept.rules.length)
    throw new IngleError(
      'not_found',
      'This phrase is neither taught nor among those that were not understood.',
    );
  const isUsed = (intent: string) => !intent.startsWith(TAUGHT) || rules.some((r) => r.intent === intent);
  const bindings = Object.fromEntries(Object.entries(kept.bindings).filter(([intent]) => isUsed(intent)));
  return { rules, bindings, unmatched };
}
