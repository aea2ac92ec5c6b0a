// @ingle/skill-sdk: what a skill imports.
import {
  type Language,
  type Localized,
  languages,
  localizer,
  type Text,
  type Texts,
  translator,
  type Values,
} from '../../text/i18n.ts';
import type { SkillDefinition } from './skill.ts';

export { IngleError } from '../../protocol/errors.ts';
export type * from './skill.ts';
export type { Action, Node, Series, Template, View } from './view.ts';
export type { Language, Localized, Text, Texts, Values };

/** Types a skill: `export const skill = defineSkill({ start: (ctx) => … })`. */
export const defineSkill = (definition: SkillDefinition): SkillDefinition => definition;

export interface SaysTexts<K extends string> {
  /** A text for every reader, as it is put into a state. */
  (key: K, values?: Values): Localized;
  /** A text in one language, as for the log. */
  in(language: Language, key: K, values?: Values): string;
  /** The binding by which a view shows a text of `meta.texts`. */
  ref(key: K): string;
  /** All texts without values, for `meta.texts` of a view. */
  all(): Record<string, Localized>;
}

/** Texts of a skill, the same keys in each language; `{name}` marks a value. */
export function texts<K extends string>(table: Texts<K>): SaysTexts<K> {
  const say = localizer(table);
  const plain = (key: K) => languages.every((l) => typeof table[l][key] === 'string');
  return Object.assign((key: K, values?: Values) => say(key, values), {
    in: (language: Language, key: K, values?: Values) => translator(table, language)(key, values),
    ref: (key: K) => `{{meta.texts.${key}}}`,
    all: () =>
      Object.fromEntries(
        (Object.keys(table.en) as K[]).filter(plain).map((key): [string, Localized] => [key, say(key)]),
      ),
  });
}
