// Checks a WebAuthn assertion over a handshake (WebAuthn Level 3, section 7.2). The hub's own check: root is not asked.
import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import { fromBase64url } from '../protocol/bytes.ts';
import { IngleError } from '../protocol/errors.ts';
import { type Challenge, inForeignFrame } from '../protocol/pairing/assertion.ts';

/** What a passkey may speak for: the origin of the application and its relying-party id (the host). */
export interface RelyingParty {
  origin: string;
  id: string;
}

/** The relying party behind an application's address. */
export function relyingParty(appUrl: string): RelyingParty {
  const url = new URL(appUrl);
  return { origin: url.origin, id: url.hostname };
}

/** The credential id an assertion claims. @throws IngleError `invalid_request` when there is none. */
export function claimedId(credential: unknown): string {
  const id = (credential as { id?: unknown } | null)?.id;
  if (typeof id !== 'string' || id.length === 0 || id.length > 1400)
    throw new IngleError('invalid_request', 'The assertion names no passkey.', { pointer: '/credential/id' });
  return id;
}

/**
 * Verifies `credential` with the COSE key `publicKey` over `challenge`; user verification is required and framing by
 * another site refused.
 * @returns the authenticator's counter; going back is for the caller to note, since synced passkeys send 0.
 * @throws IngleError `assertion_failed`
 */
export async function verifyAssertion(
  credential: unknown,
  publicKey: Uint8Array,
  challenge: Challenge,
  party: RelyingParty,
): Promise<number> {
  const id = claimedId(credential);
  // Some megabytes that a hub needs when a browser is let in, and not while it waits.
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  try {
    if (inForeignFrame(credential)) throw new Error('made in a foreign frame');
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: credential as AuthenticationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      credential: { id, publicKey: new Uint8Array(publicKey), counter: 0 },
      requireUserVerification: true,
    });
    if (!verified) throw new Error('not verified');
    return authenticationInfo.newCounter;
  } catch {
    throw new IngleError('assertion_failed', 'The passkey did not prove itself to the hub.');
  }
}

/** A COSE key as a browser sends it. @throws IngleError `invalid_request` */
export function coseKey(text: string): Uint8Array {
  try {
    const bytes = fromBase64url(text);
    if (bytes.length > 0 && bytes.length <= 2048) return bytes;
  } catch {}
  throw new IngleError('invalid_request', 'The public key is not base64url.', { pointer: '/public_key' });
}
