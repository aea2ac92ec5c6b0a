// manifest.yaml of a prototype in a repository: its versions, what changed in each, and what each needs. Pure.
import * as T from 'typebox';
import { SAYS } from '../protocol/endpoint/check.ts';
import { localized, packedIdForm, versionForm } from './schema.ts';

const closed = { additionalProperties: false };

const release = T.Object(
  {
    version: T.String({
      maxLength: 64,
      pattern: versionForm,
      [SAYS]: { pattern: 'is not a semantic version, as 1.0.0' },
      description: 'The folder that has it.',
    }),
    changelog: localized(4000, 'What is new in it.'),
    dslVersion: T.Literal('1', { description: 'The version of the form of its scenario.yaml.' }),
    caps: T.Array(T.String({ minLength: 1, maxLength: 100 }), {
      maxItems: 16,
      uniqueItems: true,
      description: 'The capabilities of its slots, in the order of the alphabet.',
    }),
    anchors: T.Array(T.String({ minLength: 1, maxLength: 48 }), {
      maxItems: 16,
      uniqueItems: true,
      description: 'Its anchors, in the order of the alphabet.',
    }),
  },
  closed,
);

export const prototypeManifestSchema = T.Object(
  {
    id: T.String({
      pattern: packedIdForm,
      [SAYS]: { pattern: 'must be <namespace>/<name>, as the folders are called' },
      description: 'The scenario.',
    }),
    versions: T.Array(release, { minItems: 1, maxItems: 100, description: 'The newest last.' }),
  },
  closed,
);

export type PrototypeManifest = T.Static<typeof prototypeManifestSchema>;
