// The local API of scenario apps: which there are for a caller, and what one is made of.
import * as T from 'typebox';
import { record } from '../protocol/endpoint/record.ts';
import { localArea } from '../system/local-api.ts';

export const appsApi = localArea({
  list: {
    method: 'GET',
    path: '/v1/apps',
    who: 'token',
    doc: 'The scenario apps of the skills that the caller may use.',
    answer: T.Object({
      apps: T.Array(
        T.Object({
          id: T.String({ description: 'The skill it comes with.' }),
          title: T.String(),
          version: T.String({ description: 'Of the skill.' }),
          path: T.String({ description: "Where the application has it, below the application's origin." }),
        }),
      ),
    }),
  },
  read: {
    method: 'GET',
    path: '/v1/apps/{skill_id}',
    who: 'skill',
    doc: 'A scenario app: its routes with the trees of their pages, the keys of the documents its view model is made of, and the signature on it by the key that signs views.',
    params: { skill_id: T.String({ pattern: '^[a-z][a-z0-9_]{0,47}$' }) },
    answer: T.Object({
      app: T.Unknown({ description: 'As firmware/ui/app.ts has it.' }),
      key: T.String({ description: 'What is signed beside the etag.' }),
      etag: T.String(),
      signature: T.String(),
      public_key: T.String(),
      documents: record(T.String(), {
        description: 'Skill -> key of its state document; without those the caller has no right to.',
      }),
    }),
    errors: ['not_found', 'not_supported', 'forbidden', 'assertion_required'],
  },
});
