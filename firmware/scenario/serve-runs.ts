// Runs, their journals and dead letters, for io.ingle.Scenario1.
import { exposition } from '../observe/exposition.ts';
import { IngleError } from '../protocol/errors.ts';
import type { Letter, Line, Run } from './answers.ts';
import { isTimeKnown } from './clock.ts';
import { isResumable, type RunView } from './engine.ts';
import type { Report } from './errand.ts';
import type { Value } from './expression.ts';
import { compileSource } from './household.ts';
import type { RunRow } from './records.ts';
import { rehearse } from './rehearse.ts';
import { unopened } from './sealed.ts';
import { askerFrom, askingFrom, dict, json, type Methods, type Parts } from './serve-parts.ts';
import { type InstanceOrder, instanceOf } from './states.ts';

/** A run as the API has it. */
function shownRun({
  row,
  instance,
  waits,
}: Pick<RunView, 'row' | 'instance'> & Partial<Pick<RunView, 'waits'>>): Run {
  const { ctx: _, program: _p, chain: _c, ...rest } = row;
  return { ...rest, instance, waits: waits ?? null };
}
const past = (row: RunRow): RunView => ({
  row,
  instance: instanceOf({ state: row.state, paused: false, ending: false }),
  waits: null,
});

export function runMethods(p: Parts) {
  const { runs, records, household } = p;
  const own = async (run_id: string, user: string): Promise<RunView> => {
    const view = await runs.view(run_id);
    if (!view || (user !== '' && view.row.user !== user))
      throw new IngleError('not_found', 'There is no such run.');
    return view;
  };
  return {
    async Start({ id, asker, asking }) {
      const { run_id, ...rest } = askingFrom(json(asking));
      // Somebody else than who asks has the rights they have now, and no more.
      const whom = asker.role === '' ? await p.o.askerOf(asker.user) : askerFrom(asker);
      if (!whom) throw new IngleError('not_found', 'The hub knows nobody of this id.');
      const start = await household.startOf(id, whom, rest);
      return { run_id: (await runs.start({ ...start, ...(run_id ? { run_id } : {}) })).run_id };
    },
    async Rehearse({ id, asker, asking }) {
      const start = await household.startOf(id, askerFrom(asker), askingFrom(json(asking)));
      const o = { scenario_id: id, ctx: start.ctx, now: p.o.clock.wall() };
      return {
        steps: rehearse(compileSource(start.source), o).map((step) =>
          dict(unopened(step as object as Value) as object),
        ),
      };
    },
    async Order({ run_id, what, user }) {
      if (!['stop', 'pause', 'resume', 'kill', 'happened'].includes(what))
        throw new IngleError('invalid_request', 'An order is stop, pause, resume, kill or happened.', {
          pointer: '/what',
        });
      await own(run_id, user);
      await (what === 'happened' ? runs.happened(run_id) : runs.order(run_id, what as InstanceOrder));
      return {};
    },
    StopByActivity: async ({ activity }) => ({
      stopped: (await runs.stopByActivity(activity)).map((s) => s.run_id),
    }),
    async Runs({ scenario_id, user, limit }) {
      const live = new Map(runs.live().map((v) => [v.row.run_id, v]));
      const of = { ...(scenario_id ? { scenario_id } : {}), ...(user ? { user } : {}) };
      const rows = await records.runs({ ...of, limit: Math.min(200, limit || 50) });
      return { runs: rows.map((row) => dict(shownRun(live.get(row.run_id) ?? past(row)))) };
    },
    async Run({ run_id }) {
      const view = await own(run_id, '');
      const journal = (await records.journal(run_id)).map(({ n, at, step_name, status, latency_ms, entry }) =>
        dict<Line>({
          n,
          at,
          step_name,
          status,
          latency_ms,
          kind: entry.kind,
          ...('error' in entry && entry.error ? { error: entry.error } : {}),
          ...(entry.kind === 'error' && entry.again !== undefined ? { again: entry.again } : {}),
          ...(entry.kind === 'asleep' && entry.due !== undefined ? { due: entry.due } : {}),
          ...(entry.kind === 'woke' ? { by: entry.by } : {}),
          ...(entry.kind === 'order' ? { what: entry.what } : {}),
        }),
      );
      return { run: dict(shownRun(view)), journal };
    },
    async DeadLetters() {
      const letters = await records.letters();
      const journals = await Promise.all(letters.map(({ run_id }) => records.journal(run_id)));
      const may = (i: number) => isResumable(journals[i]!.map((row) => row.entry));
      return { letters: letters.map((l, i) => dict<Letter>({ ...l, from_step: l.step !== null && may(i) })) };
    },
    async Replay({ id, from }) {
      if (from !== 'start' && from !== 'step')
        throw new IngleError('invalid_request', 'It is replayed from its start or from the step.', {
          pointer: '/from',
        });
      return { run_id: (await runs.replay(id, from)).run_id };
    },
    async Discard({ id }) {
      if (!(await records.letter(id))) throw new IngleError('not_found', 'There is no such dead letter.');
      await records.write([{ op: 'discard', id }]);
      return {};
    },
    Metrics: () => ({
      metrics: dict({
        counts: { ...p.metrics.events },
        open: runs.size,
        jobs: p.schedule.list().length,
        time_known: isTimeKnown(p.o.clock),
      }),
    }),
    async NodeRuns({ node, report }) {
      p.subnet.heard(node);
      const said = JSON.parse(report) as Report;
      await runs.report(node, said);
      const errands = await runs.errandsOf(
        node,
        said.runs.map((r) => r.run_id),
      );
      return { answer: JSON.stringify(errands) };
    },
    Errands() {
      void p.taken.sync();
      return {};
    },
    Exposition: () => ({
      text: exposition([
        ...p.metrics.families({ open: runs.size, jobs: p.schedule.list().length }),
        ...(p.o.traces?.families() ?? []),
      ]),
    }),
    ClockChanged() {
      runs.clockChanged();
      void p.schedule.clockChanged();
      return {};
    },
  } satisfies Partial<Methods>;
}
