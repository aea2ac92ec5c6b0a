// Scenarios in words: their names, when they start, steps, times, and what went wrong.
import { isErrorCode } from '../firmware/protocol/errors.ts';
import { translator } from '../firmware/text/i18n.ts';
import { roleName } from '../firmware/text/people.ts';
import { scenarioTexts } from '../firmware/text/scenario.ts';
import {
  type Failure,
  type Job,
  type Known,
  type Line,
  type Rehearsed,
  type Run,
  type Scenario,
  type Step,
  say,
} from './scenarios-hub.ts';
import { app } from './store.ts';
import { errorText } from './text.ts';

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
const weekday = (n: number) => format({ weekday: 'long', timeZone: 'UTC' }, Date.UTC(2023, 0, 1 + (n % 7)));
const listed = (all: string[]) => new Intl.ListFormat(app().language).format(all);

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
export function startsOf({ triggers = [] }: Scenario): string[] {
  return triggers.map((t) => {
    if (t.type === 'intent') return say('by_intent');
    if (t.type === 'event') return say('by_event', { topic: t.topic });
    return t.zone ? `${tableOf(t.cron)} (${t.zone})` : tableOf(t.cron);
  });
}

export const mayRun = ({ roles }: Scenario): string =>
  listed([say('owner'), ...(roles ?? ['admin', 'adult']).map((r) => roleName(r, app().language))]);

export const nextOf = (jobs: readonly Job[], id: string): number | undefined =>
  jobs
    .filter((j) => j.scenario_id === id && j.enabled && j.next_at !== null)
    .map((j) => j.next_at!)
    .sort((a, b) => a - b)[0];

/** An id of a step as words. */
const plain = (key: string) => key.replace(/[_-]+/g, ' ');
/** A step without the round of a loop. */
const idOf = (key: string) => key.replace(/[[#@:].*$/, '');
function allSteps(steps: readonly Step[]): Step[] {
  return steps.flatMap((s) => [
    s,
    ...(Array.isArray(s.do) ? allSteps(s.do) : []),
    ...(s.steps ? allSteps(s.steps) : []),
  ]);
}
export const stepsOf = (steps: readonly Step[]) => allSteps(steps);

/** A step by its id, and what it says, or whose skill does what, where that is known. */
export function stepName(key: string, steps: readonly Step[] = [], s?: Scenario): string {
  const found = allSteps(steps).find((x) => (x.id ?? x.name) === idOf(key));
  // What is filled in when it runs is not known here.
  const text = found && words(found.text).replace(/\$\{[^}]*\}/g, '…');
  if (text) return say('step_says', { text });
  return found?.slot === undefined
    ? plain(key)
    : say('step_slot', { slot: slotName(s, found.slot), method: found.method ?? '' });
}

function slotName(s: Scenario | undefined, slot: string): string {
  return words(s?.slots?.[slot]?.title) || slot;
}

/** What a step does, of a rehearsal. */
export function doesOf(r: Rehearsed, s: Scenario | undefined): string {
  const args = r.args ?? {};
  const name = plain(r.step);
  if (r.does === 'skip') return say('would_skip', { step: name });
  if (r.does === 'wait')
    return r.topic === undefined
      ? say('would_wait', { time: lengthOf(r.ms ?? 0) })
      : r.timeout === undefined
        ? say('would_hear', { topic: r.topic })
        : say('would_hear_for', { topic: r.topic, time: lengthOf(r.timeout) });
  if (r.does === 'end') return r.error ? say('would_fail', { why: whyOf(r.error) }) : say('would_end');
  const text = words(args['text']) || words(args['title']);
  const known = {
    'io.say': 'would_say',
    'io.ask': 'would_ask',
    notify: 'would_notify',
    'io.console.print': 'would_print',
  } as const;
  const key = Object.hasOwn(known, r.action ?? '') ? known[r.action as keyof typeof known] : undefined;
  const what = key
    ? say(key, { text })
    : r.slot !== undefined
      ? say('would_call', { who: slotName(s, r.slot), what: r.action ?? '' })
      : r.action === 'skills.run'
        ? say('would_call', { who: String(args['skill']), what: String(args['action']) })
        : say('would_do', { step: name, what: r.action ?? '' });
  return r.does === 'undo' ? say('would_undo', { what }) : what;
}

/** What went wrong, in words of ours where there are any for its code. */
export const whyOf = ({ code, message }: Failure): string =>
  code === 'interrupted'
    ? say('was_interrupted')
    : isErrorCode(code) && app().language !== 'en'
      ? errorText(code)
      : message;

/** What helps after a failure of this kind. */
export function helpOf({ code }: Failure): string {
  if (code === 'not_found' || code === 'invalid_request') return say('help_settings');
  if (code === 'not_supported') return say('help_missing');
  if (code === 'forbidden') return say('help_forbidden');
  return say('help_again');
}

/** What an update has left, in the reader's language where the hub has told what is needed for that. */
export function problemOf({ code, says, values }: Scenario['problems'][number]): string {
  return values && Object.hasOwn(scenarioTexts.en, code)
    ? translator(scenarioTexts, app().language)(code as keyof typeof scenarioTexts.en, values)
    : says;
}

export const isOver = (r: Pick<Run, 'finished_at'>) => r.finished_at !== null;

/** How a run stands. */
export function standsOf(r: Run): string {
  if (isOver(r)) return say(`state_${r.state}`);
  return say(
    r.instance === 'paused' || r.instance === 'stopping' ? `state_${r.instance}` : `state_${r.state}`,
  );
}

/** Why a run does not go on just now. */
export function waitsOf(r: Run, known: Known): string {
  const w = r.waits;
  if (!w || isOver(r)) return '';
  if (w.for === 'event') return say('waits_event', { topic: w.topic ?? '' });
  if (w.for === 'locks') {
    const all = Object.entries(w.locks ?? {}).map(([lock, by]) => {
      const other = known.runs.find((x) => x.run_id === by);
      return other
        ? say('waits_lock_of', { lock, by: nameOf(known.scenarios, other.scenario_id) })
        : say('waits_lock', { lock });
    });
    return listed(all);
  }
  return say(`waits_${w.for}`);
}

/** What started a run. */
export function beganBy(origin: string): string {
  if (origin === 'person') return say('by_person');
  if (origin.startsWith('job:')) return say('by_time');
  if (origin.startsWith('event:')) return say('by_event', { topic: origin.slice(6) });
  if (origin.startsWith('intent:')) return say('by_said');
  if (origin.startsWith('dead')) return say('by_replay');
  return origin;
}

export interface Told {
  tone: 'ok' | 'bad' | 'warn' | 'plain';
  text: string;
}

/** A line of a run's journal; undefined for what says nothing to a person. */
export function toldOf(l: Line, steps: readonly Step[], s?: Scenario): Told | undefined {
  const step = l.step_name === null ? '' : stepName(l.step_name, steps, s);
  const why = l.error ? whyOf(l.error) : '';
  const took = l.latency_ms !== null && l.latency_ms >= 1000 ? ` · ${lengthOf(l.latency_ms)}` : '';
  switch (l.kind) {
    case 'done':
      return l.status === 'UNDONE'
        ? { tone: 'warn', text: say('told_undone', { step }) }
        : { tone: 'ok', text: say('told_done', { step }) + took };
    case 'error':
      if (l.status === 'RETRY')
        return {
          tone: 'warn',
          text: say('told_retry', { step, why, time: lengthOf(Math.max(0, (l.again ?? l.at) - l.at)) }),
        };
      return l.status === 'CANCELED'
        ? { tone: 'warn', text: say('told_canceled', { step }) }
        : { tone: 'bad', text: say('told_failed', { step, why }) };
    case 'asleep':
      return {
        tone: 'plain',
        text: l.due ? say('told_waits_until', { step, time: timeOf(l.due) }) : say('told_waits', { step }),
      };
    case 'woke':
      return { tone: l.by === 'timeout' ? 'warn' : 'ok', text: say(`told_woke_${l.by ?? 'time'}`, { step }) };
    case 'order':
      return { tone: 'warn', text: say(`told_order_${l.what ?? 'stop'}`) };
    case 'end':
      return {
        tone: l.status === 'DONE' ? 'ok' : l.status === 'CANCELED' || l.status === 'KILLED' ? 'warn' : 'bad',
        text: say(
          `told_end_${(l.status ?? 'DONE') as 'DONE' | 'FAILED' | 'CANCELED' | 'TIMEOUT' | 'KILLED'}`,
        ),
      };
    default:
      return undefined;
  }
}
