// Texts of a scenario for a person: one text, or one for each language. Which is said is decided when it is said. Pure.
/** Whether a key names a language. */
export const isTag = (key: string) => /^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/.test(key);

/** Whether a value is a text for each language. */
function isByLanguage(value: unknown): value is Record<string, unknown> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false;
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every(isTag);
}

/**
 * What a value has for a reader: that of their language, else of its base (`ru` for `ru-RU`), else English, else the
 * first. What is no value by language stays as it is. Works on what is written and on what is filled in.
 * @param locale a BCP 47 tag, as `ctx.locale` has it
 */
export function chosenFor<V>(value: V | Record<string, V>, locale: string): V {
  if (!isByLanguage(value)) return value as V;
  const all = value as Record<string, V>;
  const base = locale.toLowerCase().split('-')[0]!;
  const found = [locale, locale.toLowerCase(), base, 'en', Object.keys(all)[0]!].find((l) =>
    Object.hasOwn(all, l),
  )!;
  return all[found]!;
}

/** A text for a reader; '' where there is none. */
export function localizedText(value: unknown, locale: string): string {
  const text = chosenFor<unknown>(value, locale);
  return typeof text === 'string' ? text : typeof text === 'number' ? String(text) : '';
}
