// Proof of work that root asks for while guesses of codes surge: a nonce whose hash has leading zero bits.
import { sha256 } from '@noble/hashes/sha2.js';
import { toBase64url, utf8 } from '../bytes.ts';

/** Name of the HTTP header that carries `<challenge>.<nonce>`. */
export const POW_HEADER = 'x-ingle-pow';

/** Leading zero bits of SHA-256(`<challenge>.<nonce>`). */
function zeroBits(hash: Uint8Array): number {
  let bits = 0;
  for (const byte of hash) {
    if (byte !== 0) return bits + Math.clz32(byte) - 24;
    bits += 8;
  }
  return bits;
}

/** Whether `solution` = `<challenge>.<nonce>` reaches `bits`. */
export function verifyPow(solution: string, bits: number): boolean {
  return zeroBits(sha256(utf8(solution))) >= bits;
}

/** Finds a solution, about 2^bits hashes; gives the event loop a turn every few milliseconds. */
export async function solvePow(challenge: string, bits: number): Promise<string> {
  const prefix = `${challenge}.${toBase64url(crypto.getRandomValues(new Uint8Array(6)))}`;
  for (let n = 0; ; n++) {
    const solution = `${prefix}${n.toString(36)}`;
    if (verifyPow(solution, bits)) return solution;
    if (n % 4096 === 4095) await new Promise((resolve) => setTimeout(resolve, 0));
  }
}
