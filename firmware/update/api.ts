// The local API of updates: what ingle-update tells and the owner's orders to it.
import * as T from 'typebox';
import { after } from '../observe/api.ts';
import { ok, some } from '../system/api.ts';
import { localArea } from '../system/local-api.ts';

const strict = { additionalProperties: false };
const done = T.Intersect([ok, some]);
const order = <const N extends string, B extends T.TProperties>(name: N, doc: string, body: B) =>
  ({
    method: 'POST',
    path: `/api/admin/update/${name}`,
    who: 'elevated',
    doc,
    body: T.Object(body, strict),
    answer: done,
    errors: ['conflict', 'not_found', 'not_supported', 'assertion_required', 'forbidden'],
  }) as const;
const source = T.Optional(
  T.String({ description: 'A path or an address; empty: what was found or fetched.' }),
);

export const updateApi = localArea({
  status: {
    method: 'GET',
    path: '/api/admin/update/status',
    who: 'owner',
    doc: 'The version that runs, and where an update stands; `unsupported` beside npm start.',
    answer: some,
  },
  stream: {
    method: 'GET',
    path: '/api/admin/update/stream',
    who: 'elevated',
    doc: 'What updates do, as server-sent events.',
    query: { after },
  },
  check: order('check', 'Looks for a newer version.', { channel: T.Optional(T.String()) }),
  download: order('download', 'Fetches what was found.', {}),
  verify: order('verify', 'Checks a bundle without installing it.', { source }),
  install: order('install', 'Installs a bundle; `restart` says when the hub restarts into it.', {
    source,
    restart: T.Optional(T.String({ description: '`now`, `night` or empty.' })),
  }),
  restart: order('restart', 'Restarts into what was installed.', {
    when: T.Optional(T.String({ description: '`now` or `night`.' })),
  }),
  cancel: order('cancel', 'Ends what is under way.', {}),
  rollback: order('rollback', 'Back to the version before.', {}),
});
