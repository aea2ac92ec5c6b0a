// What a hub signs when it changes its keys: root checks it in /v1/hub/rotate, browsers in the `rotate` control message.
import { utf8 } from '../bytes.ts';

/**
 * The bytes under a rotation's signature, made with the Ed25519 identity key that is valid until now.
 * @param e2ePub base64url of the next X25519 static key
 * @param signPub base64url of the Ed25519 identity key from now on (the present one when it stays)
 */
export function rotationMessage(hubId: string, e2ePub: string, signPub: string): Uint8Array {
  return utf8(`ingle key rotation v1\n${hubId}\n${e2ePub}\n${signPub}`);
}
