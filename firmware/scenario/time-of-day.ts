// Times of day where the hub is: when one comes next, and how times and lengths are told. Pure.
import { IngleError } from '../protocol/errors.ts';
import { type Language, translator } from '../text/i18n.ts';
import { whenTexts } from '../text/when.ts';
import { nextTime } from './cron.ts';

/** So far ahead a time of day is looked for, milliseconds: a run that waits so long has time to ring. */
const YEAR = 365 * 86_400_000;

/** `YYYY-MM-DD` at a place. */
export const dateAt = (at: number, zone: string): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' }).format(at);

const dayAfter = (date: string): string =>
  new Date(Date.parse(`${date}T00:00Z`) + 86_400_000).toISOString().slice(0, 10);

/**
 * When a time of day comes next, or comes on a date; null for a date where it is over, or further away than a year.
 * Clock changes are as for jobs (cron.ts). Unix milliseconds.
 * @param of.time HH:MM @param of.date YYYY-MM-DD, or ''
 * @throws IngleError `invalid_request`
 */
export function nextTimeOfDay(
  of: { time: string; date: string },
  { zone, now }: { zone: string; now: number },
): number | null {
  const [, hour, minute] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(of.time) ?? [];
  const [, , month = '*', day = '*'] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(of.date) ?? [];
  if (hour === undefined || (of.date !== '' && day === '*'))
    throw new IngleError('invalid_request', 'A time of day is HH:MM, and a date YYYY-MM-DD.');
  const at = nextTime(`${minute} ${hour} ${day} ${month} *`, zone, now);
  if (at === null || at - now > YEAR) return null;
  return of.date === '' || dateAt(at, zone) === of.date ? at : null;
}

/** "tomorrow at 07:30, on 4 December at 09:00". */
export function tellTimes(
  times: readonly number[],
  { zone, now, language }: { zone: string; now: number; language: Language },
): string {
  const t = translator(whenTexts, language);
  const shown = (at: number, of: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, { timeZone: zone, ...of }).format(at);
  const today = dateAt(now, zone);
  const one = (at: number): string => {
    const time = shown(at, { hour: '2-digit', minute: '2-digit' });
    const date = dateAt(at, zone);
    if (date === today) return t('today', { time });
    if (date === dayAfter(today)) return t('tomorrow', { time });
    return t('on', { time, date: shown(at, { day: 'numeric', month: 'long' }) });
  };
  return times.map(one).join(', ');
}

const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

/** "1 hour 30 minutes, 10 seconds" of lengths in seconds. */
export function tellLengths(lengths: readonly number[], language: Language): string {
  const one = (seconds: number): string => {
    let left = Math.max(1, Math.round(seconds));
    const parts = units.flatMap(([unit, size]) => {
      const n = Math.floor(left / size);
      left -= n * size;
      const said = new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' });
      return n > 0 ? [said.format(n)] : [];
    });
    return parts.join(' ');
  };
  return lengths.map(one).join(', ');
}
