// Pairing windows: one code for root, one secret root never sees, one link with everything.
import { randomInt } from 'node:crypto';
import { fromBase64url, random, toBase64url } from '../protocol/bytes.ts';
import { DEVICE_CODE_TTL, PAIRING_TRIES } from '../protocol/limits.ts';
import { type Failure, type PairingWindow, pairingWindow } from '../protocol/pairing/pairing.ts';
import { type Grant, ownerGrant } from './grant.ts';

/** An open window as it is stored. `psk` is base64url of 32 bytes, `expires_at` Unix seconds. */
export interface StoredWindow {
  /** Root's device code, "123-456". */
  code: string;
  /** The typed secret, "507-226". */
  secret: string;
  psk: string;
  /** The hub's owner wants a passkey that the hub has not pinned yet. */
  new_passkey: boolean;
  /** Whom it lets in. */
  grant: Grant;
  expires_at: number;
  /** Tries left. */
  left: number;
}

/** A new window around root's device code, which lives `ttl` seconds there; `psk` has 32 bytes. It is the owner's unless told. */
export function newWindow(
  code: string,
  ttl: number,
  newPasskey: boolean,
  now: number,
  { psk = random(32), grant = ownerGrant }: { psk?: Uint8Array; grant?: Grant } = {},
): StoredWindow {
  const digits = String(randomInt(1_000_000)).padStart(6, '0');
  return {
    code,
    secret: `${digits.slice(0, 3)}-${digits.slice(3)}`,
    psk: toBase64url(psk),
    new_passkey: newPasskey,
    grant,
    expires_at: now + Math.min(ttl, DEVICE_CODE_TTL),
    left: PAIRING_TRIES,
  };
}

/** The link: its fragment never reaches a server (D2). */
export function pairingLink(appUrl: string, w: StoredWindow, hubStaticPub: string): string {
  return `${new URL(appUrl).origin}/#v1.${w.code.replace(/\D/g, '')}.${hubStaticPub}.${w.psk}`;
}

/** What the one window of the hub tells its owner. */
export interface WindowEvents {
  /** Each change worth keeping; undefined once the window is burned or spent. */
  keep(w: StoredWindow | undefined): void;
  /** A browser knew the secret; it is not admitted yet. */
  proven(remoteStatic: Uint8Array, w: StoredWindow): void;
}

/** A stored window in its working form; the tries it has used count on after a restart. */
export function workingWindow(stored: StoredWindow, on: WindowEvents): PairingWindow {
  return pairingWindow({
    psk: fromBase64url(stored.psk),
    secret: stored.secret.replace(/\D/g, ''),
    expiresAt: stored.expires_at * 1000,
    left: stored.left,
    onSpent: (left) => on.keep({ ...stored, left }),
    onFailed: (left) => left === 0 && on.keep(undefined),
    onProven(remoteStatic) {
      on.proven(remoteStatic, stored);
    },
  });
}

/** The same window as one web session meets it: `onFailed` learns who used a try up. */
export function seenBy(w: PairingWindow, onFailed: (left: number, why: Failure) => void): PairingWindow {
  return {
    psk: w.psk,
    secret: w.secret,
    get open() {
      return w.open;
    },
    get left() {
      return w.left;
    },
    spend: () => w.spend(),
    refund: () => w.refund(),
    failed(why) {
      w.failed(why);
      onFailed(w.left, why);
    },
    proven: (remoteStatic) => w.proven(remoteStatic),
  };
}
