// The local API of a subnet: what members say to the hub that leads them, and what the owner sees of it.
import * as T from 'typebox';
import { localArea } from '../system/local-api.ts';

const strict = { additionalProperties: false };
const nullable = <S extends T.TSchema>(schema: S) => T.Union([schema, T.Null()]);
const hub_id = T.String({ minLength: 1, maxLength: 64, pattern: '^[\\w-]+$' });
const role = T.Union([T.Literal('hub'), T.Literal('member')]);
const state = T.Union([T.Literal('joined'), T.Literal('here'), T.Literal('gone'), T.Literal('left')]);
const stage = T.Union([T.Literal('joining'), T.Literal('in'), T.Literal('leaving')]);
const time = T.Integer({ description: 'Unix seconds.' });
const next = T.Object({
  interval_s: T.Integer({ description: 'How long until the next heartbeat is expected.' }),
});

export const subnetNode = T.Object({
  hub_id,
  role,
  state,
  name: T.String(),
  version: T.String(),
  caps: T.Array(T.String()),
  since: nullable(time),
  last_heard: nullable(time),
});

const id = T.String();

export const subnetApi = localArea({
  invite: {
    method: 'POST',
    path: '/api/subnet/invite',
    who: 'elevated',
    doc: 'Opens the way in for another hub of the owner, as for a phone: a link, and the same as digits. It is told this once. A member invites nobody, and a full subnet has no place.',
    body: T.Object({}, strict),
    answer: T.Object({
      link: T.String(),
      code: T.String({ description: 'The same to be typed: both groups.' }),
      verify_uri: T.String(),
      expires_at: T.Integer({
        description: 'Unix seconds. A newer code of the hub, for whomever, closes this one.',
      }),
    }),
    errors: ['assertion_required', 'forbidden', 'conflict'],
    secret: true,
  },
  join: {
    method: 'POST',
    path: '/api/subnet/join',
    who: 'elevated',
    doc: 'Joins the subnet of the hub whose invitation this is. Who was let in here is forgotten: unless `confirmed`, `conflict` says how many browsers and people are.',
    body: T.Object(
      {
        invite: T.String({ maxLength: 512, description: 'The link, or the digits.' }),
        confirmed: T.Optional(T.Boolean()),
      },
      strict,
    ),
    answer: T.Object({ owner_id: id, subnet_id: id, hub: id }),
    errors: [
      'assertion_required',
      'forbidden',
      'invalid_device_code',
      'pairing_failed',
      'conflict',
      'timeout',
    ],
    secret: true,
  },
  leave: {
    method: 'POST',
    path: '/api/subnet/leave',
    who: 'elevated',
    doc: 'Leaves the subnet: the hub is alone again and forgets who was let in.',
    body: T.Object({}, strict),
    answer: T.Object({ left: T.Literal(true) }),
    errors: ['assertion_required', 'forbidden', 'not_found', 'conflict'],
  },
  register: {
    method: 'POST',
    path: '/api/subnet/register',
    who: 'member',
    doc: 'A member says who it is; repeated, it says so anew.',
    body: T.Object(
      {
        hub_id,
        name: T.String({ maxLength: 64 }),
        version: T.String({ maxLength: 64 }),
        caps: T.Array(T.String({ maxLength: 32 }), { maxItems: 32 }),
      },
      strict,
    ),
    answer: next,
    safe: true,
    errors: ['forbidden'],
  },
  heartbeat: {
    method: 'POST',
    path: '/api/subnet/heartbeat',
    who: 'member',
    doc: 'A member is there. One that misses three is shown as gone.',
    body: T.Object({}, strict),
    answer: next,
    safe: true,
    errors: ['forbidden'],
  },
  deregister: {
    method: 'POST',
    path: '/api/subnet/deregister',
    who: 'member',
    doc: 'A member leaves; its channel ends.',
    body: T.Object({}, strict),
    answer: T.Object({ left: T.Literal(true) }),
    safe: true,
    errors: ['forbidden'],
  },
  context: {
    method: 'GET',
    path: '/api/subnet/context',
    who: 'subnet',
    doc: 'Which subnet this is, whose, and what this hub is in it.',
    answer: T.Object({
      subnet_id: nullable(T.String()),
      owner_id: nullable(T.String()),
      role,
      hub: nullable(T.String({ description: 'The hub that leads the subnet.' })),
      reached: T.Boolean({ description: 'Of a member: the hub that leads the subnet answers.' }),
      time,
    }),
  },
  nodes: {
    method: 'GET',
    path: '/api/subnet/nodes',
    who: 'subnet',
    doc: 'The hubs of the subnet, this one first. A member knows itself and the hub that leads it.',
    answer: T.Object({
      nodes: T.Array(subnetNode),
      stage: T.Union([stage, T.Null()], {
        description:
          'Of this hub as a member; null: it leads, or is alone. One that is joining may still be let in.',
      }),
      at_home: T.Boolean({
        description: 'This hub has the place where it is alone: leaving forgets nobody who was let in.',
      }),
    }),
  },
  remove: {
    method: 'DELETE',
    path: '/api/subnet/nodes/{hub_id}',
    who: 'elevated',
    doc: 'Lets a member go: its channel ends at once, and it is alone again.',
    params: { hub_id: T.String() },
    answer: T.Object({ removed: T.Literal(true) }),
    errors: ['forbidden', 'not_found', 'conflict'],
  },
});
