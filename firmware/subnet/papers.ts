// What hubs of a subnet show each other over their channel: root's certificate, and their own signature over the very
// handshake. Root alone can make the first, the holder of the identity key alone the second.
import { createPublicKey, verify } from 'node:crypto';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { fromBase64url, toBase64url, utf8 } from '../protocol/bytes.ts';
import { IngleError } from '../protocol/errors.ts';

/** Where a hub belongs. */
export interface Belongs {
  hub_id: string;
  owner_id: string;
  subnet_id: string;
}

/** Who a hub is by its papers, and until when, Unix seconds. */
export interface Shown extends Belongs {
  sign_pub: string;
  expires_at: number;
}

/** Who shows: the hub that leads the subnet, or one that is or becomes its member. */
export type Side = 'hub' | 'member';

export interface Papers {
  certificate: string;
  signature: string;
}

/** A certificate may be off by this much, as root's clock is not ours, seconds. */
const SKEW = 60;

/** What a hub signs with its identity key: who it is, on which side, in this handshake. */
export const papersMessage = (side: Side, b: Belongs, handshake: Uint8Array): Uint8Array =>
  utf8(
    `ingle subnet papers v1\n${side}\n${b.hub_id}\n${b.owner_id}\n${b.subnet_id}\n${toBase64url(handshake)}`,
  );

/** What the hub of a subnet signs for a member it lets go; `bond` is of that membership alone. */
export const partingMessage = (hubId: string, bond: string): Uint8Array =>
  utf8(`ingle subnet parting v1\n${hubId}\n${bond}`);

/** Whether an Ed25519 signature is of this key (all base64url). */
export function isSigned(signPub: string, message: Uint8Array, signature: string): boolean {
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: signPub }, format: 'jwk' });
    return verify(null, message, key, fromBase64url(signature));
  } catch {
    return false;
  }
}

/**
 * Who the other side is.
 * @param keys root's (RFC 7517) @param now Unix seconds
 * @throws IngleError `unauthenticated`
 */
export async function readPapers(
  p: Papers,
  o: { side: Side; handshake: Uint8Array; keys: JSONWebKeySet; now: number },
): Promise<Shown> {
  const refuse = (why: string) =>
    new IngleError('unauthenticated', `The other hub's papers are wrong: ${why}.`);
  let claims: Record<string, unknown>;
  try {
    const { payload } = await jwtVerify(p.certificate, createLocalJWKSet(o.keys), {
      ...{ audience: 'hub', algorithms: ['EdDSA', 'Ed25519'], requiredClaims: ['exp', 'sub'] },
      ...{ clockTolerance: SKEW, currentDate: new Date(o.now * 1000) },
    });
    claims = payload as Record<string, unknown>;
  } catch {
    throw refuse('the certificate is not of our root, or is over');
  }
  const { sub: hub_id, owner_id, subnet_id, exp, cnf } = claims;
  const sign_pub = (cnf as { jwk?: { x?: unknown } } | undefined)?.jwk?.x;
  const ids = [hub_id, owner_id, subnet_id];
  if (!ids.every((id) => typeof id === 'string' && /^[\w-]{1,64}$/.test(id)) || typeof sign_pub !== 'string')
    throw refuse('the certificate names nobody');
  const belongs = { hub_id, owner_id, subnet_id } as Belongs;
  if (!isSigned(sign_pub, papersMessage(o.side, belongs, o.handshake), p.signature))
    throw refuse('they are not signed by their holder for this connection');
  return { ...belongs, sign_pub, expires_at: exp as number };
}
