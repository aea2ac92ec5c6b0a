// What a skill offers to do, in its manifest: each action with its input, so that a program can use it. Pure.
import * as T from 'typebox';
import { checked } from '../protocol/endpoint/check.ts';
import { record } from '../protocol/endpoint/record.ts';
import { parseObject } from '../protocol/json.ts';
import { localized } from './localized.ts';

const closed = { additionalProperties: false };
const name = '^[a-z][a-z0-9_]{0,47}$';
const count = T.Integer({ minimum: 0, maximum: 16_384 });

/** Flat values only, and no patterns: a pattern of a stranger can keep a processor busy for hours. */
const field = T.Object(
  {
    type: T.Enum(['string', 'number', 'integer', 'boolean']),
    description: T.Optional(T.String({ minLength: 1, maxLength: 300 })),
    enum: T.Optional(T.Array(T.String({ maxLength: 100 }), { minItems: 1, maxItems: 64, uniqueItems: true })),
    minimum: T.Optional(T.Number()),
    maximum: T.Optional(T.Number()),
    minLength: T.Optional(count),
    maxLength: T.Optional(count),
  },
  closed,
);

const inputSchema = T.Object(
  {
    type: T.Literal('object'),
    properties: T.Unsafe<Record<string, T.Static<typeof field>>>({
      type: 'object',
      maxProperties: 32,
      propertyNames: { pattern: name },
      additionalProperties: field,
    }),
    required: T.Optional(
      T.Array(T.String({ pattern: name }), { minItems: 1, maxItems: 32, uniqueItems: true }),
    ),
    additionalProperties: T.Literal(false),
  },
  { ...closed, description: 'JSON Schema 2020-12 of the input: a closed object of flat values.' },
);

const takes = T.Object(
  { llm: T.Integer({ minimum: 1, maximum: 100, description: 'Calls of a language model.' }) },
  { ...closed, description: 'What one request of it takes of the quotas that the owner has set.' },
);

const action = T.Object(
  {
    title: T.String({ minLength: 1, maxLength: 80 }),
    titles: T.Optional(localized(80)),
    doc: T.String({
      minLength: 1,
      maxLength: 500,
      description: 'What it does, for who decides whether to use it.',
    }),
    docs: T.Optional(localized(500)),
    input: inputSchema,
    safe: T.Boolean({ description: 'It changes nothing.' }),
    takes: T.Optional(takes),
  },
  closed,
);

/** The actions of a manifest by id; the skill answers each at `POST /v1/actions/{id}`. */
export const actionsSchema = T.Unsafe<Record<string, T.Static<typeof action>>>({
  type: 'object',
  maxProperties: 32,
  propertyNames: { pattern: name },
  additionalProperties: action,
  description: 'What programs may ask of it, by id; it answers at POST /v1/actions/{id}.',
});

type SkillAction = T.Static<typeof action>;

/** What the API tells of an action. */
export const listedAction = T.Object({
  skill_id: T.String(),
  id: T.String(),
  title: T.String(),
  titles: T.Optional(record(T.String())),
  doc: T.String(),
  docs: T.Optional(record(T.String())),
  input: T.Unknown({ description: 'JSON Schema 2020-12.' }),
  safe: T.Boolean(),
  takes: T.Optional(takes),
});
/** What of a manifest this is about. */
interface Acting {
  id: string;
  capabilities: { actions?: Record<string, SkillAction> };
}
export type ListedAction = T.Static<typeof listedAction>;

/** The actions of these skills, by skill and id. */
export const actionsOf = (manifests: readonly Acting[]): ListedAction[] =>
  manifests.flatMap(({ id: skill_id, capabilities: { actions = {} } }) =>
    Object.entries(actions).map(([id, a]) => ({ skill_id, id, ...a })),
  );

/**
 * Holds the input of an action against its schema before the skill sees it; other paths are the skill's own to check.
 * @param path below `/v1/`, as it is asked for
 * @throws IngleError `invalid_request`
 */
export function checkInput({ capabilities }: Acting, method: string, path: string, body: Uint8Array): void {
  const [, id = ''] = /^actions\/([^/]+)$/.exec(path) ?? [];
  const { actions = {} } = capabilities;
  if (method === 'POST' && Object.hasOwn(actions, id))
    checked(actions[id]!.input as unknown as T.TObject, parseObject(body));
}
