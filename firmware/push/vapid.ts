// The key by which push services know this hub (RFC 8292): browsers subscribe for it, and nobody else can send to them.
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readOrMake } from '../system/keyfile.ts';

export interface VapidKey {
  /** The point, uncompressed, base64url. */
  publicKey: string;
  privateKey: KeyObject;
}

const makePem = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();

/** Loads the key of `file` (PKCS #8 PEM, 0600), or makes it. */
export function openVapid(file: string): VapidKey {
  const privateKey = createPrivateKey(readOrMake(file, makePem));
  const { x = '', y = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  const point = [Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')];
  return { publicKey: Buffer.concat(point).toString('base64url'), privateKey };
}
