// A publisher's key on the publisher's own computer: Ed25519 in PKCS#8 (RFC 8410), one PEM file only they may read.
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { fromBase64url } from '../protocol/bytes.ts';
import { IngleError } from '../protocol/errors.ts';

export interface Signer {
  /** The public key, 32 bytes. */
  key: Uint8Array;
  /** Ed25519 (RFC 8032), 64 bytes. */
  sign(message: Uint8Array): Uint8Array;
}

/** A key's file is 119 bytes. */
const MAX_BYTES = 16 * 1024;

/** @throws IngleError `invalid_request` for anything but an Ed25519 private key */
export function signerOf(pem: string): Signer {
  let secret: KeyObject;
  try {
    secret = createPrivateKey(pem);
  } catch {
    throw new IngleError(
      'invalid_request',
      'The file holds no private key in PEM, or one behind a password.',
    );
  }
  if (secret.asymmetricKeyType !== 'ed25519')
    throw new IngleError(
      'invalid_request',
      `The file holds a key for ${secret.asymmetricKeyType}; packages are signed with Ed25519.`,
    );
  const { x } = createPublicKey(secret).export({ format: 'jwk' });
  return { key: fromBase64url(x!), sign: (message) => new Uint8Array(sign(null, message, secret)) };
}

/** @throws IngleError `not_found`, `invalid_request`, `unavailable` */
export function readSigner(file: string): Signer {
  let pem: string;
  try {
    const s = statSync(file);
    if (!s.isFile() || s.size > MAX_BYTES) throw new IngleError('invalid_request', `${file} is no key file.`);
    pem = readFileSync(file, 'utf8');
  } catch (e) {
    if (e instanceof IngleError) throw e;
    const absent = (e as NodeJS.ErrnoException).code === 'ENOENT';
    throw new IngleError(
      absent ? 'not_found' : 'unavailable',
      absent ? `There is no key at ${file}.` : `${file} cannot be read: ${(e as Error).message}`,
    );
  }
  return signerOf(pem);
}

/** Makes a key. @throws IngleError `conflict` where something is there already: a key cannot be had back */
export function makeSigner(file: string): Signer {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  let made = false;
  try {
    const f = openSync(file, 'wx', 0o600);
    made = true;
    try {
      writeSync(f, pem);
      fsyncSync(f);
    } finally {
      closeSync(f);
    }
  } catch (e) {
    if (made) rmSync(file, { force: true });
    if ((e as NodeJS.ErrnoException).code === 'EEXIST')
      throw new IngleError('conflict', `${file} is there already and stays as it is. Name another file.`);
    throw new IngleError('unavailable', `${file} cannot be written: ${(e as Error).message}`);
  }
  return signerOf(pem);
}
