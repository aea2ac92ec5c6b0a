// What is read of the hub's journal: the filter, how lines become rows of a screen and events of a stream. Pure.
import { IngleError } from '../../../firmware/protocol/errors.ts';
import type { Json } from '../../../firmware/skills/sdk/skill.ts';
import type { supervisor1 } from '../../../firmware/supervisor/contract.ts';
import type { Caller } from '../../../firmware/system/contract.ts';

export const levels = ['error', 'warn', 'notice', 'info', 'debug'] as const;
export type Level = (typeof levels)[number];
export type Journal = Awaited<ReturnType<Caller<typeof supervisor1>['Journal']>>;
export type Entry = Journal['lines'][number];

export interface Filter {
  /** The least grave one that is wanted. */
  level: Level;
  /** Empty: all. */
  unit: string;
  /** Part of the words or of the service's name, in upper or lower case. */
  text: string;
}

export const everything: Filter = { level: 'info', unit: '', text: '' };
/** Whether nothing but less grave lines is left out. */
export const isOfAll = ({ unit, text }: Filter): boolean => unit === '' && text === '';
export const MAX_TAIL = 1000;
/** Of a line on the screen, characters; the API has all of it. */
const MAX_CELL = 300;

const bad = (says: string) => new IngleError('invalid_request', says);

/** A filter with some of its fields replaced. @throws IngleError `invalid_request` */
export function filterOf(before: Filter, given: Readonly<Record<string, unknown>>): Filter {
  const { level = before.level, unit = before.unit, text = before.text } = given;
  if (!levels.includes(level as Level)) throw bad(`"level" is one of ${levels.join(', ')}.`);
  if (typeof unit !== 'string' || !/^([a-z][a-z-]*(@[0-9]{1,2})?)?$/.test(unit) || unit.length > 40)
    throw bad('"unit" is the name of a service, as GET /api/services lists it, or empty.');
  if (typeof text !== 'string' || text.length > 200) throw bad('"text" has at most 200 characters.');
  return { level: level as Level, unit, text: text.trim() };
}

/** How many lines are wanted. @throws IngleError `invalid_request` */
export function tailOf(value: string | null, or: number): number {
  if (value === null) return or;
  const n = Number(value);
  if (!/^[0-9]{1,4}$/.test(value) || n < 1 || n > MAX_TAIL)
    throw bad(`"tail" is a number from 1 to ${MAX_TAIL}.`);
  return n;
}

export function fits({ unit, text }: Entry, filter: Filter): boolean {
  const word = filter.text.toLowerCase();
  return word === '' || text.toLowerCase().includes(word) || unit.includes(word);
}

const two = (n: number) => String(n).padStart(2, '0');
/** By the hub's clock, so that it fits what is written elsewhere on the hub. */
function timeOf(at: number): string {
  const d = new Date(at * 1000);
  const day = `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
  return at > 0 ? `${day} ${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}` : '';
}

/** A row of the screen. @param said the level in words */
export function rowOf(
  { at, unit, level, text }: Entry,
  said: (level: Level) => Json,
): { [key: string]: Json } {
  return {
    time: timeOf(at),
    unit,
    level: said(level as Level),
    text: text.length > MAX_CELL ? `${text.slice(0, MAX_CELL)}…` : text,
  };
}

/**
 * Lines as server-sent events. The last one has no data and leaves its reader with the place in the journal, which it
 * says when it comes back.
 */
export function eventsOf({ lines, cut, cursor }: Pick<Journal, 'lines' | 'cut' | 'cursor'>): string {
  const event = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
  return [
    'retry: 1000\n\n',
    ...(cut ? [event('gap', { reason: 'too_many' })] : []),
    ...lines.map((l) => event('log', { ...l, at: l.at || null })),
    ...(cursor ? [`id: ${cursor}\n\n`] : []),
  ].join('');
}
