// One mechanism for every text a person reads. Tables stand beside this file, one an area, so that a page
// loads only its own; a test compares the keys of all languages.

export const languages = ['en', 'ru'] as const;
export type Language = (typeof languages)[number];

/** A text around a number: the words for each plural form of its language (CLDR, Intl.PluralRules). */
export type Plural = Partial<Record<Intl.LDMLPluralRule, string>> & {
  /** Name of the value that is counted. */
  by: string;
  other: string;
};
export type Text = string | Plural;
export type Values = Record<string, string | number>;

/** A table: the same keys in every language; `{name}` marks a value. */
export type Texts<K extends string> = Record<Language, Record<K, Text>>;

/** The first language of `wanted` (BCP 47 tags, most wanted first) that we have, else English. */
export function pickLanguage(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const base = tag.toLowerCase().split('-')[0];
    const found = languages.find((l) => l === base);
    if (found) return found;
  }
  return 'en';
}

/** A function that looks texts up and fills their values in. */
export function translator<K extends string>(table: Texts<K>, language: Language) {
  return (key: K, values: Values = {}): string => {
    const text = table[language][key];
    return (typeof text === 'string' ? text : form(text, language, values)).replace(
      /\{(\w+)\}/g,
      (all, name: string) => (Object.hasOwn(values, name) ? String(values[name]) : all),
    );
  };
}

function form(text: Plural, language: Language, values: Values): string {
  return text[new Intl.PluralRules(language).select(Number(values[text.by]))] ?? text.other;
}

/** A text in every language, for readers whose language its writer does not know: what is in a document. */
export type Localized = { i18n: Record<Language, string> };

/** As `translator`, for every reader. `values` may depend on the language, as a time does. */
export function localizer<K extends string>(table: Texts<K>) {
  return (key: K, values: Values | ((language: Language) => Values) = {}): Localized =>
    localized((l) => translator(table, l)(key, typeof values === 'function' ? values(l) : values));
}

/** A text made anew for each language. */
export function localized(make: (language: Language) => string): Localized {
  return { i18n: Object.fromEntries(languages.map((l) => [l, make(l)])) as Localized['i18n'] };
}

/**
 * The text of a localized value for a reader, in English where the reader's language is missing; undefined when `value`
 * is something else. A document comes from anybody, so nothing of its shape is taken for granted.
 */
export function inLanguage(value: unknown, language: Language): string | undefined {
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, 'i18n')) return undefined;
  const texts = (value as { i18n: unknown }).i18n;
  if (texts === null || typeof texts !== 'object') return undefined;
  const all = texts as Record<string, unknown>;
  const text = [language, 'en', Object.keys(all)[0]].find(
    (l) => l !== undefined && Object.hasOwn(all, l) && typeof all[l] === 'string',
  );
  return text === undefined ? undefined : (all[text] as string);
}
