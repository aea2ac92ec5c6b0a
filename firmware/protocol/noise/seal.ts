// Sealing the channel secret to a browser's key: for the insecure debug mode alone (ARCHITECTURE D35).
import { concat, utf8 } from '../bytes.ts';
import { IngleError } from '../errors.ts';
import { hkdf } from './hash.ts';
import { generate, type KeyPair } from './x25519.ts';

/** What a hub that has the mode on says in `caps.features`. */
export const insecureFeature = 'insecure-sealed-secret';

type Bytes = Uint8Array<ArrayBuffer>;

/** What a sealed secret holds: 32 bytes each. */
export interface ChannelSecret {
  hubStatic: Uint8Array;
  psk: Uint8Array;
}

/** Bytes of a sealed secret: ephemeral public key, both parts, tag of AES-GCM. */
const SEALED = 32 + 64 + 16;

/** The key of one secret, used once; so its nonce may be zero. Both public keys and both ids are bound into it. */
async function keyOf(shared: Uint8Array, ephemeral: Uint8Array, browser: Uint8Array, context: Uint8Array) {
  const salt = concat(ephemeral, browser);
  const [key] = await hkdf(salt, shared, 1, concat(utf8('ingle sealed_secret 1'), context));
  return crypto.subtle.importKey('raw', key as Bytes, 'AES-GCM', false, ['encrypt', 'decrypt']);
}
const gcm = { name: 'AES-GCM', iv: new Uint8Array(12) };
const contextOf = (sid: string, hubId: string) => utf8(JSON.stringify([sid, hubId]));

/**
 * Encrypts a channel secret to whoever holds the private key of `browser`: ephemeral X25519 (RFC 7748), HKDF-SHA256
 * (RFC 5869), AES-256-GCM. Whose key `browser` is, nothing here proves.
 * @returns `[ephemeral 32][ciphertext 80]`
 * @throws IngleError `forbidden` on a key that is not safe to use.
 */
export async function seal(
  secret: ChannelSecret,
  browser: Uint8Array,
  sid: string,
  hubId: string,
): Promise<Uint8Array> {
  const ephemeral = await generate();
  const shared = await ephemeral.dh(browser);
  const key = await keyOf(shared, ephemeral.publicKey, browser, contextOf(sid, hubId));
  const plain = concat(secret.hubStatic, secret.psk);
  return concat(ephemeral.publicKey, new Uint8Array(await crypto.subtle.encrypt(gcm, key, plain as Bytes)));
}

/** @throws IngleError `pairing_failed` when it was not sealed to this key for this session and hub. */
export async function unseal(
  sealed: Uint8Array,
  browser: KeyPair,
  sid: string,
  hubId: string,
): Promise<ChannelSecret> {
  try {
    if (sealed.length !== SEALED) throw new RangeError('not a sealed secret');
    const ephemeral = sealed.slice(0, 32);
    const shared = await browser.dh(ephemeral);
    const key = await keyOf(shared, ephemeral, browser.publicKey, contextOf(sid, hubId));
    const plain = new Uint8Array(await crypto.subtle.decrypt(gcm, key, sealed.slice(32) as Bytes));
    return { hubStatic: plain.slice(0, 32), psk: plain.slice(32) };
  } catch {
    throw new IngleError('pairing_failed', 'The secret the hub sent is not for this browser.');
  }
}
