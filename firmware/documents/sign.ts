// View documents are signed by a key that never leaves the hub, so that a changed index is noticed.
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { readOrMake } from '../system/keyfile.ts';

export interface Signer {
  /** Base64url Ed25519 signature over `key`, a line feed and `etag`. */
  sign(key: string, etag: string): string;
  verify(key: string, etag: string, signature: string): boolean;
  /** The raw public key, base64url. */
  readonly publicKey: string;
}

const text = (key: string, etag: string) => Buffer.from(`${key}\n${etag}`);

/** Loads the key of `file` (PKCS #8 PEM, 0600), or makes it. */
export function openSigner(file: string): Signer {
  const key = createPrivateKey(readOrMake(file, makePem));
  const pub = createPublicKey(key);
  return {
    sign: (k, etag) => sign(null, text(k, etag), key).toString('base64url'),
    verify: (k, etag, signature) => verify(null, text(k, etag), pub, Buffer.from(signature, 'base64url')),
    publicKey: pub.export({ format: 'jwk' }).x ?? '',
  };
}

const makePem = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
