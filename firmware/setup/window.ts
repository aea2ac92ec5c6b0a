// The authorisation window: who may act from a channel that anybody in reach can open (BLE, the bot).
import { timingSafeEqual } from 'node:crypto';
import { IngleError } from '../protocol/errors.ts';
import type { Secrets } from './secrets.ts';

/** Wrong PINs a window bears. */
export const PIN_TRIES = 5;

export interface Window {
  readonly secrets: Secrets;
  /** Checks a PIN in constant time. At the last wrong try the window is closed. */
  authorise(pin: string): { ok: boolean; left: number };
  readonly closed: boolean;
}

export function openWindow(secrets: Secrets): Window {
  let left = PIN_TRIES;
  return {
    secrets,
    get closed() {
      return left <= 0;
    },
    authorise(pin) {
      if (left <= 0)
        throw new IngleError(
          'rate_limited',
          'Too many wrong PINs. The hub has made a new one; ask it again.',
        );
      const given = Buffer.from(pin.replace(/[\s-]/g, '').padEnd(6).slice(0, 16));
      const want = Buffer.from(secrets.pin);
      const ok = given.length === want.length && timingSafeEqual(given, want);
      if (!ok) left--;
      return { ok, left };
    },
  };
}
