// What a hub tells root with its wish for a code: the ticket of its link, and the names of the passkeys it knows.
import { toBase64url, utf8 } from '../bytes.ts';
import { hmac, sha256 } from '../noise/hash.ts';

/** Whether a text may be a ticket: 128 bits, base64url. */
export const isTicket = (text: unknown): text is string =>
  typeof text === 'string' && /^[\w-]{22}$/.test(text);

/**
 * The ticket of the link with this `psk` (32 bytes): shows root that a browser has the link, which cannot be guessed as
 * six digits can. It tells root nothing of the psk.
 */
export async function linkTicket(psk: Uint8Array): Promise<string> {
  return toBase64url((await hmac('SHA-256', psk, utf8('ingle link ticket'))).subarray(0, 16));
}

/** Passkeys a hub names at most; one that knows more names none. */
export const MAX_NAMED = 32;

/** The name of a passkey between hub and root: 132 bits of the hash of its id. */
export async function passkeyName(credId: string): Promise<string> {
  return toBase64url(await sha256(utf8(credId))).slice(0, 22);
}
