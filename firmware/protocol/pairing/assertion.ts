// What a passkey is asked to sign. Root and the hub each have a label of their own, so that what was signed for one is
// worth nothing to the other, whatever bytes it gave.
import { concat, fromBase64url, fromUtf8, toBase64url, u64, utf8 } from '../bytes.ts';
import { sha256 } from '../noise/hash.ts';

/** What an assertion is for, and the label that keeps it from meaning anything else. */
const labels = {
  login: 'ingle root login v1',
  registration: 'ingle root registration v1',
  hub: 'ingle hub assertion v1',
} as const;

/** What is to be signed. Only its challenge ever reaches a passkey. */
export interface ToSign {
  purpose: keyof typeof labels;
  /** Where it counts: the sid at root (or `commandContext`), the hub_id at a hub. */
  context: string;
  /** What the verifier gave: root's random bytes; for a hub the handshake hash, as this side has it. */
  bytes: Uint8Array;
}

declare const made: unique symbol;
/** A WebAuthn challenge, base64url of 32 bytes. Only `challengeOf` makes one, so nobody can have raw bytes signed. */
export type Challenge = string & { readonly [made]: true };

/** `SHA-256(label 0x00 | length of the context in bytes, u64 | context | bytes)`. */
export async function challengeOf(what: ToSign): Promise<Challenge> {
  const context = utf8(what.context);
  const all = concat(utf8(labels[what.purpose]), Uint8Array.of(0), u64(context.length), context, what.bytes);
  return toBase64url(await sha256(all)) as Challenge;
}

/**
 * Whether the page that asked for a credential stood in a frame of another site (WebAuthn Level 3, section 5.8.1);
 * what cannot be read counts as one.
 */
export function inForeignFrame(credential: unknown): boolean {
  try {
    const { response } = credential as { response: { clientDataJSON: string } };
    const client = JSON.parse(fromUtf8(fromBase64url(response.clientDataJSON))) as Record<string, unknown>;
    return (client['crossOrigin'] ?? false) !== false || client['topOrigin'] !== undefined;
  } catch {
    return true;
  }
}
