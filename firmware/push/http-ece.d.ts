// The part of http_ece that message.ts uses; the package brings no types.
declare module 'http_ece' {
  import type { ECDH } from 'node:crypto';

  interface Parameters {
    version: 'aes128gcm';
    /** The sender's key of this message. */
    privateKey: ECDH;
    /** The receiver's public key, base64url. */
    dh: string;
    /** The receiver's authentication secret, base64url. */
    authSecret: string;
    salt?: string;
  }
  export function encrypt(plain: Buffer, p: Parameters): Buffer;
  const ece: { encrypt: typeof encrypt };
  export default ece;
}
