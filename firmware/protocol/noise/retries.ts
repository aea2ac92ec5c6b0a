// When the browser begins anew after a loss: at once, then after pauses that grow while nothing holds.
import type { Timing } from './channel.ts';

export interface Retries {
  /** `now`: without a pause, whatever went before. */
  again(now: boolean): void;
  /** A handshake was answered; a channel that lasts ends the row of failures. */
  opened(): void;
  stop(): void;
}

/** Calls `begin` for the first time as soon as the caller has returned. */
export function retries(t: Pick<Timing, 'handshake' | 'backoff' | 'backoffMax'>, begin: () => void): Retries {
  /** In a row. */
  let failures = 0;
  let openedAt: number | undefined;
  let timer = setTimeout(begin, 0);
  return {
    again(now) {
      if (openedAt !== undefined && performance.now() - openedAt > t.handshake) failures = 0;
      openedAt = undefined;
      const pause = now || failures === 0 ? 0 : Math.min(t.backoffMax, t.backoff * 2 ** (failures - 1));
      failures++;
      timer = setTimeout(begin, pause * (0.75 + Math.random() / 2));
    },
    opened() {
      openedAt = performance.now();
    },
    stop: () => clearTimeout(timer),
  };
}
