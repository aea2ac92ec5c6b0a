// Certificates as root makes them for hubs.
import { generateKeyPairSync } from 'node:crypto';
import { type JSONWebKeySet, SignJWT } from 'jose';

/** @param now Unix seconds */
export function certificates(now: number) {
  const root = generateKeyPairSync('ed25519').privateKey;
  const jwk = { ...root.export({ format: 'jwk' }), d: undefined, alg: 'EdDSA' };
  return {
    /** Root's public keys. */
    keys: { keys: [jwk] } as JSONWebKeySet,
    /** A certificate of 1,000 seconds for the hub with this identity key (base64url). */
    certify: (hub_id: string, whose: { owner_id: string; subnet_id: string }, signPub: string) =>
      new SignJWT({
        cnf: { jwk: { kty: 'OKP', crv: 'Ed25519', x: signPub } },
        ...{ owner_id: whose.owner_id, subnet_id: whose.subnet_id },
      })
        .setProtectedHeader({ alg: 'EdDSA' })
        .setSubject(hub_id)
        .setAudience('hub')
        .setExpirationTime(now + 1000)
        .sign(root),
  };
}
