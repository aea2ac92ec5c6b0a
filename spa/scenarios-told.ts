// Steps and runs in words: what a step would do, how a run stands, what its journal says, why it failed and what helps.
import { isErrorCode } from '../firmware/protocol/errors.ts';
import { translator } from '../firmware/text/i18n.ts';
import { scenarioTexts } from '../firmware/text/scenario.ts';
import {
  type Failure,
  type Known,
  type Line,
  type Rehearsed,
  type Run,
  type Scenario,
  type Step,
  say,
} from './scenarios-hub.ts';
import { lengthOf, listed, nameOf, timeOf, words } from './scenarios-words.ts';
import { app } from './store.ts';
import { errorText } from './text.ts';

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
