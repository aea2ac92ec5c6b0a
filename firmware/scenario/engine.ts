// The scenario engine: starts runs, takes orders for them, and goes on after a restart where the journals say.
import { createHash } from 'node:crypto';
import { IngleError, toIngleError } from '../protocol/errors.ts';
import { leftSince } from './clock.ts';
import { openCourse } from './course.ts';
import {
  endOps,
  hear,
  isBehind,
  kick,
  limit,
  over,
  ready,
  sleepOn,
  stirred,
  untimed,
  wake,
} from './drive.ts';
import type { Given } from './errand.ts';
import { type Errands, openErrands } from './errands-given.ts';
import type { Value } from './expression.ts';
import { type Engine, type EngineOptions, instanceNow, journal, type Live, liveOf } from './live.ts';
import { openLocks } from './locks.ts';
import type { Entry } from './need.ts';
import type { Priority } from './places.ts';
import type { Program } from './program.ts';
import { openMeter } from './quotas.ts';
import type { Op, RunRow } from './records.ts';
import { checkOrder, type InstanceOrder, type InstanceState, instanceOf } from './states.ts';

/** What a run starts from. */
export interface Start {
  scenario_id: string;
  version: string;
  /** The effective scenario as it is kept, which `compile` takes. */
  source: string;
  user: string;
  ctx: { [key: string]: Value };
  priority?: Priority;
  policy?: RunRow['policy'];
  /** Whose policy it is, where it is not the scenario's: its runs are a chain of their own. */
  by?: string;
  /** What started it, for the record. */
  origin: string;
  /** Starts where `single` would refuse, in the place of the run that goes on. */
  force?: boolean;
  /** This hub does it, whatever others have. */
  here?: boolean;
  /** The same id starts the same run, once. */
  run_id?: string;
  /** Written together with the run. */
  with?: readonly Op[];
  /** Entries of an earlier run it goes on from. */
  from?: readonly Entry[];
}

export interface RunView {
  row: RunRow;
  instance: InstanceState;
  /** Why it does not go on just now. */
  waits: {
    for: 'place' | 'locks' | 'time' | 'retry' | 'event' | 'order' | 'node';
    locks?: Record<string, string>;
    topic?: string;
    /** The member that does it. */
    node?: string;
  } | null;
}

export interface Runs extends Errands {
  /**
   * Starts a run; it is on the disk when this settles.
   * @throws IngleError `conflict` where the policy is `single` and one goes on, `invalid_request` for a scenario that
   * cannot be compiled
   */
  start(s: Start): Promise<RunRow>;
  /**
   * What a run waits for has happened, as a person says: only this run hears it.
   * @throws IngleError `not_found`, `conflict` unless it waits for an event from outside that needs no more than that
   */
  happened(run_id: string): Promise<void>;
  /** @throws IngleError `not_found`, `conflict` for a state that does not take the order */
  order(run_id: string, what: InstanceOrder, why?: string, wish?: number): Promise<void>;
  /**
   * Stops every run that has begun an activity, or one below it (`alarm/a` of `alarm`): of one person, where one is named.
   * @returns what was stopped, and which of it each run had begun
   */
  stopByActivity(activity: string, user?: string): Promise<{ run_id: string; begun: string[] }[]>;
  /** Runs a dead letter anew: from its start, or from the step that failed where nothing was undone. */
  replay(id: string, from: 'start' | 'step'): Promise<RunRow>;
  view(run_id: string): Promise<RunView | undefined>;
  live(): RunView[];
  /** Settles when a run is over. */
  ended(run_id: string): Promise<RunRow | undefined>;
  /** Takes a run of the hub that leads (errands-taken.ts). */
  adopt(given: Given, via: string): Promise<void>;
  /** Ends a run of another hub that is over there, and owes nothing more. */
  abandon(run_id: string): Promise<void>;
  /** Goes on with what was open when the last process ended. */
  recover(): Promise<void>;
  /** The clock was set: what waits for a time is looked at again. */
  clockChanged(): void;
  /** How many runs are not over. */
  readonly size: number;
  stop(): Promise<void>;
}

/** Runs of one scenario that a person may have beside each other: each is kept, and read at every start of the hub. */
export const MOST_BESIDE = 64;

function checkBeside(e: Engine, { scenario_id, user }: Start): void {
  const isTheirs = ({ row }: Live) =>
    row.policy === 'beside' && row.scenario_id === scenario_id && row.user === user;
  if ([...e.runs.values()].filter(isTheirs).length < MOST_BESIDE) return;
  throw new IngleError(
    'conflict',
    `${MOST_BESIDE} runs of this scenario go on beside each other, and there may be no more. Stop some of them on its page first.`,
  );
}

export const hashOf = (source: string): string => createHash('sha256').update(source).digest('base64url');

/** Runs of one scenario have one program while any of them is there. */
function sharing(compile: EngineOptions['compile']): EngineOptions['compile'] {
  const kept = new Map<string, WeakRef<Program>>();
  return (source) => {
    const hash = hashOf(source);
    const known = kept.get(hash)?.deref();
    if (known) return known;
    const program = compile(source);
    for (const [key, ref] of kept) if (!ref.deref()) kept.delete(key);
    kept.set(hash, new WeakRef(program));
    return program;
  };
}

export function openEngine(given: EngineOptions): Runs {
  const o = { ...given, compile: sharing(given.compile) };
  const e: Engine = {
    o,
    runs: new Map(),
    ready: new Map(),
    going: new Map(),
    locks: openLocks(),
    meter: openMeter(o.quotas, o.records),
    alarm: { at: Number.POSITIVE_INFINITY, cancel: () => {} },
    stopped: false,
  };
  return {
    ...openErrands(e),
    adopt: (given, via) => adopt(e, given, via),
    abandon: (run_id) => abandon(e, run_id),
    start: (s) => start(e, s),
    happened: (run_id) => happened(e, run_id),
    order: (run_id, what, why, wish) => order(e, run_id, what, why, wish),
    stopByActivity: (activity, user) => stopByActivity(e, activity, user),
    replay: (id, from) => replay(e, id, from),
    async view(run_id) {
      const r = e.runs.get(run_id);
      if (r) return viewOf(e, r);
      const row = await o.records.run(run_id);
      return (
        row && { row, instance: instanceOf({ state: row.state, paused: false, ending: false }), waits: null }
      );
    },
    live: () => [...e.runs.values()].map((r) => viewOf(e, r)),
    async ended(run_id) {
      const r = e.runs.get(run_id);
      if (!r) return o.records.run(run_id);
      return new Promise((tell) => {
        r.told = [...(r.told ?? []), tell];
      });
    },
    recover: () => recover(e),
    clockChanged() {
      for (const r of e.runs.values()) wake(e, r);
    },
    get size() {
      return e.runs.size;
    },
    stop: () => stop(e),
  };
}

function viewOf(e: Engine, r: Live): RunView {
  const { row, course, phase } = r;
  const instance = instanceNow(r);
  const need = course.need();
  const waits = (): RunView['waits'] => {
    if (phase === 'locks') return { for: 'locks', locks: e.locks.before(row.run_id) };
    if (phase === 'ready') return { for: 'place' };
    if (phase === 'away') return { for: 'node', node: row.away! };
    if (phase === 'paused') return { for: 'order' };
    if (phase !== 'asleep') return null;
    if ('topic' in need) return { for: 'event', topic: need.topic };
    return { for: need.kind === 'delay' ? 'time' : 'retry' };
  };
  return { row, instance, waits: waits() };
}

async function start(e: Engine, s: Start): Promise<RunRow> {
  if (e.stopped)
    throw new IngleError('unavailable', 'The scenario service is stopping. Try again in a moment.');
  const known = s.run_id === undefined ? undefined : await e.o.records.run(s.run_id);
  if (known) return known;
  const program = e.o.compile(s.source);
  const away = (await e.o.place?.(program.constraints, s.here ?? false)) ?? null;
  const policy = s.policy ?? 'single';
  const run_id = s.run_id ?? crypto.randomUUID();
  const chain =
    policy === 'beside' ? `run ${run_id}` : [s.scenario_id, s.user, ...(s.by ? [s.by] : [])].join(' ');
  if (policy === 'beside') checkBeside(e, s);
  const before = [...e.runs.values()].filter((r) => r.row.chain === chain);
  if (before.length > 0 && policy === 'single' && !s.force)
    throw new IngleError(
      'conflict',
      'This scenario is running already. Stop it first, or wait until it is done.',
      {
        run_id: before[0]!.row.run_id,
      },
    );
  const row: RunRow = {
    run_id,
    ...{ scenario_id: s.scenario_id, version: s.version, user: s.user, ctx: s.ctx, origin: s.origin },
    ...{ priority: s.priority ?? 'NORM', state: 'PENDING', current_step: null, started_at: e.o.clock.wall() },
    ...{ finished_at: null, error: null, trace_id: traceId(), program: hashOf(s.source), chain, policy },
    ...{ away, owed: null },
  };
  const course = openCourse(program, row);
  const r = liveOf(row, course);
  // In its chain from now on, so that of two that start at once the second sees the first.
  e.runs.set(run_id, r);
  const entries = (s.from ?? []).map((entry, n): Op => ({ op: 'entry', run_id, n, entry }));
  try {
    await e.o.records.write([
      { op: 'program', hash: row.program, source: s.source },
      { op: 'run', row },
      ...entries,
      ...(s.with ?? []),
    ]);
  } catch (cause) {
    e.runs.delete(run_id);
    throw cause;
  }
  for (const entry of s.from ?? []) course.take(entry);
  r.n = entries.length;
  if (away === null) limit(e, r, program.timeout);
  if (policy === 'replace' || (policy === 'single' && s.force))
    for (const b of before)
      void order(e, b.row.run_id, 'stop', 'Another start took its place.').catch(() => {});
  begin(e, r);
  return row;
}

async function stopByActivity(e: Engine, activity: string, user?: string) {
  const isOf = (name: string) => name === activity || name.startsWith(`${activity}/`);
  const all = [...e.runs.values()].flatMap(({ row, course }) => {
    const begun = [...course.activities()].filter(isOf);
    const isTheirs = user === undefined || row.user === user;
    return begun.length > 0 && isTheirs && !course.ending ? [{ run_id: row.run_id, begun }] : [];
  });
  const stop = (run_id: string) => order(e, run_id, 'stop', `Its activity "${activity}" was stopped.`);
  await Promise.all(
    all.map(({ run_id }) =>
      // It ends already, here or on the hub that does it.
      stop(run_id).catch((cause) => {
        if (toIngleError(cause).code !== 'conflict') throw cause;
      }),
    ),
  );
  return all;
}

/** Here, or where it is to be done. */
function begin(e: Engine, r: Live): void {
  if (r.row.away === null) {
    ready(e, r);
    return;
  }
  r.phase = 'away';
  if (!isBehind(e, r.row)) e.o.nudge?.(r.row.away);
}

/** Trace id of W3C Trace Context: 16 random bytes. */
const traceId = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('hex');

async function order(
  e: Engine,
  run_id: string,
  what: InstanceOrder,
  why = 'It was stopped.',
  wish?: number,
): Promise<void> {
  const r = e.runs.get(run_id);
  if (!r) {
    const row = await e.o.records.run(run_id);
    if (!row) throw new IngleError('not_found', 'There is no such instance.');
    checkOrder(instanceOf({ state: row.state, paused: false, ending: false }), what);
    return;
  }
  checkOrder(instanceNow(r), what);
  const at = e.o.clock.wall();
  const { log, topics } = e.o;
  if (what === 'kill') return kill(e, r, why);
  if (r.row.away !== null) {
    await e.o.records.write([{ op: 'wish', run_id, what, why }]);
    r.wished = what;
    return e.o.nudge?.(r.row.away);
  }
  // It may have ended while this waited for the disk.
  const entry: Entry = { at, kind: 'order', what, why, ...(wish === undefined ? {} : { wish }) };
  if (!(await journal(e, r, entry, { status: what.toUpperCase() }))) return checkOrder(instanceNow(r), what);
  log.info('an order for a run', { run_id, what });
  if (what === 'stop')
    topics.publish(`scenario.cancel.${run_id}`, { run_id, scenario_id: r.row.scenario_id, why });
  if (what === 'pause') {
    // What waits for a time or an event goes on waiting; what comes of it waits for the resume.
    if (r.phase === 'ready') {
      e.ready.delete(run_id);
      r.phase = 'paused';
    }
    return;
  }
  if (what === 'resume') {
    if (r.phase === 'paused') ready(e, r);
    return;
  }
  stirred(e, r);
}

/** How topics begin that programs outside of the hub publish; other topics are the hub's own word. */
const OUTSIDE = 'external.';

async function happened(e: Engine, run_id: string): Promise<void> {
  const r = e.runs.get(run_id);
  if (!r && !(await e.o.records.run(run_id))) throw new IngleError('not_found', 'There is no such instance.');
  const need = r && r.row.away === null ? r.course.need() : undefined;
  if (!r || need?.kind !== 'wait' || !need.topic.startsWith(OUTSIDE))
    throw new IngleError('conflict', 'The run waits for nothing that a person can tell it.');
  await hear(e, r, need.seq, {});
  const now = r.course.need();
  if (now.kind !== 'end' && now.seq === need.seq)
    throw new IngleError('conflict', 'The run waits for more than that it has happened.');
}

async function kill(e: Engine, r: Live, why: string): Promise<void> {
  const at = e.o.clock.wall();
  const error = { code: 'canceled', message: why };
  const { run_id, scenario_id, user, trace_id, started_at } = r.row;
  const ops = endOps(r.row, { state: 'CANCELED', error }, at);
  const end = { at, kind: 'end', state: 'CANCELED', error } as const;
  if (!(await journal(e, r, end, { status: 'KILLED', ops }))) return checkOrder(instanceNow(r), 'kill');
  r.acting?.abort(new IngleError('conflict', 'The run was killed.'));
  e.o.topics.publish(`scenario.cancel.${run_id}`, { run_id, scenario_id, why, killed: true });
  over(e, r, { state: 'CANCELED', finished_at: at, error });
  const latency_ms = Math.max(0, at - started_at);
  e.o.tell('scenario.finish', {
    ...{ run_id, scenario_id, user, trace_id, state: 'CANCELED', latency_ms, error, killed: true },
  });
  if (r.row.away !== null) e.o.nudge?.(r.row.away);
  kick(e);
}

async function replay(e: Engine, id: string, from: 'start' | 'step'): Promise<RunRow> {
  const { records } = e.o;
  const letter = await records.letter(id);
  if (!letter) throw new IngleError('not_found', 'There is no such dead letter.');
  if (letter.replayed_by)
    throw new IngleError('conflict', 'It was replayed already.', { run_id: letter.replayed_by });
  const row = (await records.run(letter.run_id))!;
  const source = (await records.program(row.program))!;
  const entries = (await records.journal(row.run_id)).map((j) => j.entry);
  return start(e, {
    ...{ scenario_id: row.scenario_id, version: row.version, source, user: row.user, ctx: row.ctx },
    ...{ priority: row.priority, policy: row.policy, origin: `dead:${id}` },
    run_id: `replay-${id}`,
    with: [{ op: 'replayed', id, by: `replay-${id}` }],
    ...(from === 'step' ? { from: upToFailure(entries) } : {}),
  });
}

/** Whether a run that failed may go on from the step it failed in. */
export function isResumable(entries: readonly Entry[]): boolean {
  try {
    upToFailure(entries);
    return true;
  } catch {
    return false;
  }
}

/** What a run had done when a step failed it for good. @throws IngleError `conflict` where some of it was undone */
function upToFailure(entries: readonly Entry[]): Entry[] {
  const last = entries.findIndex((x) => x.kind === 'error' && x.again === undefined);
  const isLast = last >= 0 && entries.slice(last + 1).every((x) => x.kind === 'end');
  if (!isLast || entries.some((x) => x.kind === 'order' && x.what !== 'pause' && x.what !== 'resume'))
    throw new IngleError('conflict', 'Some of it was undone, so it can only be replayed from its start.');
  return entries.slice(0, last).filter((x) => x.kind !== 'order');
}

/** A run that is kept comes to be, and goes on when `now`. */
async function open(e: Engine, row: RunRow, now = false): Promise<void> {
  const entries = await e.o.records.journal(row.run_id);
  let r: Live;
  let timeout = 0;
  try {
    const program = e.o.compile((await e.o.records.program(row.program)) ?? '');
    timeout = program.timeout;
    r = liveOf(row, openCourse(program, row), entries.length);
  } catch (cause) {
    return lost(e, row, entries.length, cause as Error);
  }
  for (const { entry } of entries) r.course.take(entry);
  e.runs.set(row.run_id, r);
  if (row.away === null) limit(e, r, leftSince(row.started_at, timeout, e.o.clock));
  if (now) begin(e, r);
}

/** Runs that are opened at one time after a start. */
const TOGETHER = 50;

async function recover(e: Engine): Promise<void> {
  const rows = await e.o.records.open();
  for (let i = 0; i < rows.length; i += TOGETHER) {
    const some = rows.slice(i, i + TOGETHER);
    for (const row of some) await open(e, row);
    // What they write is one commit, and one that rests needs no course any more.
    await Promise.all(some.map(({ run_id }) => e.runs.get(run_id)).map((r) => r && sleepOn(e, r)));
  }
  for (const { run_id, what } of await e.o.records.wishes()) {
    const r = e.runs.get(run_id);
    if (r) r.wished = what;
  }
  for (const r of [...e.runs.values()]) if (r.phase === 'ready') begin(e, r);
}

async function adopt(e: Engine, given: Given, via: string): Promise<void> {
  const { run_id, source, entries, age_ms, ...of } = given;
  if (e.stopped || e.runs.has(run_id) || (await e.o.records.run(run_id))) return;
  const row: RunRow = {
    ...{ ...of, run_id, state: 'PENDING', current_step: null, finished_at: null, error: null },
    // The clocks of two hubs differ.
    ...{ started_at: e.o.clock.wall() - age_ms, origin: `node:${via}`, program: hashOf(source) },
    // Which of several goes on is for the hub that leads to say.
    ...{ chain: `node ${run_id}`, policy: 'queue', away: null, owed: via },
  };
  await e.o.records.write([
    { op: 'program', hash: row.program, source },
    { op: 'run', row },
    ...entries.map(({ entry, ...more }, n): Op => ({ op: 'entry', run_id, n, entry, ...more })),
  ]);
  await open(e, row, true);
}

async function abandon(e: Engine, run_id: string): Promise<void> {
  const r = e.runs.get(run_id);
  if (r) await kill(e, r, 'The hub that leads has ended it.').catch(() => {});
  await e.o.records.write([{ op: 'paid', run_id }]);
}

/** A run whose scenario this version cannot read: it fails in words, and can be looked at among the dead letters. */
async function lost(e: Engine, row: RunRow, n: number, cause: Error): Promise<void> {
  const { run_id } = row;
  e.o.log.error('a run cannot go on', { run_id, cause });
  const at = e.o.clock.wall();
  const error = {
    code: 'not_supported',
    message: `This version cannot read the scenario any more: ${cause.message}`,
  };
  await e.o.records.write([
    { op: 'entry', run_id, n, entry: { at, kind: 'end', state: 'FAILED', error }, status: 'FAILED' },
    ...endOps(row, { state: 'FAILED', error }, at),
  ]);
  if (row.owed !== null) e.o.wrote?.(row);
}

async function stop(e: Engine): Promise<void> {
  e.stopped = true;
  e.alarm.cancel();
  for (const r of e.runs.values()) {
    untimed(r);
    r.acting?.abort(new IngleError('unavailable', 'The scenario service is stopping.'));
  }
  await Promise.allSettled([...e.runs.values()].map((r) => r.queue?.idle()));
}
