// The hub's proof for root: a JWT of a minute by the identity key (ARCHITECTURE D11), and how long a certificate lasts.
import { decodeJwt, SignJWT } from 'jose';
import { random, toBase64url } from '../protocol/bytes.ts';
import { PROOF_TTL } from '../protocol/limits.ts';
import type { ProofPurpose } from '../protocol/wire.ts';
import { type HubKeys, identityKey } from './keys.ts';

/** What a proof says beside who gives it. */
export interface ProofClaims {
  purpose: ProofPurpose;
  sub?: string;
  /** The hub approves a further passkey for the code it asks for, or the code is for a hub. */
  scope?: 'new_passkey' | 'member';
  /** Ticket of the link that goes with the code. */
  ticket?: string;
  /** Names of the passkeys that the hub knows: root forgets the owner's others. */
  passkeys?: string[];
  /** The code is for somebody who is not the owner. */
  guest?: true;
  /** Which of `passkeys` are not the owner's. */
  guests?: string[];
}

/**
 * @param audience origin of the address the hub was configured with, never one that root names.
 * @param now Unix seconds by root's clock.
 */
export function makeProof(
  keys: HubKeys,
  audience: string,
  now: number,
  claims: ProofClaims,
): Promise<string> {
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'EdDSA' })
    .setAudience(audience)
    .setIssuedAt(now)
    .setExpirationTime(now + PROOF_TTL)
    .setJti(toBase64url(random(16)))
    .sign(identityKey(keys));
}

/** The certificate's times (Unix seconds) as root wrote them; not verified here. @throws TypeError when there are none */
export function readCertificate(jwt: string): { issued_at: number; expires_at: number } {
  const { iat, exp } = decodeJwt(jwt);
  if (!Number.isSafeInteger(iat) || !Number.isSafeInteger(exp))
    throw new TypeError('a certificate has times');
  return { issued_at: iat!, expires_at: exp! };
}

/** Renewal is due at two thirds of the certificate's life. */
export function renewalDue(i: { issued_at: number; expires_at: number }, now: number): boolean {
  return now >= i.issued_at + ((i.expires_at - i.issued_at) * 2) / 3;
}
