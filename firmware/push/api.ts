// The local API of Web Push: notices of skills on a browser that nobody looks at.
import * as T from 'typebox';
import { ok } from '../system/api.ts';
import { localArea } from '../system/local-api.ts';

const base64url = (bytes: number, description: string) => {
  const length = Math.ceil((bytes * 4) / 3);
  return T.String({ pattern: `^[A-Za-z0-9_-]{${length}}$`, description });
};

export const pushApi = localArea({
  look: {
    method: 'GET',
    path: '/api/push',
    who: 'household',
    doc: 'What a browser subscribes with, and whether the one that asks is subscribed.',
    answer: T.Object({
      key: T.String({ description: 'The hub’s VAPID key (RFC 8292), P-256, uncompressed, base64url.' }),
      endpoint: T.Union([T.String(), T.Null()], {
        description: 'Where this browser’s notices go; null where they go nowhere.',
      }),
    }),
    errors: ['forbidden'],
  },
  turnOn: {
    method: 'PUT',
    path: '/api/push',
    who: 'household',
    doc: 'Sends notices to this browser from now on, encrypted for it (RFC 8291).',
    body: T.Object(
      {
        endpoint: T.String({
          maxLength: 2048,
          pattern: '^https://',
          description: 'Of the browser’s push service, as PushSubscription has it.',
        }),
        keys: T.Object(
          {
            p256dh: base64url(65, 'The browser’s key, P-256, uncompressed.'),
            auth: base64url(16, 'Its authentication secret.'),
          },
          { additionalProperties: false },
        ),
        language: T.Union([T.Literal('en'), T.Literal('ru')], { description: 'What its reader reads.' }),
      },
      { additionalProperties: false },
    ),
    answer: ok,
    errors: ['forbidden', 'invalid_request'],
    secret: true,
  },
  turnOff: {
    method: 'DELETE',
    path: '/api/push',
    who: 'household',
    doc: 'Sends nothing to this browser any more.',
    answer: ok,
    errors: ['forbidden'],
  },
});
