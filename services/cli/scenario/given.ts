// What a person types after `ingle scenario`: ids, values, times. Pure.
import { IngleError } from '../../../firmware/protocol/errors.ts';
import { fullId } from '../../../firmware/scenario/schema.ts';
import { plain } from '../show.ts';
import type { Text } from './text.ts';

/** @throws IngleError `invalid_request` */
export function scenarioId(given: string, t: Text): string {
  if (!/^(?:[a-z][a-z0-9_-]{0,31}[/.])?[a-z][a-z0-9_-]{0,47}$/.test(given))
    throw new IngleError('invalid_request', t('badId', { id: plain(given) }));
  return fullId(given.replace('.', '/'));
}

/** `key=value` each; a value that is JSON counts as that. @throws IngleError `invalid_request` */
export function ctxOf(pairs: readonly string[], t: Text): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, key, text] = /^([A-Za-z][A-Za-z0-9_-]{0,47})=(.*)$/s.exec(pair) ?? [];
      if (key === undefined) throw new IngleError('invalid_request', t('badCtx'));
      return [key, jsonOr(text!, text!)];
    }),
  );
}

function jsonOr<O>(text: string, otherwise: O): unknown | O {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}

/** A value of the kind its default has. @throws IngleError `invalid_request` */
export function paramOf(param: string, text: string, standard: unknown, t: Text): unknown {
  const bad = (kind: 'kind_number' | 'kind_boolean' | 'kind_list' | 'kind_json') =>
    new IngleError('invalid_request', t('badValue', { param, value: plain(text), kind: t(kind) }));
  if (typeof standard === 'string') return text;
  if (typeof standard === 'number') {
    if (text.trim() === '' || !Number.isFinite(Number(text))) throw bad('kind_number');
    return Number(text);
  }
  if (typeof standard === 'boolean') {
    if (text !== 'true' && text !== 'false') throw bad('kind_boolean');
    return text === 'true';
  }
  const value = jsonOr(text, undefined);
  if (Array.isArray(standard)) {
    if (Array.isArray(value)) return value;
    if (/^\s*[[{]/.test(text)) throw bad('kind_list');
    const items = text.split(',').map((item) => item.trim());
    const all = text.trim() === '' ? [] : items;
    const isNumbers = standard.length > 0 && standard.every((v) => typeof v === 'number');
    if (isNumbers && !all.every((item) => item !== '' && Number.isFinite(Number(item))))
      throw bad('kind_list');
    return isNumbers ? all.map(Number) : all;
  }
  if (value === undefined) throw bad('kind_json');
  return value;
}

/** A time as ISO 8601 with its zone: of this computer where none is given; `18:00` is the next one. @throws IngleError */
export function timeOf(text: string, now: number, t: Text): string {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  if (hours !== undefined) {
    const at = new Date(now);
    at.setHours(Number(hours), Number(minutes), 0, 0);
    if (at.getTime() <= now) at.setDate(at.getDate() + 1);
    return at.toISOString();
  }
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?$/.test(text);
  const at = isTime ? new Date(text) : new Date(Number.NaN);
  if (Number.isNaN(at.getTime())) throw new IngleError('invalid_request', t('badAt'));
  return at.toISOString();
}
