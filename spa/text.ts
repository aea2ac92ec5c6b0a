// Language of the person: what the browser wants, unless they chose another here.
import type { ErrorCode } from '../firmware/protocol/errors.ts';
import { errorTexts } from '../firmware/text/errors.ts';
import { inLanguage, type Language, languages, pickLanguage, translator } from '../firmware/text/i18n.ts';
import { numberIn } from '../firmware/text/number.ts';
import { type SpaText, spaTexts } from '../firmware/text/spa.ts';
import { app, type Notice, set } from './store.ts';

const key = 'ingle.language';

export function startLanguage(): void {
  let chosen: string | null = null;
  try {
    chosen = localStorage.getItem(key);
  } catch {}
  chooseLanguage(languages.find((l) => l === chosen) ?? pickLanguage(navigator.languages));
}

export function chooseLanguage(language: Language, keep = false): void {
  document.documentElement.lang = language;
  if (keep)
    try {
      localStorage.setItem(key, language);
    } catch {}
  set({ language });
}

export function t(text: SpaText, values?: Record<string, string | number>): string {
  return translator(spaTexts, app().language)(text, values);
}

export function errorText(code: ErrorCode): string {
  return translator(errorTexts, app().language)(code);
}

/** A notice in the person's language. Messages of the service are English and only stand in where we have no words. */
export function noticeText(n: Notice): string {
  if ('words' in n) return shown(n.words);
  return 'text' in n ? t(n.text, n.command ? { command: n.command } : {}) : errorText(n.error);
}

const spans = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const;

/** `12 seconds ago`, of a time in milliseconds. */
export function ago(at: number): string {
  const seconds = Math.max(0, Math.round((Date.now() - at) / 1000));
  const [size, unit] = spans.find(([s]) => seconds >= s || s === 1)!;
  return new Intl.RelativeTimeFormat(app().language).format(-Math.floor(seconds / size), unit);
}

/** A value for reading: texts in the reader's language, numbers by its rules with at most two decimals. */
export function shown(value: unknown): string {
  const { language } = app();
  if (typeof value === 'string') return value;
  if (Number.isFinite(value)) return numberIn(language, value as number);
  if (value && typeof value === 'object') return inLanguage(value, language) ?? JSON.stringify(value);
  return value === true ? '✓' : '–';
}

/** A skill's title as the reader knows it. */
export function titleOf(icon: { title: string; titles?: Record<string, string> }): string {
  return inLanguage({ i18n: icon.titles }, app().language) ?? icon.title;
}
