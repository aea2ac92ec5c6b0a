// The local API of webhooks: the owner's list of them, and where their messages come in.
import * as T from 'typebox';
import { externalTopic } from '../observe/api.ts';
import { ok } from '../system/api.ts';
import { localArea } from '../system/local-api.ts';

const id = T.String({ description: 'The id of a hook.', pattern: '^[A-Za-z0-9_-]{22}$' });
const secret = T.String({
  description: 'What its sender signs with, `whsec_` and base64 (Standard Webhooks). It is told this once.',
});
const hook = {
  id,
  name: T.String(),
  topic: T.String(),
  url: T.String({ description: 'The path its messages are sent to.' }),
  made_at: T.Integer({ description: 'Unix seconds.' }),
  used_at: T.Union([T.Integer({ description: 'Unix seconds.' }), T.Null()], {
    description: 'When a message was taken last.',
  }),
  refused: T.Union(
    [
      T.Object({
        at: T.Integer({ description: 'Unix seconds.' }),
        reason: T.Union([
          T.Literal('signature'),
          T.Literal('secret_lost'),
          T.Literal('time'),
          T.Literal('replay'),
          T.Literal('rate'),
          T.Literal('body'),
        ]),
      }),
      T.Null(),
    ],
    { description: 'The last message that was refused since the service started, and why.' },
  ),
};

export const hooksApi = localArea({
  add: {
    method: 'POST',
    path: '/api/hooks',
    who: 'elevated',
    doc: 'Makes a webhook: a path, and a secret for whoever sends to it.',
    body: T.Object(
      { name: T.String({ minLength: 1, maxLength: 64 }), topic: externalTopic },
      { additionalProperties: false },
    ),
    answer: T.Object({ ...hook, secret }),
    errors: ['assertion_required', 'forbidden', 'conflict'],
    secret: true,
  },
  list: {
    method: 'GET',
    path: '/api/hooks',
    who: 'elevated',
    doc: 'The webhooks, without their secrets.',
    answer: T.Object({ hooks: T.Array(T.Object(hook)) }),
    errors: ['assertion_required', 'forbidden'],
  },
  remove: {
    method: 'DELETE',
    path: '/api/hooks/{id}',
    who: 'elevated',
    doc: 'Removes a webhook; what is sent to it is refused from then on.',
    params: { id },
    answer: ok,
    errors: ['assertion_required', 'forbidden', 'not_found'],
  },
  rotate: {
    method: 'POST',
    path: '/api/hooks/{id}/rotate',
    who: 'elevated',
    doc: 'Gives a webhook a new secret; what is signed with the old one is refused from then on.',
    params: { id },
    answer: T.Object({ secret }),
    errors: ['assertion_required', 'forbidden', 'not_found'],
    secret: true,
  },
  receive: {
    method: 'POST',
    path: '/hooks/{id}',
    who: 'signed',
    doc: 'Takes a message of any JSON and publishes {hook, id, body} on the topic of the hook; sent again by its sender it is published once.',
    params: { id },
    body: 'raw',
    answer: ok,
    errors: ['unauthenticated', 'forbidden', 'conflict', 'too_large', 'timeout'],
  },
});
