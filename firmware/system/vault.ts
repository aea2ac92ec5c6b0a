// Secrets at rest: AES-256-GCM under a key that lies in a file beside the database, each bound to the row it belongs to.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { readOrMake } from './keyfile.ts';

const IV = 12;
const TAG = 16;

export interface Vault {
  /** @param row what the secret belongs to; under another name it cannot be opened */
  seal(row: string, secret: Uint8Array): Uint8Array;
  /** Undefined where the key or the row is another one, or the bytes were changed. */
  open(row: string, sealed: Uint8Array): Uint8Array | undefined;
}

/**
 * Loads the key of `file` (0600), or makes it.
 * @param label what the key is for; under another label it is another key
 */
export function openVault(file: string, label = 'ingle hooks/1'): Vault {
  const kept = readOrMake(file, () => `${randomBytes(32).toString('base64url')}\n`);
  const key = new Uint8Array(hkdfSync('sha256', kept, '', label, 32));
  return {
    seal(row, secret) {
      const iv = randomBytes(IV);
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(row));
      return Buffer.concat([iv, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
    },
    open(row, sealed) {
      if (sealed.length < IV + TAG) return undefined;
      const cipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV), { authTagLength: TAG });
      cipher.setAAD(Buffer.from(row)).setAuthTag(sealed.subarray(-TAG));
      try {
        return new Uint8Array(Buffer.concat([cipher.update(sealed.subarray(IV, -TAG)), cipher.final()]));
      } catch {
        return undefined;
      }
    },
  };
}
