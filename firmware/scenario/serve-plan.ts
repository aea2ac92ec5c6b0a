// The schedule, for io.ingle.Scenario1.
import { IngleError } from '../protocol/errors.ts';
import type { Job } from './answers.ts';
import { nextTime } from './cron.ts';
import { HOUSE } from './household.ts';
import type { JobRow } from './records.ts';
import type { WantedJob } from './schedule.ts';
import { askerFrom, dict, json, type Methods, type Parts } from './serve-parts.ts';

/** The times a job fires until `until`, at most so many. */
function timesOf({ cron, zone, next_at, enabled }: JobRow, until: number, most = 100): number[] {
  const times: number[] = [];
  for (let at = enabled ? next_at : null; at !== null && at <= until && times.length < most; ) {
    times.push(at);
    at = cron === null ? null : nextTime(cron, zone, at);
  }
  return times;
}

export function planMethods(p: Parts) {
  const { schedule, household } = p;
  return {
    async CreateJob({ asker, job }) {
      const wanted = json(job) as unknown as WantedJob;
      // Whoever plans a scenario may start it now.
      await household.startOf(wanted.scenario_id, askerFrom(asker), { origin: 'job' });
      const row = await schedule.create({ ...wanted, user: asker.user, origin: 'user' });
      p.changed('jobs');
      return { job_id: row.job_id };
    },
    async RemoveJob({ job_id, user }) {
      const job = schedule.list().find((j) => j.job_id === job_id);
      if (!job || (user !== '' && job.user !== user))
        throw new IngleError('not_found', 'There is no such job.');
      await schedule.remove(job_id);
      p.changed('jobs');
      return {};
    },
    Jobs: ({ user, until }) => ({
      jobs: schedule
        .list()
        .filter((j) => user === '' || j.user === user || j.user === HOUSE)
        .map((j) => dict<Job>({ ...j, times: timesOf(j, until) })),
    }),
  } satisfies Partial<Methods>;
}
