// Proof of work for everybody while guesses of codes surge.
import { equal, fromBase64url, random, toBase64url, u64 } from '../firmware/protocol/bytes.ts';
import type { IngleError } from '../firmware/protocol/errors.ts';
import { verifyPow } from '../firmware/protocol/pairing/pow.ts';
import { type Count, estimate, tooMany } from './limit.ts';

const TTL = 120;
const LEAST_BITS = 15;
const MOST_BITS = 21;

export interface Surge {
  failed(): void;
  /**
   * Lets pass while things are calm, or with a fresh solution for this sid.
   * @returns whether the solution was needed, and so is used
   * @throws IngleError `rate_limited` with `details.pow` = {challenge, bits}
   */
  check(sid: string, solution: string): boolean;
}

/** @param threshold failures a minute from which work is asked for; @param mac keyed hash that signs challenges */
export function openSurge(threshold: number, mac: (text: string) => string, now = Date.now): Surge {
  const failures: Count = { start: 0, here: 0, before: 0 };
  /** Solutions that were used, until their challenge is over. */
  const spent = new Map<string, number>();

  function bits(): number {
    const f = estimate(failures, 60_000, now());
    return f < threshold
      ? 0
      : Math.min(MOST_BITS, LEAST_BITS + Math.floor(Math.log2(f / Math.max(1, threshold))));
  }
  const signature = (head: Uint8Array, sid: string) =>
    fromBase64url(mac(`${toBase64url(head)}.${sid}`)).subarray(0, 16);

  function challenge(sid: string, bits: number): IngleError {
    const head = new Uint8Array([...u64(Math.floor(now() / 1000) + TTL), bits, ...random(12)]);
    const text = toBase64url(new Uint8Array([...head, ...signature(head, sid)]));
    return tooMany(1, { pow: { challenge: text, bits } });
  }
  /** Whether `solution` is of a challenge of ours for this sid, in time, unused and worth its bits. */
  function good(sid: string, solution: string, least: number): boolean {
    const t = now() / 1000;
    const text = solution.split('.')[0]!;
    try {
      const raw = fromBase64url(text);
      const head = raw.subarray(0, 21);
      if (raw.length !== 37 || !equal(raw.subarray(21), signature(head, sid))) return false;
      const exp = new DataView(head.buffer, head.byteOffset).getUint32(4);
      // A challenge given out a moment ago, one step easier, still counts.
      if (exp < t || head[8]! < least - 1 || spent.has(text) || !verifyPow(solution, head[8]!)) return false;
      for (const [k, until] of spent) if (until < t) spent.delete(k);
      spent.set(text, exp);
      return true;
    } catch {
      return false;
    }
  }
  return {
    failed() {
      estimate(failures, 60_000, now());
      failures.here++;
    },
    check(sid, solution) {
      const need = bits();
      if (need === 0) return false;
      if (!(solution.length <= 256 && good(sid, solution, need))) throw challenge(sid, need);
      return true;
    },
  };
}
