// Scenarios in words: their names, who may run them, when they begin; times and lengths of time.
import { roleName } from '../firmware/text/people.ts';
import { type Job, type Scenario, say } from './scenarios-hub.ts';
import { app } from './store.ts';

/** A text in the reader's language; of what is none, nothing. */
export function words(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null || typeof value !== 'object') return '';
  const all = value as Record<string, unknown>;
  const text = all[app().language] ?? all['en'] ?? Object.values(all)[0];
  return typeof text === 'string' ? text : '';
}

export const nameOf = (all: readonly Scenario[], id: string): string => {
  const s = all.find((x) => x.id === id);
  return (s && words(s.name)) || id;
};

const format = (o: Intl.DateTimeFormatOptions, at: number) =>
  new Intl.DateTimeFormat(app().language, o).format(at);
export const clockOf = (at: number): string => format({ timeStyle: 'short' }, at);
export const secondsOf = (at: number): string => format({ timeStyle: 'medium' }, at);
export const dayOf = (at: number): string => format({ weekday: 'long', day: 'numeric', month: 'long' }, at);
/** `today 22:00`, of a time near now; else with its day. */
export function timeOf(at: number): string {
  const days = Math.round((new Date(at).setHours(0, 0, 0, 0) - new Date().setHours(0, 0, 0, 0)) / 86_400_000);
  const day =
    Math.abs(days) <= 1
      ? new Intl.RelativeTimeFormat(app().language, { numeric: 'auto' }).format(days, 'day')
      : format({ weekday: 'short', day: 'numeric', month: 'short' }, at);
  return `${day} ${clockOf(at)}`;
}

const units = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1000, 'second'],
] as const;
/** `9 hours`, `1 minute 30 seconds`. */
export function lengthOf(ms: number): string {
  if (ms < 1000) return say('at_once');
  let left = Math.round(ms / 1000) * 1000;
  const parts: string[] = [];
  for (const [size, unit] of units) {
    const n = Math.floor(left / size);
    left -= n * size;
    if (n > 0 && parts.length < 2)
      parts.push(
        new Intl.NumberFormat(app().language, { style: 'unit', unit, unitDisplay: 'long' }).format(n),
      );
  }
  return parts.join(' ');
}

/** `Monday`, of a day of the week from 0, Sunday. */
export const weekday = (n: number) =>
  format({ weekday: 'long', timeZone: 'UTC' }, Date.UTC(2023, 0, 1 + (n % 7)));
export const listed = (all: string[]) => new Intl.ListFormat(app().language).format(all);
const eitherOf = (all: string[]) => new Intl.ListFormat(app().language, { type: 'disjunction' }).format(all);

/** A time table in words, as far as it is one of the everyday ones. */
function tableOf(cron: string): string {
  const [minutes = '', hours = '', days = '', months = '', week = ''] = cron.split(/\s+/);
  const every = /^\*\/(\d+)$/.exec(minutes);
  const isDaily = days === '*' && months === '*';
  if (every && hours === '*' && isDaily && week === '*') return say('every_minutes', { n: Number(every[1]) });
  if (!/^\d+$/.test(minutes) || !/^\d+(,\d+)*$/.test(hours) || !isDaily) return say('by_table', { cron });
  const times = hours
    .split(',')
    .map((h) => clockOf(new Date(2024, 0, 1, Number(h), Number(minutes)).getTime()));
  const at = listed(times);
  if (week === '*') return say('every_day', { at });
  const range = /^([0-7])-([0-7])$/.exec(week);
  if (range) return say('from_to', { from: weekday(Number(range[1])), to: weekday(Number(range[2])), at });
  return /^[0-7](,[0-7])*$/.test(week)
    ? say('on_days', { days: listed(week.split(',').map((d) => weekday(Number(d)))), at })
    : say('by_table', { cron });
}

/** How it begins by itself; that of another time zone says so. */
export function startsOf({ triggers = [], says = {} }: Scenario): string[] {
  const spoken = (says[app().language] ?? []).map((text) => say('step_says', { text }));
  const byWords = spoken.length > 0 ? say('by_words', { words: eitherOf(spoken) }) : say('by_intent');
  // Also one that somebody was taught to begin by words.
  const taught = spoken.length > 0 && !triggers.some((t) => t.type === 'intent') ? [byWords] : [];
  const made = triggers.map((t) => {
    if (t.type === 'intent') return byWords;
    if (t.type === 'event') return say('by_event', { topic: t.topic });
    return t.zone ? `${tableOf(t.cron)} (${t.zone})` : tableOf(t.cron);
  });
  return [...made, ...taught];
}

export const mayRun = ({ roles }: Scenario): string =>
  listed([say('owner'), ...(roles ?? ['admin', 'adult']).map((r) => roleName(r, app().language))]);

export const nextOf = (jobs: readonly Job[], id: string): number | undefined =>
  jobs
    .filter((j) => j.scenario_id === id && j.enabled && j.next_at !== null)
    .map((j) => j.next_at!)
    .sort((a, b) => a - b)[0];
