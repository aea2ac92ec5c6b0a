// A browser's end of Web Push without a browser: keys of its own, and what it reads of what comes (RFC 8291, section 3).
import { createDecipheriv, createECDH, createHmac, randomBytes } from 'node:crypto';

const hmac = (key: Uint8Array, ...parts: (Uint8Array | string)[]) => {
  const h = createHmac('sha256', key);
  for (const p of parts) h.update(p);
  return h.digest();
};

export function receiver() {
  const ecdh = createECDH('prime256v1');
  ecdh.generateKeys();
  const auth = randomBytes(16);
  return {
    p256dh: ecdh.getPublicKey('base64url'),
    auth: auth.toString('base64url'),
    /** @throws Error for what was not sealed for it */
    read(body: Uint8Array): unknown {
      const all = Buffer.from(body);
      // RFC 8188, 2.1: salt, record size, length of the key id; here the sender's key.
      const [salt, length] = [all.subarray(0, 16), all[20]!];
      const [sender, record] = [all.subarray(21, 21 + length), all.subarray(21 + length)];
      const ikm = hmac(
        hmac(auth, ecdh.computeSecret(sender)),
        ...['WebPush: info\0', ecdh.getPublicKey(), sender, Buffer.of(1)],
      );
      const prk = hmac(salt, ikm);
      const key = hmac(prk, 'Content-Encoding: aes128gcm\0', Buffer.of(1)).subarray(0, 16);
      const nonce = hmac(prk, 'Content-Encoding: nonce\0', Buffer.of(1)).subarray(0, 12);
      const open = createDecipheriv('aes-128-gcm', key, nonce).setAuthTag(record.subarray(-16));
      const plain = Buffer.concat([open.update(record.subarray(0, -16)), open.final()]);
      // The last record ends in 2 and zeros.
      return JSON.parse(plain.subarray(0, plain.lastIndexOf(2)).toString());
    },
  };
}
