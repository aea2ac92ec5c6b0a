// The local API about this hub as a machine among others: how reliable it is, what it is for, what it has.
import * as T from 'typebox';
import { SAYS } from '../protocol/endpoint/check.ts';
import { ok } from '../system/api.ts';
import { localArea } from '../system/local-api.ts';
import { languages } from '../text/i18n.ts';
import { boot } from './boots.ts';

const nullable = <S extends T.TSchema>(schema: S) => T.Union([schema, T.Null()]);

const device = T.Object({
  id: T.String(),
  name: T.String(),
  type: T.String(),
  muted: T.Boolean(),
  volume: T.Number({ description: '1 is 100 %.' }),
  connected: T.Boolean(),
  usable: T.Boolean(),
});
const role = T.Union([T.Literal('hub'), T.Literal('member')]);
const state = T.Union([T.Literal('joined'), T.Literal('here'), T.Literal('gone'), T.Literal('left')]);
const hub_id = nullable(T.String({ description: 'null before the hub is enrolled.' }));

export const nodeApi = localArea({
  language: {
    method: 'POST',
    path: '/api/node/language',
    who: 'elevated',
    doc: "Chooses the hub's own language, for what it says and prints; each service takes it when it starts next. Readers of screens have their own.",
    body: T.Object({ value: T.Enum([...languages]) }, { additionalProperties: false }),
    answer: ok,
    command: true,
  },
  wakeByPhrase: {
    method: 'POST',
    path: '/api/voice/phrase',
    who: 'elevated',
    doc: 'Whether the hub wakes at its phrase (`speech.wake` of the configuration) as it does at a tap. While it does, the microphone is open; what was said before the phrase is compared with it and forgotten. Off until the owner turns it on.',
    body: T.Object({ value: T.Enum(['on', 'off']) }, { additionalProperties: false }),
    answer: ok,
    errors: ['not_found', 'not_supported', 'unavailable', 'timeout'],
    command: true,
  },
  name: {
    method: 'POST',
    path: '/api/node/name',
    who: 'owner',
    doc: 'Gives this hub another name, which paired browsers hear with their next connection and each service takes when it starts next. It goes before what the maker and a configuration call it.',
    body: T.Object(
      {
        value: T.String({
          ...{ minLength: 1, maxLength: 64, pattern: '^[^\\s\\p{C}](?:[^\\p{C}]*[^\\s\\p{C}])?$' },
          [SAYS]: {
            pattern: 'may not begin or end with a space, nor hold signs nobody sees',
          },
        }),
      },
      { additionalProperties: false },
    ),
    answer: ok,
  },
  reliability: {
    method: 'GET',
    path: '/api/node/reliability',
    who: 'owner',
    doc: 'How long machine and services run, how boots ended, what failed last. Times in Unix seconds.',
    answer: T.Object({
      uptime_s: T.Integer(),
      boots: T.Array(boot, { description: 'Newest first, at most 32.' }),
      services: T.Array(
        T.Object({
          unit: T.String(),
          uptime_s: nullable(T.Integer({ description: 'null while it does not run.' })),
          restarts: T.Integer({ description: 'By itself, since the machine started.' }),
          cause: nullable(T.String({ description: "The newest fault, in systemd's words." })),
        }),
      ),
      restarts: T.Integer(),
      last_crash: nullable(T.Object({ unit: T.String(), at: T.Number(), cause: T.String() })),
    }),
  },
  role: {
    method: 'GET',
    path: '/api/node/role',
    who: 'owner',
    doc: 'What this hub is in its subnet.',
    answer: T.Object({ role, hub_id, subnet_id: nullable(T.String()) }),
  },
  members: {
    method: 'GET',
    path: '/api/node/members',
    who: 'owner',
    doc: 'The members of the subnet this hub knows.',
    answer: T.Object({
      members: T.Array(
        T.Object({ hub_id, role, state, since: nullable(T.Integer({ description: 'Unix seconds.' })) }),
      ),
    }),
  },
  media: {
    method: 'GET',
    path: '/api/node/media',
    who: 'owner',
    doc: 'Devices sound goes out and comes in by, best first, and what plays now.',
    answer: T.Object({
      sinks: T.Array(device),
      sources: T.Array(device),
      playing: T.Array(T.Object({ sink_id: T.String(), name: T.String() })),
    }),
  },
  workspaces: {
    method: 'GET',
    path: '/api/node/workspaces',
    who: 'owner',
    doc: 'Kinds of shared documents, who is in them now and their size; no content. At most 1000.',
    answer: T.Object({
      workspaces: T.Array(
        T.Object({
          prefix: T.String({ description: 'owner_id/skill_id/doc_type' }),
          documents: T.Integer(),
          members: T.Integer(),
          bytes: T.Integer(),
        }),
      ),
    }),
  },
});
