// Root's own key, and the tokens made with it: session_jwt and the hub's certificate (EdDSA, RFC 8037).
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { random, toBase64url } from '../firmware/protocol/bytes.ts';
import { IngleError } from '../firmware/protocol/errors.ts';
import { CERTIFICATE_TTL, SESSION_TTL } from '../firmware/protocol/limits.ts';
import { seconds } from './clock.ts';
import { digest } from './digest.ts';
import type { Hub, Records } from './records/records.ts';

export const algorithms = ['EdDSA', 'Ed25519'];

/** Claims of a session token that passed. */
export interface SessionClaims {
  sid: string;
  jti: string;
  owner_id: string;
  browser_key_id: string;
  exp: number;
}

export interface Tokens {
  issueSession(s: {
    sid: string;
    owner_id: string;
    subnet_id: string;
    browser_key_id: string;
  }): Promise<{ jwt: string; jti: string; exp: number }>;
  /** @throws IngleError `unauthenticated`; the record of the session still has its say. */
  verifySession(jwt: string): Promise<SessionClaims>;
  issueCertificate(hub: Hub): Promise<{ certificate: string; expires_at: number }>;
  /** @throws IngleError `unauthenticated` */
  verifyCertificate(jwt: string): Promise<{ hub_id: string; sign_pub: string }>;
  /** HMAC-SHA-256 under a key that never leaves root, base64url; `purpose` keeps uses apart. */
  mac(purpose: string, text: string): string;
  /** RFC 7517. */
  jwks(): { keys: Record<string, unknown>[] };
}

/** Opens root's tokens; makes the keys at the first start. `issuer` is the public origin of root's API. */
export async function openTokens(records: Pick<Records, 'secret'>, issuer: string): Promise<Tokens> {
  const pem = await records.secret(
    'sign',
    generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  );
  const macKey = await records.secret('mac', toBase64url(random(32)));
  const privateKey = createPrivateKey(pem);
  const publicKey: KeyObject = createPublicKey(privateKey);
  const jwk = publicKey.export({ format: 'jwk' });
  const kid = digest(jwk.x!).slice(0, 16);

  async function checked(jwt: string, audience: string) {
    try {
      const options = { issuer, audience, algorithms, requiredClaims: ['exp', 'iat', 'sub'] };
      return (await jwtVerify(jwt, publicKey, options)).payload;
    } catch {
      throw new IngleError('unauthenticated', 'The token is not valid. Sign in again.');
    }
  }
  const sign = (claims: Record<string, unknown>, audience: string, sub: string, exp: number) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'EdDSA', kid })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(sub)
      .setIssuedAt()
      .setExpirationTime(exp)
      .sign(privateKey);

  return {
    async issueSession({ sid, owner_id, subnet_id, browser_key_id }) {
      const jti = toBase64url(random(16));
      const exp = seconds() + SESSION_TTL;
      const claims = { sid, browser_key_id, subnet_id, jti };
      return { jwt: await sign(claims, 'owner', `owner:${owner_id}`, exp), jti, exp };
    },
    async verifySession(jwt) {
      const p = await checked(jwt, 'owner');
      return {
        sid: String(p['sid']),
        jti: String(p.jti),
        owner_id: p.sub!.replace(/^owner:/, ''),
        browser_key_id: String(p['browser_key_id']),
        exp: p.exp!,
      };
    },
    async issueCertificate(hub) {
      const expires_at = seconds() + CERTIFICATE_TTL;
      const cnf = { jwk: { kty: 'OKP', crv: 'Ed25519', x: hub.sign_pub } };
      const claims = { cnf, owner_id: hub.owner_id, subnet_id: hub.subnet_id };
      return { certificate: await sign(claims, 'hub', hub.hub_id, expires_at), expires_at };
    },
    async verifyCertificate(jwt) {
      const p = await checked(jwt, 'hub');
      const cnf = p['cnf'] as { jwk?: { x?: unknown } } | undefined;
      return { hub_id: p.sub!, sign_pub: String(cnf?.jwk?.x) };
    },
    mac: (purpose, text) => createHmac('sha256', macKey).update(`${purpose}\n${text}`).digest('base64url'),
    jwks: () => ({ keys: [{ ...jwk, kid, use: 'sig', alg: 'EdDSA' }] }),
  };
}
