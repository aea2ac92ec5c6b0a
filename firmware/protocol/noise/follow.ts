// The browser's side of a key rotation: follow the hub to its new static key only when its identity signed it.
import { equal, fromBase64url } from '../bytes.ts';
import { IngleError } from '../errors.ts';
import type { Control } from '../wire.ts';
import { verifyEd25519 } from './ed25519.ts';
import { rotationMessage } from './rotation.ts';

/**
 * The new static key (32 bytes) of a `rotate` message. The hub repeats the message after handshakes while it keeps
 * former keys: a key the browser has pinned already needs nothing.
 * @param signPub the identity key pinned from the first `welcome` (`sign_pub`, base64url).
 * @throws IngleError `forbidden` when the pinned identity key did not sign it.
 */
export async function followRotation(
  m: Control & { t: 'rotate' },
  hubId: string,
  signPub: string,
): Promise<Uint8Array> {
  try {
    const [e2e, pinned, signature] = [m.e2e_pub, signPub, m.signature].map(fromBase64url);
    const message = rotationMessage(hubId, m.e2e_pub, m.sign_pub);
    if (
      e2e!.length === 32 &&
      equal(fromBase64url(m.sign_pub), pinned!) &&
      (await verifyEd25519(pinned!, signature!, message))
    )
      return e2e!;
  } catch {}
  throw new IngleError('forbidden', 'The hub shows a new key that its identity did not sign.');
}
