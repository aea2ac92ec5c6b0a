// What the engine keeps: runs, their journals, jobs, ticks, dead letters, quotas. Everything that is written goes through
// `write`, which is one atomic step; what several ask for at one time is one commit (group commit).
import { IngleError } from '../protocol/errors.ts';
import type { Value as Bound, Row, Store } from '../system/store.ts';
import type { Value } from './expression.ts';
import type { Entry, Failure } from './need.ts';
import type { Priority } from './places.ts';
import type { RunState } from './states.ts';

/** A run as it is kept. Times are Unix milliseconds. */
export interface RunRow {
  run_id: string;
  scenario_id: string;
  version: string;
  user: string;
  ctx: { [key: string]: Value };
  priority: Priority;
  state: RunState;
  current_step: string | null;
  /** When it was asked for. */
  started_at: number;
  finished_at: number | null;
  trace_id: string;
  error: Failure | null;
  /** What started it: a person, a job, an event, an intent, or a dead letter. */
  origin: string;
  /** The effective scenario it runs, by its hash; an update of the prototype changes no run that goes on. */
  program: string;
  /** Runs of one chain stand in each other's way, as their policy says. */
  chain: string;
  policy: 'single' | 'queue' | 'replace' | 'beside';
  /** The member of the subnet that does it; null: this hub. */
  away: string | null;
  /** The hub it is done for, until that has the end of its journal. */
  owed: string | null;
}

/** An order for a run that a member does: kept until the member says that it has come. */
export interface Wish {
  id: number;
  run_id: string;
  what: 'stop' | 'pause' | 'resume';
  why: string;
}

export interface JobRow {
  job_id: string;
  scenario_id: string;
  user: string;
  cron: string | null;
  /** Unix milliseconds. */
  at: number | null;
  zone: string | null;
  ctx: { [key: string]: Value };
  enabled: boolean;
  missed: 'skip' | 'once' | 'all';
  grace_ms: number;
  /** When it is due next, Unix milliseconds; null: never again. */
  next_at: number | null;
  created_at: number;
  /** `user`, or the trigger of an implementation it stands for. */
  origin: string;
}

export interface Tick {
  job_id: string;
  due_at: number;
  at: number;
  what: 'fired' | 'skipped';
  run_id: string | null;
  why: string | null;
}

export interface DeadLetter {
  id: string;
  run_id: string;
  scenario_id: string;
  user: string;
  at: number;
  step: string | null;
  error: Failure;
  /** The run that replays it. */
  replayed_by: string | null;
}

/** One thing to be written. */
export type Op =
  | {
      op: 'entry';
      run_id: string;
      n: number;
      entry: Entry;
      step?: string;
      status?: string;
      latency_ms?: number;
    }
  | { op: 'program'; hash: string; source: string }
  | { op: 'run'; row: RunRow }
  | {
      op: 'state';
      run_id: string;
      state: RunState;
      current_step?: string | null;
      finished_at?: number;
      error?: Failure;
    }
  | ({ op: 'wish' } & Omit<Wish, 'id'>)
  /** Wishes of a run that have come, or all of one that is over. */
  | { op: 'granted'; run_id: string; id?: number }
  /** The hub it was done for has the end of it. */
  | { op: 'paid'; run_id: string }
  | { op: 'job'; row: JobRow }
  | { op: 'due'; job_id: string; next_at: number | null; enabled?: boolean }
  | { op: 'drop_job'; job_id: string }
  | { op: 'tick'; tick: Tick }
  | { op: 'dead'; letter: DeadLetter }
  | { op: 'replayed'; id: string; by: string }
  | { op: 'discard'; id: string }
  | { op: 'use'; kind: string; scope: string; period: string; amount: number }
  | { op: 'memory'; key: string; value: Value | null };

export interface JournalRow {
  run_id: string;
  n: number;
  at: number;
  step_name: string | null;
  status: string | null;
  latency_ms: number | null;
  entry: Entry;
}

export interface Records {
  /** Writes all or nothing; durable when it settles. @throws IngleError `unavailable`; then nothing of it is written */
  write(ops: readonly Op[]): Promise<void>;
  /** Runs that are not over, the oldest first. */
  open(): Promise<RunRow[]>;
  /** Runs whose journals are owed to another hub. */
  owed(): Promise<RunRow[]>;
  /** The oldest first. */
  wishes(): Promise<Wish[]>;
  run(run_id: string): Promise<RunRow | undefined>;
  /** The newest first. */
  runs(o: { scenario_id?: string; user?: string; limit: number }): Promise<RunRow[]>;
  journal(run_id: string): Promise<JournalRow[]>;
  program(hash: string): Promise<string | undefined>;
  jobs(): Promise<JobRow[]>;
  ticks(job_id: string, since: number): Promise<Tick[]>;
  letters(): Promise<DeadLetter[]>;
  letter(id: string): Promise<DeadLetter | undefined>;
  used(kind: string, scope: string, period: string): Promise<number>;
  memory(prefix: string): Promise<Record<string, Value>>;
  /** Forgets runs that ended before, with what they kept for themselves, but those of dead letters. */
  sweep(before: number): Promise<void>;
}

export const scenarioSchema = [
  `CREATE TABLE programs (hash TEXT PRIMARY KEY, source TEXT NOT NULL);
   CREATE TABLE scenario_runs (
     run_id TEXT PRIMARY KEY, scenario_id TEXT NOT NULL, version TEXT NOT NULL, user TEXT NOT NULL, ctx TEXT NOT NULL,
     priority TEXT NOT NULL, state TEXT NOT NULL, current_step TEXT, started_at INTEGER NOT NULL, finished_at INTEGER,
     trace_id TEXT NOT NULL, error TEXT, origin TEXT NOT NULL, program TEXT NOT NULL, chain TEXT NOT NULL,
     policy TEXT NOT NULL, away TEXT, owed TEXT);
   CREATE TABLE wishes (
     id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, what TEXT NOT NULL, why TEXT NOT NULL);
   CREATE INDEX owed_runs ON scenario_runs (started_at) WHERE owed IS NOT NULL;
   CREATE INDEX open_runs ON scenario_runs (started_at) WHERE finished_at IS NULL;
   CREATE INDEX runs_by_scenario ON scenario_runs (scenario_id, started_at);
   CREATE TABLE journal (
     run_id TEXT NOT NULL, n INTEGER NOT NULL, at INTEGER NOT NULL, step_name TEXT, status TEXT, latency_ms INTEGER,
     entry TEXT NOT NULL, PRIMARY KEY (run_id, n)) WITHOUT ROWID;
   CREATE TABLE jobs (
     job_id TEXT PRIMARY KEY, scenario_id TEXT NOT NULL, user TEXT NOT NULL, cron TEXT, at INTEGER, zone TEXT,
     ctx TEXT NOT NULL, enabled INTEGER NOT NULL, missed TEXT NOT NULL, grace_ms INTEGER NOT NULL, next_at INTEGER,
     created_at INTEGER NOT NULL, origin TEXT NOT NULL);
   CREATE TABLE ticks (
     job_id TEXT NOT NULL, due_at INTEGER NOT NULL, at INTEGER NOT NULL, what TEXT NOT NULL, run_id TEXT, why TEXT,
     PRIMARY KEY (job_id, due_at)) WITHOUT ROWID;
   CREATE TABLE dead_letters (
     id TEXT PRIMARY KEY, run_id TEXT NOT NULL, scenario_id TEXT NOT NULL, user TEXT NOT NULL, at INTEGER NOT NULL,
     step TEXT, error TEXT NOT NULL, replayed_by TEXT);
   CREATE TABLE quota_use (
     kind TEXT NOT NULL, scope TEXT NOT NULL, period TEXT NOT NULL, amount REAL NOT NULL,
     PRIMARY KEY (kind, scope, period)) WITHOUT ROWID;
   CREATE TABLE memory (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID`,
];

type Writing = Pick<Store, 'run'>;
const json = (v: unknown): string => JSON.stringify(v);
const orNull = <T>(v: T | undefined): T | null => v ?? null;

const entryValues = (o: Extract<Op, { op: 'entry' }>): Bound[] => [
  o.run_id,
  o.n,
  o.entry.at,
  orNull(o.step),
  orNull(o.status),
  orNull(o.latency_ms),
  json(o.entry),
];
/** SQLite takes at most 32,766 values in one statement. */
const MOST_ROWS = 500;

async function writeEntries(s: Writing, entries: readonly Extract<Op, { op: 'entry' }>[]): Promise<void> {
  const rows = entries.map(() => '(?,?,?,?,?,?,?)').join();
  await s.run(
    `INSERT INTO journal (run_id, n, at, step_name, status, latency_ms, entry) VALUES ${rows}`,
    ...entries.flatMap(entryValues),
  );
}

function writeRun(s: Writing, r: RunRow): Promise<unknown> {
  return s.run(
    `INSERT INTO scenario_runs (run_id, scenario_id, version, user, ctx, priority, state, current_step, started_at,
     finished_at, trace_id, error, origin, program, chain, policy, away, owed)
     VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
    ...[
      r.run_id,
      r.scenario_id,
      r.version,
      r.user,
      json(r.ctx),
      r.priority,
      r.state,
      r.current_step,
      r.started_at,
    ],
    ...[r.finished_at, r.trace_id, r.error ? json(r.error) : null, r.origin, r.program, r.chain, r.policy],
    ...[r.away, r.owed],
  );
}

async function writeOne(s: Writing, o: Op): Promise<unknown> {
  switch (o.op) {
    case 'entry':
      return writeEntries(s, [o]);
    case 'program':
      return s.run('INSERT OR IGNORE INTO programs (hash, source) VALUES (?, ?)', o.hash, o.source);
    case 'run':
      return writeRun(s, o.row);
    case 'state':
      return s.run(
        `UPDATE scenario_runs SET state = ?, current_step = coalesce(?, current_step), finished_at = ?, error = ?
         WHERE run_id = ?`,
        ...[o.state, orNull(o.current_step), orNull(o.finished_at), o.error ? json(o.error) : null, o.run_id],
      );
    case 'wish':
      return s.run('INSERT INTO wishes (run_id, what, why) VALUES (?,?,?)', o.run_id, o.what, o.why);
    case 'granted':
      return s.run(
        'DELETE FROM wishes WHERE run_id = ?1 AND (?2 IS NULL OR id = ?2)',
        ...[o.run_id, orNull(o.id)],
      );
    case 'paid':
      return s.run('UPDATE scenario_runs SET owed = NULL WHERE run_id = ?', o.run_id);
    case 'job': {
      const j = o.row;
      return s.run(
        `INSERT OR REPLACE INTO jobs (job_id, scenario_id, user, cron, at, zone, ctx, enabled, missed, grace_ms, next_at,
         created_at, origin) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)`,
        ...[j.job_id, j.scenario_id, j.user, j.cron, j.at, j.zone, json(j.ctx), j.enabled ? 1 : 0, j.missed],
        ...[j.grace_ms, j.next_at, j.created_at, j.origin],
      );
    }
    case 'due':
      return s.run(
        'UPDATE jobs SET next_at = ?, enabled = coalesce(?, enabled) WHERE job_id = ?',
        ...[o.next_at, o.enabled === undefined ? null : o.enabled ? 1 : 0, o.job_id],
      );
    case 'drop_job':
      return s.run('DELETE FROM jobs WHERE job_id = ?', o.job_id);
    case 'tick': {
      const t = o.tick;
      return s.run(
        'INSERT INTO ticks (job_id, due_at, at, what, run_id, why) VALUES (?,?,?,?,?,?)',
        ...[t.job_id, t.due_at, t.at, t.what, t.run_id, t.why],
      );
    }
    case 'dead': {
      const d = o.letter;
      return s.run(
        'INSERT INTO dead_letters (id, run_id, scenario_id, user, at, step, error, replayed_by) VALUES (?,?,?,?,?,?,?,?)',
        ...[d.id, d.run_id, d.scenario_id, d.user, d.at, d.step, json(d.error), d.replayed_by],
      );
    }
    case 'replayed':
      return s.run('UPDATE dead_letters SET replayed_by = ? WHERE id = ?', o.by, o.id);
    case 'discard':
      return s.run('DELETE FROM dead_letters WHERE id = ?', o.id);
    case 'use':
      return s.run(
        `INSERT INTO quota_use (kind, scope, period, amount) VALUES (?,?,?,?)
         ON CONFLICT (kind, scope, period) DO UPDATE SET amount = amount + excluded.amount`,
        ...[o.kind, o.scope, o.period, o.amount],
      );
    case 'memory':
      return o.value === null
        ? s.run('DELETE FROM memory WHERE key = ?', o.key)
        : s.run('INSERT OR REPLACE INTO memory (key, value) VALUES (?, ?)', o.key, json(o.value));
  }
}

async function commit(store: Store, ops: readonly Op[]): Promise<void> {
  const entries = ops.filter((o) => o.op === 'entry');
  // A statement is a transaction of its own, so the commonest commit is one call.
  if (entries.length === ops.length && ops.length <= MOST_ROWS) await writeEntries(store, entries);
  else
    await store.transaction(async (s) => {
      for (const o of ops) await writeOne(s, o);
    });
}

interface Asked {
  ops: readonly Op[];
  resolve(): void;
  reject(e: unknown): void;
}

/** One commit for all that is asked for while the one before it is on its way to the disk. */
function groupCommit(store: Store): Records['write'] {
  let waiting: Asked[] = [];
  let writing = false;
  async function go(): Promise<void> {
    for (let now = waiting; now.length > 0; now = waiting) {
      waiting = [];
      try {
        await commit(
          store,
          now.flatMap(({ ops }) => ops),
        );
        for (const { resolve } of now) resolve();
      } catch (e) {
        // One that cannot be written must not take the others along.
        if (now.length === 1) now[0]!.reject(e);
        else for (const { ops, resolve, reject } of now) await commit(store, ops).then(resolve, reject);
      }
    }
    writing = false;
  }
  return async (ops) => {
    if (ops.length === 0) return;
    try {
      await new Promise<void>((resolve, reject) => {
        waiting.push({ ops, resolve, reject });
        if (writing) return;
        writing = true;
        // Those that ask in the same turn go along.
        queueMicrotask(() => void go());
      });
    } catch (cause) {
      if (cause instanceof IngleError) throw cause;
      const says = 'The hub could not write down what its scenarios do. See whether its disk is full.';
      throw Object.assign(new IngleError('unavailable', says), { cause });
    }
  };
}

const parsed = <T>(text: unknown): T => JSON.parse(String(text)) as T;
// What comes of SQLite is a dictionary to V8, with texts of its own; thousands of runs and jobs may be kept in memory.
const runOf = (r: Row, same: Same = asIs): RunRow =>
  ({
    run_id: r['run_id'],
    scenario_id: same(r['scenario_id']),
    version: same(r['version']),
    user: same(r['user']),
    ctx: parsed(r['ctx']),
    priority: same(r['priority']),
    state: same(r['state']),
    current_step: same(r['current_step']),
    started_at: r['started_at'],
    finished_at: r['finished_at'],
    trace_id: r['trace_id'],
    error: r['error'] === null ? null : parsed(r['error']),
    origin: same(r['origin']),
    program: same(r['program']),
    chain: same(r['chain']),
    policy: same(r['policy']),
    away: same(r['away']),
    owed: same(r['owed']),
  }) as RunRow;
const jobOf = (r: Row, same: Same): JobRow =>
  ({
    job_id: r['job_id'],
    scenario_id: same(r['scenario_id']),
    user: same(r['user']),
    cron: same(r['cron']),
    at: r['at'],
    zone: same(r['zone']),
    ctx: parsed(r['ctx']),
    enabled: r['enabled'] === 1,
    missed: same(r['missed']),
    grace_ms: r['grace_ms'],
    next_at: r['next_at'],
    created_at: r['created_at'],
    origin: same(r['origin']),
  }) as JobRow;
type Same = (value: unknown) => unknown;
const asIs: Same = (value) => value;
/** Of equal texts the first. */
function sames(): Same {
  const known = new Map<unknown, unknown>();
  return (value) => {
    const first = known.get(value);
    if (first !== undefined) return first;
    known.set(value, value);
    return value;
  };
}
/** Rows that are read at one time: what SQLite's need on their way here is not given back. */
const PAGE = 50;
/** @param sql with an order, without a limit */
async function paged<T>(store: Store, sql: string, of: (row: Row, same: Same) => T): Promise<T[]> {
  const same = sames();
  const all: T[] = [];
  for (;;) {
    const rows = await store.all(`${sql} LIMIT ? OFFSET ?`, PAGE, all.length);
    for (const row of rows) all.push(of(row, same));
    if (rows.length < PAGE) return all;
  }
}
const letterOf = (r: Record<string, unknown>): DeadLetter =>
  ({ ...r, error: parsed(r['error']) }) as DeadLetter;

export function openRecords(store: Store): Records {
  return {
    write: groupCommit(store),
    open: () =>
      paged(store, 'SELECT * FROM scenario_runs WHERE finished_at IS NULL ORDER BY started_at, rowid', runOf),
    owed: () =>
      paged(store, 'SELECT * FROM scenario_runs WHERE owed IS NOT NULL ORDER BY started_at, rowid', runOf),
    wishes: () => store.all('SELECT * FROM wishes ORDER BY id') as never,
    run: async (run_id) => {
      const row = await store.get('SELECT * FROM scenario_runs WHERE run_id = ?', run_id);
      return row && runOf(row);
    },
    runs: async ({ scenario_id, user, limit }) =>
      (
        await store.all(
          `SELECT * FROM scenario_runs WHERE (?1 IS NULL OR scenario_id = ?1) AND (?2 IS NULL OR user = ?2)
           ORDER BY started_at DESC, rowid DESC LIMIT ?3`,
          ...[orNull(scenario_id), orNull(user), limit],
        )
      ).map((r) => runOf(r)),
    journal: async (run_id) =>
      (await store.all('SELECT * FROM journal WHERE run_id = ? ORDER BY n', run_id)).map(
        (r) => ({ ...r, entry: parsed(r['entry']) }) as JournalRow,
      ),
    program: async (hash) =>
      (await store.get<{ source: string }>('SELECT source FROM programs WHERE hash = ?', hash))?.source,
    jobs: () => paged(store, 'SELECT * FROM jobs ORDER BY created_at, rowid', jobOf),
    ticks: (job_id, since) =>
      store.all(
        'SELECT * FROM ticks WHERE job_id = ? AND due_at >= ? ORDER BY due_at',
        job_id,
        since,
      ) as never,
    letters: async () =>
      (await store.all('SELECT * FROM dead_letters ORDER BY at DESC, rowid DESC')).map(letterOf),
    letter: async (id) => {
      const row = await store.get('SELECT * FROM dead_letters WHERE id = ?', id);
      return row && letterOf(row);
    },
    used: async (kind, scope, period) =>
      (
        await store.get<{ amount: number }>(
          'SELECT amount FROM quota_use WHERE kind = ? AND scope = ? AND period = ?',
          ...[kind, scope, period],
        )
      )?.amount ?? 0,
    memory: async (prefix) =>
      Object.fromEntries(
        (
          await store.all<{ key: string; value: string }>(
            'SELECT key, value FROM memory WHERE substr(key, 1, ?) = ?',
            ...[prefix.length, prefix],
          )
        ).map(({ key, value }) => [key, parsed<Value>(value)]),
      ),
    sweep: (before) =>
      store.transaction(async (s) => {
        const old =
          'SELECT run_id FROM scenario_runs WHERE finished_at < ? AND owed IS NULL AND run_id NOT IN (SELECT run_id FROM dead_letters)';
        await s.run(`DELETE FROM journal WHERE run_id IN (${old})`, before);
        await s.run(`DELETE FROM scenario_runs WHERE run_id IN (${old})`, before);
        await s.run(`DELETE FROM memory WHERE key LIKE 'session.%' AND NOT EXISTS (
          SELECT 1 FROM scenario_runs WHERE substr(key, 1, length(run_id) + 9) = 'session.' || run_id || '.')`);
        await s.run('DELETE FROM ticks WHERE due_at < ?', before);
        await s.run('DELETE FROM programs WHERE hash NOT IN (SELECT program FROM scenario_runs)');
      }),
  };
}
