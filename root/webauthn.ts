// WebAuthn (Level 3) for the owner's browsers; every response is verified by @simplewebauthn/server.
import {
  type AuthenticationResponseJSON,
  type AuthenticatorTransport,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { fromBase64url, random, toBase64url, utf8 } from '../firmware/protocol/bytes.ts';
import { IngleError } from '../firmware/protocol/errors.ts';
import { CHALLENGE_TTL } from '../firmware/protocol/limits.ts';
import { type Challenge, challengeOf, inForeignFrame } from '../firmware/protocol/pairing/assertion.ts';
import { seconds } from './clock.ts';
import { log, short } from './log.ts';
import type { Ceremony, Passkey, Session } from './records/records.ts';
import { approvesPasskey } from './records/rules.ts';
import type { Root } from './root.ts';
import { isLoggedIn } from './session.ts';

const listed = (known: readonly Passkey[]) =>
  known.map((c) => ({ id: c.cred_id, transports: c.transports as AuthenticatorTransport[] }));
const rpID = (root: Root) => new URL(root.config.origin).hostname;

const failed = () =>
  new IngleError('assertion_failed', 'The passkey could not be verified. Try again with a new request.');

/** What the browser makes of a challenge of ours before a passkey signs it; used once. */
export async function takeSigned(root: Root, sid: string, kind: Ceremony, context = sid) {
  const purpose = kind === 'registration' ? kind : 'login';
  const given = await root.records.passkeys.takeChallenge(sid, kind, seconds());
  return given === undefined ? undefined : challengeOf({ purpose, context, bytes: fromBase64url(given) });
}

/** Whether a session is signed in by a passkey that may speak for the account: the owner's, not a guest's. */
const isOwners = (session: Session, known: readonly Passkey[]): boolean =>
  isLoggedIn(session) && known.some((p) => p.browser_key_id === session.browser_key_id && !p.guest);

/** A first passkey needs a code, a further one the owner's login or the hub's approval. @throws IngleError `forbidden` */
function mayRegister(session: Session, known: readonly Passkey[]): void {
  if (known.length > 0 && !isOwners(session, known) && !approvesPasskey(session.scope))
    throw new IngleError(
      'forbidden',
      'This hub already has a passkey. Sign in with it, or let the hub approve a new one: “Every passkey is lost” at its console, or ingle login --new-passkey.',
    );
}

/** @throws IngleError `unauthenticated` before the code, `forbidden` for a further passkey nobody approved */
export async function registrationChallenge(root: Root, session: Session) {
  if (session.owner_id === null) throw new IngleError('unauthenticated', 'Enter the code of your hub first.');
  const known = await root.records.passkeys.ofOwner(session.owner_id);
  mayRegister(session, known);
  const options = await generateRegistrationOptions({
    rpName: 'Ingle',
    rpID: rpID(root),
    userName: `Ingle ${session.hub_id?.slice(4, 10) ?? ''}`.trim(),
    userID: new Uint8Array(utf8(session.owner_id)),
    timeout: CHALLENGE_TTL * 1000,
    attestationType: 'none',
    excludeCredentials: listed(known),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: [-7, -8, -257],
  });
  const now = seconds();
  const given = { sid: session.sid, challenge: options.challenge, exp: now + CHALLENGE_TTL };
  await root.records.passkeys.beginRegistration(given, now);
  // The phone's own fingerprint or face is offered first; other authenticators stay possible.
  return { publicKeyCredentialCreationOptions: { ...options, hints: ['client-device'] } };
}

/** @throws IngleError `assertion_failed`, `conflict`, `forbidden` */
export async function registrationFinish(root: Root, session: Session, credential: Record<string, unknown>) {
  const expectedChallenge = await takeSigned(root, session.sid, 'registration');
  if (expectedChallenge === undefined || session.owner_id === null) throw failed();
  const owner = session.owner_id;
  let info: NonNullable<Awaited<ReturnType<typeof verifyRegistrationResponse>>['registrationInfo']>;
  try {
    if (inForeignFrame(credential)) throw failed();
    const result = await verifyRegistrationResponse({
      response: credential as unknown as RegistrationResponseJSON,
      expectedChallenge,
      expectedOrigin: root.config.origin,
      expectedRPID: rpID(root),
      requireUserVerification: true,
      supportedAlgorithmIDs: [-7, -8, -257],
    });
    if (!result.verified) throw failed();
    info = result.registrationInfo;
  } catch {
    throw failed();
  }
  const given = (credential['response'] as { transports?: unknown }).transports;
  const ways = Array.isArray(given)
    ? given.filter((t) => typeof t === 'string' && t.length < 32).slice(0, 8)
    : [];
  const browser_key_id = `bk_${toBase64url(random(12))}`;
  const passkey = {
    cred_id: info.credential.id,
    owner_id: owner,
    browser_key_id,
    browser_pubkey: info.credential.publicKey,
    hub_id: session.hub_id ?? '',
    sign_count: info.credential.counter,
    transports: ways,
    backed_up: info.credentialBackedUp,
  };
  const put = await root.records.passkeys.register(
    { sid: session.sid, passkey, now: seconds() },
    (present, known) => {
      if (present?.owner_id !== owner) throw failed();
      // Another may have come first since the challenge was given out.
      mayRegister(present, known);
    },
  );
  if (!put) throw new IngleError('conflict', 'This passkey is registered already.');
  return { browser_key_id };
}

/** @throws IngleError `registration_required` for an owner without a passkey */
export async function loginChallenge(root: Root, session: Session) {
  const known = session.owner_id === null ? [] : await root.records.passkeys.ofOwner(session.owner_id);
  if (session.owner_id !== null && known.length === 0)
    throw new IngleError('registration_required', 'This hub has no passkey yet. Make one first.');
  return assertionOptions(root, session.sid, 'login', known);
}

/** What a browser asks its passkey by. */
export async function assertionOptions(
  root: Root,
  sid: string,
  kind: 'login' | 'command',
  known: readonly Passkey[],
) {
  const options = await generateAuthenticationOptions({
    rpID: rpID(root),
    timeout: CHALLENGE_TTL * 1000,
    userVerification: 'required',
    allowCredentials: listed(known),
  });
  const exp = seconds() + CHALLENGE_TTL;
  await root.records.passkeys.beginAssertion(kind, { sid, challenge: options.challenge, exp });
  return { publicKeyCredentialRequestOptions: options };
}

/**
 * The passkey that made an assertion, and its counter now.
 * @param owner whose passkey it must be; null for anybody's
 * @throws IngleError `assertion_failed`
 */
export async function asserted(
  root: Root,
  credential: Record<string, unknown>,
  expectedChallenge: Challenge | undefined,
  owner: string | null,
): Promise<{ cred: Passkey; counter: number }> {
  const id = credential['id'];
  if (expectedChallenge === undefined || typeof id !== 'string' || id.length > 1400) throw failed();
  const cred = await root.records.passkeys.find(id);
  if (!cred || (owner !== null && owner !== cred.owner_id)) throw failed();
  let counter: number;
  try {
    const response = credential as unknown as AuthenticationResponseJSON;
    if (inForeignFrame(response)) throw failed();
    const handle = response.response.userHandle;
    if (handle && Buffer.from(handle, 'base64url').toString() !== cred.owner_id) throw failed();
    const result = await verifyAuthenticationResponse({
      response,
      expectedChallenge,
      expectedOrigin: root.config.origin,
      expectedRPID: rpID(root),
      // 0, since the library would refuse a counter that goes back; we record that instead (below).
      credential: { id, publicKey: new Uint8Array(cred.browser_pubkey), counter: 0 },
      requireUserVerification: true,
    });
    if (!result.verified) throw failed();
    counter = result.authenticationInfo.newCounter;
  } catch {
    throw failed();
  }
  return { cred, counter };
}

/** Verifies the assertion, moves the sid to AUTH and issues its session token. @throws IngleError `assertion_failed` */
export async function loginFinish(
  root: Root,
  session: Session,
  credential: Record<string, unknown>,
  place: string,
) {
  const expectedChallenge = await takeSigned(root, session.sid, 'login');
  const { cred, counter } = await asserted(root, credential, expectedChallenge, session.owner_id);
  const hub = await root.records.hubs.ofOwner(cred.owner_id, session.hub_id);
  if (!hub) throw failed();
  const { owner_id, browser_key_id } = cred;
  const { hub_id, subnet_id } = hub;
  const token = await root.tokens.issueSession({ sid: session.sid, owner_id, subnet_id, browser_key_id });
  const done = await root.records.passkeys.login({
    sid: session.sid,
    owner_before: session.owner_id,
    cred_id: cred.cred_id,
    sign_count: counter,
    ...{ hub_id, subnet_id, jti: token.jti, place, now: seconds(), exp: token.exp },
  });
  // The session is another's now, or the passkey was revoked while we verified.
  if (!done) throw failed();
  root.ways.extend(session);
  if (done.went_back)
    log('notice', 'a passkey counter went back', { browser_key_id, owner: short(owner_id) });
  const public_key = toBase64url(cred.browser_pubkey);
  return { session_jwt: token.jwt, browser_key_id, public_key, owner_id, hub_id, subnet_id };
}

/** All passkeys of the account, for the owner alone. @throws IngleError `forbidden` for a guest */
export async function ownedBy(root: Root, session: Session): Promise<Passkey[]> {
  const all = await root.records.passkeys.ofOwner(session.owner_id!);
  if (!isOwners(session, all)) throw new IngleError('forbidden', 'Only the owner may do this.');
  return all;
}

/** The owner's passkeys as shown to the owner. @throws IngleError `forbidden` */
export async function listCredentials(root: Root, session: Session) {
  const all = await ownedBy(root, session);
  return {
    credentials: all.map((c) => ({
      id: c.cred_id,
      browser_key_id: c.browser_key_id,
      name: c.name,
      guest: c.guest,
      current: c.browser_key_id === session.browser_key_id,
      sign_count: c.sign_count,
      /** When the counter last went back, Unix seconds; null = never. A copy of the passkey may exist. */
      sign_count_went_back: c.went_back || null,
      backed_up: c.backed_up,
      created_at: c.created,
      last_used_at: c.last_used,
    })),
  };
}
