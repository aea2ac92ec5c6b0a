// The device maker's console secret: a scrypt hash in the configuration (RFC 7914), checked in constant time.
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

const cost = { N: 16384, r: 8, p: 1 };

/** `scrypt$<salt>$<hash>`, both base64url: what goes into a device file. */
export async function hashSecret(secret: string): Promise<string> {
  const salt = randomBytes(16);
  return `scrypt$${salt.toString('base64url')}$${(await derive(secret, salt)).toString('base64url')}`;
}

/** Whether `secret` is the one behind `stored`; a stored value of another form lets nobody in. */
export async function checkSecret(secret: string, stored: string): Promise<boolean> {
  const [kind, salt, hash] = stored.split('$');
  if (kind !== 'scrypt' || !salt || !hash) return false;
  const want = Buffer.from(hash, 'base64url');
  const given = await derive(secret, Buffer.from(salt, 'base64url'));
  return want.length === given.length && timingSafeEqual(want, given);
}

function derive(secret: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(secret.normalize('NFKC'), salt, 32, cost, (e, key) => (e ? reject(e) : resolve(key)));
  });
}
