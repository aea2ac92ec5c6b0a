// The local API of the desktop scenario document.
import * as T from 'typebox';
import { ok } from '../system/api.ts';
import { localArea } from '../system/local-api.ts';
import { scenarioSchema } from './scenario.ts';

const etag = T.String({ maxLength: 64, description: 'Hash of the document in force.' });
const inForce = T.Object({
  document: T.Unknown({ description: 'A document of dist/schemas/desktop.json.' }),
  etag,
  isDefault: T.Boolean({ description: "It is the image's own." }),
  unknown: T.Array(T.Object({ skill_id: T.String(), pointer: T.String() }), {
    description: 'Skills it names that are not on this hub (yet), each with where.',
  }),
});

export const desktopApi = localArea({
  read: {
    method: 'GET',
    path: '/api/desktop',
    who: 'owner',
    doc: 'The desktop scenario document: which skills a desktop has, for whom, and how it looks.',
    answer: inForce,
  },
  replace: {
    method: 'PUT',
    path: '/api/desktop',
    who: 'elevated',
    doc: 'Sets the desktop scenario document; every desktop follows at once.',
    body: T.Object(
      { document: scenarioSchema, etag },
      { additionalProperties: false, description: '`etag` is of the document that this one replaces.' },
    ),
    answer: inForce,
    errors: ['conflict'],
  },
  reset: {
    method: 'DELETE',
    path: '/api/desktop',
    who: 'elevated',
    doc: "Goes back to the image's own document.",
    answer: ok,
  },
});
