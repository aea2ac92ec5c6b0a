// Language of the person: what the browser wants, unless they chose another here.
import type { ErrorCode } from '../firmware/protocol/errors.ts';
import { channelTexts, type Suspicion } from '../firmware/protocol/text/channel.ts';
import { errorTexts } from '../firmware/protocol/text/errors.ts';
import {
  inLanguage,
  type Language,
  languages,
  pickLanguage,
  translator,
} from '../firmware/protocol/text/i18n.ts';
import { type SpaText, spaTexts } from '../firmware/protocol/text/spa.ts';
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

export function suspicionText(seen: Suspicion): string {
  return translator(channelTexts, app().language)(seen);
}

/** A notice in the person's language. Messages of the service are English and only stand in where we have no words. */
export function noticeText(n: Notice): string {
  return 'text' in n ? t(n.text, n.command ? { command: n.command } : {}) : errorText(n.error);
}

/** `12:03`, with the day when it is not today. */
export function clock(at: number): string {
  const date = new Date(at);
  const today = date.toDateString() === new Date().toDateString();
  return new Intl.DateTimeFormat(app().language, {
    ...(today ? {} : { day: 'numeric', month: 'short' }),
    hour: '2-digit',
    minute: '2-digit',
  }).format(date);
}

/** A value for reading: texts in the reader's language, numbers by its rules with at most two decimals. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'number')
    return Number.isFinite(value)
      ? new Intl.NumberFormat(app().language, { maximumFractionDigits: 2 }).format(value)
      : '–';
  if (typeof value === 'boolean') return value ? '✓' : '–';
  if (typeof value !== 'object') return String(value);
  return inLanguage(value, app().language) ?? JSON.stringify(value);
}

/** A skill's title as the reader knows it. */
export function titleOf(icon: { title: string; titles?: Record<string, string> }): string {
  return inLanguage({ i18n: icon.titles }, app().language) ?? icon.title;
}
