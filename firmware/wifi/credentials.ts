// Names and keys of networks: what is allowed, and fresh ones. Pure but for the random bytes given.
import { randomBytes } from 'node:crypto';
import { IngleError } from '../protocol/errors.ts';

/** Letters and digits nobody mixes up when read aloud or typed: no 0 o, 1 l i, 5 s, 2 z, u v. */
export const alphabet = '346789abcdefghjkmnpqrtwxy';
const length = 12;

/**
 * A fresh PSK of 12 characters (55 bits), each equally likely (people type it: 8 to 12 characters are allowed).
 * @param random gives `n` random bytes
 */
export function freshPsk(random: (n: number) => Uint8Array = randomBytes): string {
  let out = '';
  // A byte at or above the largest multiple of the alphabet's size would favour its first letters.
  const limit = 256 - (256 % alphabet.length);
  while (out.length < length)
    for (const b of random(length))
      if (b < limit && out.length < length) out += alphabet[b % alphabet.length];
  return out;
}

/**
 * The bytes of a network name (IEEE 802.11-2020, 9.4.2.2: 0 to 32 bytes; a name of ours or to join has at least 1).
 * @throws IngleError `invalid_request`
 */
export function ssidBytes(ssid: string): Uint8Array {
  const bytes = new TextEncoder().encode(ssid);
  if (bytes.length < 1 || bytes.length > 32)
    throw new IngleError('invalid_request', 'A network name has 1 to 32 bytes.', { field: 'ssid' });
  return bytes;
}

/**
 * Checks a PSK (IEEE 802.11-2020, J.4: 8 to 63 printable ASCII characters, or 64 hexadecimal digits).
 * @throws IngleError `invalid_request`
 */
export function checkPsk(psk: string): void {
  if (/^[0-9a-fA-F]{64}$/.test(psk) || /^[\x20-\x7e]{8,63}$/.test(psk)) return;
  throw new IngleError(
    'invalid_request',
    'A Wi-Fi password has 8 to 63 characters: Latin letters, digits and common signs.',
    { field: 'psk' },
  );
}

/**
 * The address of the access point and of its network.
 * @param cidr such as `10.42.0.1/24`: a private address (RFC 1918), prefix 16 to 28
 * @throws IngleError `invalid_request`
 */
export function parseCidr(cidr: string): {
  address: string;
  prefix: number;
  netmask: string;
  first: string;
  last: string;
} {
  const m = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\/(\d{1,2})$/.exec(cidr);
  const bad = () =>
    new IngleError('invalid_request', 'The access point needs a private address such as 10.42.0.1/24.', {
      field: 'cidr',
    });
  if (!m) throw bad();
  const parts = m.slice(1, 5).map(Number);
  const prefix = Number(m[5]);
  if (parts.some((p) => p > 255) || prefix < 16 || prefix > 28) throw bad();
  const [a, b] = parts as [number, number];
  if (!(a === 10 || (a === 172 && b >= 16 && b < 32) || (a === 192 && b === 168))) throw bad();
  const whole = parts.reduce((n, p) => n * 256 + p, 0);
  const size = 2 ** (32 - prefix);
  const network = Math.floor(whole / size) * size;
  const host = whole - network;
  if (host === 0 || host === size - 1) throw bad();
  const text = (n: number) => [24, 16, 8, 0].map((s) => Math.floor(n / 2 ** s) % 256).join('.');
  // The hub takes one address; its client gets one of the ten after it, or before it at the end of the network.
  const room = size - 2 - host;
  const [from, to] =
    room >= 3 ? [host + 1, Math.min(host + 10, size - 2)] : [Math.max(1, host - 10), host - 1];
  return {
    address: text(whole),
    prefix,
    netmask: text(2 ** 32 - size),
    first: text(network + from),
    last: text(network + to),
  };
}
