// The tokens root makes with its own keys (keyring.ts): session_jwt, the hub's certificate, and tickets (EdDSA, RFC 8037).
import { createHmac } from 'node:crypto';
import { type JWTVerifyOptions, jwtVerify, SignJWT } from 'jose';
import { random, toBase64url } from '../firmware/protocol/bytes.ts';
import { IngleError } from '../firmware/protocol/errors.ts';
import { CERTIFICATE_TTL, SESSION_TTL } from '../firmware/protocol/limits.ts';
import { seconds } from './clock.ts';
import { type Keyring, openKeyring, type RootKey } from './keyring.ts';
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

/** What a ticket for a skill's page says. Its page reads it, so it names no session. */
export interface TicketClaims {
  owner_id: string;
  skill_id: string;
  hub_id: string;
  /** Path below /v1/ui/. */
  page: string;
  jti: string;
}

export interface Tokens {
  /** A ticket (spec, "UI ticket") until `exp`, under a key and a type of its own. */
  issueTicket(t: TicketClaims, exp: number): Promise<string>;
  /** @throws IngleError `ticket_invalid`; whether it is spent the record says */
  verifyTicket(jwt: string): Promise<TicketClaims>;
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
  /** The keys that count, the newest first (RFC 7517). */
  jwks(): { keys: Record<string, unknown>[] };
  /** Takes new keys and forgets those that count no more; see `rotateKeys`. */
  refresh(): Promise<void>;
}

type KeyRecords = Pick<Records, 'secret' | 'secrets'>;

/** The header `typ` and the audience of tickets. */
const ticketType = 'skill-ui+jwt';
const ticketAudience = 'skill_ui';

/** @throws Error of jose, or where nobody here has the key */
const verified = async (jwt: string, ring: Keyring, options: JWTVerifyOptions) =>
  (
    await jwtVerify(
      jwt,
      async ({ kid }) => {
        const key = await ring.find(kid);
        if (!key) throw new TypeError('no such key');
        return key.publicKey;
      },
      options,
    )
  ).payload;

/** Opens root's tokens; makes the keys at the first start. `issuer` is the public origin of root's API. */
export async function openTokens(records: KeyRecords, issuer: string): Promise<Tokens> {
  const ring = await openKeyring(records, 'sign');
  const ticketRing = await openKeyring(records, 'sign_skill_ui');
  const macKey = await records.secret('mac', toBase64url(random(32)));
  async function checked(jwt: string, audience: string) {
    try {
      const options = { issuer, audience, algorithms, requiredClaims: ['exp', 'iat', 'sub'] };
      return await verified(jwt, ring, options);
    } catch (e) {
      // The keys cannot be read now.
      if (e instanceof IngleError) throw e;
      throw new IngleError('unauthenticated', 'The token is not valid. Sign in again.');
    }
  }
  const signed = (by: RootKey, typ: Record<string, string>, claims: Record<string, unknown>, exp: number) =>
    new SignJWT({ ...claims, iss: issuer })
      .setProtectedHeader({ alg: 'EdDSA', kid: by.kid, ...typ })
      .setIssuedAt()
      .setExpirationTime(exp)
      .sign(by.privateKey);
  const sign = (claims: Record<string, unknown>, aud: string, sub: string, exp: number) =>
    signed(ring.newest(), {}, { ...claims, aud, sub }, exp);

  return {
    issueTicket: ({ owner_id, ...claims }, exp) =>
      signed(
        ticketRing.newest(),
        { typ: ticketType },
        { ...claims, aud: ticketAudience, sub: `owner:${owner_id}` },
        exp,
      ),
    async verifyTicket(jwt) {
      const options = {
        ...{ issuer, audience: ticketAudience, algorithms, typ: ticketType },
        requiredClaims: ['exp', 'iat', 'sub', 'jti'],
      };
      try {
        if (jwt.length > 2048) throw new TypeError('too long');
        const p = await verified(jwt, ticketRing, options);
        return {
          owner_id: p.sub!.replace(/^owner:/, ''),
          skill_id: String(p['skill_id']),
          hub_id: String(p['hub_id']),
          page: String(p['page']),
          jti: p.jti!,
        };
      } catch (e) {
        if (e instanceof IngleError) throw e;
        throw new IngleError('ticket_invalid', 'The ticket is not valid or too old. Open the page again.');
      }
    },
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
    jwks: () => ({ keys: ring.all().map(({ jwk, kid }) => ({ ...jwk, kid, use: 'sig', alg: 'EdDSA' })) }),
    async refresh() {
      await ring.refresh();
      await ticketRing.refresh();
    },
  };
}
