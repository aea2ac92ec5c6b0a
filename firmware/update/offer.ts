// The index of a channel: what it offers, checked as text of a stranger. Pure.
import { IngleError } from '../protocol/errors.ts';
import { parseObject, shape } from '../protocol/json.ts';
import type { Language } from '../text/i18n.ts';
import { isVersion } from './version.ts';

/** What an index offers: one bundle. */
export interface Offer {
  version: string;
  /** Absolute address of the bundle. */
  url: string;
  /** Bytes. */
  size: number;
  /** Of the whole file, lower-case hex. */
  sha256: string;
  /** What is new, a language each. */
  notes: Record<Language, string>;
  /** The oldest version that may go to this one directly; empty: any. */
  min_version: string;
}

/** An index may have this many bytes, and a bundle these: a root slot has 1 GiB. */
export const MAX_INDEX = 64 * 1024;
export const MAX_BUNDLE = 2 * 1024 ** 3;
const MAX_NOTES = 8000;
const channelForm = /^[a-z0-9][a-z0-9._-]{0,39}$/;

export function isChannel(text: unknown): text is string {
  return typeof text === 'string' && channelForm.test(text) && !text.includes('..');
}

/** Address of a channel's index: `<update_url>/<channel>/<compatible>.json`. */
export function indexUrl(base: string, channel: string, compatible: string): string {
  return `${base.replace(/\/+$/, '')}/${channel}/${encodeURIComponent(compatible)}.json`;
}

/**
 * An address a bundle may come from: HTTPS, or the very place the device's maker gave for updates.
 * @throws IngleError `invalid_request`
 */
export function bundleUrl(text: string, base: string): string {
  const bad = (says: string) =>
    new IngleError('invalid_request', `The address of the bundle ${says}.`, { pointer: '/url' });
  if (text.length > 2000) throw bad('is too long');
  const url = URL.canParse(text, base || undefined) ? new URL(text, base || undefined) : undefined;
  if (!url) throw bad('is none');
  const home = base && URL.canParse(base) ? new URL(base).origin : '';
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && url.origin === home))
    throw bad('must begin with https://');
  if (url.username || url.password) throw bad('may carry no password');
  url.hash = '';
  return url.href;
}

const fields = {
  version: 'string',
  url: 'string',
  size: 'number',
  sha256: 'string',
  notes: 'string?',
  notes_ru: 'string?',
  min_version: 'string?',
} as const;

/**
 * Reads an index that came from `from`.
 * @throws IngleError `invalid_request` or `too_large`, with the JSON pointer of the fault
 */
export function parseIndex(text: string | Uint8Array, from: string): Offer {
  const given = parseObject(text, MAX_INDEX);
  // A newer index may say more than this hub knows.
  const known = Object.entries(given).filter(([name]) => Object.hasOwn(fields, name));
  const o = shape(Object.fromEntries(known), fields);
  const bad = (field: string, says: string) =>
    new IngleError('invalid_request', `"${field}" of the index ${says}.`, { pointer: `/${field}` });
  if (!isVersion(o.version)) throw bad('version', 'is not a version, as 1.2.3');
  if (!Number.isInteger(o.size) || o.size < 1 || o.size > MAX_BUNDLE)
    throw bad('size', `must be a number of bytes up to ${MAX_BUNDLE}`);
  if (!/^[0-9a-f]{64}$/.test(o.sha256)) throw bad('sha256', 'must be 64 hexadecimal digits');
  if (o.min_version && !isVersion(o.min_version)) throw bad('min_version', 'is not a version');
  const url = bundleUrl(o.url, from);
  const en = plain(o.notes ?? '');
  return {
    version: o.version,
    url,
    size: o.size,
    sha256: o.sha256,
    notes: { en, ru: plain(o.notes_ru ?? '') || en },
    min_version: o.min_version ?? '',
  };
}

/** Text for a person: no control characters but line ends, and not endless. */
function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it removes
  return text.replace(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/g, ' ').slice(0, MAX_NOTES);
}
