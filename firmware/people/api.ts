// The local API of people: the owner's list of them, invitations, and what each is told of themselves.
import * as T from 'typebox';
import { roles as allRoles, personRoles } from '../protocol/roles.ts';
import { ok } from '../system/api.ts';
import { localArea } from '../system/local-api.ts';

const closed = { additionalProperties: false };
/** Until the end of the year 9999. */
const seconds = (description: string) => T.Integer({ minimum: 0, maximum: 253_402_300_799, description });
const role = T.Enum([...personRoles]);
const name = T.String({ minLength: 1, maxLength: 64 });
const until = seconds('Unix seconds: from then on the hub is closed to them; 0 for never.');
const id = T.String({ description: 'The id of a person.', pattern: '^person_[A-Za-z0-9_-]{20}$' });

const person = T.Object({
  ...{ id, name, role, until },
  ended: T.Boolean({ description: 'Their time is over. They come back with a later end.' }),
  created_at: seconds('Unix seconds.'),
  invited_by: T.String({ description: 'The browser they were invited from; empty: this computer.' }),
  browsers: T.Array(
    T.Object({
      ...{ id: T.String(), label: T.String() },
      ...{ paired_at: seconds('Unix seconds.'), seen_at: seconds('Unix seconds.') },
    }),
    { description: 'Their browsers; none before they have come in.' },
  ),
});
const invitation = T.Object(
  {
    link: T.String({ description: 'Opened in a browser of theirs, it lets that browser in.' }),
    code: T.String({ description: 'The same to be typed at `verify_uri`: both groups.' }),
    verify_uri: T.String(),
    expires_at: seconds('Unix seconds. A newer code of the hub, for whomever, closes this one.'),
  },
  { description: 'It is told this once.' },
);

export const peopleApi = localArea({
  me: {
    method: 'GET',
    path: '/v1/me',
    who: 'token',
    doc: 'Who the caller is here.',
    answer: T.Object({
      id: T.String({ description: 'Under which their documents are.' }),
      role: T.Enum([...allRoles]),
      name: T.String({ description: 'Empty for the owner.' }),
      until,
    }),
    errors: ['not_found'],
  },
  list: {
    method: 'GET',
    path: '/api/people',
    who: 'owner',
    doc: 'The people the owner has invited, in the order they were.',
    answer: T.Object({ people: T.Array(person) }),
    errors: ['forbidden'],
  },
  add: {
    method: 'POST',
    path: '/api/people',
    who: 'elevated',
    doc: 'Adds a person and invites a browser of theirs. Where root gives no code the person is there without an invitation, and `trouble` says why.',
    body: T.Object({ name, role, until: T.Optional(until) }, closed),
    answer: T.Object({
      person,
      invitation: T.Union([invitation, T.Null()]),
      trouble: T.Optional(T.String()),
    }),
    errors: ['assertion_required', 'forbidden', 'conflict'],
    secret: true,
  },
  change: {
    method: 'PATCH',
    path: '/api/people/{id}',
    who: 'elevated',
    doc: 'Gives a person another name, role or end, at once: their channels begin anew as what they are now.',
    params: { id },
    body: T.Object({ name: T.Optional(name), role: T.Optional(role), until: T.Optional(until) }, closed),
    answer: person,
    errors: ['assertion_required', 'forbidden', 'not_found'],
  },
  remove: {
    method: 'DELETE',
    path: '/api/people/{id}',
    who: 'elevated',
    doc: 'Removes a person, at once: their browsers, passkeys and documents are forgotten.',
    params: { id },
    answer: ok,
    errors: ['assertion_required', 'forbidden', 'not_found'],
  },
  invite: {
    method: 'POST',
    path: '/api/people/{id}/invite',
    who: 'elevated',
    doc: 'Invites a browser of a person anew, or a further one.',
    params: { id },
    answer: invitation,
    errors: ['assertion_required', 'forbidden', 'not_found', 'conflict'],
    secret: true,
  },
});
