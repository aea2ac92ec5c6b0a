// One mechanism for every text a person reads. Tables stand beside this file, one an area, so that a page
// loads only its own; a test compares the keys of all languages.

export const languages = ['en', 'ru'] as const;
export type Language = (typeof languages)[number];

/** A table: the same keys in every language; `{name}` marks a value. */
export type Texts<K extends string> = Record<Language, Record<K, string>>;

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
  return (key: K, values: Record<string, string | number> = {}): string =>
    table[language][key].replace(/\{(\w+)\}/g, (all, name: string) =>
      Object.hasOwn(values, name) ? String(values[name]) : all,
    );
}
