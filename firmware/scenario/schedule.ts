// The scheduler: jobs by cron or at one time. A tick and the run it starts are written in one step, under the job and the
// time it was due, so none fires twice; what the hub missed becomes what the job's policy says.
import { IngleError } from '../protocol/errors.ts';
import { openQueue } from '../protocol/queue.ts';
import { type Role, roles } from '../protocol/roles.ts';
import type { Log } from '../system/log.ts';
import { type Clock, isTimeKnown } from './clock.ts';
import { checkCron, checkZone, nextTime, timesBetween } from './cron.ts';
import type { Runs, Start } from './engine.ts';
import type { JobRow, Op, Records, Tick } from './records.ts';

/** What somebody asks for. Exactly one of `cron` and `at`. */
export interface WantedJob {
  job_id?: string;
  scenario_id: string;
  user: string;
  cron?: string;
  /** Unix milliseconds. */
  at?: number;
  zone?: string | null;
  ctx?: JobRow['ctx'];
  missed?: JobRow['missed'];
  grace_ms?: number;
  enabled?: boolean;
  origin?: string;
}

export interface Schedule {
  /** @throws IngleError `invalid_request`, `conflict` where there are too many */
  create(job: WantedJob): Promise<JobRow>;
  /** @throws IngleError `not_found` */
  remove(job_id: string): Promise<void>;
  list(): JobRow[];
  /** Makes the jobs of triggers the ones that are wanted; those of people stay. */
  settle(wanted: readonly WantedJob[]): Promise<void>;
  /** Fires what is due, and waits for the next. */
  begin(): Promise<void>;
  clockChanged(): Promise<void>;
  stop(): void;
}

export interface ScheduleOptions {
  records: Records;
  clock: Clock;
  log: Log;
  runs: Pick<Runs, 'start'>;
  /** What a job starts now. @throws IngleError for a scenario that is gone or not allowed */
  startOf(job: JobRow): Promise<Start> | Start;
}

const MOST_JOBS = 2000;
/** How late a missed time may run where the job says nothing, milliseconds. */
const GRACE_MS = 3_600_000;
/** So late a tick is on time yet. */
const PROMPT_MS = 60_000;
/** Missed times that run one each, and those that are written down as skipped. */
const MOST_MISSED = 24;
/** A disk that does not take a tick is asked again so much later. */
const AGAIN_MS = 10_000;
const triggered = 'trigger:';

/** How origins of jobs begin that a run has planned; the role it acted as follows. */
export const PLANNED = 'run:';
/** Who somebody is when a job of theirs is due: whoever plans from a run gets no more rights by waiting. */
export function dueAs<A extends { role: string }>(asker: A, { origin }: Pick<JobRow, 'origin'>): A {
  if (!origin.startsWith(PLANNED)) return asker;
  const rank = (role: string) => {
    const at = roles.indexOf(role as Role);
    return at < 0 ? roles.length : at;
  };
  const planned = origin.slice(PLANNED.length);
  return rank(planned) > rank(asker.role) ? { ...asker, role: planned } : asker;
}
/** What a start is refused for that no second try would change. */
const final = new Set<string>([
  'not_found',
  'forbidden',
  'conflict',
  'invalid_request',
  'not_supported',
  'too_large',
]);

interface State extends ScheduleOptions {
  jobs: Map<string, JobRow>;
  queue: ReturnType<typeof openQueue>;
  cancel: () => void;
  /** The newest wall clock that was seen. */
  seen: number;
  stopped: boolean;
}

export async function openSchedule(o: ScheduleOptions): Promise<Schedule> {
  const jobs = new Map((await o.records.jobs()).map((j) => [j.job_id, j]));
  const s: State = { ...o, jobs, queue: openQueue(), cancel: () => {}, seen: 0, stopped: false };
  return {
    create: (job) => s.queue.add(() => create(s, job)),
    remove: (job_id) =>
      s.queue.add(async () => {
        if (!s.jobs.has(job_id)) throw new IngleError('not_found', 'There is no such job.');
        await o.records.write([{ op: 'drop_job', job_id }]);
        s.jobs.delete(job_id);
        arm(s);
      }),
    list: () => [...s.jobs.values()],
    settle: (wanted) => s.queue.add(() => settle(s, wanted)),
    begin: () => look(s),
    clockChanged: () => look(s),
    stop() {
      s.stopped = true;
      s.cancel();
    },
  };
}

/** @throws IngleError `invalid_request` */
function rowOf(s: State, w: WantedJob): JobRow {
  const { cron = null, at = null, zone = null, grace_ms = GRACE_MS } = w;
  if ((cron === null) === (at === null))
    throw new IngleError('invalid_request', 'A job has either "cron" or "at".', {
      pointer: cron === null ? '/at' : '/cron',
    });
  if (cron !== null) checkCron(cron, zone);
  else checkZone(zone);
  const now = s.clock.wall();
  if (at !== null && isTimeKnown(s.clock) && at < now - grace_ms)
    throw new IngleError('invalid_request', 'This time is over.', { pointer: '/at' });
  return {
    job_id: w.job_id ?? crypto.randomUUID(),
    ...{
      scenario_id: w.scenario_id,
      user: w.user,
      cron,
      at,
      zone,
      ctx: w.ctx ?? {},
      enabled: w.enabled ?? true,
    },
    ...{ missed: w.missed ?? 'once', grace_ms, created_at: now, origin: w.origin ?? 'user' },
    next_at: cron === null ? at : nextTime(cron, zone, now),
  };
}

async function create(s: State, w: WantedJob): Promise<JobRow> {
  if (s.jobs.size >= MOST_JOBS) throw new IngleError('conflict', `A hub has at most ${MOST_JOBS} jobs.`);
  const row = rowOf(s, w);
  if (s.jobs.has(row.job_id)) return s.jobs.get(row.job_id)!;
  await s.records.write([{ op: 'job', row }]);
  s.jobs.set(row.job_id, row);
  arm(s);
  return row;
}

async function settle(s: State, wanted: readonly WantedJob[]): Promise<void> {
  const keep = new Set(wanted.map((w) => w.job_id));
  const ops: Op[] = [];
  for (const { job_id, origin } of s.jobs.values())
    if (origin.startsWith(triggered) && !keep.has(job_id)) ops.push({ op: 'drop_job', job_id });
  const rows: JobRow[] = [];
  for (const w of wanted) {
    const row = rowOf(s, { ...w, origin: `${triggered}${w.origin ?? ''}` });
    const old = s.jobs.get(row.job_id);
    // What was due while the hub was off stays due.
    const isSame = old && old.cron === row.cron && old.at === row.at && old.zone === row.zone;
    const next = isSame ? { ...row, next_at: old.next_at, created_at: old.created_at } : row;
    if (JSON.stringify(old) === JSON.stringify(next)) continue;
    ops.push({ op: 'job', row: next });
    rows.push(next);
  }
  await s.records.write(ops);
  for (const o of ops) if (o.op === 'drop_job') s.jobs.delete(o.job_id);
  for (const row of rows) s.jobs.set(row.job_id, row);
  arm(s);
}

/** Waits for the next job that is due. Where nobody knows the time, for somebody to say that the clock was set. */
function arm(s: State, atLeast = 0): void {
  s.cancel();
  s.cancel = () => {};
  if (s.stopped || !isTimeKnown(s.clock)) return;
  let next = Number.POSITIVE_INFINITY;
  for (const j of s.jobs.values()) if (j.enabled && j.next_at !== null) next = Math.min(next, j.next_at);
  if (next === Number.POSITIVE_INFINITY) return;
  const cancel = s.clock.after(Math.max(atLeast, next - s.clock.wall()), () => void look(s));
  s.cancel = cancel;
}

function look(s: State): Promise<void> {
  return s.queue.add(async () => {
    if (s.stopped) return;
    const now = s.clock.wall();
    let pause = 0;
    if (isTimeKnown(s.clock)) {
      if (now < s.seen - PROMPT_MS) await setBack(s, now);
      s.seen = now;
      for (const job of [...s.jobs.values()])
        if (job.enabled && job.next_at !== null && job.next_at <= now)
          await due(s, job, now).catch((cause) => {
            s.log.error('a job does not run', { job: job.job_id, cause: cause as Error });
            pause = AGAIN_MS;
          });
    }
    arm(s, pause);
  });
}

/** The clock was set back: jobs are due by the time that it is now. What fired keeps its ticks, so it fires no more. */
async function setBack(s: State, now: number): Promise<void> {
  for (const job of s.jobs.values())
    if (job.cron !== null) await move(s, job, nextTime(job.cron, job.zone, now));
}
async function move(s: State, job: JobRow, next_at: number | null): Promise<void> {
  await s.records.write([{ op: 'due', job_id: job.job_id, next_at }]);
  job.next_at = next_at;
}

/** What becomes of the times of a job that have come. */
async function due(s: State, job: JobRow, now: number): Promise<void> {
  const { times, more } =
    job.cron === null
      ? { times: [job.at!], more: 0 }
      : timesBetween(job.cron, job.zone, job.next_at!, now, MOST_MISSED);
  if (more > 0) s.log.warn('times of a job were missed', { job: job.job_id, more });
  const fired = new Set((await s.records.ticks(job.job_id, times[0] ?? now)).map((t) => t.due_at));
  const next = job.cron === null ? null : nextTime(job.cron, job.zone, now);
  const left = times.filter((t) => !fired.has(t));
  const fires = left.filter((t, i) => {
    const late = now - t;
    if (late <= PROMPT_MS && i === left.length - 1) return true;
    if (late > job.grace_ms || job.missed === 'skip') return false;
    return job.missed === 'all' || i === left.length - 1;
  });
  for (const t of left) {
    const isLast = t === left.at(-1);
    const then: Op[] = isLast ? after(job, next) : [];
    await tick(s, job, t, now, fires.includes(t) ? undefined : 'it was missed', then);
  }
  if (left.length === 0) await s.records.write(after(job, next));
  job.next_at = next;
  if (job.cron === null) s.jobs.delete(job.job_id);
}

const after = (job: JobRow, next_at: number | null): Op[] =>
  job.cron === null ? [{ op: 'drop_job', job_id: job.job_id }] : [{ op: 'due', job_id: job.job_id, next_at }];

/** One tick: its run and its record in one step, or why there is no run. */
async function tick(
  s: State,
  job: JobRow,
  due_at: number,
  at: number,
  why: string | undefined,
  then: Op[],
): Promise<void> {
  const { job_id } = job;
  const record = (t: Pick<Tick, 'what' | 'run_id' | 'why'>): Op => ({
    op: 'tick',
    tick: { job_id, due_at, at, ...t },
  });
  let reason = why;
  if (reason === undefined)
    try {
      const run_id = `tick-${job_id}-${due_at}`;
      const start = await s.startOf(job);
      await s.runs.start({ ...start, run_id, with: [record({ what: 'fired', run_id, why: null }), ...then] });
      return;
    } catch (e) {
      // What may be better in a moment, as a disk that is full, leaves the tick due.
      if (!(e instanceof IngleError) || !final.has(e.code)) throw e;
      reason = e.message;
    }
  s.log.notice('a time of a job passes without a run', { job: job_id, due_at, why: reason });
  await s.records.write([record({ what: 'skipped', run_id: null, why: reason }), ...then]);
}
