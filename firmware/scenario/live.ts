// Runs that are not over, and what moves them: the engine's memory.
import { openQueue, type Queue } from '../protocol/queue.ts';
import type { Log } from '../system/log.ts';
import type { Actions, RunContext } from './action.ts';
import type { Clock } from './clock.ts';
import { type Course, openCourse } from './course.ts';
import type { Value } from './expression.ts';
import type { LockTable } from './locks.ts';
import type { Entry } from './need.ts';
import type { Limits, Waiting } from './places.ts';
import type { Program } from './program.ts';
import type { Quotas } from './quotas.ts';
import type { Op, Records, RunRow } from './records.ts';
import { type InstanceState, instanceOf, isOver } from './states.ts';

/** The bus, as far as runs use it. */
export interface Topics {
  /** Hears a topic until the answer is called. */
  subscribe(topic: string, f: (payload: Value) => void): Promise<() => void>;
  publish(topic: string, payload: unknown): void;
}

/** What happens is told to logs, streams and traces. */
export type Tell = (
  event:
    | 'scenario.start'
    | 'scenario.finish'
    | 'step.start'
    | 'step.finish'
    | 'step.error'
    | 'io.send'
    | 'io.receive'
    | 'intent.detected'
    | 'voice.state',
  properties: Record<string, unknown>,
) => void;

export interface EngineOptions {
  records: Records;
  actions: Actions;
  clock: Clock;
  topics: Topics;
  limits: Limits;
  quotas: Quotas;
  log: Log;
  tell: Tell;
  /** The program of a scenario as it is kept. @throws IngleError */
  compile(source: string): Program;
  /** The skill bound to a slot of a run, and secrets for its actions; read when an action is done. */
  boundTo(row: RunRow, slot: string): Promise<string | undefined>;
  /** 0 to 1, for the jitter of retries. */
  random?(): number;
  /**
   * The member of the subnet that does a run with these constraints; undefined: this hub.
   * @throws IngleError `not_supported`: no hub has what they name
   */
  place?(constraints: readonly string[]): Promise<string | undefined>;
  /** Work for a member of the subnet, or an order for it, is written down. */
  nudge?(node: string): void;
  /** More of a run is in its journal that another hub waits for. */
  wrote?(row: RunRow): void;
  /** Stops for a test: named points between what is done and what is written. */
  point?(name: string, row: RunRow): Promise<void> | void;
}

export interface Live {
  readonly row: RunRow;
  /** While it sleeps for long, a stand-in that knows what it waits for (`rest`). */
  course: Course;
  /** Its course is left to its journal. */
  resting: boolean;
  readonly journal: Queue;
  /** The number of the next entry. */
  n: number;
  /** Where it is: has a place, wants one, waits for locks, sleeps, is done by a member of the subnet. */
  phase: 'going' | 'ready' | 'locks' | 'asleep' | 'paused' | 'away';
  /** The scope its locks are of. */
  scope: string | undefined;
  /** Of a run that is done elsewhere: the newest order that has not come there. */
  wished: 'pause' | 'resume' | 'stop' | undefined;
  /** The action that goes on. */
  acting: AbortController | undefined;
  /** Ends its sleep's timer and what it hears. */
  awake: () => void;
  /** Ends the timer of its longest time. */
  unlimited: () => void;
  ended: { promise: Promise<RunRow>; resolve(row: RunRow): void };
}

export interface Engine {
  readonly o: EngineOptions;
  readonly runs: Map<string, Live>;
  readonly ready: Map<string, Waiting>;
  /** Runs that have a place, with their scenarios. */
  readonly going: Map<string, string>;
  readonly locks: LockTable;
  stopped: boolean;
}

export function liveOf(row: RunRow, course: Course, n = 0): Live {
  let resolve: (row: RunRow) => void = () => {};
  const promise = new Promise<RunRow>((r) => (resolve = r));
  return {
    ...{ row, course, n, journal: openQueue(), phase: 'ready', scope: undefined, acting: undefined },
    resting: false,
    wished: undefined,
    ...{ awake: () => {}, unlimited: () => {}, ended: { promise, resolve } },
  };
}

/** The instance of a run, as whoever gave it orders sees it. */
export const instanceNow = ({ row, course, wished }: Live): InstanceState =>
  instanceOf({
    state: row.state,
    paused: wished === undefined ? course.paused : wished === 'pause',
    ending: course.ending || wished === 'stop',
  });

/** How a run's context reads for its actions. */
export function contextOf({ user, ctx }: RunRow): RunContext {
  const text = (v: Value | undefined, or: string) => (typeof v === 'string' ? v : or);
  const list = (v: unknown): string[] => (Array.isArray(v) ? v.filter((x) => typeof x === 'string') : []);
  const io = (typeof ctx['io'] === 'object' && ctx['io'] !== null ? ctx['io'] : {}) as Record<string, Value>;
  const [given, out] = [list(io['in']), list(io['out'])];
  return {
    user,
    role: text(ctx['role'], 'owner'),
    locale: text(ctx['locale'], 'en'),
    io: {
      in: given.length > 0 ? given : ['voice', 'text'],
      out: out.length > 0 ? out : ['voice'],
      fallback: list(io['fallback']),
    },
  };
}

/**
 * A run that sleeps for long is where its journal says, so its variables, results and place need no memory meanwhile.
 * What can be asked of it while it sleeps is kept.
 */
export function rest(r: Live): void {
  const { course } = r;
  const [need, activities, { paused, ending, entries }] = [course.need(), course.activities(), course];
  const never = () => {
    throw new Error('a run that rests is asked to go on');
  };
  r.resting = true;
  r.course = {
    ...{ paused, ending, entries, need: () => need, activities: () => activities, counts: () => false },
    ...{ take: never, vars: never, skipped: () => [], unrepaired: () => [] },
  };
}

/** The course of a run that rested, out of its journal. */
export async function rise(e: Engine, r: Live): Promise<void> {
  if (!r.resting) return;
  const { records, compile } = e.o;
  const { row } = r;
  const entries = await records.journal(row.run_id);
  const course = openCourse(compile((await records.program(row.program))!), row);
  for (const { entry } of entries) course.take(entry);
  r.course = course;
  r.resting = false;
}

/** How long a failed write is tried again, milliseconds. */
const REWRITE = { min: 500, most: 30_000 };

/**
 * Writes an entry and what goes with it, then lets the course take it: what happened is on the disk before anything
 * follows from it. A disk that does not take it is asked again until it does; meanwhile the run stands still.
 * @returns false where the run was over by then: nothing follows its end
 */
export function journal(
  e: Engine,
  r: Live,
  entry: Entry,
  more: { step?: string; status?: string; latency_ms?: number; ops?: readonly Op[] } = {},
): Promise<boolean> {
  const { ops = [], ...shown } = more;
  return r.journal.add(async () => {
    if (isOver(r.row.state)) return false;
    await rise(e, r);
    const op: Op = { op: 'entry', run_id: r.row.run_id, n: r.n, entry, ...shown };
    for (let wait = REWRITE.min; ; wait = Math.min(REWRITE.most, wait * 2))
      try {
        await e.o.records.write([op, ...ops]);
        break;
      } catch (cause) {
        if (e.stopped) throw cause;
        e.o.log.error('a step cannot be written down', { run_id: r.row.run_id, cause: cause as Error });
        await new Promise<void>((done) => e.o.clock.after(wait, done));
      }
    r.n++;
    r.course.take(entry);
    if (r.row.owed !== null) e.o.wrote?.(r.row);
    return true;
  });
}
