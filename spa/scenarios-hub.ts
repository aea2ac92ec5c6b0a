// What the page of scenarios asks of the hub, and what it is told.
import type { Answer } from '../firmware/protocol/endpoint/endpoint.ts';
import type { scenariosApi } from '../firmware/scenario/api.ts';
import type { skillsApi } from '../firmware/skills/api.ts';
import { translator } from '../firmware/text/i18n.ts';
import { spaScenariosTexts } from '../firmware/text/spa-scenarios.ts';
import { reached } from './current.ts';
import { app } from './store.ts';

type Api = typeof scenariosApi;
export type Scenario = Answer<Api['prototypes']>['prototypes'][number];
/** A version that is on the hub, and what its use would make of what people changed. */
export type Version = Answer<Api['versions']>['versions'][number];
export type Changed = Answer<Api['implementation']>;
export type Run = Answer<Api['runs']>['runs'][number];
export type Line = Answer<Api['status']>['journal'][number];
export type Job = Answer<Api['jobs']>['jobs'][number];
export type Letter = Answer<Api['deadLetters']>['letters'][number];
export type Rehearsed = Answer<Api['rehearse']>['steps'][number];
type Rules = Answer<Api['rules']>;
export type Failure = Letter['error'];
/** A text, or one for each language. */
export type Localizable = Scenario['name'];
/** A step of an effective scenario. */
export type Step = Changed['effective']['steps'][number];

export type Action = Answer<typeof skillsApi.actions>['actions'][number];

/** What a sentence means, and what began with it. `heard`, of what was spoken: somebody was there. */
export type Meant = Omit<Answer<Api['recognize']>, 'slots'> & Partial<Pick<Answer<Api['wake']>, 'heard'>>;

/** Phrases that nothing understood, the last one last, and those that were taught. */
export interface Phrases extends Pick<Rules, 'unmatched'> {
  taught: { phrase: string; scenario_id: string }[];
}

/** What the page shows beside one scenario or run. `letters` are those of the owner's and admins. */
export interface Known {
  scenarios: Scenario[];
  runs: Run[];
  jobs: Job[];
  letters: Letter[];
}

export const isManager = () => [null, 'owner', 'admin'].includes(app().role);
export const isOwner = () => [null, 'owner'].includes(app().role);
/** Guests are asked nothing of settings, plans and what others do. */
export const isHousehold = () => app().role !== 'guest';

const get = <R>(path: string) => reached().request<R>('GET', path);
const post = <R>(path: string, body: object = {}) => reached().request<R>('POST', path, body);
const dotted = (id: string) => id.replace('/', '.');

/** The hub's orders. @throws IngleError what it answered, `unavailable` when it is not reached */
export const hub = {
  async known(): Promise<Known> {
    const [{ prototypes }, { runs }, { jobs }, { letters }] = await Promise.all([
      get<Answer<Api['prototypes']>>('/api/scenarios/prototypes'),
      get<Answer<Api['runs']>>('/api/scenario/runs'),
      isHousehold() ? get<Answer<Api['jobs']>>('/api/schedule/list') : { jobs: [] },
      isManager() ? get<Answer<Api['deadLetters']>>('/api/scenarios/dead-letters') : { letters: [] },
    ]);
    return { scenarios: prototypes, runs, jobs, letters };
  },
  changed: (id: string) => get<Changed>(`/api/scenarios/impl/me/${dotted(id)}`),
  change: (id: string, what: object) =>
    reached().request<Changed>('PATCH', `/api/scenarios/impl/me/${dotted(id)}`, what),
  versions: async (id: string) =>
    (await get<Answer<Api['versions']>>(`/api/scenarios/versions/${dotted(id)}`)).versions,
  use: (id: string, version: string) => post('/api/scenarios/prototypes/install', { id, version }),
  uninstall: (id: string) => post('/api/scenarios/uninstall', { id }),
  actions: async () => (await get<Answer<typeof skillsApi.actions>>('/api/skills/actions')).actions,
  start: async (id: string) => (await post<Answer<Api['start']>>('/api/scenario/run', { id })).run_id,
  rehearse: async (id: string) =>
    (await post<Answer<Api['rehearse']>>(`/api/scenarios/${dotted(id)}/rehearse`)).steps,
  run: (run_id: string) =>
    get<Answer<Api['status']>>(`/api/scenario/status?run_id=${encodeURIComponent(run_id)}`),
  order: (run_id: string, what: 'stop' | 'pause' | 'resume' | 'happened') =>
    post(`/api/scenarios/instances/${encodeURIComponent(run_id)}/${what}`),
  replay: async (id: string, from: 'start' | 'step') =>
    (await post<Answer<Api['replay']>>(`/api/scenarios/dead-letters/${id}/replay`, { from })).run_id,
  discard: (id: string) => reached().request('DELETE', `/api/scenarios/dead-letters/${id}`),
  plan: (job: object) => post('/api/schedule/create', job),
  /** Whoever writes reads the answer. */
  understand: (text: string) => post<Meant>('/api/intent/recognize', { text, out: ['phone'] }),
  listen: () => post<Answer<Api['wake']>>('/api/voice/wake', { lang: app().language }),
  hush: () => post('/api/voice/stop'),
  waking: async () => (await get<Answer<Api['voice']>>('/api/voice')).waking,
  async phrases(): Promise<Phrases> {
    const { unmatched, rules, bindings } = await get<Rules>('/api/intent/rules');
    const taught = rules.flatMap(({ intent, pattern = '' }) =>
      intent.startsWith('taught.') ? [{ phrase: pattern, scenario_id: bindings[intent] ?? '' }] : [],
    );
    return { unmatched, taught };
  },
  teach: (phrase: string, scenario_id: string) => post('/api/intent/teach', { phrase, scenario_id }),
  forget: (phrase: string) => post('/api/intent/forget', { phrase }),
  unplan: (job_id: string) => post('/api/schedule/delete', { job_id }),
};

export type Key = keyof (typeof spaScenariosTexts)['en'];
export const say = (key: Key, values?: Record<string, string | number>) =>
  translator(spaScenariosTexts, app().language)(key, values);
