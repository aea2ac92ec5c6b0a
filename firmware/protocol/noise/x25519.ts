// X25519 (RFC 7748): by WebCrypto where it is there, else by tweetnacl, loaded only then.

import { concat, equal, fromHex, random } from '../bytes.ts';
import { IngleError } from '../errors.ts';

/** What survives in IndexedDB (structured clone): a CryptoKey that cannot be exported, or 32 raw bytes. */
export interface StoredKey {
  publicKey: Uint8Array;
  privateKey: CryptoKey | Uint8Array;
}

export interface KeyPair {
  /** 32 bytes, little endian u-coordinate. */
  readonly publicKey: Uint8Array;
  /** To be kept; `restore` gives the key pair back. */
  readonly stored: StoredKey;
  /**
   * The shared secret with their public key, 32 bytes.
   * @throws IngleError `forbidden` on a key of wrong length or of small order (all-zero secret, RFC 7748 section 6.1).
   */
  dh(theirs: Uint8Array): Promise<Uint8Array>;
}

const algorithm = { name: 'X25519' };
/** PKCS #8 of an X25519 key up to its 32 bytes (RFC 8410 section 7). */
const pkcs8 = fromHex('302e020100300506032b656e04220420');
const base = Uint8Array.of(9, ...new Uint8Array(31));
const bad = () => new IngleError('forbidden', 'The other side sent a key that is not safe to use.');
type Bytes = Uint8Array<ArrayBuffer>;

let native: Promise<boolean> | undefined;
/** Whether WebCrypto has X25519; asked once. */
function hasNative(): Promise<boolean> {
  native ??= importPrivate(random(32)).then(
    () => true,
    () => false,
  );
  return native;
}

function importPrivate(raw: Uint8Array): Promise<CryptoKey> {
  return crypto.subtle.importKey('pkcs8', concat(pkcs8, raw) as Bytes, algorithm, false, ['deriveBits']);
}

async function multiply(privateKey: CryptoKey | Uint8Array, point: Uint8Array): Promise<Uint8Array> {
  if (point.length !== 32) throw bad();
  let secret: Uint8Array;
  if (privateKey instanceof Uint8Array) {
    secret = (await import('tweetnacl')).default.scalarMult(privateKey, point);
  } else {
    const key = await crypto.subtle.importKey('raw', point as Bytes, algorithm, false, []);
    // Engines refuse an all-zero secret by an OperationError of their own.
    const bits = await crypto.subtle
      .deriveBits({ ...algorithm, public: key }, privateKey, 256)
      .catch(() => null);
    if (!bits) throw bad();
    secret = new Uint8Array(bits);
  }
  if (equal(secret, new Uint8Array(32))) throw bad();
  return secret;
}

/** The key pair behind its stored form. */
export function restore(stored: StoredKey): KeyPair {
  return { publicKey: stored.publicKey, stored, dh: (theirs) => multiply(stored.privateKey, theirs) };
}

/** The key pair of 32 raw private bytes, as the hub keeps them in a file. */
export async function fromPrivate(raw: Uint8Array): Promise<KeyPair> {
  if (raw.length !== 32) throw new RangeError('an X25519 private key has 32 bytes');
  const privateKey = (await hasNative()) ? await importPrivate(raw) : Uint8Array.from(raw);
  return restore({ publicKey: await multiply(privateKey, base), privateKey });
}

/** A fresh key pair; where WebCrypto has X25519 its private key cannot be exported. */
export function generate(): Promise<KeyPair> {
  return fromPrivate(random(32));
}
