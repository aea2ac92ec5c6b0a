// A number as a person reads it.
import type { Language } from './i18n.ts';

/** To make one takes longer than to write ten numbers by it, and tables have thousands. */
const formats: Partial<Record<Language, Intl.NumberFormat>> = {};

/** By the language's rules, with at most two decimals. What is so close to nothing has no sign: it is not -0 °C outside. */
export function numberIn(language: Language, n: number): string {
  formats[language] ??= new Intl.NumberFormat(language, { maximumFractionDigits: 2 });
  return formats[language].format(Math.abs(n) < 0.005 ? 0 : n);
}
