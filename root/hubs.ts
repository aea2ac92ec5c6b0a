// Hubs: enrolment, certificates, and the proof a hub gives with each call.
import { createPublicKey, type KeyObject, verify, X509Certificate } from 'node:crypto';
import { type JWTPayload, jwtVerify } from 'jose';
import { fromBase64url, random, toBase64url } from '../firmware/protocol/bytes.ts';
import { IngleError } from '../firmware/protocol/errors.ts';
import { PROOF_TTL } from '../firmware/protocol/limits.ts';
import { rotationMessage } from '../firmware/protocol/noise/rotation.ts';
import type { ProofPurpose } from '../firmware/protocol/wire.ts';
import { seconds } from './clock.ts';
import { digest } from './digest.ts';
import type { Hub } from './records/records.ts';
import type { Root } from './root.ts';
import { algorithms } from './tokens.ts';

/** A hub's clock may be off by this much, seconds: many have no battery behind it. */
const SKEW = 60;

/** A raw public key of 32 bytes, base64url. @throws IngleError `invalid_request` */
export function publicKey32(text: string, field: string): string {
  try {
    if (fromBase64url(text).length === 32) return text;
  } catch {}
  throw new IngleError('invalid_request', `"${field}" must be a public key: 32 bytes, base64url.`, {
    pointer: `/${field}`,
  });
}

function ed25519(x: string): KeyObject {
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}

/**
 * Checks a proof: an EdDSA JWT of at most a minute, for this root and this purpose, with a jti that was never seen.
 * @throws IngleError `unauthenticated`; `details` says root's time and names, so that a hub can find its mistake.
 * `rate_limited` for a hub that proves itself too often
 */
async function checkProof(
  root: Root,
  proof: string,
  signPub: string,
  purpose: ProofPurpose,
): Promise<JWTPayload> {
  const audience = [root.config.api, ...root.config.audience];
  const refuse = (why: string) =>
    new IngleError('unauthenticated', `The hub's proof is not valid: ${why}.`, { now: seconds(), audience });
  let payload: JWTPayload;
  try {
    const options = {
      audience,
      algorithms,
      clockTolerance: SKEW,
      requiredClaims: ['iat', 'exp', 'jti'],
    };
    payload = (await jwtVerify(proof, ed25519(signPub), options)).payload;
  } catch {
    throw refuse('signature, audience or time');
  }
  const { iat, exp, jti } = payload as { iat: number; exp: number; jti: unknown };
  // RFC 7519 lets a time have a fraction; nobody's clock needs one here, and the table takes none.
  if (!Number.isSafeInteger(iat) || !Number.isSafeInteger(exp)) throw refuse('times must be whole seconds');
  if (payload['purpose'] !== purpose) throw refuse('it is for another purpose');
  if (exp - iat > PROOF_TTL || exp <= iat || iat > seconds() + SKEW) throw refuse('it lives too long');
  if (typeof jti !== 'string' || jti.length < 16 || jti.length > 128) throw refuse('jti');
  root.limits.proof.take(signPub);
  // Kept on disk, so that a restart of root does not open a window for replays.
  const fresh = await root.records.hubs.spendProof(digest(`${signPub}.${jti}`), exp + 2 * SKEW);
  if (!fresh) throw refuse('it was used before');
  return payload;
}

/** The hub behind a certificate alone. @throws IngleError `unauthenticated` */
async function hubOf(root: Root, certificate: string): Promise<Hub> {
  const { hub_id, sign_pub } = await root.tokens.verifyCertificate(certificate);
  const hub = await root.records.hubs.find(hub_id);
  if (!hub || hub.sign_pub !== sign_pub)
    throw new IngleError('unauthenticated', 'The certificate is no longer valid. Enrol again.');
  return hub;
}

/** The hub behind a certificate and a fresh proof, and the proof's claims. @throws IngleError `unauthenticated` */
export async function authenticateHub(
  root: Root,
  certificate: unknown,
  proof: unknown,
  purpose: ProofPurpose,
) {
  if (typeof certificate !== 'string' || typeof proof !== 'string')
    throw new IngleError('unauthenticated', 'A hub gives its certificate and a proof.');
  const hub = await hubOf(root, certificate);
  const claims = await checkProof(root, proof, hub.sign_pub, purpose);
  if (claims.sub !== undefined && claims.sub !== hub.hub_id)
    throw new IngleError('unauthenticated', 'The proof is of another hub.');
  return { hub, claims };
}

/** The hub behind a certificate and the TLS client certificate (URL-encoded PEM) that the proxy in front has verified. */
export async function authenticateTls(root: Root, certificate: unknown, pem: string): Promise<Hub> {
  const hub = await hubOf(root, String(certificate));
  try {
    const key = new X509Certificate(decodeURIComponent(pem)).publicKey.export({ format: 'jwk' });
    if (key.crv === 'Ed25519' && key.x === hub.sign_pub) return hub;
  } catch {}
  throw new IngleError('unauthenticated', 'The TLS certificate is not of this hub.');
}

/** A hub's certificate, which its owner sees the end of. */
export async function certify(root: Root, hub: Hub) {
  const given = await root.tokens.issueCertificate(hub);
  await root.records.hubs.certified(hub.hub_id, given.expires_at);
  return given;
}

/**
 * Enrols the holder of `sign_pub`: the same key always gets the same identity.
 * @param pow solution of a puzzle; new hubs need one while very many enrol
 */
export async function enrol(root: Root, signPub: string, e2ePub: string, proof: string, pow: string) {
  publicKey32(signPub, 'sign_pub');
  publicKey32(e2ePub, 'e2e_pub');
  const known = await root.records.hubs.findByKey(signPub);
  if (!known) {
    root.enrolments.check(signPub, pow);
    root.enrolments.failed();
  }
  await checkProof(root, proof, signPub, 'enrol');
  // The same key has the same ids, also after it was forgotten; one that a hub gave up when it rotated gets others.
  const ids = (of: (kind: string) => string) => ({
    hub_id: `hub_${of('hub')}`,
    owner_id: `own_${of('own')}`,
    subnet_id: `net_${of('net')}`,
  });
  const hub = await root.records.hubs.enrol({
    sign_pub: signPub,
    e2e_pub: e2ePub,
    derived: ids((kind) => root.tokens.mac(kind, signPub).slice(0, 16)),
    random: ids(() => toBase64url(random(12))),
    now: seconds(),
  });
  const { owner_id, subnet_id, hub_id } = hub;
  // The application's address: the hub pins it and makes its links from it.
  const app_url = root.config.origin;
  const parted = await root.records.members.note(hub_id);
  return {
    ...{ owner_id, subnet_id, hub_id, app_url },
    ...(await certify(root, hub)),
    ...(parted === undefined ? {} : { parted }),
  };
}

/** New keys for a hub, signed by the identity key it has had; hub_id stays. */
export async function rotate(root: Root, hub: Hub, e2ePub: string, signPub: string, signature: string) {
  publicKey32(e2ePub, 'e2e_pub');
  publicKey32(signPub, 'sign_pub');
  let good = false;
  try {
    const message = rotationMessage(hub.hub_id, e2ePub, signPub);
    good = verify(null, message, ed25519(hub.sign_pub), fromBase64url(signature));
  } catch {}
  if (!good) throw new IngleError('forbidden', 'The rotation is not signed by the present key.');
  const { hub_id } = hub;
  const change = { hub_id, from: hub.sign_pub, to: signPub, e2e_pub: e2ePub, now: seconds() };
  if (!(await root.records.hubs.rotate(change)))
    throw new IngleError('conflict', 'The key is already in use, or has just changed.');
  const { certificate, expires_at } = await certify(root, { ...hub, sign_pub: signPub });
  root.ways.rotated(hub_id, signPub !== hub.sign_pub);
  return { hub_id, certificate, expires_at };
}
