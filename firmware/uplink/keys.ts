// The hub's keys: an Ed25519 identity that stays, and X25519 static keys that rotate. Pure but for randomness.
import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { fromBase64url, toBase64url } from '../protocol/bytes.ts';
import { type Belongs, type Papers, papersMessage, type Side } from '../subnet/papers.ts';

/** A raw key pair as JWK members `d` and `x` (RFC 8037): base64url of 32 bytes each. */
export interface RawKey {
  d: string;
  x: string;
}

/** One X25519 static key and when it was made, Unix seconds. */
export interface StaticKey extends RawKey {
  since: number;
  /** Root has not been told of it yet. */
  untold?: boolean;
}

/** What the key file holds. `e2e[0]` is the present static key; the others still lead old browsers here. */
export interface HubKeys {
  v: 1;
  sign: RawKey;
  e2e: StaticKey[];
}

/** Former static keys that are kept, so that a browser away during that many rotations still finds its hub. */
export const FORMER = 3;

function rawPair(kind: 'ed25519' | 'x25519'): RawKey {
  const pair = kind === 'ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('x25519');
  const { d, x } = pair.privateKey.export({ format: 'jwk' });
  return { d: d!, x: x! };
}

/** New keys for a new hub; `now` in Unix seconds. */
export function makeKeys(now: number): HubKeys {
  return { v: 1, sign: rawPair('ed25519'), e2e: [{ ...rawPair('x25519'), since: now }] };
}

/** The same identity with a new static key in front. */
export function rotated(keys: HubKeys, now: number): HubKeys {
  return {
    ...keys,
    e2e: [{ ...rawPair('x25519'), since: now, untold: true }, ...keys.e2e].slice(0, 1 + FORMER),
  };
}

/** The same keys once root knows the present static key. */
export function told(keys: HubKeys): HubKeys {
  const [{ untold: _, ...present }, ...former] = keys.e2e as [StaticKey, ...StaticKey[]];
  return { ...keys, e2e: [present, ...former] };
}

/** @throws TypeError when the file holds anything but whole keys. */
export function parseKeys(text: string): HubKeys {
  const k = JSON.parse(text) as HubKeys;
  const whole = (r: RawKey | undefined) =>
    !!r && fromBase64url(r.d).length === 32 && fromBase64url(r.x).length === 32;
  if (k.v !== 1 || !whole(k.sign) || !Array.isArray(k.e2e) || k.e2e.length === 0 || !k.e2e.every(whole))
    throw new TypeError('the key file is damaged');
  return k;
}

/** The identity's private key for node:crypto and jose. */
export function identityKey(keys: HubKeys): KeyObject {
  return createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', ...keys.sign }, format: 'jwk' });
}

/** Ed25519 signature (RFC 8032) by the identity, 64 bytes. */
export function signWith(keys: HubKeys, message: Uint8Array): Uint8Array {
  return new Uint8Array(sign(null, message, identityKey(keys)));
}

/** What this hub shows another in a handshake. */
export const showPapers = (
  keys: HubKeys,
  i: Belongs & { certificate: string },
  side: Side,
  handshake: Uint8Array,
): Papers => ({
  certificate: i.certificate,
  signature: toBase64url(signWith(keys, papersMessage(side, i, handshake))),
});
