// `ingle scenario …`: scenarios of the hub over its local API, and those of an author as files.
import { basename } from 'node:path';
import type { Answer } from '../../../firmware/protocol/endpoint/endpoint.ts';
import { IngleError } from '../../../firmware/protocol/errors.ts';
import type { Changed } from '../../../firmware/scenario/answers.ts';
import type { scenariosApi } from '../../../firmware/scenario/api.ts';
import type { Language } from '../../../firmware/text/i18n.ts';
import type { Command } from '../args.ts';
import { type AskJson, type At, jsonAsker } from '../hub/ask.ts';
import type { Say } from '../say.ts';
import { plain, when } from '../show.ts';
import { checkFile, newFolder, packageOf, packFolder } from './file.ts';
import { ctxOf, paramOf, scenarioId, timeOf } from './given.ts';
import { dotted, type Given, type On } from './on.ts';
import { listed, runLine, stepLine, tellRun, texts, weekOf } from './shown.ts';
import { scenarioTextOf, type Text } from './text.ts';
import { remove, rollBack, toldVersions, update, use } from './versions.ts';

export type ScenarioCommand = Extract<Command, `scenario ${string}`>;

type Api = typeof scenariosApi;
type Work = (on: On, first: string, second: string) => Promise<void>;

/** A segment of a path, which may not lead to another. */
function segment(id: string): string {
  if (!/^[A-Za-z0-9_.-]{1,160}$/.test(id) || /^\.{1,2}$/.test(id))
    throw new IngleError('not_found', `There is no "${plain(id)}".`);
  return id;
}

const implPath = (id: string, t: Text) => `/api/scenarios/impl/me/${dotted(id, t)}`;

const order =
  (what: 'stop' | 'kill' | 'pause' | 'resume'): Work =>
  async ({ ask, say, t }, run) => {
    await ask('POST', `/api/scenarios/instances/${segment(run)}/${what}`, {});
    say.event({ run_id: run, order: what });
    say.line(t(`order_${what}`));
  };

const turn =
  (enabled: boolean): Work =>
  async ({ ask, say, t }, given) => {
    const id = scenarioId(given, t);
    await ask('PATCH', implPath(id, t), { enabled });
    say.event({ id, enabled });
    say.line(t(enabled ? 'turned_on' : 'turned_off', { id }));
  };

async function set({ ask, say, t }: On, given: string, pair: string): Promise<void> {
  const id = scenarioId(given, t);
  const [, param, text] = /^([A-Za-z][A-Za-z0-9_-]*)=(.*)$/s.exec(pair) ?? [];
  if (param === undefined) throw new IngleError('invalid_request', t('badSet'));
  const now = await ask<Changed>('GET', implPath(id, t));
  const params = now.effective.params ?? {};
  if (!Object.hasOwn(params, param)) {
    const names = Object.keys(params).join(', ') || t('nothing');
    throw new IngleError('not_found', t('badParam', { id, param, params: names }));
  }
  const value = paramOf(param, text!, params[param], t);
  const { rev, implementation } = now;
  await ask('PATCH', implPath(id, t), { rev, params: { ...implementation.params, [param]: value } });
  say.event({ id, param, value });
  say.line(t('set', { id, param, value: plain(JSON.stringify(value), 300) }));
}

async function plan({ ask, say, t, given: { values } }: On, id: string): Promise<void> {
  const { cron, at, zone } = values;
  if ((cron === undefined) === (at === undefined)) throw new IngleError('invalid_request', t('planOne'));
  const job = {
    scenario_id: scenarioId(id, t),
    ...(cron === undefined ? { at: timeOf(at!, Date.now(), t) } : { cron }),
    ...(zone === undefined ? {} : { zone }),
  };
  const { job_id } = await ask<Answer<Api['createJob']>>('POST', '/api/schedule/create', job);
  say.event({ job_id });
  say.line(t('planned', { job_id }));
}

async function dead({ ask, say, t }: On): Promise<void> {
  const { letters } = await ask<Answer<Api['deadLetters']>>('GET', '/api/scenarios/dead-letters');
  for (const l of letters) {
    say.event({ ...l });
    const words = { id: l.id, scenario_id: l.scenario_id, when: when(l.at / 1000) };
    const { message } = l.error;
    say.line(
      l.replayed_by
        ? t('letterDone', { ...words, run_id: l.replayed_by })
        : t('letter', { ...words, step: l.step ?? '-', message: plain(message, 300) }),
    );
  }
  if (letters.length === 0) say.line(t('letterNone'));
}

async function recognize({ ask, say, t }: On, text: string): Promise<void> {
  const found = await ask<Answer<Api['recognize']>>('POST', '/api/intent/recognize', { text });
  if (found.intent === '') throw new IngleError('not_found', t('notUnderstood', { text: plain(text) }));
  say.event({ ...found });
  say.line(t('understood', { intent: found.intent }));
  for (const [name, value] of Object.entries(found.slots))
    say.line(t('slot', { name, value: plain(JSON.stringify(value), 300) }));
  say.line(
    found.run_id === ''
      ? t('saidNothing')
      : t('saidStarted', { id: found.scenario_id, run_id: found.run_id }),
  );
}

async function runs({ ask, say, t }: On, id: string): Promise<void> {
  const of = id === '' ? '' : `?scenario_id=${encodeURIComponent(scenarioId(id, t))}`;
  const { runs: all } = await ask<Answer<Api['runs']>>('GET', `/api/scenario/runs${of}`);
  for (const run of all) {
    say.event({ ...run });
    say.line(runLine(run, t));
  }
  if (all.length === 0) say.line(t('runNone'));
}

async function replay({ ask, say, t, given: { values } }: On, id: string): Promise<void> {
  const { from = 'start' } = values;
  if (from !== 'start' && from !== 'step') throw new IngleError('invalid_request', t('badFrom'));
  const { run_id } = await ask<Answer<Api['replay']>>(
    'POST',
    `/api/scenarios/dead-letters/${segment(id)}/replay`,
    { from },
  );
  say.event({ run_id });
  say.line(t('replayed', { run_id }));
}

const work: Record<ScenarioCommand, Work> = {
  'scenario list': ({ ask, say, t, language }) => listed(ask, say, t, language),
  async 'scenario run'({ ask, say, t, given: { lists } }, id) {
    const body = { id: scenarioId(id, t), ctx: ctxOf(lists['ctx'] ?? [], t) };
    const { run_id } = await ask<Answer<Api['start']>>('POST', '/api/scenario/run', body);
    say.event({ run_id });
    say.line(t('started', { run_id }));
  },
  async 'scenario status'({ ask, say, t }, id) {
    const path = `/api/scenario/status?run_id=${segment(id)}`;
    const { run, journal } = await ask<Answer<Api['status']>>('GET', path);
    say.event({ run, journal });
    tellRun(run, journal, say, t);
  },
  'scenario runs': runs,
  'scenario stop': order('stop'),
  'scenario kill': order('kill'),
  'scenario pause': order('pause'),
  'scenario resume': order('resume'),
  'scenario on': turn(true),
  'scenario off': turn(false),
  'scenario set': set,
  async 'scenario rehearse'({ ask, say, t, given: { lists } }, id) {
    const path = `/api/scenarios/${dotted(id, t)}/rehearse`;
    const { steps } = await ask<Answer<Api['rehearse']>>('POST', path, {
      ctx: ctxOf(lists['ctx'] ?? [], t),
    });
    for (const step of steps) {
      say.event(step);
      say.line(stepLine(step, t));
    }
  },
  'scenario week': ({ ask, say, t, language }) => weekOf(ask, say, t, language),
  'scenario plan': plan,
  async 'scenario unplan'({ ask, say, t }, job_id) {
    await ask('POST', '/api/schedule/delete', { job_id: segment(job_id) });
    say.event({ unplanned: job_id });
    say.line(t('unplanned'));
  },
  'scenario dead': dead,
  'scenario replay': replay,
  async 'scenario discard'({ ask, say, t }, id) {
    await ask('DELETE', `/api/scenarios/dead-letters/${segment(id)}`);
    say.event({ discarded: id });
    say.line(t('discarded'));
  },
  'scenario say': recognize,
  'scenario check': ({ say, t, language }, file) => checkFile(file, { say, t, language }),
  'scenario new': ({ say, t, language, given: { values } }, folder) =>
    newFolder(
      folder,
      { id: scenarioId(values['id'] ?? `my/${basename(folder)}`, t), from: values['from'] },
      { say, t, language },
    ),
  'scenario pack': ({ say, t, language, given: { values } }, folder) =>
    packFolder(folder, { key: values['key'], out: values['out'] }, { say, t, language }),
  async 'scenario install'({ ask, say, t }, file) {
    const sent = packageOf(file, { t });
    const { id, version } = await ask<Answer<Api['install']>>('POST', '/api/scenarios/install', sent);
    say.event({ id, version });
    say.line(t('installed', texts({ id, version })));
  },
  'scenario versions': toldVersions,
  'scenario use': (on, id, version) => use(on, scenarioId(id, on.t), version),
  'scenario rollback': rollBack,
  'scenario update': update,
  'scenario remove': remove,
};

/** Commands that need no hub. */
const alone: readonly ScenarioCommand[] = ['scenario check', 'scenario new', 'scenario pack'];

/** @param here finds the hub @throws IngleError what the hub said, `unavailable` where none answers */
export async function scenario(
  command: ScenarioCommand,
  given: Given,
  here: () => Promise<At>,
  say: Say,
  language: Language,
): Promise<void> {
  const [first = '', second = ''] = given.arguments;
  const t = scenarioTextOf(language);
  const nobody: AskJson = () => Promise.reject(new IngleError('internal', 'This asks nobody.'));
  const ask = alone.includes(command) ? nobody : jsonAsker(await here(), say);
  try {
    await work[command]({ ask, say, t, language, given }, first, second);
  } catch (e) {
    if (!(e instanceof IngleError)) throw e;
    // What a file or a package says may not drive the terminal.
    const lines = e.message.split('\n').map((line) => plain(line, 2000));
    throw new IngleError(e.code, lines.slice(0, 45).join('\n'), e.details);
  }
}
