// What the hub answers of scenarios, for its API, the application and `ingle`. Times are Unix milliseconds.
import * as T from 'typebox';
import { type Implementation, type Prototype, prototypeSchema, type Step } from './schema.ts';
import type { InstanceState, RunState } from './states.ts';

const text = (description?: string) => T.String(description ? { description } : {});
const number = (description?: string) => T.Number(description ? { description } : {});
const orNull = <S extends T.TSchema>(schema: S, description?: string) =>
  T.Union([schema, T.Null()], description ? { description } : {});
const object = <V extends object = Record<string, unknown>>(description: string) =>
  T.Unsafe<V>({ type: 'object', description });
const byName = (description: string) => T.Record(T.String(), T.Boolean(), { description });

export const failure = T.Object({
  code: text(),
  message: text(),
  step: T.Optional(text('It went wrong in.')),
});
export type Failure = T.Static<typeof failure>;

const problem = T.Object({
  pointer: text(),
  code: text(),
  says: text("In the reader's language where that was asked for, else in English."),
  values: T.Record(T.String(), T.Union([T.String(), T.Number()]), {
    description: 'What the words of `code` are filled in with.',
  }),
  repaired: T.Boolean({ description: 'The hub has changed it by a rule.' }),
});
export type Problem = T.Static<typeof problem>;

const { properties: of } = prototypeSchema;
/** A prototype for one person. */
export const listed = T.Object({
  id: text(),
  version: text('In use.'),
  versions: T.Array(T.String(), { description: 'On the hub, the newest last.' }),
  publisher: text('Its key; empty: unsigned, or of the image.'),
  name: of.name,
  doc: of.doc,
  icon: of.icon,
  roles: of.roles,
  params: of.params,
  paramDocs: of.paramDocs,
  slots: of.slots,
  triggers: of.triggers,
  io: of.io,
  multiUser: T.Boolean(),
  policy: T.Enum(['single', 'queue', 'replace', 'beside']),
  says: T.Record(T.String(), T.Array(T.String()), { description: 'Sentences that begin it, by language.' }),
  enabled: T.Boolean({ description: 'Its triggers start it.' }),
  unbound: T.Array(T.String(), { description: 'Slots that must have a skill before it runs.' }),
  chosen: T.Record(T.String(), T.String(), {
    description: 'Slots of which nobody has said anything, with the only skill that fits each.',
  }),
  hosts: T.Array(T.String()),
  secrets: byName('Secrets that its steps name, and whether the hub keeps one.'),
  devices: byName('The same of devices.'),
  problems: T.Array(problem),
});
export type Listed = T.Static<typeof listed>;

export const offered = T.Object({
  version: text(),
  used: T.Boolean(),
  publisher: text('Its key; empty: unsigned, or of the image.'),
  installed_at: number('0: of the image.'),
  changes: T.Array(T.Object({ user: text(), name: orNull(text()), problems: T.Array(problem) }), {
    description: 'What its use would make of what people changed.',
  }),
});
export type Offered = T.Static<typeof offered>;

export const changed = T.Object({
  user: text(),
  id: text(),
  rev: T.Integer({ description: 'Counts the changes.' }),
  implementation: object<Implementation>('Devices and secrets are named and not told: `{}`.'),
  effective: object<Pick<Prototype, 'params' | 'io' | 'steps'>>('The scenario that comes of it.'),
  left_out: T.Optional(
    T.Unsafe<Step[]>({
      type: 'array',
      items: { type: 'object' },
      description: 'Steps of the prototype that are dropped. An older hub does not tell them.',
    }),
  ),
  problems: T.Array(problem),
  readme: text('The English one.'),
  readmes: T.Optional(
    T.Record(T.String(), T.String(), { description: 'By language. An older hub does not tell them.' }),
  ),
});
export type Changed = T.Static<typeof changed>;

export const run = T.Object({
  run_id: text('Its instance has the same.'),
  scenario_id: text(),
  version: text(),
  user: text(),
  priority: T.Enum(['LOW', 'NORM', 'HIGH']),
  state: T.Unsafe<RunState>({ enum: ['PENDING', 'RUNNING', 'DONE', 'FAILED', 'CANCELED', 'TIMEOUT'] }),
  instance: T.Unsafe<InstanceState>({ enum: ['running', 'paused', 'stopping', 'stopped', 'failed'] }),
  policy: T.Enum(['single', 'queue', 'replace', 'beside']),
  current_step: orNull(text()),
  started_at: number(),
  finished_at: orNull(number()),
  trace_id: text(),
  error: orNull(failure),
  origin: text('What started it: a person, a job, an event, an intent or a dead letter.'),
  away: orNull(text(), 'The member of the subnet that does it; null: this hub.'),
  owed: orNull(text(), 'The hub it is done for, until that has all of its journal.'),
  waits: orNull(
    T.Object({
      for: T.Enum(['place', 'locks', 'time', 'retry', 'event', 'order', 'node']),
      locks: T.Optional(T.Record(T.String(), T.String(), { description: 'Who has each.' })),
      topic: T.Optional(text()),
      node: T.Optional(text()),
    }),
    'Why it does not go on just now.',
  ),
});
export type Run = T.Static<typeof run>;

/** An entry of a run's journal. */
export const line = T.Object({
  n: T.Integer(),
  at: number(),
  step_name: orNull(text()),
  status: orNull(text()),
  latency_ms: orNull(number()),
  kind: T.Enum(['begun', 'done', 'error', 'asleep', 'holding', 'woke', 'order', 'end']),
  error: T.Optional(failure),
  again: T.Optional(number('When it is tried again.')),
  due: T.Optional(number('Until when it waits.')),
  by: T.Optional(T.Enum(['time', 'event', 'timeout'], { description: 'What ended a wait.' })),
  what: T.Optional(T.Enum(['pause', 'resume', 'stop', 'timeout'], { description: 'The order.' })),
});
export type Line = T.Static<typeof line>;

/** A run that failed. */
export const letter = T.Object({
  id: text(),
  run_id: text(),
  scenario_id: text(),
  user: text(),
  at: number(),
  step: orNull(text()),
  error: failure,
  replayed_by: orNull(text(), 'The run that replays it.'),
  from_step: T.Boolean({ description: 'It may go on from the step it failed in.' }),
});
export type Letter = T.Static<typeof letter>;

export const job = T.Object({
  job_id: text(),
  scenario_id: text(),
  user: text(),
  cron: orNull(text()),
  at: orNull(number()),
  zone: orNull(text()),
  ctx: object('What the run is given.'),
  enabled: T.Boolean(),
  missed: T.Enum(['skip', 'once', 'all']),
  grace_ms: number(),
  next_at: orNull(number(), 'Null: never again.'),
  created_at: number(),
  times: T.Array(T.Number(), { description: 'When it fires in the next week, at most 100.' }),
  origin: text('`user`, or the trigger it stands for.'),
});
export type Job = T.Static<typeof job>;

export const rehearsed = T.Object({
  step: text('Empty for the end.'),
  does: T.Enum(['do', 'undo', 'wait', 'skip', 'end']),
  action: T.Optional(text()),
  args: T.Optional(object('Of the action.')),
  slot: T.Optional(text()),
  ms: T.Optional(number('How long it waits.')),
  topic: T.Optional(text('What it waits for.')),
  timeout: T.Optional(number('Milliseconds.')),
  state: T.Optional(text('How it ends.')),
  error: T.Optional(failure),
});
export type Rehearsed = T.Static<typeof rehearsed>;

export const rules = T.Object({
  rules: T.Array(object<{ intent: string; pattern?: string }>("The owner's.")),
  lists: object('By name.'),
  bindings: T.Record(T.String(), T.String(), { description: 'Scenario ids by intent.' }),
  house: T.Array(object("The hub's own.")),
  unmatched: T.Array(T.Object({ phrase: text(), count: T.Integer(), at: number('The last time.') }), {
    description: 'Phrases that nothing understood, the last one last.',
  }),
});
export type Rules = T.Static<typeof rules>;
