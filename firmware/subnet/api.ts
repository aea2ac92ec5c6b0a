// The local API of a subnet: what members say to the hub that leads them, and what the owner sees of it.
import * as T from 'typebox';
import { localArea } from '../system/local-api.ts';

const strict = { additionalProperties: false };
const nullable = <S extends T.TSchema>(schema: S) => T.Union([schema, T.Null()]);
const hub_id = T.String({ minLength: 1, maxLength: 64, pattern: '^[\\w-]+$' });
const role = T.Union([T.Literal('hub'), T.Literal('member')]);
const state = T.Union([T.Literal('joined'), T.Literal('here'), T.Literal('gone'), T.Literal('left')]);
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

export const subnetApi = localArea({
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
    answer: T.Object({ nodes: T.Array(subnetNode) }),
  },
  invite: {
    method: 'POST',
    path: '/api/subnet/invite',
    who: 'elevated',
    doc: 'Invites another hub: `ingle subnet join` on it takes the code or the link. A member invites nobody, and a full subnet has no place.',
    answer: T.Object(
      {
        code: T.String({ description: 'Twelve digits in four groups.' }),
        link: T.String({ description: 'The same as a link; it opens in no browser.' }),
        expires_at: T.Integer({
          description: 'Unix seconds. A newer code of the hub, for whomever, closes this one.',
        }),
      },
      { description: 'It is told this once.' },
    ),
    errors: ['assertion_required', 'forbidden', 'conflict'],
    secret: true,
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
