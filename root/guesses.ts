// How many typed codes may be wrong, whoever types them (CODES.md has the sum).
import { DEVICE_CODE_TTL } from '../firmware/protocol/limits.ts';
import { clientKey, limit, networkKey } from './limit.ts';

export interface Guesses {
  /**
   * Counts a typed code before it is looked up, so that guesses side by side count too. `near`: too many were wrong,
   * and only codes of hubs at the same address are looked among. `refund` takes it back: the code was right, or was
   * not looked up.
   * @throws IngleError `rate_limited` when too many were wrong at this address as well
   */
  begin(ip: string): { near: boolean; refund(): void };
  /** Forgets what is over. */
  sweep(): void;
}

/**
 * @param budget wrong codes in the life of a code, over everybody, that are looked for among all codes. One network
 * (a /24, a /48) has half of it, and one address (or /64) may be wrong half as often beyond it.
 */
export function openGuesses(budget: number, now: () => number = Date.now): Guesses {
  const everybody = limit(budget, DEVICE_CODE_TTL, now);
  const network = limit(Math.ceil(budget / 2), DEVICE_CODE_TTL, now);
  const near = limit(Math.ceil(budget / 2), DEVICE_CODE_TTL, now);

  function far(ip: string): (() => void) | undefined {
    let back: (() => void) | undefined;
    try {
      back = everybody.take('');
      const both = [back, network.take(networkKey(ip))];
      return () => {
        for (const one of both) one();
      };
    } catch {
      back?.();
      return undefined;
    }
  }
  return {
    begin(ip) {
      const refund = far(ip);
      return refund ? { near: false, refund } : { near: true, refund: near.take(clientKey(ip)) };
    },
    sweep() {
      for (const l of [everybody, network, near]) l.sweep();
    },
  };
}
