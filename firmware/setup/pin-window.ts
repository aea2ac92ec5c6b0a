// A setup window and its PIN: who may act from a channel that anybody in reach can open (BLE, the bot).
import { timingSafeEqual } from 'node:crypto';
import type { Secrets } from './secrets.ts';

/** Wrong tries after which a one-time PIN is replaced; the back-off counts on. */
const PIN_TRIES = 5;

export interface Window {
  readonly secrets: Secrets;
  /** Whether this is the PIN, in constant time. */
  isPin(pin: string): boolean;
  /** Counts a wrong try; true when the PIN has had its share of them. */
  wrong(): boolean;
}

export function openWindow(secrets: Secrets): Window {
  let tries = 0;
  return {
    secrets,
    isPin(pin) {
      const given = Buffer.from(pin.replace(/[\s-]/g, '').padEnd(6).slice(0, 16));
      const want = Buffer.from(secrets.pin);
      return given.length === want.length && timingSafeEqual(given, want);
    },
    wrong: () => ++tries >= PIN_TRIES,
  };
}
