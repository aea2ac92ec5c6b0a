// The local API of skills: the icons of the owner's desktop, opening a screen, and a skill's own paths.
import * as T from 'typebox';
import { SAYS } from '../protocol/endpoint/check.ts';
import { record } from '../protocol/endpoint/record.ts';
import { ok } from '../system/api.ts';
import { localArea } from '../system/local-api.ts';
import { listedAction } from './actions.ts';

const mode = T.Union([T.Literal('modal'), T.Literal('panel')]);
const size = T.Object({ w: T.Number(), h: T.Number() }, { description: 'Pixels.' });
const skillId = T.String({ pattern: '^[a-z][a-z0-9_]{0,47}$' });
const nullable = <S extends T.TSchema>(schema: S) => T.Union([schema, T.Null()]);
const body = { additionalProperties: false };

/** Control signs, and those that turn the direction of what follows. */
const unseen = '\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069';
const someIds = (description: string) => T.Array(T.Unknown(), { maxItems: 1000, description });
const group = T.Object(
  {
    name: T.String({
      ...{ minLength: 1, maxLength: 40 },
      pattern: `^[^\\s${unseen}](?:[^${unseen}]*[^\\s${unseen}])?$`,
      [SAYS]: { pattern: 'may not begin or end with a space, nor hold signs nobody sees' },
    }),
    skills: someIds('Ids of skills; each is in one group at most. Without any, the group is gone.'),
  },
  body,
);

/** One icon: a skill that has a screen, with the place its owner gave it. */
const icon = T.Object({
  skill_id: T.String(),
  title: T.String(),
  titles: T.Optional(record(T.String(), { description: 'By language, where there are several.' })),
  icon: T.String({ description: 'A name of the icon set, or data:image/svg+xml.' }),
  entrypoint: T.String(),
  modes: T.Array(mode),
  sizeHints: size,
  pinned: T.Boolean(),
  order: nullable(
    T.Integer({ description: "Place in the owner's order from 0; null until the owner places it." }),
  ),
  group: nullable(T.String({ description: 'The group it lies in.' })),
  schema: nullable(
    T.String({ description: 'The UI schema where the screen is data; null where it is a page.' }),
  ),
  ownerOnly: T.Boolean(),
  pages: T.Optional(T.Literal('root', { description: 'Pages of its own come through root.' })),
  available: T.Boolean({ description: 'False while the skill does not run.' }),
});

export const skillsApi = localArea({
  icons: {
    method: 'GET',
    path: '/v1/icons',
    who: 'token',
    doc: "The icons of the caller's desktop: pinned first, then in the owner's order, then by title.",
    answer: T.Array(icon),
  },
  actions: {
    method: 'GET',
    path: '/api/skills/actions',
    who: 'token',
    doc: 'What the skills that the caller may use offer to do; each is asked for at POST /skills/{skill_id}/v1/actions/{id}.',
    answer: T.Object({ actions: T.Array(listedAction) }),
  },
  pin: {
    method: 'POST',
    path: '/v1/icons/pin',
    who: 'token',
    doc: 'Pins an icon to the front, or unpins it.',
    body: T.Object({ skill_id: T.String(), pinned: T.Boolean() }, body),
    answer: ok,
    errors: ['not_found'],
    command: true,
  },
  order: {
    method: 'POST',
    path: '/v1/icons/order',
    who: 'token',
    doc: 'Sets the whole order; skills it does not name lose their place.',
    body: T.Object({ order: T.Array(T.Unknown(), { description: 'Ids of skills, each once.' }) }, body),
    answer: ok,
    command: true,
  },
  arrange: {
    method: 'PUT',
    path: '/v1/icons/arrangement',
    who: 'token',
    doc: 'Sets pins, order or groups whole, in one step; what is left out stays. A group stands where its first icon would.',
    body: T.Object(
      {
        pins: T.Optional(someIds('Ids of skills that are pinned.')),
        order: T.Optional(someIds('Ids of skills; those it does not name lose their place.')),
        groups: T.Optional(
          T.Array(group, { maxItems: 64, description: 'All groups; their icons keep the order above.' }),
        ),
      },
      body,
    ),
    answer: ok,
    command: true,
  },
  read: {
    method: 'POST',
    path: '/v1/notices/read',
    who: 'token',
    doc: 'What skills have told the caller up to a time counts as read, on all their devices.',
    body: T.Object(
      { to: T.Integer({ minimum: 0, maximum: 8.64e15, description: 'Milliseconds since 1970.' }) },
      body,
    ),
    answer: ok,
    command: true,
  },
  open: {
    method: 'POST',
    path: '/v1/open',
    who: 'token',
    doc: 'What a screen is made of: the keys of its documents.',
    body: T.Object(
      {
        skill_id: T.String(),
        mode: T.String(),
        preview: T.Optional(
          T.String({ description: 'Token of a preview, which then goes before all branches.' }),
        ),
      },
      body,
    ),
    answer: T.Object({
      schema: T.Literal('ui/v0'),
      view: T.String(),
      state: T.String(),
      own: T.Optional(T.String({ description: "The owner's branch of the state, which lies over it." })),
      prefs: T.String({ description: "The device's branch, which lies over all." }),
      commands: T.String(),
      sizeHints: size,
      title: T.String(),
      mode: T.String(),
    }),
    errors: ['not_found', 'not_supported', 'assertion_required', 'forbidden'],
    safe: true,
  },
  preview: {
    method: 'POST',
    path: '/v1/preview',
    who: 'owner',
    doc: 'Stores a view, and a state where it needs one, as a preview that the owner alone opens by a link, until its time is over. What is wrong with the view is marked in it and told.',
    body: T.Object(
      {
        skill_id: T.String(),
        view: record(T.Unknown()),
        state: T.Optional(record(T.Unknown())),
        seconds: T.Optional(
          T.Integer({ minimum: 60, maximum: 604_800, description: 'An hour where it is left out.' }),
        ),
      },
      body,
    ),
    answer: T.Object({
      token: T.String(),
      fragment: T.String({ description: "What follows the application's address in the link." }),
      expires_at: T.Integer({ description: 'Unix seconds.' }),
      problems: T.Array(T.Object({ pointer: T.String(), code: T.String(), hint: T.String() })),
    }),
    errors: ['not_found', 'forbidden', 'too_large', 'rate_limited'],
  },
  sharedPage: {
    method: 'GET',
    path: '/api/skill-pages/{skill_id}/{path*}',
    who: 'owner',
    doc: 'A file below /v1/ui/ of a skill whose manifest lets its pages go through root; ingle-uplink asks for it in the name of the owner.',
    params: { skill_id: skillId, path: T.String({ maxLength: 200 }) },
    errors: ['not_found', 'assertion_required', 'forbidden'],
  },
  request: {
    method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    path: '/skills/{skill_id}/v1/{path*}',
    who: 'skill',
    doc: "The skill's own paths; what they take and answer is the skill's to say.",
    params: { skill_id: skillId, path: T.String({ pattern: '^[\\w\\-./~%]+$' }) },
    body: 'raw',
    errors: ['not_found', 'method_not_allowed', 'assertion_required', 'forbidden'],
    command: true,
  },
});
