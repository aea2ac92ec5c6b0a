// The local API of browsers: those that are paired with this hub, and the way for another one of the owner's.
import * as T from 'typebox';
import { ok } from '../system/api.ts';
import { localArea } from '../system/local-api.ts';

const closed = { additionalProperties: false };
const id = T.String({ description: 'The id of a browser.', pattern: '^[A-Za-z0-9_-]{1,64}$' });
const label = T.String({ minLength: 1, maxLength: 64 });
const seconds = T.Integer({ description: 'Unix seconds.' });

export const browsersApi = localArea({
  list: {
    method: 'GET',
    path: '/api/browsers',
    who: 'owner',
    doc: "The owner's browsers, the one that asks first, then the one seen last. Those of people are told with them.",
    answer: T.Object({
      browsers: T.Array(
        T.Object({
          ...{ id: T.String(), label: T.String(), paired_at: seconds, seen_at: seconds },
          here: T.Boolean({ description: 'It is the one that asks.' }),
        }),
      ),
    }),
    errors: ['forbidden'],
  },
  invite: {
    method: 'POST',
    path: '/api/browsers/invite',
    who: 'elevated',
    doc: 'Opens a pairing window for another browser of the owner, as `ingle login --new-passkey` does: it may make a passkey of its own.',
    answer: T.Object(
      {
        link: T.String({ description: 'Opened in the other browser, it lets that browser in.' }),
        code: T.String({ description: 'The same to be typed at `verify_uri`: both groups.' }),
        verify_uri: T.String(),
        expires_at: seconds,
      },
      { description: 'It is told this once.' },
    ),
    errors: ['assertion_required', 'forbidden', 'conflict', 'unavailable'],
    secret: true,
  },
  rename: {
    method: 'PATCH',
    path: '/api/browsers/{id}',
    who: 'elevated',
    doc: 'Gives a browser another name.',
    params: { id },
    body: T.Object({ label }, closed),
    answer: ok,
    errors: ['assertion_required', 'forbidden', 'not_found'],
  },
  forget: {
    method: 'DELETE',
    path: '/api/browsers/{id}',
    who: 'elevated',
    doc: 'Forgets a browser, at once: its channels end, and it needs a new code.',
    params: { id },
    answer: ok,
    errors: ['assertion_required', 'forbidden', 'not_found'],
  },
});
