// Runs that are not over, and what moves them: the engine's memory.
import { openQueue, type Queue } from '../protocol/queue.ts';
import type { Log } from '../system/log.ts';
import type { Actions, RunContext } from './action.ts';
import type { Clock } from './clock.ts';
import { type Course, openCourse } from './course.ts';
import type { Value } from './expression.ts';
import type { LockTable } from './locks.ts';
import type { Entry, Failure, Need } from './need.ts';
import type { Limits, Waiting } from './places.ts';
import type { Program } from './program.ts';
import type { Meter, Quotas } from './quotas.ts';
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
   * @param stays it is for this hub alone
   * @throws IngleError `not_supported`: no hub has what they name
   */
  place?(constraints: readonly string[], stays: boolean): Promise<string | undefined>;
  /** Work for a member of the subnet, or an order for it, is written down. */
  nudge?(node: string): void;
  /** More of a run is in its journal that another hub waits for. */
  wrote?(row: RunRow): void;
  /** Stops for a test: named points between what is done and what is written. */
  point?(name: string, row: RunRow): Promise<void> | void;
}

export interface Live {
  /** Without its context while it rests. */
  readonly row: RunRow;
  /** While it sleeps for long, a stand-in that knows what may be asked of it (`rest`). */
  course: Course;
  /** Its course is left to its journal. */
  resting: boolean;
  /** What is being written, one after the other (`queueOf`). */
  queue: Queue | undefined;
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
  /** When its sleep ends, and its longest time, by the clock that is never set; infinite: never. */
  wakes: number;
  ends: number;
  /** Ends what it hears while it sleeps. */
  unhears: (() => void) | undefined;
  /** Who waits for its end. */
  told: ((row: RunRow) => void)[] | undefined;
}

export interface Engine {
  readonly o: EngineOptions;
  readonly runs: Map<string, Live>;
  readonly ready: Map<string, Waiting>;
  /** Runs that have a place, with their scenarios. */
  readonly going: Map<string, string>;
  readonly locks: LockTable;
  readonly meter: Meter;
  /** The one timer of all runs: when it rings, and what ends it. */
  alarm: { at: number; cancel: () => void };
  stopped: boolean;
}

export function liveOf(row: RunRow, course: Course, n = 0): Live {
  // Written out, as thousands of them may sleep: V8 keeps a spread one as a dictionary.
  return {
    row,
    course,
    n,
    resting: false,
    queue: undefined,
    phase: 'ready',
    scope: undefined,
    wished: undefined,
    acting: undefined,
    wakes: Number.POSITIVE_INFINITY,
    ends: Number.POSITIVE_INFINITY,
    unhears: undefined,
    told: undefined,
  };
}

/** Where what a run writes waits for what it wrote before. */
export function queueOf(r: Live): Queue {
  r.queue ??= openQueue();
  return r.queue;
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

/** What may be asked of the course of a run that rests. A class, as thousands of them may be there. */
class Rested implements Course {
  readonly paused: boolean;
  readonly ending: boolean;
  readonly entries: number;
  readonly begun: ReadonlySet<string> | undefined;
  constructor({ paused, ending, entries, activities }: Course) {
    const begun = activities();
    [this.paused, this.ending, this.entries] = [paused, ending, entries];
    this.begun = begun.size > 0 ? begun : undefined;
  }
  /** It waits for a time, as others do not rest; for which, its journal knows. */
  need(): Need {
    return { kind: 'delay', key: '', seq: -1 };
  }
  activities(): ReadonlySet<string> {
    return this.begun ?? new Set();
  }
  counts(): boolean {
    return false;
  }
  skipped(): string[] {
    return [];
  }
  unrepaired(): Failure[] {
    return [];
  }
  take(): never {
    throw new Error('a run that rests is asked to go on');
  }
  vars(): never {
    return this.take();
  }
}

/**
 * A run that sleeps for long is where its journal says, so its variables, results and context need no memory meanwhile.
 * What can be asked of it while it sleeps is kept.
 */
export function rest(r: Live): void {
  r.resting = true;
  r.course = new Rested(r.course);
  r.row.ctx = {};
  r.queue = undefined;
}

/** The course of a run that rested, out of its journal. */
export async function rise(e: Engine, r: Live): Promise<void> {
  if (!r.resting) return;
  const { records, compile } = e.o;
  const { row } = r;
  const entries = await records.journal(row.run_id);
  row.ctx = (await records.run(row.run_id))!.ctx;
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
  return queueOf(r).add(async () => {
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
