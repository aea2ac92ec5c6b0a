// The local API of signed packages: installing, trying, going back, removing, and whom the owner trusts.
import * as T from 'typebox';
import { record } from '../protocol/endpoint/record.ts';
import { ok, some } from '../system/api.ts';
import { localArea } from '../system/local-api.ts';
import { LIMITS } from './package-meta.ts';

const body = { additionalProperties: false };
const nullable = <S extends T.TSchema>(schema: S) => T.Union([schema, T.Null()]);
const words = <const W extends readonly string[]>(all: W) => T.Enum([...all] as W[number][]);
const skill_id = T.String({ pattern: '^[a-z][a-z0-9_]{0,47}$' });
const version = T.String({ minLength: 1, maxLength: 64, pattern: '^[0-9A-Za-z.+-]+$' });
const key = T.String({
  pattern: '^[A-Za-z0-9_-]{43}$',
  description: 'Public key, Ed25519, base64url.',
});

const publisher = nullable(
  T.Object({
    key: T.String(),
    id: T.String({ description: 'Short id of the key, for people.' }),
    name: nullable(T.String({ description: 'As the maker or the owner call it.' })),
  }),
);
const trust = words(['trusted', 'unknown', 'unsigned', 'refused']);

/** One package that is here. */
const kept = T.Object({
  version: T.String(),
  publisher,
  trust,
  size: T.Integer({ description: 'Unpacked, bytes.' }),
  prepared_at: T.Integer({ description: 'Unix seconds.' }),
  manifest: some,
});

const skill = T.Object({
  skill_id: T.String(),
  title: T.String(),
  titles: T.Optional(record(T.String())),
  state: words(['image', 'prepared', 'trial', 'active', 'returning', 'removing']),
  available: T.Boolean(),
  off: nullable(words(['no_sandbox'])),
  version: nullable(T.String({ description: 'The one that is used.' })),
  publisher,
  trust: nullable(trust),
  unsigned: T.Boolean({ description: 'Nobody signed what is or once was used under this name.' }),
  previous: nullable(T.String({ description: 'Where a rollback goes to.' })),
  trying: nullable(T.String({ description: 'On trial now.' })),
  prepared: T.Array(kept, { description: 'Versions that are here and not used.' }),
  fault: nullable(
    T.Object(
      {
        version: T.String(),
        reason: words(['timeout', 'broken', 'no_room', 'storage']),
        message: T.String(),
        at: T.Integer({ description: 'Unix seconds.' }),
      },
      { description: 'Why the version that was tried last is not used.' },
    ),
  ),
});

const bytes = { body: 'raw', maxBody: LIMITS.packed } as const;
const errors = ['conflict', 'not_found', 'assertion_required', 'forbidden'] as const;
const packaged = [...errors, 'too_large', 'not_supported'] as const;

export const packagesApi = localArea({
  list: {
    method: 'GET',
    path: '/api/skills',
    who: 'elevated',
    doc: 'Every skill with its versions, whom they come from, and why one is not used.',
    answer: T.Object({
      developer: T.Boolean(),
      sandbox: words(['there', 'missing', 'unusable']),
      skills: T.Array(skill),
    }),
    errors,
  },
  prepare: {
    method: 'POST',
    path: '/api/skills/prepare',
    who: 'elevated',
    doc: 'Checks a package (its bytes are the body) and keeps it beside what is used, so that it can be looked at first.',
    ...bytes,
    answer: T.Object({ skill, package: kept }),
    errors: packaged,
  },
  install: {
    method: 'POST',
    path: '/api/skills/install',
    who: 'elevated',
    doc: 'Checks a package (its bytes are the body) and begins its trial; the list and `skills.*` events say how it ends.',
    ...bytes,
    answer: skill,
    errors: packaged,
  },
  developer: {
    method: 'POST',
    path: '/api/skills/developer',
    who: 'elevated',
    doc: 'Lets unsigned packages in, or no longer. What was installed so stays, and is marked for ever.',
    body: T.Object({ on: T.Boolean() }, body),
    answer: ok,
    errors,
  },
  activate: {
    method: 'POST',
    path: '/api/skills/{skill_id}/activate',
    who: 'elevated',
    doc: 'Begins the trial of a prepared version; one that does not come up gives way to the version before.',
    params: { skill_id },
    body: T.Object({ version }, body),
    answer: skill,
    errors,
  },
  rollback: {
    method: 'POST',
    path: '/api/skills/{skill_id}/rollback',
    who: 'elevated',
    doc: 'Begins the trial of the version before.',
    params: { skill_id },
    body: T.Object({}, body),
    answer: skill,
    errors,
  },
  remove: {
    method: 'DELETE',
    path: '/api/skills/{skill_id}',
    who: 'elevated',
    doc: 'Removes a skill with all its versions, its state, its documents and its place on the desktop.',
    params: { skill_id },
    answer: ok,
    errors,
  },
  discard: {
    method: 'DELETE',
    path: '/api/skills/{skill_id}/prepared/{version}',
    who: 'elevated',
    doc: 'Takes a version away that is not used.',
    params: { skill_id, version },
    answer: ok,
    errors,
  },
  publishers: {
    method: 'GET',
    path: '/api/skills/publishers',
    who: 'elevated',
    doc: 'Whose packages are trusted, and whose are not any more.',
    answer: T.Object({
      publishers: T.Array(
        T.Object({
          key: T.String(),
          id: T.String(),
          name: T.String(),
          ids: nullable(T.Array(T.String(), { description: 'Skills it may publish; null: any.' })),
          revoked: T.Boolean(),
          maker: T.Boolean({ description: "The hub's maker trusts it." }),
        }),
      ),
    }),
    errors,
  },
  trust: {
    method: 'POST',
    path: '/api/skills/publishers',
    who: 'elevated',
    doc: "Trusts a publisher's key, for some skills or any.",
    body: T.Object(
      {
        key,
        name: T.String({ minLength: 1, maxLength: 80 }),
        ids: T.Optional(T.Array(T.String(), { minItems: 1, maxItems: 64, uniqueItems: true })),
      },
      body,
    ),
    answer: ok,
    errors,
  },
  revoke: {
    method: 'DELETE',
    path: '/api/skills/publishers/{key}',
    who: 'elevated',
    doc: 'Revokes a key for good: nothing signed with it is taken any more. What is installed goes on until it is removed.',
    params: { key },
    answer: ok,
    errors,
  },
});
