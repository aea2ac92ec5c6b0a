// Runs that members of the subnet do for this hub: what each of them has to do, and what it says of it. The run stays in
// this hub's file with a journal that grows by what the member has written down, so one hub at a time does it, whichever
// of the two dies.
import { ended, endOps, isBehind } from './drive.ts';
import { type Errand, type Given, MOST_ERRANDS, type Report, type ReportedRow, rowOf } from './errand.ts';
import { type Engine, type Live, queueOf, rise } from './live.ts';
import type { Entry } from './need.ts';
import type { Op, RunRow } from './records.ts';

/** Runs that one answer gives anew, as each brings its scenario along. */
const AT_ONCE = 4;

export interface Errands {
  /** Takes what a member says, all of it or as far as the disk takes it. @throws IngleError `unavailable` */
  report(node: string, said: Report): Promise<void>;
  /** What a member has to do. @param knows the runs it has */
  errandsOf(node: string, knows: readonly string[]): Promise<{ runs: Errand[]; more: boolean }>;
  /** Members that have something to do. */
  nodes(): string[];
  /** A member is none any more: what it did for this hub has failed. */
  parted(node: string): Promise<void>;
}

export function openErrands(e: Engine): Errands {
  const of = (node: string): Live[] => [...e.runs.values()].filter((r) => r.row.away === node);
  return {
    async report(node, said) {
      for (const { run_id, from, rows } of said.runs) {
        const r = e.runs.get(run_id);
        if (r?.row.away === node) await taken(e, r, from, rows as ReportedRow[]);
      }
      const wishes = said.refused.length > 0 ? await e.o.records.wishes() : [];
      await e.o.records.write(
        wishes.flatMap(({ id, run_id }): Op[] =>
          said.refused.includes(id) && e.runs.get(run_id)?.row.away === node
            ? [{ op: 'granted', run_id, id }]
            : [],
        ),
      );
      for (const { id, run_id, what } of wishes) {
        const r = e.runs.get(run_id);
        if (said.refused.includes(id) && r?.row.away === node && r.wished === what) r.wished = undefined;
      }
    },
    async errandsOf(node, knows) {
      const wishes = await e.o.records.wishes();
      const wishesOf = (id: string) => wishes.flatMap(({ run_id, ...w }) => (run_id === id ? [w] : []));
      const open = of(node).filter((r) => !isBehind(e, r.row));
      const fresh = open.filter((r) => !knows.includes(r.row.run_id));
      const runs: Errand[] = [];
      for (const run_id of knows) {
        const r = e.runs.get(run_id);
        if (r?.row.away === node) runs.push({ run_id, n: r.n, wishes: wishesOf(run_id) });
        else runs.push({ run_id, n: 0, over: true, wishes: [] });
      }
      const room = Math.min(AT_ONCE, Math.max(0, MOST_ERRANDS - knows.length));
      for (const { row, n } of fresh.slice(0, room))
        runs.push({ run_id: row.run_id, n, wishes: wishesOf(row.run_id), given: await givenOf(e, row) });
      return { runs, more: room > 0 && fresh.length > room };
    },
    nodes: () => [...new Set([...e.runs.values()].flatMap(({ row }) => row.away ?? []))],
    async parted(node) {
      const at = e.o.clock.wall();
      const message = 'The hub that did it is no member of the subnet any more. Start it again.';
      const entry: Entry = { at, kind: 'end', state: 'FAILED', error: { code: 'unavailable', message } };
      await Promise.all(of(node).map((r) => taken(e, r, r.n, [{ entry, status: 'FAILED' }])));
    },
  };
}

async function givenOf(e: Engine, row: RunRow): Promise<Given> {
  const { run_id, scenario_id, version, user, ctx, priority, trace_id } = row;
  const entries = (await e.o.records.journal(run_id)).map(rowOf);
  return {
    ...{ run_id, scenario_id, version, user, ctx, priority, trace_id, entries },
    source: (await e.o.records.program(row.program)) ?? '',
    age_ms: Math.max(0, e.o.clock.wall() - row.started_at),
  };
}

/** Takes entries of a run, in one write; those it has already are passed over, and what leaves a gap is not taken. */
function taken(e: Engine, r: Live, from: number, rows: readonly ReportedRow[]): Promise<void> {
  return queueOf(r).add(async () => {
    if (r.row.finished_at !== null || from > r.n) return;
    await rise(e, r);
    const { run_id } = r.row;
    const fresh = rows.slice(r.n - from);
    if (fresh.length === 0) return;
    const end = fresh.findIndex(({ entry }) => entry.kind === 'end');
    const news = (end < 0 ? fresh : fresh.slice(0, end + 1)) as Given['entries'];
    const isFirst = r.row.state === 'PENDING';
    const last = news.at(-1)!.entry;
    const step = news.findLast((row) => row.step !== undefined)?.step ?? r.row.current_step;
    r.row.current_step = step;
    await e.o.records.write([
      ...news.map(({ entry, ...more }, i): Op => ({ op: 'entry', run_id, n: r.n + i, entry, ...more })),
      ...news.flatMap(({ entry }): Op[] =>
        entry.kind === 'order' && entry.wish !== undefined ? [{ op: 'granted', run_id, id: entry.wish }] : [],
      ),
      ...(last.kind === 'end'
        ? endOps(r.row, last, e.o.clock.wall())
        : [{ op: 'state' as const, run_id, state: 'RUNNING' as const, current_step: step }]),
    ]);
    r.n += news.length;
    for (const { entry } of news) {
      r.course.take(entry);
      if (entry.kind === 'order' && entry.what === r.wished) r.wished = undefined;
    }
    if (isFirst) {
      r.row.state = 'RUNNING';
      const { scenario_id, user, trace_id, origin } = r.row;
      e.o.tell('scenario.start', { run_id, scenario_id, user, trace_id, origin });
    }
    if (last.kind === 'end') ended(e, r, last, e.o.clock.wall());
  });
}
