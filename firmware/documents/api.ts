// The local API about documents; their content comes over /sync.
import * as T from 'typebox';
import { localArea } from '../system/local-api.ts';

export const documentsApi = localArea({
  index: {
    method: 'GET',
    path: '/docs/index',
    who: 'token',
    doc: 'The documents the caller may read whose key begins with a prefix.',
    query: { prefix: T.String({ description: '`<owner_id>/...`; `owner/` before it is passed over.' }) },
    answer: T.Object({
      documents: T.Array(
        T.Object({
          key: T.String({ description: '`<owner_id>/<skill_id>/<view|state>:<branch>`' }),
          acl: T.Array(T.String(), {
            description: '`OWNER:read`, `ROLE:<ROLE>:read` or `SKILL:<id>:write`.',
          }),
          schema: T.String({ description: 'What the content is written in.' }),
          ttl_sec: T.Integer({ description: 'How long it is kept without a change; 0: for good.' }),
          updated_at: T.Integer({ description: 'Unix seconds.' }),
          etag: T.String({ description: 'SHA-256 of the content as JSON with sorted keys, base64url.' }),
          rev: T.Integer({ description: 'Counts the changes that were stored.' }),
          signature: T.String({
            description:
              'Of a view: Ed25519 over key, line feed and etag, base64url. Empty of a state, which its skill changes by the second.',
          }),
        }),
      ),
      public_key: T.String({ description: 'Ed25519 key of the signatures, base64url.' }),
    }),
    errors: ['forbidden'],
  },
  token: {
    method: 'POST',
    path: '/docs/token',
    who: 'token',
    doc: "A room token, for a browser whose WebSocket sends no headers: y-websocket's provider takes `params` as it is. It joins this room as the caller for five minutes, as often as it is shown; a socket that joined by it goes on while another is asked for in time.",
    body: T.Object({ room: T.String({ maxLength: 400 }) }, { additionalProperties: false }),
    answer: T.Object({
      room: T.String({ description: 'The key in its one spelling.' }),
      params: T.Object({ token: T.String() }),
      expires_at: T.Integer({ description: 'Unix milliseconds.' }),
    }),
    errors: ['forbidden', 'not_found', 'assertion_required'],
    secret: true,
  },
});
