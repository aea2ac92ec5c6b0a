// The pairing window of a hub: what a new browser must know, and how often it may be wrong.
import { PAIRING_TRIES } from '../limits.ts';

/** Why a try was used up, as error codes. */
export type Failure = 'pairing_failed' | 'timeout';

export interface PairingWindow {
  /** 32 bytes: the link's psk. */
  readonly psk: Uint8Array;
  /** The second group of the typed code, digits only. */
  readonly secret: string;
  /** Open: not burned, not spent, not expired. */
  readonly open: boolean;
  /** Tries left. */
  readonly left: number;
  /**
   * Takes one try, before a share is given out or a proof looked at, so that guesses side by side count too; false
   * when none is left.
   */
  spend(): boolean;
  /** The proof a try was spent on was right: gives the try back. */
  refund(): void;
  /** A try is used up: by a wrong proof, or by none in time. Tells `onFailed`. */
  failed(why: Failure): void;
  /** A browser has proved itself: the window closes. */
  proven(remoteStatic: Uint8Array): void;
}

/**
 * A window in memory.
 * @param expiresAt milliseconds, as Date.now().
 * @param left tries left, when it goes on after a restart; `onSpent` tells each change of it.
 */
export function pairingWindow(o: {
  psk: Uint8Array;
  secret: string;
  expiresAt: number;
  left?: number;
  onSpent?: (left: number) => void;
  onFailed?: (left: number, why: Failure) => void;
  onProven?: (remoteStatic: Uint8Array) => void;
  now?: () => number;
}): PairingWindow {
  let left = o.left ?? PAIRING_TRIES;
  let used = false;
  const w: PairingWindow = {
    psk: o.psk,
    secret: o.secret,
    get open() {
      return !used && left > 0 && (o.now ?? Date.now)() < o.expiresAt;
    },
    get left() {
      return left;
    },
    spend() {
      if (!w.open) return false;
      left--;
      o.onSpent?.(left);
      return true;
    },
    refund() {
      left++;
      o.onSpent?.(left);
    },
    failed: (why) => o.onFailed?.(left, why),
    proven(remoteStatic) {
      used = true;
      o.onProven?.(remoteStatic);
    },
  };
  return w;
}

/** `482-913 507-226`, with or without separators, in its two groups; null when it is not twelve digits. */
export function splitTyped(text: string): { code: string; secret: string } | null {
  const digits = text.replace(/[\s-]/g, '');
  return /^\d{12}$/.test(digits) ? { code: digits.slice(0, 6), secret: digits.slice(6) } : null;
}
