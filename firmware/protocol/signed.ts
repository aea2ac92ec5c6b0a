// Whether a view is what the hub has signed in its index. Runs in browsers; documents/sign.ts makes what this checks.
import { fromBase64url, toBase64url, utf8 } from './bytes.ts';
import { canonical } from './canonical.ts';
import { verifyEd25519 } from './noise/ed25519.ts';

/** The content hash as the index has it: base64url SHA-256 of the canonical JSON. */
export async function etagIn(content: Record<string, unknown>): Promise<string> {
  return toBase64url(
    new Uint8Array(
      await crypto.subtle.digest('SHA-256', utf8(canonical(content)) as Uint8Array<ArrayBuffer>),
    ),
  );
}

/**
 * Whether `signature` (base64url) is by the hub's document key over this key and etag. Never throws.
 * @param publicKey raw Ed25519 key, base64url
 */
export async function isSigned(
  publicKey: string,
  { key, etag, signature }: { key: string; etag: string; signature: string },
): Promise<boolean> {
  try {
    return await verifyEd25519(fromBase64url(publicKey), fromBase64url(signature), utf8(`${key}\n${etag}`));
  } catch {
    return false;
  }
}
