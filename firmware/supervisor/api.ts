// The local API about the hub's services: how they are, what they logged, and orders to them.
import * as T from 'typebox';
import { localArea } from '../system/local-api.ts';
import { MAX_LINES } from './lines.ts';

const nullable = <S extends T.TSchema>(schema: S) => T.Union([schema, T.Null()]);

const service = T.Object({
  unit: T.String(),
  skill_id: nullable(T.String({ description: 'The skill that lives in the unit.' })),
  bus_name: nullable(T.String()),
  state: T.Union([
    T.Literal('running'),
    T.Literal('activatable'),
    T.Literal('stopped'),
    T.Literal('changing'),
    T.Literal('failed'),
  ]),
  supervised: nullable(
    T.Object(
      {
        sub_state: T.String(),
        since: nullable(T.Number({ description: 'Unix seconds.' })),
        restarts: T.Integer({ description: 'By itself, since the machine started.' }),
        memory_bytes: nullable(T.Integer()),
        result: T.String({ description: 'What came of its last run, as systemd says it.' }),
        cause: T.String({ description: 'How its process ended; empty while it runs.' }),
        orders: T.Boolean({ description: 'Whether it may be started, stopped and restarted.' }),
      },
      { description: 'What the supervisor says; null where none is there.' },
    ),
  ),
});

const params = {
  name: T.String({
    maxLength: 40,
    pattern: '^[a-z][a-z-]*(@[0-9]{1,2})?$',
    'x-says': 'is the name of a service, as GET /api/services lists it',
  }),
};
const answer = T.Object({ ok: T.Literal(true), service });
const errors = ['not_found', 'conflict', 'timeout', 'not_supported'] as const;

/** An order to one service. */
const order = <const N extends string>(name: N, doc: string) => ({
  method: 'POST' as const,
  path: `/api/services/{name}/${name}` as const,
  who: 'elevated' as const,
  doc,
  params,
  answer,
  errors,
});

export const servicesApi = localArea({
  list: {
    method: 'GET',
    path: '/api/services',
    who: 'owner',
    doc: 'The services of the hub and how each is.',
    answer: T.Object({ services: T.Array(service) }),
  },
  one: {
    method: 'GET',
    path: '/api/services/{name}',
    who: 'owner',
    doc: 'One service of the hub.',
    params,
    answer: service,
    errors: ['not_found'],
  },
  logs: {
    method: 'GET',
    path: '/api/services/{name}/logs',
    who: 'elevated',
    doc: 'The newest lines a service logged, oldest first, without secrets.',
    params,
    query: {
      lines: T.String({
        pattern: '^([1-9][0-9]{0,2}|1000)$',
        description: `How many at most, 1 to ${MAX_LINES}; 200 by default.`,
        'x-says': `is a number from 1 to ${MAX_LINES}`,
      }),
    },
    answer: T.Object({
      lines: T.Array(
        T.Object({
          at: nullable(T.Number({ description: 'Unix seconds.' })),
          level: T.String(),
          text: T.String(),
        }),
      ),
    }),
    errors,
  },
  start: order('start', 'Starts a service.'),
  stop: order('stop', 'Stops a service; not one by which the owner reaches the hub.'),
  restart: order('restart', 'Restarts a service.'),
});
