// The glance of a skill: what its tile on a desktop tells, by what its manifest binds into its state document. Pure.
import { inLanguage, type Language, type Localized, languages } from '../text/i18n.ts';
import { numberIn } from '../text/number.ts';
import { compileText, pathOf } from './binding.ts';
import { evaluate, type Scope } from './value.ts';

/** A text with bindings, or one for each language. */
type Words = string | Readonly<Record<string, string>>;

/** What a manifest declares (`capabilities.ui.glance`). */
export interface GlanceForm {
  value?: Words;
  line?: Words;
  spark?: string;
  alert?: Words;
}

/** A text that is the same for every reader, or one for each. */
export type Said = string | Localized;

/** What a tile shows. */
export interface Glance {
  /** When the state it was read from was written, milliseconds since 1970. */
  at: number;
  value?: Said;
  line?: Said;
  /** Numbers in their order, the newest last. */
  spark?: number[];
  /** What is not as it should be. */
  alert?: Said;
}

/** Points of a spark line: a tile has no more pixels for it. */
export const SPARK = 40;
/** Characters of a value, and of the other texts. */
const VALUE = 24;
const LINE = 120;
/** What resolving one glance may cost. */
const STEPS = 20_000;

/** A value in a reader's words; nothing for what no tile can show. */
function shown(v: unknown, language: Language): string {
  if (typeof v === 'string') return v;
  if (typeof v === 'number') return Number.isFinite(v) ? numberIn(language, v) : '';
  return inLanguage(v, language) ?? '';
}

/** A text for one reader. Where something that it binds is missing, there is none: half a sentence tells nothing. */
function textFor(words: Words, language: Language, scope: Scope): string {
  const template = typeof words === 'string' ? words : (words[language] ?? words['en']);
  if (template === undefined) return '';
  let isWhole = true;
  const show = (v: unknown) => {
    const text = shown(v, language);
    if (text === '') isWhole = false;
    return text;
  };
  const value = evaluate(compileText(template), scope, show);
  const text = show(value).trim();
  return isWhole ? text : '';
}

function said(words: Words | undefined, most: number, scope: Scope): Said | undefined {
  if (words === undefined) return undefined;
  const all = languages.map((l) => [l, textFor(words, l, scope).slice(0, most)] as const);
  const first = all[0]![1];
  if (all.some(([, text]) => text === '')) return undefined;
  return all.every(([, text]) => text === first)
    ? first
    : { i18n: Object.fromEntries(all) as Localized['i18n'] };
}

/** Numbers for a spark line, thinned evenly, with the newest among them; none where fewer than two are told. */
function sparkOf(binding: string | undefined, scope: Scope): number[] | undefined {
  const path = binding === undefined ? null : pathOf(binding);
  const list = path && evaluate(path, scope);
  if (!Array.isArray(list)) return undefined;
  const points = list.filter((v): v is number => typeof v === 'number' && Number.isFinite(v));
  if (points.length < 2) return undefined;
  const every = Math.ceil(points.length / SPARK);
  return points.filter((_, i) => (points.length - 1 - i) % every === 0).map((v) => Number(v.toPrecision(4)));
}

/** @param at when the state was written, milliseconds since 1970 */
export function glanceOf(form: GlanceForm, state: unknown, at: number): Glance {
  const scope: Scope = { state, budget: { steps: STEPS } };
  const parts = {
    value: said(form.value, VALUE, scope),
    line: said(form.line, LINE, scope),
    spark: sparkOf(form.spark, scope),
    alert: said(form.alert, LINE, scope),
  };
  return { at, ...(Object.fromEntries(Object.entries(parts).filter(([, v]) => v !== undefined)) as object) };
}
