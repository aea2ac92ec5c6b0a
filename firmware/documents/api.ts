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
        T.Object({ key: T.String(), acl: T.Array(T.String()) }, { additionalProperties: true }),
      ),
      public_key: T.String({ description: 'Ed25519 key of the signatures, base64url.' }),
    }),
    errors: ['forbidden'],
  },
});
