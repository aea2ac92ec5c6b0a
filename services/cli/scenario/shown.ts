// How the hub's scenarios, their runs and their week are told.
import type { Answer } from '../../../firmware/protocol/endpoint/endpoint.ts';
import type { Line, Problem, Rehearsed, Run } from '../../../firmware/scenario/answers.ts';
import type { scenariosApi } from '../../../firmware/scenario/api.ts';
import { type Language, translator } from '../../../firmware/text/i18n.ts';
import { scenarioTexts } from '../../../firmware/text/scenario.ts';
import type { AskJson } from '../hub/ask.ts';
import type { Say } from '../say.ts';
import { plain, when } from '../show.ts';
import type { Text } from './text.ts';

type Api = typeof scenariosApi;

/** Jobs that begin so often in a week are told once. */
const OFTEN = 50;

/** Texts of somebody else, for the terminal. */
export const texts = <K extends string>(of: Record<K, string>): Record<K, string> =>
  Object.fromEntries(Object.entries<string>(of).map(([k, v]) => [k, plain(v, 300)])) as Record<K, string>;

function wordsIn(value: unknown, language: Language): string {
  if (typeof value === 'string') return value;
  const all = Object(value) as Record<string, string>;
  return all[language] ?? all['en'] ?? Object.values(all)[0] ?? '';
}

/** In the reader's language, where the hub has told what is needed for that. */
export function problemOf({ code, says, values }: Problem, language: Language): string {
  return values && Object.hasOwn(scenarioTexts.en, code)
    ? translator(scenarioTexts, language)(code as keyof typeof scenarioTexts.en, values)
    : says;
}

const jobsOf = async (ask: AskJson) => (await ask<Answer<Api['jobs']>>('GET', '/api/schedule/list')).jobs;

export async function listed(ask: AskJson, say: Say, t: Text, language: Language): Promise<void> {
  const [{ prototypes }, jobs] = await Promise.all([
    ask<Answer<Api['prototypes']>>('GET', '/api/scenarios/prototypes'),
    jobsOf(ask),
  ]);
  for (const p of prototypes) {
    const times = jobs.flatMap((j) => (j.scenario_id === p.id && j.enabled && j.next_at ? [j.next_at] : []));
    const next_at = times.length > 0 ? Math.min(...times) : null;
    say.event({ ...p, next_at });
    const { id, version } = p;
    const told = texts({ id, version, name: wordsIn(p.name, language), doc: wordsIn(p.doc, language) });
    const more = [
      ...(next_at === null ? [] : [t('next', { when: when(next_at / 1000) })]),
      ...(p.unbound.length > 0 ? [t('needs', { slots: p.unbound.join(', ') })] : []),
    ];
    const mark = t(p.enabled ? 'on' : 'off').padEnd(4);
    say.line([t('scenario', { mark, ...told }), ...more.map((m) => `(${m})`)].join(' '));
    for (const problem of p.problems)
      say.line(t('problem', texts({ pointer: problem.pointer, says: problemOf(problem, language) })));
  }
  if (prototypes.length === 0) say.line(t('none'));
}

function stateOf({ state, instance }: Run, t: Text): string {
  const isOpen = state === 'RUNNING' || state === 'PENDING';
  return t(
    isOpen && (instance === 'paused' || instance === 'stopping') ? `state_${instance}` : `state_${state}`,
  );
}

export function runLine(r: Run, t: Text): string {
  const words = { run_id: r.run_id, id: r.scenario_id, origin: plain(r.origin) };
  return t('run', { ...words, state: stateOf(r, t), when: when(r.started_at / 1000) });
}

/** Local time with its seconds. */
const clockOf = (at: number) => {
  const d = new Date(at);
  return [d.getHours(), d.getMinutes(), d.getSeconds()].map((n) => String(n).padStart(2, '0')).join(':');
};

export function tellRun(run: Run, journal: readonly Line[], say: Say, t: Text): void {
  say.line(runLine(run, t));
  for (const l of journal) {
    const status = (l.status ?? l.kind).toLowerCase().padEnd(8);
    const more = plain(l.error?.message ?? l.what ?? l.by ?? '', 300);
    say.line(
      `  ${t('line', { time: clockOf(l.at), status, step: plain(l.step_name ?? ''), more })}`.trimEnd(),
    );
  }
  const { waits, error } = run;
  if (waits) {
    const locks = Object.keys(waits.locks ?? {}).join(', ');
    say.line(
      t('waits', { what: plain([waits.for, waits.topic ?? waits.node ?? locks].filter(Boolean).join(' ')) }),
    );
  } else if (run.state === 'RUNNING' && run.current_step)
    say.line(t('at', { step: plain(run.current_step) }));
  if (error && run.state !== 'CANCELED') {
    say.line(t('why', { step: plain(error.step ?? '-'), message: plain(error.message, 300) }));
    say.line(t('again', { id: `dead-${run.run_id}` }));
  }
}

/** A step of a rehearsal. */
export function stepLine(s: Rehearsed, t: Text): string {
  const args = s.args === undefined ? '' : ` ${JSON.stringify(s.args)}`;
  const call = `${s.action}${args}`;
  const what = {
    do: call,
    undo: call,
    wait: s.topic ?? `${(s.ms ?? 0) / 1000} s`,
    skip: '',
    end: [s.state, s.error?.message].filter(Boolean).join(', '),
  }[s.does];
  return `${plain(s.step || '-').padEnd(16)} ${t(`step_${s.does}`, { what: plain(what, 300) })}`;
}

export async function weekOf(ask: AskJson, say: Say, t: Text, language: Language): Promise<void> {
  const jobs = (await jobsOf(ask)).filter((j) => j.enabled && j.times.length > 0);
  for (const j of jobs) say.event({ ...j });
  const often = jobs.filter((j) => j.times.length >= OFTEN);
  for (const { job_id, scenario_id: id, times } of often) {
    const minutes = Math.round((times[1]! - times[0]!) / 60_000);
    say.line(t('often', { minutes, when: when(times[0]! / 1000), id, job_id }));
  }
  const all = jobs
    .filter((j) => !often.includes(j))
    .flatMap((j) => j.times.map((at) => ({ at, j })))
    .sort((a, b) => a.at - b.at);
  const dayOf = (at: number) =>
    new Intl.DateTimeFormat(language, { weekday: 'long', day: 'numeric', month: 'long' }).format(at);
  for (const [i, { at, j }] of all.entries()) {
    if (i === 0 || dayOf(all[i - 1]!.at) !== dayOf(at)) say.line(dayOf(at));
    say.line(t('fires', { time: clockOf(at).slice(0, 5), id: j.scenario_id, job_id: j.job_id }));
  }
  if (jobs.length === 0) say.line(t('weekNone'));
}
