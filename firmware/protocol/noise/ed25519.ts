// Ed25519 signatures (RFC 8032) in a browser: by WebCrypto where it is there, else by @noble/curves, loaded only then.
import { fromHex } from '../bytes.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Points of small order, without the sign bit (RFC 7748 section 7 and https://eprint.iacr.org/2020/1244, table 1): a
 * key that is one of them has signatures that fit any message, and engines differ in whether they refuse it.
 */
const smallOrder = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
].map(fromHex);

const isSmall = (point: Uint8Array) =>
  smallOrder.some((s) => s.every((byte, i) => byte === (i === 31 ? point[i]! & 0x7f : point[i])));

/**
 * Whether `signature` (64 bytes) over `message` is of `key` (32 bytes). Refuses what others could make of a good
 * signature (s + L) and keys of small order.
 * @param how for tests: which engine; by default WebCrypto where it has Ed25519.
 */
export async function verifyEd25519(
  key: Uint8Array,
  signature: Uint8Array,
  message: Uint8Array,
  how?: 'portable',
): Promise<boolean> {
  if (key.length !== 32 || signature.length !== 64 || isSmall(key)) return false;
  const native = how
    ? null
    : await crypto.subtle
        .importKey('raw', key as Bytes, { name: 'Ed25519' }, false, ['verify'])
        .catch(() => null);
  if (native) return crypto.subtle.verify({ name: 'Ed25519' }, native, signature as Bytes, message as Bytes);
  const { ed25519 } = await import('@noble/curves/ed25519.js');
  // Without zip215 it is RFC 8032 as written: s below L, points in their one encoding.
  return ed25519.verify(signature, message, key, { zip215: false });
}
