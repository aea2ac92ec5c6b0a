// What the page of scenarios asks of the hub, and what it is told.
import type { Answer } from '../firmware/protocol/endpoint/endpoint.ts';
import type { PersonRole } from '../firmware/protocol/roles.ts';
import type { skillsApi } from '../firmware/skills/api.ts';
import { translator, type Values } from '../firmware/text/i18n.ts';
import { spaScenariosTexts } from '../firmware/text/spa-scenarios.ts';
import { reached } from './current.ts';
import { app } from './store.ts';

/** A text, or one for each language. */
export type Localizable = string | Record<string, string>;

type Trigger =
  | { type: 'time'; cron: string; zone?: string }
  | { type: 'intent'; name: string }
  | { type: 'event'; topic: string };

export interface Scenario {
  id: string;
  version: string;
  name: Localizable;
  doc?: Localizable;
  icon?: string;
  roles?: PersonRole[];
  params?: Record<string, unknown>;
  paramDocs?: Record<string, Localizable>;
  slots?: Record<string, { cap: string; optional?: boolean; title?: Localizable }>;
  triggers?: Trigger[];
  io?: { input?: string[]; output?: string[]; settings?: Record<string, unknown> };
  multiUser: boolean;
  policy: 'single' | 'queue' | 'replace' | 'beside';
  enabled: boolean;
  /** Slots that must have a skill before it runs. */
  unbound: string[];
  /** Slots of which nobody has said anything, with the only skill that fits each. */
  chosen: Record<string, string>;
  /** Secrets and devices that its steps name, and whether the hub keeps one. */
  secrets: Record<string, boolean>;
  devices: Record<string, boolean>;
  /** Sentences that begin it, by language. */
  says?: Record<string, string[]>;
  problems: { pointer: string; code: string; says: string; values?: Values; repaired: boolean }[];
}

/** A version that is on the hub, and what its use would make of what people changed. */
export interface Version {
  version: string;
  used: boolean;
  publisher: string;
  /** Unix milliseconds; 0 for one of the image. */
  installed_at: number;
  changes: { user: string; name: string | null; problems: Scenario['problems'] }[];
}

export interface Failure {
  code: string;
  message: string;
  step?: string;
}

export interface Run {
  run_id: string;
  scenario_id: string;
  user: string;
  state: 'PENDING' | 'RUNNING' | 'DONE' | 'FAILED' | 'CANCELED' | 'TIMEOUT';
  instance: 'running' | 'paused' | 'stopping' | 'stopped' | 'failed';
  current_step: string | null;
  started_at: number;
  finished_at: number | null;
  error: Failure | null;
  origin: string;
  waits: {
    for: 'place' | 'locks' | 'time' | 'retry' | 'event' | 'order' | 'node';
    locks?: Record<string, string>;
    topic?: string;
  } | null;
}

export interface Line {
  n: number;
  at: number;
  step_name: string | null;
  status: string | null;
  latency_ms: number | null;
  kind: 'begun' | 'done' | 'error' | 'asleep' | 'holding' | 'woke' | 'order' | 'end';
  error?: Failure;
  again?: number;
  due?: number;
  by?: 'time' | 'event' | 'timeout';
  what?: 'pause' | 'resume' | 'stop' | 'timeout';
}

export interface Job {
  job_id: string;
  scenario_id: string;
  user: string;
  cron: string | null;
  enabled: boolean;
  next_at: number | null;
  times: number[];
  origin: string;
}

export interface Letter {
  id: string;
  run_id: string;
  scenario_id: string;
  user: string;
  at: number;
  step: string | null;
  error: Failure;
  replayed_by: string | null;
  /** It may go on from the step it failed in. */
  from_step: boolean;
}

/** A step of an effective scenario, as far as it is shown. */
export interface Step {
  id?: string;
  name?: string;
  do?: string | Step[];
  call?: string;
  slot?: string;
  method?: string;
  text?: Localizable;
  steps?: Step[];
}

export interface Changed {
  rev: number;
  implementation: {
    params?: Record<string, unknown>;
    io?: Scenario['io'];
    rewrite?: { action: string; match: { id: string }; set?: unknown; ref?: string }[];
    bindings?: {
      slots?: Record<string, { skill: string | null }>;
      /** By name, never what they are. */
      secrets?: Record<string, object>;
      devices?: Record<string, object>;
    };
  };
  effective: { params?: Record<string, unknown>; io?: Scenario['io']; steps: Step[] };
  /** Steps of the prototype that were left out; an older hub does not tell them. */
  left_out?: Step[];
  problems: Scenario['problems'];
  readme: string;
  /** By language; an older hub tells the one above alone. */
  readmes?: Record<string, string>;
}

export interface Rehearsed {
  step: string;
  does: 'do' | 'undo' | 'wait' | 'skip' | 'end';
  action?: string;
  args?: Record<string, unknown>;
  slot?: string;
  ms?: number;
  topic?: string;
  timeout?: number;
  state?: string;
  error?: Failure;
}

export type Action = Answer<typeof skillsApi.actions>['actions'][number];

/** What a sentence means, and what began with it. */
export interface Meant {
  /** Of what was spoken: somebody was there. */
  heard?: boolean;
  intent: string;
  scenario_id: string;
  run_id: string;
}

/** Phrases that nothing understood, the last one last, and those that were taught. */
export interface Phrases {
  unmatched: { phrase: string; count: number; at: number }[];
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
      get<{ prototypes: Scenario[] }>('/api/scenarios/prototypes'),
      get<{ runs: Run[] }>('/api/scenario/runs'),
      isHousehold() ? get<{ jobs: Job[] }>('/api/schedule/list') : { jobs: [] },
      isManager() ? get<{ letters: Letter[] }>('/api/scenarios/dead-letters') : { letters: [] },
    ]);
    return { scenarios: prototypes, runs, jobs, letters };
  },
  changed: (id: string) => get<Changed>(`/api/scenarios/impl/me/${dotted(id)}`),
  change: (id: string, what: object) =>
    reached().request<Changed>('PATCH', `/api/scenarios/impl/me/${dotted(id)}`, what),
  versions: async (id: string) =>
    (await get<{ versions: Version[] }>(`/api/scenarios/versions/${dotted(id)}`)).versions,
  use: (id: string, version: string) => post('/api/scenarios/prototypes/install', { id, version }),
  uninstall: (id: string) => post('/api/scenarios/uninstall', { id }),
  actions: async () => (await get<{ actions: Action[] }>('/api/skills/actions')).actions,
  start: async (id: string) => (await post<{ run_id: string }>('/api/scenario/run', { id })).run_id,
  rehearse: async (id: string) =>
    (await post<{ steps: Rehearsed[] }>(`/api/scenarios/${dotted(id)}/rehearse`)).steps,
  run: (run_id: string) =>
    get<{ run: Run; journal: Line[] }>(`/api/scenario/status?run_id=${encodeURIComponent(run_id)}`),
  order: (run_id: string, what: 'stop' | 'pause' | 'resume' | 'happened') =>
    post(`/api/scenarios/instances/${encodeURIComponent(run_id)}/${what}`),
  replay: async (id: string, from: 'start' | 'step') =>
    (await post<{ run_id: string }>(`/api/scenarios/dead-letters/${id}/replay`, { from })).run_id,
  discard: (id: string) => reached().request('DELETE', `/api/scenarios/dead-letters/${id}`),
  plan: (job: object) => post('/api/schedule/create', job),
  /** Whoever writes reads the answer. */
  understand: (text: string) => post<Meant>('/api/intent/recognize', { text, out: ['phone'] }),
  listen: () => post<Meant & { text: string }>('/api/voice/wake', { lang: app().language }),
  hush: () => post('/api/voice/stop'),
  waking: async () =>
    (await get<{ waking: { on: boolean; phrase: string; trouble: string } }>('/api/voice')).waking,
  async phrases(): Promise<Phrases> {
    const { unmatched, rules, bindings } = await get<{
      unmatched: Phrases['unmatched'];
      rules: { intent: string; pattern?: string }[];
      bindings: Record<string, string>;
    }>('/api/intent/rules');
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
