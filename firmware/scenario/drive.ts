// What a run needs, done: one action after the other, waits that survive, the end. One drive a run at a time.
import { IngleError, toIngleError } from '../protocol/errors.ts';
import type { Action, Asked } from './action.ts';
import { asleepNow, isTimeKnown, leftOf } from './clock.ts';
import type { Value } from './expression.ts';
import { contextOf, type Engine, journal, type Live, queueOf, rest, rise } from './live.ts';
import type {
  ActNeed,
  DelayNeed,
  EndNeed,
  Entry,
  Failure,
  HeldNeed,
  Need,
  UndoNeed,
  WaitNeed,
} from './need.ts';
import { nextOf } from './places.ts';
import { backoffOf } from './plan.ts';
import type { Share } from './quotas.ts';
import type { Op, RunRow } from './records.ts';
import { isOver } from './states.ts';

/** The longest one action may take where its step says nothing, milliseconds. */
const ACTION_MS = 5 * 60_000;
/** A result or payload that is kept, characters as JSON. */
const MOST_KEPT = 32_768;
/** An action that is aborted and does not end is left alone after so long, milliseconds. */
const ABORT_MS = 3000;
/** A run that sleeps for longer than this leaves its course to its journal, milliseconds. */
const REST_MS = 30_000;
/** Where only the wall clock says when a wait ends, it is looked at again at least so often, milliseconds. */
const LOOK_MS = 3_600_000;

/** Wants a place; one that was killed meanwhile does not. */
export function ready(e: Engine, r: Live): void {
  if (isOver(r.row.state)) return;
  r.phase = 'ready';
  const { run_id, scenario_id, priority } = r.row;
  e.ready.set(run_id, { run_id, scenario_id, priority, since: e.o.clock.up() });
  kick(e);
}

/** Whether an earlier run of the same chain goes on yet. */
export function isBehind(e: Engine, row: RunRow): boolean {
  if (row.state !== 'PENDING') return false;
  for (const { row: other } of e.runs.values()) {
    if (other.run_id === row.run_id) return false;
    if (other.chain === row.chain && !isOver(other.state)) return true;
  }
  return false;
}

/** Gives places to runs while there are any. */
export function kick(e: Engine): void {
  for (;;) {
    if (e.stopped) return;
    if (e.ready.size === 0) return;
    const able = [...e.ready.values()].filter((w) => !isBehind(e, e.runs.get(w.run_id)!.row));
    const id = nextOf(able, [...e.going.values()], e.o.limits, e.o.clock.up());
    if (id === undefined) return;
    e.ready.delete(id);
    const r = e.runs.get(id)!;
    r.phase = 'going';
    e.going.set(id, r.row.scenario_id);
    void drive(e, r).catch((cause) => {
      if (!e.stopped) e.o.log.error('a run does not go on', { run_id: id, cause: cause as Error });
    });
  }
}

/** What a run that has no place any more leaves to the others. */
function park(e: Engine, r: Live, phase: Live['phase']): void {
  e.going.delete(r.row.run_id);
  if (phase === 'ready') ready(e, r);
  else {
    r.phase = phase;
    kick(e);
  }
}

async function drive(e: Engine, r: Live): Promise<void> {
  await e.o.point?.('placed', r.row);
  // After what is being written, as that has it rise too.
  await queueOf(r).add(() => rise(e, r));
  if (r.row.state === 'PENDING') await begin(e, r);
  for (;;) {
    if (e.stopped || isOver(r.row.state)) return;
    const need = r.course.need();
    if (r.course.paused && need.kind !== 'end') return park(e, r, 'paused');
    if (need.kind === 'end') {
      // An order that is being written down counts yet.
      if (queueOf(r).size > 0) {
        await queueOf(r).add(() => {});
        continue;
      }
      await finish(e, r, need);
      return kick(e);
    }
    r.row.current_step = need.key;
    if (!lock(e, r, need)) return park(e, r, 'locks');
    const left = 'again' in need && need.again !== undefined ? need.again - e.o.clock.wall() : 0;
    if ((need.kind === 'act' || need.kind === 'undo') && left > 0) {
      sleep(e, r, Math.min(left, need.retries.most));
      return park(e, r, 'asleep');
    }
    if (need.kind === 'act' || need.kind === 'undo') await perform(e, r, need);
    else if (need.kind === 'settle') await settle(e, r, need.seq, need.key);
    else if (!(await waits(e, r, need))) return park(e, r, 'asleep');
    // Others had no place meanwhile: a long run takes turns with them.
    if (e.ready.size > 0) return park(e, r, 'ready');
  }
}

async function begin(e: Engine, r: Live): Promise<void> {
  const { run_id, scenario_id, user, trace_id, origin } = r.row;
  await e.o.records.write([{ op: 'state', run_id, state: 'RUNNING' }]);
  r.row.state = 'RUNNING';
  e.o.tell('scenario.start', { run_id, scenario_id, user, trace_id, origin });
}

/** Has the locks that a need lasts with; false where it waits for them. */
function lock(e: Engine, r: Live, need: Exclude<Need, EndNeed>): boolean {
  const { run_id } = r.row;
  if (r.scope !== undefined && r.scope !== need.locks?.scope) unlock(e, r);
  if (!need.locks) return true;
  r.scope = need.locks.scope;
  return e.locks.ask(run_id, need.locks.names);
}
export function unlock(e: Engine, r: Live): void {
  r.scope = undefined;
  for (const id of e.locks.free(r.row.run_id)) {
    const other = e.runs.get(id);
    if (other?.phase === 'locks') ready(e, other);
  }
}

/** Goes on in `ms` at the latest. */
function sleep(e: Engine, r: Live, ms: number, unhears?: () => void): void {
  awake(r);
  r.wakes = e.o.clock.up() + ms;
  r.unhears = unhears;
  ring(e, r.wakes);
}
/** Neither its timer nor what it hears wakes it any more. */
function awake(r: Live): void {
  r.wakes = Number.POSITIVE_INFINITY;
  const { unhears } = r;
  r.unhears = undefined;
  unhears?.();
}
export function wake(e: Engine, r: Live): void {
  if (r.phase !== 'asleep' || e.stopped) return;
  awake(r);
  ready(e, r);
}

/** A run may last until then. */
export function limit(e: Engine, r: Live, ms: number): void {
  r.ends = e.o.clock.up() + ms;
  ring(e, r.ends);
}
/** Nothing wakes or ends a run any more. */
export function untimed(r: Live): void {
  awake(r);
  r.ends = Number.POSITIVE_INFINITY;
}

/** The alarm rings at `at` at the latest: one timer for all runs, as each of its own costs more than a run that sleeps. */
function ring(e: Engine, at: number): void {
  if (at >= e.alarm.at || e.stopped) return;
  e.alarm.cancel();
  e.alarm = { at, cancel: e.o.clock.after(at - e.o.clock.up(), () => rang(e)) };
}
function silence(e: Engine): void {
  e.alarm.cancel();
  e.alarm = { at: Number.POSITIVE_INFINITY, cancel: () => {} };
}
function rang(e: Engine): void {
  silence(e);
  const now = e.o.clock.up();
  let next = Number.POSITIVE_INFINITY;
  for (const r of [...e.runs.values()]) {
    if (r.ends <= now) {
      r.ends = Number.POSITIVE_INFINITY;
      endInTime(e, r);
    }
    if (r.wakes <= now) wake(e, r);
    next = Math.min(next, r.ends, r.wakes);
  }
  ring(e, next);
}

/** An order was written down: the run goes on by it. */
export function stirred(e: Engine, r: Live): void {
  r.acting?.abort(new IngleError('conflict', 'The run is being stopped.'));
  if (r.phase === 'locks') unlock(e, r);
  if (r.phase === 'asleep') wake(e, r);
  else if (r.phase !== 'going') ready(e, r);
}

function endInTime(e: Engine, r: Live): void {
  const why = 'It took longer than it may.';
  journal(e, r, { at: e.o.clock.wall(), kind: 'order', what: 'timeout', why })
    .then((isWritten) => isWritten && stirred(e, r))
    .catch((cause) => e.stopped || e.o.log.error('a run is not ended', { run_id: r.row.run_id, cause }));
}

/** True when the wait is over; else the run sleeps from now on. */
async function waits(e: Engine, r: Live, need: DelayNeed | WaitNeed | HeldNeed): Promise<boolean> {
  const { clock } = e.o;
  const unhears = need.kind === 'delay' ? undefined : await listen(e, r, need);
  await fallAsleep(e, r, need);
  if (need.kind === 'held') await holdOn(e, r, need.seq);
  const now = r.course.need();
  // The event may have come by now, or an order.
  if (now.kind !== need.kind || now.seq !== need.seq || !('asleep' in now) || !now.asleep) {
    unhears?.();
    return true;
  }
  const left =
    now.kind === 'delay' && now.until !== undefined ? untilLeft(e, now.until) : leftOf(now.asleep, clock);
  const held = now.kind === 'held' && now.holding ? leftOf(now.holding, clock) : Number.POSITIVE_INFINITY;
  if (left > 0 && held > 0) {
    sleep(e, r, Math.min(left, held), unhears);
    // What is being written meanwhile, an order, wants the course as it is.
    if (now.kind === 'delay' && left > REST_MS && queueOf(r).size === 0) rest(r);
    return false;
  }
  unhears?.();
  const by = need.kind !== 'delay' && held > 0 ? 'timeout' : 'time';
  const at = clock.wall();
  const told = { step: need.key, status: by === 'timeout' ? 'TIMEOUT' : 'DONE' };
  const latency_ms = Math.max(0, at - now.asleep.since);
  if (await journal(e, r, { at, kind: 'woke', seq: need.seq, by }, { ...told, latency_ms }))
    e.o.tell('step.finish', { ...waitOf(r, need), latency_ms });
  return true;
}
/** A wait as it is told: a step like any other. */
const waitOf = ({ row }: Live, { key, seq, kind }: DelayNeed | WaitNeed | HeldNeed) => ({
  ...{ run_id: row.run_id, scenario_id: row.scenario_id, trace_id: row.trace_id },
  ...{ step: key, seq, action: kind, attempt: 1 },
});

/** A run that slept for a time when the last process ended sleeps on, and needs no place for that. False: it goes on. */
export async function sleepOn(e: Engine, r: Live): Promise<boolean> {
  const need = r.course.need();
  if (r.row.away !== null || r.row.state !== 'RUNNING' || r.course.paused) return false;
  if (need.kind !== 'delay' || !need.asleep || need.locks) return false;
  r.row.current_step = need.key;
  if (await waits(e, r, need)) return false;
  r.phase = 'asleep';
  return true;
}
const untilLeft = ({ o: { clock } }: Engine, until: number): number =>
  isTimeKnown(clock) ? Math.min(LOOK_MS, until - clock.wall()) : LOOK_MS;

/** Writes down that a wait has begun; and after a restart of the machine what is left of it, by the clock of now. */
async function fallAsleep(e: Engine, r: Live, need: DelayNeed | WaitNeed | HeldNeed): Promise<void> {
  const { clock } = e.o;
  const { asleep, key: step, seq } = need;
  if (asleep?.boot === clock.boot) return;
  const whole = need.kind === 'delay' ? need.ms : need.timeout;
  const ms = asleep ? leftOf(asleep, clock) : whole;
  const since = asleepNow(clock, ms === Number.POSITIVE_INFINITY ? undefined : ms);
  await journal(e, r, { at: clock.wall(), kind: 'asleep', seq, ...since }, { step, status: 'WAITING' });
  if (!asleep) e.o.tell('step.start', waitOf(r, need));
}

/** What held before a restart of the machine: the time away counts, or the time begins anew, as the step says. */
async function holdOn(e: Engine, r: Live, seq: number): Promise<void> {
  const { clock } = e.o;
  const need = r.course.need();
  if (need.kind !== 'held' || !need.holding || need.holding.boot === clock.boot) return;
  const from = asleepNow(clock, need.away === 'counts' ? leftOf(need.holding, clock) : need.ms);
  await journal(e, r, { at: clock.wall(), kind: 'holding', seq, from }, { step: need.key });
}

/** Hears what a wait is for, until the answer is called. */
async function listen(e: Engine, r: Live, need: WaitNeed | HeldNeed): Promise<() => void> {
  return e.o.topics.subscribe(need.topic, (payload) => {
    void hear(e, r, need.seq, payload).catch(
      (cause) => e.stopped || e.o.log.error('an event is lost on a run', { run_id: r.row.run_id, cause }),
    );
  });
}

/** A run is told of an event; nothing comes of it where it waits for another, or no more. */
export async function hear(e: Engine, r: Live, seq: number, payload: Value): Promise<void> {
  const now = r.course.need();
  if (e.stopped || now.kind === 'end' || now.seq !== seq) return;
  const counts = r.course.counts(payload);
  const at = e.o.clock.wall();
  if (now.kind === 'wait') {
    if (!counts) return;
    e.o.tell('io.receive', { ...waitOf(r, now), topic: now.topic });
    const entry: Entry = { at, kind: 'woke', seq, by: 'event', payload: kept(payload) };
    const latency_ms = Math.max(0, at - (now.asleep?.since ?? at));
    if (await journal(e, r, entry, { step: now.key, status: 'DONE', latency_ms }))
      e.o.tell('step.finish', { ...waitOf(r, now), latency_ms });
  } else if (now.kind === 'held') {
    if (counts === (now.holding !== undefined)) return;
    const from = counts ? asleepNow(e.o.clock, now.ms) : null;
    await journal(e, r, { at, kind: 'holding', seq, from }, { step: now.key });
  } else return;
  wake(e, r);
}

/** What a journal takes of a value. */
export function kept(value: Value): Value {
  const text = JSON.stringify(value ?? null);
  return text.length <= MOST_KEPT ? value : { cut: true, text: text.slice(0, 1000) };
}

/** An action that has no end in the journal, of a run that stops: nobody does it any more. */
async function settle(e: Engine, r: Live, seq: number, step: string): Promise<void> {
  const error: Failure = { code: 'interrupted', message: 'It was interrupted.', step };
  await journal(
    e,
    r,
    { at: e.o.clock.wall(), kind: 'error', seq, error, isUnknown: true },
    { step, status: 'CANCELED' },
  );
}

/** A step that an order came before: it was written down that it begins, and then it did not. */
const untouched = new IngleError('conflict', 'The step was stopped before it began.');
const refusals = ['invalid_request', 'forbidden', 'not_found', 'not_supported'];
const never = [...refusals, 'too_large', 'canceled'];

async function perform(e: Engine, r: Live, need: ActNeed | UndoNeed): Promise<void> {
  const { clock, tell, quotas } = e.o;
  const { run_id, scenario_id, trace_id } = r.row;
  const { key: step, seq } = need;
  const action = e.o.actions.find(need.slot === undefined ? need.action : 'slot.call');
  const began = clock.up();
  const told = { run_id, scenario_id, trace_id, step, seq, action: need.action, attempt: need.attempt };
  const abort = new AbortController();
  r.acting = abort;
  let share: Share | undefined;
  try {
    if (!action) throw new IngleError('not_found', `There is no action "${need.action}" on this hub.`);
    if (need.begun && action.interrupted !== 'again') {
      if (action.interrupted === 'fail')
        throw new IngleError('unavailable', 'It was interrupted by a restart.');
      const done: Entry = { at: clock.wall(), kind: 'done', seq, result: { interrupted: true } };
      await journal(e, r, done, { step, status: 'DONE' });
      return;
    }
    if (!need.begun && (action.interrupted !== 'again' || need.isUndoable))
      if (!(await journal(e, r, { at: clock.wall(), kind: 'begun', seq }, { step }))) return;
    tell('step.start', told);
    const asked = await askedOf(e, r, need, abort.signal);
    const takes = Object.keys(quotas).length > 0 ? await action.takes?.(asked) : undefined;
    share = await e.meter.take(r.row, [takes ?? []].flat(), clock.wall());
    if (abort.signal.aborted && !need.begun) throw untouched;
    await e.o.point?.('acting', r.row);
    const result = kept(await timed(e, action, asked, need.timeout ?? ACTION_MS, abort));
    await e.o.point?.('acted', r.row);
    const latency_ms = clock.up() - began;
    const status = need.kind === 'undo' ? 'UNDONE' : 'DONE';
    const more = { step, status, latency_ms, ops: share.ops };
    await journal(e, r, { at: clock.wall(), kind: 'done', seq, result }, more);
    tell('step.finish', { ...told, latency_ms });
  } catch (cause) {
    if (e.stopped) throw cause;
    await failed(e, r, need, cause, clock.up() - began, share);
  } finally {
    r.acting = undefined;
  }
}

async function failed(
  e: Engine,
  r: Live,
  need: ActNeed | UndoNeed,
  cause: unknown,
  latency_ms: number,
  share: Share | undefined,
): Promise<void> {
  const { clock, tell, log } = e.o;
  const { run_id, scenario_id, trace_id } = r.row;
  const { code, message, details } = toIngleError(cause);
  if (!(cause instanceof IngleError))
    log.error('an action failed', { run_id, action: need.action, cause: cause as Error });
  const error: Failure = { code, message, step: need.key };
  const isUnknown =
    cause !== untouched && (code === 'timeout' || code === 'unavailable' || r.acting?.signal.aborted);
  // What may have gone out counts for quotas, whatever came of it.
  const isUsed = cause !== untouched && !refusals.includes(code);
  if (!isUsed) share?.back();
  const isOn = need.attempt <= need.retries.max && !never.includes(code) && !details?.['quota'];
  const wait = backoffOf(need.retries, need.attempt, (e.o.random ?? Math.random)());
  const again = isOn ? clock.wall() + wait : undefined;
  tell('step.error', {
    ...{ run_id, scenario_id, trace_id, step: need.key, seq: need.seq, action: need.action },
    ...{ attempt: need.attempt, error: code, latency_ms },
  });
  await journal(
    e,
    r,
    {
      ...{ at: clock.wall(), kind: 'error', seq: need.seq, error },
      ...(again === undefined ? {} : { again }),
      ...(isUnknown ? { isUnknown: true as const } : {}),
    },
    { step: need.key, status: isOn ? 'RETRY' : 'FAILED', latency_ms, ops: isUsed ? (share?.ops ?? []) : [] },
  );
}

async function askedOf(e: Engine, r: Live, need: ActNeed | UndoNeed, signal: AbortSignal): Promise<Asked> {
  const { run_id, scenario_id } = r.row;
  const skill = need.slot === undefined ? undefined : await e.o.boundTo(r.row, need.slot);
  if (need.slot !== undefined && skill === undefined)
    throw new IngleError(
      'not_found',
      `No skill is bound to the slot "${need.slot}". Choose one in its settings.`,
    );
  return {
    ...{ run_id, scenario_id, signal, key: `${run_id}/${need.key}/${need.seq}`, ctx: contextOf(r.row) },
    args: need.slot === undefined ? need.args : { action: need.action, args: { ...need.args } },
    ...(skill === undefined ? {} : { skill }),
  };
}

/** Performs an action for at most `ms`; one that is aborted gets a moment to end by itself. */
async function timed(
  e: Engine,
  action: Action,
  asked: Asked,
  ms: number,
  abort: AbortController,
): Promise<Value> {
  const late = new IngleError('timeout', 'The step took too long.');
  const stopped = new IngleError('conflict', 'The step was stopped.');
  const cancel = e.o.clock.after(ms, () => abort.abort(late));
  let release = () => {};
  const ends = new Promise<never>((_, reject) => {
    abort.signal.addEventListener('abort', () => {
      release = e.o.clock.after(ABORT_MS, () => reject(abort.signal.reason === late ? late : stopped));
    });
  });
  try {
    return await Promise.race([action.perform(asked), ends]);
  } catch (cause) {
    throw abort.signal.aborted && abort.signal.reason === late ? late : cause;
  } finally {
    cancel();
    release();
  }
}

async function finish(e: Engine, r: Live, { state, error }: EndNeed): Promise<void> {
  const at = e.o.clock.wall();
  const ops = endOps(r.row, { state, error }, at);
  const end: Entry = { at, kind: 'end', state, ...(error ? { error } : {}) };
  if (!(await journal(e, r, end, { status: state, ops }))) return;
  ended(e, r, { state, error }, at);
}

/** What is written of a run that is over. One that failed is kept to be replayed, on the hub whose scenario it is. */
export function endOps(
  { run_id, scenario_id, user, current_step, owed, away }: RunRow,
  { state, error }: Pick<EndNeed, 'state' | 'error'>,
  at: number,
): Op[] {
  const letter = {
    ...{ id: `dead-${run_id}`, run_id, scenario_id, user, at, replayed_by: null },
    step: error?.step ?? null,
  };
  return [
    { op: 'state', run_id, state, current_step, finished_at: at, ...(error ? { error } : {}) },
    ...(away === null ? [] : [{ op: 'granted' as const, run_id }]),
    ...((state === 'FAILED' || state === 'TIMEOUT') && error && owed === null
      ? [{ op: 'dead' as const, letter: { ...letter, error } }]
      : []),
  ];
}

/** A run is over, and that is written down. */
export function ended(
  e: Engine,
  r: Live,
  { state, error }: Pick<EndNeed, 'state' | 'error'>,
  at: number,
): void {
  const { run_id, scenario_id, user, trace_id, started_at } = r.row;
  over(e, r, { state, finished_at: at, error: error ?? null });
  e.o.tell('scenario.finish', {
    ...{ run_id, scenario_id, user, trace_id, state, latency_ms: Math.max(0, at - started_at) },
    ...(error ? { error } : {}),
  });
}

/** A run that is over leaves the engine's memory. */
export function over(e: Engine, r: Live, end: Pick<RunRow, 'state' | 'finished_at' | 'error'>): void {
  Object.assign(r.row, end);
  untimed(r);
  unlock(e, r);
  e.ready.delete(r.row.run_id);
  e.going.delete(r.row.run_id);
  e.runs.delete(r.row.run_id);
  if (e.runs.size === 0) silence(e);
  // Those of the same chain that wait for it may be a member's to do.
  for (const { row, phase } of e.runs.values())
    if (phase === 'away' && row.chain === r.row.chain && !isBehind(e, row)) e.o.nudge?.(row.away!);
  for (const tell of r.told ?? []) tell(r.row);
}
