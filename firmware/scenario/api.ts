// The local API of scenarios: prototypes and what people change of them, instances and runs, the schedule, what is said.
import * as T from 'typebox';
import { SAYS } from '../protocol/endpoint/check.ts';
import { ok } from '../system/api.ts';
import { localArea } from '../system/local-api.ts';
import { changed, failure, job, letter, line, listed, offered, rehearsed, rules, run } from './answers.ts';
import { reportSchema } from './errand.ts';

const closed = { additionalProperties: false };
/** In a path a dot stands for the slash of an id. */
const pathId = T.String({
  pattern: '^(?:[a-z][a-z0-9_-]{0,31}\\.)?[a-z][a-z0-9_-]{0,47}$',
  description: 'The id of a scenario, with a dot for its slash: home.good_night.',
});
const scenarioId = T.String({
  pattern: '^(?:[a-z][a-z0-9_-]{0,31}[/.])?[a-z][a-z0-9_-]{0,47}$',
  [SAYS]: { pattern: 'must be the id of a scenario, as home/good_night' },
});
const runId = T.String({
  pattern: '^[A-Za-z0-9_.-]{1,128}$',
  description: 'The id of a run; its instance has the same.',
});
const user = T.String({ pattern: '^[A-Za-z0-9_-]{1,64}$', description: 'A person; "me" is who asks.' });
const anyObject = (description: string) => T.Unsafe<Record<string, unknown>>({ type: 'object', description });
const priority = T.Enum(['LOW', 'NORM', 'HIGH']);
const version = T.String({ minLength: 1, maxLength: 64, pattern: '^[0-9A-Za-z.+-]+$' });

const ioOverride = T.Object(
  {
    in: T.Optional(T.Array(T.String({ maxLength: 20 }), { maxItems: 8 })),
    out: T.Optional(T.Array(T.String({ maxLength: 20 }), { maxItems: 8 })),
    fallback: T.Optional(T.Array(T.String({ maxLength: 20 }), { maxItems: 8 })),
  },
  closed,
);
const starting = ['not_found', 'forbidden', 'conflict', 'not_supported', 'timeout'] as const;

const phrase = T.String({ minLength: 1, maxLength: 500, description: 'As `unmatched` or a rule has it.' });

const spokenLanguage = T.Union([T.Literal('en'), T.Literal('ru')], {
  description: "Left out: the hub's own.",
});

export const scenariosApi = localArea({
  prototypes: {
    method: 'GET',
    path: '/api/scenarios/prototypes',
    who: 'token',
    doc: 'The scenarios that the caller may start, with their versions, parameters, slots and triggers.',
    answer: T.Object({ prototypes: T.Array(listed) }),
    errors: ['timeout'],
  },
  use: {
    method: 'POST',
    path: '/api/scenarios/prototypes/install',
    who: 'owner',
    doc: 'Uses a version of a prototype that is on the hub; what people changed is carried over.',
    body: T.Object({ id: scenarioId, version }, closed),
    answer: T.Object({ id: T.String(), version: T.String() }),
    errors: ['not_found', 'forbidden', 'timeout'],
  },
  versions: {
    method: 'GET',
    path: '/api/scenarios/versions/{id}',
    who: 'owner',
    doc: 'The versions of a scenario that are on the hub, the newest last, and what the use of each would make of what people changed.',
    params: { id: pathId },
    answer: T.Object({ versions: T.Array(offered) }),
    errors: ['not_found', 'forbidden', 'timeout'],
  },
  install: {
    method: 'POST',
    path: '/api/scenarios/install',
    who: 'elevated',
    doc: 'Takes a signed package of a prototype (its bytes are the body) and uses it.',
    body: 'raw',
    maxBody: 1024 * 1024,
    answer: T.Object({ id: T.String(), version: T.String() }),
    errors: ['assertion_required', 'forbidden', 'conflict', 'too_large', 'not_supported', 'timeout'],
  },
  push: {
    method: 'POST',
    path: '/api/scenarios/push',
    who: 'elevated',
    doc: 'Takes a draft of a prototype without a signature, in developer mode only.',
    body: T.Object(
      {
        prototype: anyObject('The prototype.'),
        readme: T.Optional(T.String({ maxLength: 20_000, description: 'The English one.' })),
      },
      closed,
    ),
    answer: T.Object({ id: T.String(), version: T.String() }),
    errors: ['assertion_required', 'forbidden', 'conflict', 'timeout'],
  },
  sync: {
    method: 'POST',
    path: '/api/scenarios/sync',
    who: 'owner',
    doc: 'Uses the newest version of every prototype that is on the hub.',
    answer: T.Object({ updated: T.Array(T.Object({ id: T.String(), version: T.String() })) }),
    errors: ['forbidden', 'timeout'],
  },
  uninstall: {
    method: 'POST',
    path: '/api/scenarios/uninstall',
    who: 'elevated',
    doc: 'Takes an installed prototype away; one of the image stays.',
    body: T.Object({ id: scenarioId }, closed),
    answer: ok,
    errors: ['assertion_required', 'forbidden', 'not_found', 'timeout'],
  },
  implementation: {
    method: 'GET',
    path: '/api/scenarios/impl/{user}/{id}',
    who: 'household',
    doc: 'What somebody changed of a scenario, and the scenario that comes of it.',
    params: { user, id: pathId },
    answer: changed,
    errors: ['forbidden', 'not_found', 'timeout'],
  },
  change: {
    method: 'PATCH',
    path: '/api/scenarios/impl/{user}/{id}',
    who: 'household',
    doc: 'Changes an implementation: the members that are sent take the place of those before. Only drop, move_before, move_after, param.set, io.set and cap.narrow are rewrites.',
    params: { user, id: pathId },
    body: T.Object(
      {
        rev: T.Optional(
          T.Integer({ minimum: 0, description: 'The one that was looked at; another one is a conflict.' }),
        ),
        params: T.Optional(anyObject('Values of parameters.')),
        io: T.Optional(anyObject('Settings.')),
        bindings: T.Optional(
          anyObject(
            'Skills of slots (`{skill}`; null: none), devices (`{device_id}`) and secrets (`{value}`). Answers name devices and secrets as `{}`, and one that is sent like that stays as it is.',
          ),
        ),
        hosts: T.Optional(
          T.Array(T.String(), { maxItems: 16, description: 'Some of the hosts of the prototype.' }),
        ),
        rewrite: T.Optional(T.Array(anyObject('A rewrite.'), { maxItems: 200 })),
        enabled: T.Optional(T.Boolean({ description: 'Whether its triggers start it.' })),
      },
      closed,
    ),
    answer: changed,
    errors: ['forbidden', 'not_found', 'conflict', 'timeout'],
    command: true,
  },
  errands: {
    method: 'POST',
    path: '/api/subnet/runs',
    who: 'member',
    doc: 'A member says what it has done of scenarios it runs for the hub that leads, and learns what there is to do.',
    body: reportSchema,
    maxBody: 512 * 1024,
    answer: T.Object({ runs: T.Array(T.Object({}, { additionalProperties: true })), more: T.Boolean() }),
    safe: true,
    errors: ['forbidden', 'unavailable'],
  },
  run: {
    method: 'POST',
    path: '/api/scenarios/{id}/run',
    who: 'token',
    doc: 'Starts a scenario for a person.',
    params: { id: pathId },
    body: T.Object({ user: T.Optional(user), ioOverride: T.Optional(ioOverride) }, closed),
    answer: T.Object({ instance_id: T.String() }),
    errors: starting,
    command: true,
  },
  rehearse: {
    method: 'POST',
    path: '/api/scenarios/{id}/rehearse',
    who: 'token',
    doc: 'What a start would do, step by step, without doing it.',
    params: { id: pathId },
    body: T.Object({ ctx: T.Optional(anyObject('What the run would be given.')) }, closed),
    answer: T.Object({ steps: T.Array(rehearsed) }),
    errors: starting,
    safe: true,
  },
  instances: {
    method: 'GET',
    path: '/api/scenarios/instances',
    who: 'token',
    doc: 'Active and recent instances of the caller; for the owner and admins of everybody.',
    answer: T.Object({
      instances: T.Array(run),
      metrics: anyObject('Counts since the start, and what is open.'),
    }),
    errors: ['timeout'],
  },
  stop: order('stop', 'Ends an instance in order: what it did is undone.'),
  kill: order('kill', 'Ends an instance at once; nothing is undone.'),
  pause: order('pause', 'Lets an instance begin nothing new; its waits go on.'),
  resume: order('resume', 'Lets a paused instance go on.'),
  happened: order(
    'happened',
    'Tells an instance that waits for an event from outside that it has happened; no other hears it.',
  ),
  stopByActivity: {
    method: 'POST',
    path: '/api/scenarios/instances/stopByActivity',
    who: 'household',
    doc: 'Stops the instances that have begun an activity.',
    body: T.Object({ activity: T.String({ minLength: 1, maxLength: 100 }) }, closed),
    answer: T.Object({ stopped: T.Array(T.String()) }),
    errors: ['forbidden', 'timeout'],
    command: true,
  },
  deadLetters: {
    method: 'GET',
    path: '/api/scenarios/dead-letters',
    who: 'household',
    doc: 'Runs that failed, the newest first.',
    answer: T.Object({ letters: T.Array(letter) }),
    errors: ['forbidden', 'timeout'],
  },
  replay: {
    method: 'POST',
    path: '/api/scenarios/dead-letters/{id}/replay',
    who: 'household',
    doc: 'Runs a dead letter anew: from its start, or from the step that failed where nothing was undone.',
    params: { id: runId },
    body: T.Object({ from: T.Optional(T.Enum(['start', 'step'])) }, closed),
    answer: T.Object({ run_id: T.String() }),
    errors: ['forbidden', 'not_found', 'conflict', 'timeout'],
    command: true,
  },
  discard: {
    method: 'DELETE',
    path: '/api/scenarios/dead-letters/{id}',
    who: 'household',
    doc: 'Forgets a dead letter.',
    params: { id: runId },
    answer: ok,
    errors: ['forbidden', 'not_found', 'timeout'],
    command: true,
  },
  start: {
    method: 'POST',
    path: '/api/scenario/run',
    who: 'token',
    doc: 'Starts a scenario with a context and a priority; force takes the place of one that goes on.',
    body: T.Object(
      {
        id: scenarioId,
        ctx: T.Optional(anyObject('What the run is given: ${ctx.x}.')),
        priority: T.Optional(priority),
        force: T.Optional(T.Boolean()),
      },
      closed,
    ),
    answer: T.Object({ run_id: T.String() }),
    errors: starting,
    command: true,
  },
  status: {
    method: 'GET',
    path: '/api/scenario/status',
    who: 'token',
    doc: 'How a run stands, and its journal.',
    query: { run_id: runId },
    answer: T.Object({
      state: run.properties.state,
      scenario_id: T.String(),
      current_step: run.properties.current_step,
      started_at: run.properties.started_at,
      finished_at: run.properties.finished_at,
      error: T.Optional(failure),
      run,
      journal: T.Array(line),
    }),
    errors: ['not_found', 'timeout'],
  },
  cancel: {
    method: 'POST',
    path: '/api/scenario/cancel',
    who: 'token',
    doc: 'Ends a run in order: what it did is undone.',
    body: T.Object({ run_id: runId }, closed),
    answer: ok,
    errors: ['not_found', 'conflict', 'timeout'],
    command: true,
  },
  runs: {
    method: 'GET',
    path: '/api/scenario/runs',
    who: 'token',
    doc: 'Recent runs, of one scenario where it is named.',
    query: { scenario_id: scenarioId },
    answer: T.Object({ runs: T.Array(run) }),
    errors: ['timeout'],
  },
  createJob: {
    method: 'POST',
    path: '/api/schedule/create',
    who: 'household',
    doc: 'Plans a scenario: by a cron expression, or for one time.',
    body: T.Object(
      {
        scenario_id: scenarioId,
        cron: T.Optional(T.String({ minLength: 1, maxLength: 100 })),
        at: T.Optional(T.String({ minLength: 1, maxLength: 40, description: 'ISO 8601, with its zone.' })),
        zone: T.Optional(
          T.String({ minLength: 1, maxLength: 64, description: 'Of the IANA, as Europe/Berlin.' }),
        ),
        ctx: T.Optional(anyObject('What the run is given.')),
        missed: T.Optional(T.Enum(['skip', 'once', 'all'])),
        grace_ms: T.Optional(T.Integer({ minimum: 0, maximum: 366 * 86_400_000 })),
      },
      closed,
    ),
    answer: T.Object({ job_id: T.String() }),
    errors: starting,
    command: true,
  },
  deleteJob: {
    method: 'POST',
    path: '/api/schedule/delete',
    who: 'household',
    doc: 'Takes a job away.',
    body: T.Object({ job_id: T.String({ pattern: '^[A-Za-z0-9_.-]{1,160}$' }) }, closed),
    answer: ok,
    errors: ['not_found', 'timeout'],
    command: true,
  },
  jobs: {
    method: 'GET',
    path: '/api/schedule/list',
    who: 'household',
    doc: 'Jobs, and when each fires in the next week.',
    answer: T.Object({ jobs: T.Array(job) }),
    errors: ['timeout'],
  },
  recognize: {
    method: 'POST',
    path: '/api/intent/recognize',
    who: 'token',
    doc: 'What a text means; the scenario of the intent is started with the slots in its ctx.',
    body: T.Object(
      {
        text: T.String({ minLength: 1, maxLength: 500 }),
        ctx: T.Optional(anyObject('What the run is given besides the slots.')),
        start: T.Optional(T.Boolean({ description: 'False: tell the meaning and start nothing.' })),
        out: T.Optional(
          T.Array(T.Enum(['voice', 'text', 'phone', 'console']), {
            maxItems: 4,
            uniqueItems: true,
            description: 'Where the scenario answers; left out: where it would by itself.',
          }),
        ),
      },
      closed,
    ),
    answer: T.Object({
      intent: T.String({ description: 'Empty where nothing matches.' }),
      slots: anyObject('What was said in their places.'),
      scenario_id: T.String(),
      run_id: T.String({ description: 'Empty where nothing was started.' }),
    }),
    errors: starting,
  },
  wake: {
    method: 'POST',
    path: '/api/voice/wake',
    who: 'household',
    doc: 'Wakes the hub, as a button or a tap does: it listens to whoever speaks at it, and starts the scenario of what they say. Answers when it is known what was said; the scenario then speaks, and stops when somebody speaks to it.',
    body: T.Object({ lang: T.Optional(spokenLanguage) }, closed),
    answer: T.Object({
      heard: T.Boolean({ description: 'Somebody spoke.' }),
      text: T.String({ description: 'Empty where it was nothing that a rule understands.' }),
      intent: T.String(),
      scenario_id: T.String(),
      run_id: T.String({ description: 'Empty where nothing was started.' }),
    }),
    errors: [...starting, 'unavailable'],
  },
  hush: {
    method: 'POST',
    path: '/api/voice/stop',
    who: 'household',
    doc: 'Ends the conversation: the hub neither listens nor speaks on. What it started goes on.',
    body: T.Object({}, closed),
    answer: ok,
    errors: ['timeout'],
  },
  voice: {
    method: 'GET',
    path: '/api/voice',
    who: 'household',
    doc: 'Where the conversation stands, and which patterns of the rules cannot be said aloud.',
    query: { lang: spokenLanguage },
    answer: T.Object({
      state: T.Union([
        T.Literal('IDLE'),
        T.Literal('LISTENING'),
        T.Literal('ACTING'),
        T.Literal('ANSWERING'),
        T.Literal('REFUSING'),
      ]),
      waking: T.Object({
        on: T.Boolean({ description: 'The hub waits for its phrase: the microphone is open.' }),
        phrase: T.String(),
        trouble: T.String({ description: 'Code of what keeps the hub from hearing it; empty for nothing.' }),
      }),
      unspoken: T.Array(
        anyObject('pattern, rule (its place), why (free, word, full), partly: the rest of it can be said.'),
      ),
      unknown: T.Array(T.String(), {
        description: 'Words that the recogniser cannot pronounce, as far as it was asked.',
      }),
    }),
    errors: ['timeout'],
  },
  rules: {
    method: 'GET',
    path: '/api/intent/rules',
    who: 'owner',
    doc: "The owner's rules, lists and bindings, those of the hub, and phrases that nothing understood.",
    answer: rules,
    errors: ['forbidden', 'timeout'],
  },
  teach: {
    method: 'POST',
    path: '/api/intent/teach',
    who: 'owner',
    doc: 'A phrase that nothing understood begins a scenario from now on.',
    body: T.Object({ phrase, scenario_id: scenarioId }, closed),
    answer: ok,
    errors: ['not_found', 'forbidden', 'timeout'],
  },
  forget: {
    method: 'POST',
    path: '/api/intent/forget',
    who: 'owner',
    doc: 'Takes a phrase off those that nothing understood, or has one that was taught begin nothing any more.',
    body: T.Object({ phrase }, closed),
    answer: ok,
    errors: ['not_found', 'forbidden', 'timeout'],
  },
  setRules: {
    method: 'PUT',
    path: '/api/intent/rules',
    who: 'owner',
    doc: "Sets the owner's rules, lists and bindings; an intent that is bound starts that scenario.",
    body: T.Object(
      {
        rules: T.Optional(T.Array(anyObject('A rule.'), { maxItems: 10_000 })),
        lists: T.Optional(anyObject('Lists by name.')),
        bindings: T.Optional(anyObject('Scenario ids by intent.')),
      },
      closed,
    ),
    answer: ok,
    errors: ['forbidden', 'timeout'],
  },
  notice: {
    method: 'POST',
    path: '/api/notices',
    who: 'owner',
    doc: "A notice to somebody's screens and phone.",
    body: T.Object(
      {
        user: T.Optional(
          T.String({ maxLength: 64, description: 'A person; the owner where it is left out or empty.' }),
        ),
        title: T.Unsafe<string | Record<string, string>>({
          anyOf: [
            { type: 'string', minLength: 1, maxLength: 200 },
            {
              type: 'object',
              additionalProperties: { type: 'string', maxLength: 200 },
              maxProperties: 20,
              minProperties: 1,
            },
          ],
          [SAYS]: 'must be a text, or one for each language',
        }),
        body: T.Optional(
          T.Unsafe<string | Record<string, string>>({
            anyOf: [
              { type: 'string', maxLength: 1000 },
              {
                type: 'object',
                additionalProperties: { type: 'string', maxLength: 1000 },
                maxProperties: 20,
              },
            ],
            [SAYS]: 'must be a text, or one for each language',
          }),
        ),
        tag: T.Optional(T.String({ minLength: 1, maxLength: 64 })),
      },
      closed,
    ),
    answer: ok,
    errors: ['forbidden', 'not_found'],
  },
});

function order<const W extends 'stop' | 'kill' | 'pause' | 'resume' | 'happened'>(what: W, doc: string) {
  return {
    method: 'POST',
    path: `/api/scenarios/instances/{iid}/${what}`,
    who: 'token',
    doc,
    params: { iid: runId },
    answer: ok,
    errors: ['not_found', 'conflict', 'timeout'],
    command: true,
  } as const;
}
