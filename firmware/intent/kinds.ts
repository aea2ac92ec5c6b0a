// The types a slot can have, and what a program gets of their values. Pure.
import { isoDuration } from '../interest/duration.ts';
import { type Language, languages } from '../text/i18n.ts';
import { dateKind, dateText } from './dates.ts';
import { durationKind } from './durations.ts';
import { numberKind } from './numbers.ts';
import { type Kind, kindOfPhrases } from './reading.ts';
import { timeKind, timeText } from './times.ts';

export const typeNames = ['number', 'time', 'date', 'duration'] as const;
export type TypeName = (typeof typeNames)[number];

/** number; time `HH:MM`; date `YYYY-MM-DD`; duration in seconds; of a list whatever it gives out. */
export type SlotValue = string | number | boolean;

/** A kind with what its inner number is to a program. */
export interface SlotType {
  kind: Kind;
  tell(value: number): SlotValue;
  /** Where ISO 8601 has a form that `tell` does not give: of durations. */
  iso?(value: number): string;
}

export const slotTypes: Readonly<Record<TypeName, SlotType>> = {
  number: { kind: numberKind, tell: (n) => n },
  time: { kind: timeKind, tell: timeText },
  date: { kind: dateKind, tell: dateText },
  duration: { kind: durationKind, tell: (s) => s, iso: (s) => isoDuration(s * 1000) },
};

/** One value of a list: what a program gets, and how it is said. Inflected forms are simply listed. */
export interface ListValue {
  out: SlotValue;
  /** For both languages, or for each. */
  says: readonly string[] | Partial<Record<Language, readonly string[]>>;
}

/** A language by the script of a text: Russian where it has a Cyrillic letter. */
export const scriptOf = (text: string): Language => (/\p{Script=Cyrillic}/u.test(text) ? 'ru' : 'en');

/** The type of a list's slots. Of two values with the same words the first is taken. */
export function listType(name: string, values: readonly ListValue[]): SlotType {
  const phrases = values.flatMap(({ says }, value) => {
    if (Array.isArray(says))
      return (says as string[]).map((said) => ({ said, value, language: scriptOf(said) }));
    const by = says as Partial<Record<Language, readonly string[]>>;
    return languages.flatMap((language) => (by[language] ?? []).map((said) => ({ said, value, language })));
  });
  return { kind: kindOfPhrases(`list_${name}`, phrases), tell: (i) => values[i]!.out };
}
