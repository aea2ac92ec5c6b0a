// What two hubs of a subnet say to each other of a run that one does for the other.
import * as T from 'typebox';
import type { Entry } from './need.ts';
import type { JournalRow, RunRow, Wish } from './records.ts';

/** Runs that one member does at one time: it names all of them each time. */
export const MOST_ERRANDS = 64;

const n = T.Integer({ minimum: 0, maximum: 1_000_000 });
const text = (maxLength: number) => T.String({ maxLength });
const at = T.Number();
const seq = n;
const error = T.Object({ code: text(100), message: text(2000), step: T.Optional(text(200)) });
const asleep = { since: T.Number(), due: T.Optional(T.Number()), boot: text(100), up: T.Number() };
const kind = <const K extends string>(k: K) => T.Literal(k);
const value = T.Unknown();

/** An entry as a member sends it. */
export const entrySchema = T.Union([
  T.Object({ at, kind: kind('begun'), seq }),
  T.Object({ at, kind: kind('done'), seq, result: value }),
  T.Object({
    ...{ at, kind: kind('error'), seq, error },
    ...{ again: T.Optional(T.Number()), isUnknown: T.Optional(T.Literal(true)) },
  }),
  T.Object({ at, kind: kind('asleep'), seq, ...asleep }),
  T.Object({ at, kind: kind('holding'), seq, from: T.Union([T.Object(asleep), T.Null()]) }),
  T.Object({
    at,
    kind: kind('woke'),
    seq,
    by: T.Enum(['time', 'event', 'timeout']),
    payload: T.Optional(value),
  }),
  T.Object({
    ...{ at, kind: kind('order'), what: T.Enum(['pause', 'resume', 'stop', 'timeout']) },
    ...{ why: T.Optional(text(1000)), wish: T.Optional(n) },
  }),
  T.Object({
    ...{ at, kind: kind('end'), state: T.Enum(['DONE', 'FAILED', 'CANCELED', 'TIMEOUT']) },
    error: T.Optional(error),
  }),
]);

const row = T.Object({
  entry: entrySchema,
  step: T.Optional(text(200)),
  status: T.Optional(text(40)),
  latency_ms: T.Optional(T.Number()),
});

/** What a member says: of each run it does, the entries from the number that this hub has not. */
export const reportSchema = T.Object({
  runs: T.Array(T.Object({ run_id: text(200), from: n, rows: T.Array(row, { maxItems: 200 }) }), {
    maxItems: MOST_ERRANDS,
  }),
  /** Wishes that did not fit the state their run is in. */
  refused: T.Array(n, { maxItems: 64 }),
});
export type Report = T.Static<typeof reportSchema>;
export type ReportedRow = Report['runs'][number]['rows'][number];

/** A run as it is given to a member. */
export interface Given
  extends Pick<RunRow, 'run_id' | 'scenario_id' | 'version' | 'user' | 'ctx' | 'priority' | 'trace_id'> {
  source: string;
  /** How long ago it was asked for, milliseconds. */
  age_ms: number;
  entries: { entry: Entry; step?: string; status?: string; latency_ms?: number }[];
}

export interface Errand {
  run_id: string;
  /** So many entries this hub has of it. */
  n: number;
  /** It is over here, or none of the member's: what the member has of it may go. */
  over?: true;
  wishes: Omit<Wish, 'run_id'>[];
  /** Where the member has not named it. */
  given?: Given;
}

/** An entry as hubs send it to each other. */
export const rowOf = ({ entry, step_name, status, latency_ms }: JournalRow): Given['entries'][number] => ({
  entry,
  ...(step_name === null ? {} : { step: step_name }),
  ...(status === null ? {} : { status }),
  ...(latency_ms === null ? {} : { latency_ms }),
});
