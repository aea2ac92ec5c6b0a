// Root's HTTP API, declared: each endpoint, what comes and goes, and who may call it. root/api.ts answers them.
import * as T from 'typebox';
import type { Area } from '../firmware/protocol/endpoint/endpoint.ts';
import type { Described } from '../firmware/protocol/endpoint/openapi.ts';
import type { ProofPurpose } from '../firmware/protocol/wire.ts';
import type { Limits } from './root.ts';

/**
 * `public`: anybody. `browser`: the holder of the cookie that a sid belongs to. `session`: a signed-in browser's token,
 * from the browser it was issued to. `proof:...`: a hub, by its certificate and a proof for that purpose (D11).
 */
export type RootWho = 'public' | 'browser' | 'session' | `proof:${ProofPurpose}`;

/** Beside what every API declares: which limit of root counts the calls of one address. */
type RootArea = Readonly<Record<string, Area<RootWho>[string] & { limit: keyof Limits | null }>>;
const rootArea = <const A extends RootArea>(area: A): A => area;

const skillId = T.String({ pattern: '^[a-z][a-z0-9_]{0,47}$' });
const pageErrors = [
  ...(['ticket_invalid', 'ticket_spent', 'forbidden', 'not_found', 'too_large'] as const),
  ...(['timeout', 'assertion_required', 'not_supported', 'hub_offline'] as const),
] as const;
const strict = { additionalProperties: false };
const text = T.String();
const maybe = T.Optional(T.String());
const some = T.Record(T.String(), T.Unknown());
const ok = T.Object({ ok: T.Literal(true) }, { additionalProperties: true });
const withSid = T.Object({ sid: text }, strict);
const withCredential = T.Object({ sid: text, credential: some }, strict);

export const rootApi = rootArea({
  openSession: {
    method: 'POST',
    path: '/v1/session',
    who: 'public',
    limit: 'session',
    doc: 'Opens a web session, or takes one up again by its sid; sets the cookie of a new browser.',
    body: T.Object({ sid: maybe }, strict),
  },
  issueCode: {
    method: 'POST',
    path: '/v1/owner/login/device-code',
    who: 'proof:device-code',
    limit: 'hub',
    doc: 'A device code for the hub to show.',
    body: T.Object({}, strict),
    answer: some,
    errors: ['unauthenticated'],
  },
  verify: {
    method: 'POST',
    path: '/v1/owner/login/verify',
    who: 'browser',
    limit: 'verify',
    doc: 'Takes a device code for the session. `code` is the old name of `device_code`.',
    body: T.Object({ device_code: maybe, code: maybe, ticket: maybe, sid: text }, strict),
    answer: some,
    errors: ['invalid_device_code', 'unauthenticated', 'conflict'],
  },
  registrationChallenge: {
    method: 'POST',
    path: '/v1/owner/webauthn/registration/challenge',
    who: 'browser',
    limit: 'webauthn',
    doc: 'Options for making a passkey.',
    body: withSid,
    answer: some,
    errors: ['unauthenticated', 'conflict', 'forbidden'],
  },
  registrationFinish: {
    method: 'POST',
    path: '/v1/owner/webauthn/registration/finish',
    who: 'browser',
    limit: 'webauthn',
    doc: 'Registers the passkey that was made.',
    body: withCredential,
    answer: some,
    errors: ['assertion_failed', 'unauthenticated', 'conflict', 'forbidden'],
  },
  loginChallenge: {
    method: 'POST',
    path: '/v1/owner/webauthn/login/challenge',
    who: 'browser',
    limit: 'webauthn',
    doc: 'Options for signing in with a passkey.',
    body: withSid,
    answer: some,
    errors: ['registration_required', 'unauthenticated', 'conflict', 'forbidden'],
  },
  loginFinish: {
    method: 'POST',
    path: '/v1/owner/webauthn/login/finish',
    who: 'browser',
    limit: 'webauthn',
    doc: 'Signs in; answers the session token.',
    body: withCredential,
    answer: some,
    errors: ['assertion_failed', 'unauthenticated', 'conflict', 'forbidden'],
  },
  logout: {
    method: 'POST',
    path: '/v1/owner/logout',
    who: 'session',
    limit: 'session',
    doc: 'Ends the session.',
    body: T.Object({ sid: maybe }, strict),
    answer: ok,
    errors: ['unauthenticated', 'forbidden'],
  },
  credentials: {
    method: 'GET',
    path: '/v1/owner/credentials',
    who: 'session',
    limit: 'session',
    doc: "The owner's passkeys, and those of guests; not for a guest.",
    answer: some,
    errors: ['unauthenticated', 'forbidden'],
  },
  revoke: {
    method: 'DELETE',
    path: '/v1/owner/credentials/{id}',
    who: 'session',
    limit: 'session',
    doc: 'Revokes a passkey and ends its sessions; not for a guest.',
    answer: ok,
    errors: ['unauthenticated', 'forbidden', 'not_found'],
  },
  openPage: {
    method: 'POST',
    path: '/v1/skill-ui/open',
    who: 'session',
    limit: 'page',
    doc: "A ticket for a page of a skill's own that comes through root (once, for 5 minutes); not for a guest.",
    body: T.Object(
      { skill_id: skillId, hub_id: maybe, page: T.Optional(T.String({ maxLength: 200 })) },
      strict,
    ),
    answer: T.Object({ ticket: text, entryUrl: text }),
    errors: ['unauthenticated', 'forbidden', 'hub_offline'],
  },
  page: {
    method: 'GET',
    path: '/skill-ui/{skill_id}/v1/ui/{path*}',
    who: 'public',
    limit: 'page',
    doc: 'The page that a ticket is for, from the hub, once.',
    params: { skill_id: skillId, path: text },
    query: { ticket: text },
    errors: pageErrors,
  },
  pageFile: {
    method: 'GET',
    path: '/skill-ui/{skill_id}/{capability}/v1/ui/{path*}',
    who: 'public',
    limit: 'page',
    doc: "A file of a page that was entered, for 10 minutes; what opens it stands in the page's own addresses.",
    params: { skill_id: skillId, capability: text, path: text },
    errors: pageErrors,
  },
  offer: {
    method: 'POST',
    path: '/v1/browser/pairing/offer',
    who: 'session',
    limit: 'session',
    doc: "Asks the hub to take this session's browser.",
    body: T.Object({ sid: text, e2e_pubkey: maybe }, strict),
    answer: some,
    errors: ['unauthenticated', 'forbidden', 'hub_offline', 'conflict'],
  },
  accept: {
    method: 'POST',
    path: '/v1/hub/pairing/accept',
    who: 'proof:pairing-accept',
    limit: 'hub',
    doc: 'The hub takes the browser of a session.',
    body: T.Object({ sid: text, hub_id: text, hub_e2e_pubkey: maybe }, strict),
    answer: ok,
    errors: ['unauthenticated', 'forbidden', 'not_found', 'conflict'],
  },
  enrol: {
    method: 'POST',
    path: '/v1/hub/enrol',
    who: 'public',
    limit: 'enrol',
    doc: 'Enrols a hub by its keys; the same key gets the same place.',
    body: T.Object({ sign_pub: text, e2e_pub: text, proof: text }, strict),
    answer: some,
    errors: ['unauthenticated', 'conflict'],
  },
  renew: {
    method: 'POST',
    path: '/v1/hub/renew',
    who: 'proof:renew',
    limit: 'hub',
    doc: 'A new certificate.',
    body: T.Object({}, strict),
    answer: some,
    errors: ['unauthenticated'],
  },
  rotate: {
    method: 'POST',
    path: '/v1/hub/rotate',
    who: 'proof:rotate',
    limit: 'hub',
    doc: "Takes a hub's new keys, signed by the old one.",
    body: T.Object({ e2e_pub: text, sign_pub: maybe, signature: text }, strict),
    answer: some,
    errors: ['unauthenticated', 'conflict'],
  },
  joinSubnet: {
    method: 'POST',
    path: '/v1/hub/subnet/join',
    who: 'proof:subnet-join',
    limit: 'verify',
    doc: 'Takes a device code for a hub: it may then ask the hub of the code to let it into its subnet.',
    body: T.Object({ device_code: text, ticket: maybe }, strict),
    answer: some,
    errors: ['invalid_device_code', 'unauthenticated', 'conflict'],
  },
  admitMember: {
    method: 'POST',
    path: '/v1/hub/subnet/admit',
    who: 'proof:subnet-admit',
    limit: 'hub',
    doc: 'The hub of a subnet lets in a hub that took its code.',
    body: T.Object({ hub_id: text, sign_pub: text }, strict),
    answer: ok,
    errors: ['unauthenticated', 'not_found'],
  },
  partMember: {
    method: 'POST',
    path: '/v1/hub/subnet/part',
    who: 'proof:subnet-part',
    limit: 'hub',
    doc: 'Lets a member go, with a signed note to it; without `hub_id` the hub itself leaves.',
    body: T.Object({ hub_id: maybe, note: maybe }, strict),
    answer: ok,
    errors: ['unauthenticated', 'not_found', 'too_large'],
  },
  keys: {
    method: 'GET',
    path: '/.well-known/jwks.json',
    who: 'public',
    limit: null,
    doc: "Root's public keys (RFC 7517).",
  },
  live: { method: 'GET', path: '/health/live', who: 'public', limit: null, doc: 'Root runs.', answer: ok },
  ready: {
    method: 'GET',
    path: '/health/ready',
    who: 'public',
    limit: null,
    doc: 'Root can do its work: its records answer.',
    answer: ok,
  },
});

const hubProof = { needs: ['proof', 'certificate'], doc: 'For a hub, with a proof for this purpose.' };
export const rootSecurity: Pick<Described, 'who' | 'schemes'> = {
  schemes: {
    cookie: {
      type: 'apiKey',
      in: 'cookie',
      name: 'ingle_browser',
      description: 'Or the header X-Ingle-Browser.',
    },
    session: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    proof: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT, signed by the hub' },
    certificate: { type: 'apiKey', in: 'header', name: 'X-Ingle-Certificate' },
  },
  who: {
    public: { needs: [], doc: 'For anybody.' },
    browser: { needs: ['cookie'], doc: 'For the browser the sid belongs to.' },
    session: { needs: ['session', 'cookie'], doc: 'For a signed-in browser.' },
    'proof:device-code': hubProof,
    'proof:pairing-accept': hubProof,
    'proof:renew': hubProof,
    'proof:rotate': hubProof,
    'proof:subnet-join': hubProof,
    'proof:subnet-route': hubProof,
    'proof:subnet-admit': hubProof,
    'proof:subnet-part': hubProof,
  },
};
