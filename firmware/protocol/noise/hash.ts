// SHA-2, HMAC and Noise's HKDF by WebCrypto.
import { concat } from '../bytes.ts';

type Bytes = Uint8Array<ArrayBuffer>;

export async function sha256(data: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', data as Bytes));
}

export async function sha512(data: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-512', data as Bytes));
}

/** HMAC (RFC 2104); the key must not be empty. */
export async function hmac(
  hash: 'SHA-256' | 'SHA-512',
  key: Uint8Array,
  data: Uint8Array,
): Promise<Uint8Array> {
  const k = await crypto.subtle.importKey('raw', key as Bytes, { name: 'HMAC', hash }, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', k, data as Bytes));
}

/** HKDF as Noise has it (section 4.3): `outputs` values of 32 bytes. With an empty `info` it is RFC 5869. */
export async function hkdf(salt: Uint8Array, ikm: Uint8Array, outputs: 1 | 2 | 3, info?: Uint8Array) {
  const key = await hmac('SHA-256', salt, ikm);
  const out: Uint8Array[] = [];
  for (let i = 1; i <= outputs; i++)
    out.push(
      await hmac(
        'SHA-256',
        key,
        concat(out.at(-1) ?? new Uint8Array(0), info ?? new Uint8Array(0), Uint8Array.of(i)),
      ),
    );
  return out;
}
