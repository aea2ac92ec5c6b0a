// The local API about the end of things: taking no new work, restarting, switching off.
import * as T from 'typebox';
import { localArea } from '../system/local-api.ts';

const strict = { additionalProperties: false };
const nullable = <S extends T.TSchema>(schema: S) => T.Union([schema, T.Null()]);

const life = {
  state: T.Union([T.Literal('running'), T.Literal('draining'), T.Literal('stopping')]),
  since: T.Number({ description: 'Unix seconds.' }),
  why: nullable(T.Union([T.Literal('owner'), T.Literal('update'), T.Literal('shutdown')])),
  until: nullable(T.Number({ description: 'When a drain ends by itself, Unix seconds.' })),
  work: T.Object(
    {
      requests: T.Integer({ description: 'Without this one and streams.' }),
      streams: T.Integer(),
      sockets: T.Integer(),
      commands: T.Integer(),
    },
    { description: 'What still runs.' },
  ),
};
const answer = T.Object({ ok: T.Literal(true), ...life });

export const adminApi = localArea({
  lifecycle: {
    method: 'GET',
    path: '/api/admin/lifecycle',
    who: 'owner',
    doc: 'Whether the hub takes new work, and what still runs.',
    answer: T.Object(life),
  },
  drain: {
    method: 'POST',
    path: '/api/admin/drain',
    who: 'elevated',
    doc: 'Takes no new changes, or takes them again; reads go on, and what runs comes to its end. It ends by itself.',
    body: T.Object(
      {
        on: T.Boolean(),
        seconds: T.Optional(
          T.Integer({ minimum: 1, maximum: 3600, description: 'When it ends by itself; 600 by default.' }),
        ),
      },
      strict,
    ),
    answer,
  },
  shutdown: {
    method: 'POST',
    path: '/api/admin/shutdown',
    who: 'elevated',
    doc: 'Drains, then restarts the hub or switches it off; with npm start, its processes.',
    body: T.Object({ what: T.Union([T.Literal('restart'), T.Literal('poweroff')]) }, strict),
    answer,
    errors: ['conflict', 'not_supported'],
  },
});
