// The form of scenarios: prototypes (P), the rewrites of their implementations (I), and steps. Pure.
import * as T from 'typebox';
import { skillIdForm } from '../documents/key.ts';
import { SAYS } from '../protocol/endpoint/check.ts';
import { personRoles } from '../protocol/roles.ts';
import { hostForm } from '../skills/manifest.ts';

const closed = { additionalProperties: false };
const languageForm = '^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$';
/** The most steps of a scenario, with those in others and those of other files. */
export const MOST_STEPS = 500;
/** A text for people, or one for each language by its tag. */
export type Localizable = string | Record<string, string>;
const nameOfScenario = '[a-z][a-z0-9_-]{0,47}$';
/** The namespace and the name of a scenario: `house/good_night`. A name alone is in the namespace `home`. */
export const scenarioIdForm = `^(?:[a-z][a-z0-9_-]{0,31}/)?${nameOfScenario}`;
/** With the namespace, as packages and repositories name it: no skill is called so. */
export const packedIdForm = `^[a-z][a-z0-9_-]{0,31}/${nameOfScenario}`;
export const fullId = (id: string): string => (id.includes('/') ? id : `home/${id}`);
export const versionForm =
  '^(0|[1-9]\\d{0,8})\\.(0|[1-9]\\d{0,8})\\.(0|[1-9]\\d{0,8})(-[0-9A-Za-z-]+(\\.[0-9A-Za-z-]+)*)?$';
/** Names of settings may be dotted: output.active. */
const settingForm = '^[A-Za-z][A-Za-z0-9_-]{0,47}(?:\\.[A-Za-z0-9_-]{1,48}){0,3}$';
export const nameForm = '^[A-Za-z][A-Za-z0-9_-]{0,47}$';
const topicForm = '^[a-z][a-z0-9_]*(?:\\.[A-Za-z0-9_-]+){1,7}(?:\\.\\*)?$';
const durationForm = '^(?:[1-9]\\d{0,8}(?:ms|s|m|h|d)|\\$\\{[\\s\\S]{1,500}\\})$';
const backoffForm = '^(?:exp:)?[1-9]\\d{0,5}(?:ms|s|m|h)(?:\\.\\.[1-9]\\d{0,5}(?:ms|s|m|h))?$';

const name = (description: string) =>
  T.String({
    pattern: nameForm,
    [SAYS]: { pattern: 'must be a name of letters, digits, "_" and "-", at most 48' },
    description,
  });
const words = (maxLength: number, description: string) => T.String({ minLength: 1, maxLength, description });
const duration = (description: string) =>
  T.String({
    pattern: durationForm,
    [SAYS]: { pattern: 'must be a duration as 30s, 5m or 8h, or an expression' },
    description,
  });
const expression = (description: string) => T.String({ minLength: 1, maxLength: 2000, description });
const anything = (description: string) => T.Unsafe<unknown>({ description });
/** A text for people: `Hello`, or one for each language: `{ en: Hello, ru: Привет }`. */
export const localized = (maxLength: number, description: string) =>
  T.Unsafe<Localizable>({
    type: ['string', 'object'],
    minLength: 1,
    maxLength,
    minProperties: 1,
    maxProperties: 20,
    propertyNames: { pattern: languageForm },
    additionalProperties: { type: 'string', minLength: 1, maxLength },
    [SAYS]: { type: 'must be a text, or a text for each language' },
    description: `${description} A text, or one for each language: {en: …, ru: …}.`,
  });
const values = (description: string) =>
  T.Unsafe<Record<string, unknown>>({
    type: 'object',
    maxProperties: 64,
    propertyNames: { pattern: nameForm },
    description: `${description} Texts may hold expressions: \${params.x}.`,
  });
const another = T.Unsafe<unknown>({ $ref: '#/$defs/step' });
const steps = (description: string) =>
  T.Unsafe<unknown[]>({ type: 'array', items: another, maxItems: 100, description });

const compensate = T.Object(
  {
    call: T.Optional(words(100, 'The action that undoes the step.')),
    slot: T.Optional(name('In its place: the slot whose skill undoes it.')),
    method: T.Optional(words(100, "The action of the slot's skill.")),
    args: T.Optional(values('Its arguments, filled in when the step is done.')),
  },
  { ...closed, description: 'What undoes the step when the run fails or is stopped after it.' },
);

/** A step in either dialect: that of prototypes (id, do, if) and that of procedures (name, call, when). */
const step = T.Object(
  {
    id: T.Optional(name('The step in a prototype; rewrites name it.')),
    name: T.Optional(name('The step in a procedure: the same as id.')),
    was: T.Optional(name('The id it had in versions before; rewrites of those follow it.')),
    if: T.Optional(expression('The step is passed over where this does not hold.')),
    when: T.Optional(expression('The same as if.')),
    do: T.Optional(
      T.Unsafe<StepKind | unknown[]>({
        anyOf: [
          { enum: ['say', 'call', 'for', 'set', 'delay', 'wait_for', 'held_for', 'ask'] },
          { type: 'array', items: another, maxItems: 100 },
        ],
        [SAYS]: 'must be say, ask, call, for, set, delay, wait_for or held_for, or a list of steps',
        description: 'What the step does; or the steps in it.',
      }),
    ),
    call: T.Optional(words(100, 'An action: io.console.print, or <skill>.<action> of a skill.')),
    text: T.Optional(localized(2000, 'What is said.')),
    slot: T.Optional(name('The slot whose skill is called.')),
    method: T.Optional(words(100, "The action of the slot's skill.")),
    args: T.Optional(values('Arguments of the action.')),
    alias: T.Optional(name("The name of the step's result for later steps: ${alias.field}.")),
    set: T.Optional(values('Variables that get new values after the step: ${vars.x}.')),
    each: T.Optional(expression('A list; the steps are done once for each ${item}.')),
    as: T.Optional(name('Another name for ${item}.')),
    steps: T.Optional(steps('The steps of a for.')),
    for: T.Optional(duration('How long a delay lasts, or what held_for waits for must hold.')),
    until: T.Optional(expression('When a delay ends: an ISO 8601 time.')),
    topic: T.Optional(
      T.String({
        pattern: topicForm,
        [SAYS]: { pattern: 'must be a topic of the bus, as weather.update' },
        description: 'The topic of the bus that is waited for.',
      }),
    ),
    where: T.Optional(expression('Which events count: an expression over $.payload and vars.')),
    timeout: T.Optional(duration('The longest the step may take; of a wait, how long it waits.')),
    otherwise: T.Optional(
      T.Enum(['go', 'fail'], {
        description: 'What a wait does that came to its timeout: go on (default) or fail.',
      }),
    ),
    away: T.Optional(
      T.Enum(['counts', 'anew'], {
        description:
          'What held_for makes of the time the hub was off: it counts (default), or the time begins anew.',
      }),
    ),
    retries: T.Optional(
      T.Object(
        {
          max: T.Integer({ minimum: 0, maximum: 20 }),
          backoff: T.Optional(
            T.String({
              pattern: backoffForm,
              [SAYS]: { pattern: 'must be as exp:200ms..30s, or one duration' },
              description: 'exp:<min>..<max>: doubled each time, with jitter. One duration: always that.',
            }),
          ),
        },
        closed,
      ),
    ),
    compensate: T.Optional(compensate),
    locks: T.Optional(
      T.Array(name('What only one step at a time may have, as mic or tts.'), {
        maxItems: 8,
        uniqueItems: true,
      }),
    ),
    activityId: T.Optional(
      words(
        100,
        'What the step begins, for stop by activity; alarm/a and alarm/b are ended by alarm as well.',
      ),
    ),
    onError: T.Optional(
      T.Enum(['fail', 'go'], { description: 'Whether the run fails with the step (default) or goes on.' }),
    ),
    include: T.Optional(
      T.String({
        pattern: '^[a-z0-9_][a-z0-9._/-]{0,99}\\.ya?ml#[A-Za-z][A-Za-z0-9_-]{0,47}$',
        [SAYS]: { pattern: 'must be <file>.yaml#<fragment>' },
        description: 'Steps of a fragment of another file, in the place of this one.',
      }),
    ),
  },
  closed,
);

type StepKind = 'say' | 'ask' | 'call' | 'for' | 'set' | 'delay' | 'wait_for' | 'held_for';
export interface Step extends Omit<T.Static<typeof step>, 'do' | 'steps'> {
  do?: StepKind | Step[];
  steps?: Step[];
}

const timeTrigger = T.Object(
  {
    type: T.Literal('time'),
    cron: words(100, 'Minutes, hours, days, months and days of the week.'),
    zone: T.Optional(
      words(64, "A time zone of the IANA, as Europe/Berlin; the hub's own where it is left out."),
    ),
    missed: T.Optional(
      T.Enum(['skip', 'once', 'all'], {
        description: 'What becomes of times the hub was off: nothing, one run (default), or a run each.',
      }),
    ),
    grace: T.Optional(duration('How late a missed time may still run; 1h where it is left out.')),
    runOn: T.Optional(runOn()),
  },
  closed,
);
const policy = (description: string) => T.Enum(['single', 'queue', 'replace', 'beside'], { description });
const intentTrigger = T.Object(
  {
    type: T.Literal('intent'),
    name: words(100, 'The intent.'),
    policy: T.Optional(policy('The policy of a start by this intent, where it is not that of the scenario.')),
    runOn: T.Optional(runOn()),
  },
  closed,
);
const eventTrigger = T.Object(
  {
    type: T.Literal('event'),
    topic: T.String({ pattern: topicForm, [SAYS]: { pattern: 'must be a topic of the bus' } }),
    when: T.Optional(expression('Which events start it: an expression over $.payload.')),
    ctx: T.Optional(values('What the run is given of the event: expressions over $.payload.')),
    runOn: T.Optional(runOn()),
  },
  closed,
);
function runOn() {
  return T.Enum(['hub', 'member:self'], {
    description:
      'Which hub of the subnet it starts on. hub: the one that leads, never a member. member:self: every hub that has it, and each does it itself. Left out: every hub that has it, and one that lacks what it needs leaves it to a member.',
  });
}

const hosts = (description: string) =>
  T.Array(
    T.String({
      pattern: hostForm,
      [SAYS]: { pattern: 'must be one host name in lower case, as api.example.org' },
    }),
    { maxItems: 16, uniqueItems: true, description },
  );

const slot = T.Object(
  {
    cap: words(100, 'What the skill of the slot must offer: the name of an action or a capability.'),
    optional: T.Optional(T.Boolean()),
    title: T.Optional(localized(200, 'Its name for a person.')),
  },
  closed,
);

export const prototypeSchema = T.Object(
  {
    $schema: T.Optional(T.String()),
    id: T.String({
      pattern: scenarioIdForm,
      [SAYS]: { pattern: 'must be <namespace>/<name> of lower-case letters, digits, "_" and "-"' },
      description: 'The scenario.',
    }),
    version: T.String({
      maxLength: 64,
      pattern: versionForm,
      [SAYS]: { pattern: 'is not a semantic version, as 1.0.0' },
    }),
    dslVersion: T.Literal('1', { description: 'The version of this form.' }),
    name: localized(100, 'Its name.'),
    doc: T.Optional(localized(1000, 'What it is for, in a sentence.')),
    icon: T.Optional(words(64, 'A name of the icon set.')),
    multiUser: T.Optional(T.Boolean({ description: 'Each person has an implementation of their own.' })),
    roles: T.Optional(
      T.Array(T.Enum([...personRoles]), {
        uniqueItems: true,
        description: 'Who may start it beside the owner; admin and adult where it is left out.',
      }),
    ),
    triggers: T.Optional(T.Array(T.Union([timeTrigger, intentTrigger, eventTrigger]), { maxItems: 16 })),
    slots: T.Optional(
      T.Unsafe<Record<string, T.Static<typeof slot>>>({
        type: 'object',
        maxProperties: 16,
        propertyNames: { pattern: nameForm },
        additionalProperties: slot,
        description: 'What the scenario needs of skills, by name; an implementation binds them.',
      }),
    ),
    params: T.Optional(values('What may be set for a person, with its default.')),
    paramDocs: T.Optional(
      T.Unsafe<Record<string, Localizable>>({
        type: 'object',
        maxProperties: 64,
        additionalProperties: localized(500, 'What the parameter is.'),
        description: 'What each parameter is.',
      }),
    ),
    io: T.Optional(
      T.Object(
        {
          input: T.Optional(T.Array(T.Enum(['voice', 'text', 'phone']), { uniqueItems: true })),
          output: T.Optional(T.Array(T.Enum(['voice', 'text', 'phone', 'console']), { uniqueItems: true })),
          settings: T.Optional(
            T.Unsafe<Record<string, unknown>>({
              type: 'object',
              maxProperties: 32,
              propertyNames: { pattern: settingForm },
              description: 'Settings by dotted name, as output.active.',
            }),
          ),
        },
        closed,
      ),
    ),
    hosts: T.Optional(hosts('From where http.fetch may fetch, by name; from nowhere where it is left out.')),
    policy: T.Optional(
      policy(
        'A start while one goes on for the same person: refused (default), later, in its place, or beside it.',
      ),
    ),
    priority: T.Optional(T.Enum(['LOW', 'NORM', 'HIGH'])),
    constraints: T.Optional(
      T.Array(T.String({ pattern: '^[a-z]+:[A-Za-z0-9_.-]{1,64}$' }), {
        maxItems: 16,
        description: 'What the hub that runs it must have, as has:mic or region:eu.',
      }),
    ),
    timeout: T.Optional(duration('The longest a run may take; a day where it is left out.')),
    include: T.Optional(
      T.Array(T.String({ pattern: '^[a-z0-9_][a-z0-9._/-]{0,99}\\.ya?ml#[A-Za-z][A-Za-z0-9_-]{0,47}$' }), {
        maxItems: 16,
        description: 'Fragments whose steps stand before those here.',
      }),
    ),
    vars: T.Optional(values('Variables at the start.')),
    steps: steps('What it does, in order.'),
    anchors: T.Optional(
      T.Unsafe<Record<string, { accept: string[]; after: string }>>({
        type: 'object',
        maxProperties: 16,
        propertyNames: { pattern: nameForm },
        additionalProperties: T.Object(
          {
            accept: T.Array(T.String({ pattern: `^skill:(?:\\*|${skillIdForm.slice(1, -1)})$` }), {
              minItems: 1,
              maxItems: 16,
            }),
            after: name('The step it is after.'),
          },
          closed,
        ),
        description: 'Places where skills may take part.',
      }),
    ),
  },
  {
    ...closed,
    $id: 'urn:ingle:schema:scenario-prototype',
    title: 'Ingle scenario prototype',
    description: 'scenario.yaml of a prototype: what a scenario does, for everybody who has it.',
    $defs: { step },
  },
);

export interface Prototype extends Omit<T.Static<typeof prototypeSchema>, 'steps'> {
  steps: Step[];
}
export type Trigger = NonNullable<Prototype['triggers']>[number];

export const rewriteActions = [
  'drop',
  'move_before',
  'move_after',
  'param.set',
  'io.set',
  'cap.narrow',
] as const;

const rewrite = T.Object(
  {
    match: T.Object(
      {
        id: T.String({
          pattern: settingForm,
          [SAYS]: { pattern: 'must be the name of a step, a parameter, a setting or a slot' },
          description: 'A step, a parameter, a setting or a slot.',
        }),
      },
      closed,
    ),
    action: T.String({ maxLength: 40 }),
    set: T.Optional(anything('The value of param.set and io.set, the capability of cap.narrow.')),
    ref: T.Optional(name('The step that is moved to.')),
  },
  closed,
);

/** One migration makes at most some 320. */
export const MOST_NOTES = 1000;

/** An implementation (I): what one person changed of a prototype. Actions beyond the six are refused by rule. */
export const implementationSchema = T.Object(
  {
    $schema: T.Optional(T.String()),
    rewriteVersion: T.Integer({ minimum: 0 }),
    params: T.Optional(
      T.Unsafe<Record<string, unknown>>({
        type: 'object',
        maxProperties: 64,
        propertyNames: { pattern: nameForm },
      }),
    ),
    io: T.Optional(
      T.Object(
        {
          settings: T.Optional(
            T.Unsafe<Record<string, unknown>>({
              type: 'object',
              maxProperties: 32,
              propertyNames: { pattern: settingForm },
            }),
          ),
        },
        closed,
      ),
    ),
    bindings: T.Optional(
      T.Object(
        {
          slots: T.Optional(
            T.Unsafe<Record<string, { skill: string | null }>>({
              type: 'object',
              maxProperties: 16,
              propertyNames: { pattern: nameForm },
              additionalProperties: T.Object(
                {
                  skill: T.Union([T.String({ pattern: skillIdForm }), T.Null()], {
                    [SAYS]: 'must be the id of a skill, or null for none',
                    description:
                      'The skill of the slot; null: none. A slot that is left out gets the only skill that fits.',
                  }),
                },
                closed,
              ),
            }),
          ),
          devices: T.Optional(
            T.Unsafe<Record<string, { device_id?: string }>>({
              type: 'object',
              maxProperties: 32,
              propertyNames: { pattern: nameForm },
              additionalProperties: T.Object(
                { device_id: T.Optional(T.String({ minLength: 1, maxLength: 200 })) },
                {
                  ...closed,
                  description: 'For ${device.<name>} in arguments; without an id the one that is kept stays.',
                },
              ),
            }),
          ),
          secrets: T.Optional(
            T.Unsafe<Record<string, { value?: string }>>({
              type: 'object',
              maxProperties: 32,
              propertyNames: { pattern: nameForm },
              additionalProperties: T.Object(
                { value: T.Optional(T.String({ minLength: 4, maxLength: 4096 })) },
                {
                  ...closed,
                  description:
                    'For ${secret.<name>} in arguments; without a value the one that is kept stays.',
                },
              ),
            }),
          ),
        },
        closed,
      ),
    ),
    hosts: T.Optional(hosts("Some of the prototype's hosts: http.fetch may fetch from these only.")),
    rewrite: T.Optional(T.Array(rewrite, { maxItems: 200 })),
    notes: T.Optional(
      T.Array(
        T.Object(
          {
            pointer: T.String({ maxLength: 300, description: 'Where it stood.' }),
            code: words(64, 'Why it stands here.'),
            value: anything('What stood there.'),
          },
          closed,
        ),
        { maxItems: MOST_NOTES, description: 'What a newer prototype has no place for: kept, and not used.' },
      ),
    ),
    enabled: T.Optional(
      T.Boolean({ description: 'Whether its triggers start it; they do where it is left out.' }),
    ),
  },
  {
    ...closed,
    $id: 'urn:ingle:schema:scenario-implementation',
    title: 'Ingle scenario implementation',
    description: 'What one person changed of a scenario prototype.',
  },
);

export type Implementation = T.Static<typeof implementationSchema>;
export type Rewrite = NonNullable<Implementation['rewrite']>[number];
