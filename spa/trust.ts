// What this browser believes of a hub, and what may change that: only the hub itself, inside a channel it has proved.
// No I/O: where pins are kept is the caller's.
import { equal, fromBase64url, toBase64url } from '../firmware/protocol/bytes.ts';
import { IngleError, isErrorCode } from '../firmware/protocol/errors.ts';
import type { Opened } from '../firmware/protocol/noise/channel.ts';
import { followRotation } from '../firmware/protocol/noise/follow.ts';
import type { Control } from '../firmware/protocol/wire.ts';
import type { Suspicion } from '../firmware/text/channel.ts';
import type { Pin } from './database.ts';

type Welcome = Control & { t: 'welcome' };

/** A hub that proved itself by a code and has not let this browser in yet. The pin it may replace still stands. */
export interface Proven {
  /** Its static X25519 key, base64url. */
  hubStatic: string;
  /** By the hub's insecure debug mode. */
  insecure: boolean;
}

export interface TrustOptions {
  hubId: string;
  /** The hub as it is pinned. */
  pin: Pin | undefined;
  /** Of a pairing that began before this page was loaded. */
  proven: Proven | undefined;
  /** The person gave a code or a link, and no hub has proved itself by it yet. */
  pairing: boolean;
  /** Settles when the pin is durable. */
  keepPin(pin: Pin): Promise<void>;
  /** To be kept with the session, in the place of the code. */
  keepProven(p: Proven): void;
  /** The pairing is over: its code and what came of it are of no more use. */
  paired(): void;
}

/** What a message of the hub comes to. */
export type Verdict =
  /** Streams may open, or not yet. */
  | { t: 'welcome'; name: string; admitted: boolean; asks: boolean }
  | { t: 'admitted' }
  | { t: 'refused'; error: IngleError }
  | { t: 'alarm'; reason: Suspicion }
  /** The hub has a new static key: shake hands with it. */
  | { t: 'rekey'; hubStatic: Uint8Array }
  | null;

/** Follows one channel to a hub. Controls are handed over one at a time, in order. */
export function trust(o: TrustOptions) {
  let { pin, proven } = o;
  let pairing = o.pairing || proven !== undefined;
  /** The welcome of the present handshake. */
  let greeting: Welcome | null = null;
  /** Id of the passkey that was shown to the hub last. */
  let passkey: string | null = null;

  const alarm = (reason: Suspicion): Verdict => ({ t: 'alarm', reason });

  /** The hub has let this browser in: what it proved by the code becomes the pin, and only now. */
  async function admitted(by: Welcome): Promise<void> {
    const { hub_name: name, owner_id, sign_pub } = by;
    const passkeys = passkey ? [passkey] : [];
    if (proven) {
      const { hubStatic, insecure } = proven;
      const keys = {
        hubStatic: fromBase64url(hubStatic),
        ...(sign_pub === undefined ? {} : { signPub: sign_pub }),
      };
      pin = { hub_id: o.hubId, name, owner_id, ...keys, paired: Date.now(), insecure, passkeys };
      proven = undefined;
    } else if (!pin) return;
    else {
      const known = pin.passkeys ?? [];
      const next = { ...pin, name, passkeys: [...new Set([...known, ...passkeys])] };
      if (sign_pub !== undefined) next.signPub ??= sign_pub;
      if (pin.name === name && pin.signPub && next.passkeys.length === known.length) return;
      pin = next;
    }
    await o.keepPin(pin);
    if (pairing) o.paired();
    pairing = false;
  }

  async function welcome(c: Welcome): Promise<Verdict> {
    if (c.hub_id !== o.hubId) return alarm('hub_id');
    if (!proven && pin && pin.owner_id !== c.owner_id) return alarm('owner');
    greeting = c;
    if (c.admitted) await admitted(c);
    return {
      t: 'welcome',
      name: c.hub_name,
      admitted: c.admitted,
      asks: !c.admitted && c.need === 'assertion',
    };
  }

  async function rotated(c: Control & { t: 'rotate' }): Promise<Verdict> {
    const signPub = proven ? greeting?.sign_pub : pin?.signPub;
    const present = proven ? fromBase64url(proven.hubStatic) : pin?.hubStatic;
    let hubStatic: Uint8Array;
    try {
      hubStatic = await followRotation(c, o.hubId, signPub ?? '');
    } catch {
      return alarm('rotate');
    }
    if (!present || equal(hubStatic, present)) return null;
    if (proven) {
      proven = { ...proven, hubStatic: toBase64url(hubStatic) };
      o.keepProven(proven);
    } else if (pin) {
      pin = { ...pin, hubStatic };
      await o.keepPin(pin);
    }
    return { t: 'rekey', hubStatic };
  }

  return {
    /** Whether a pairing is under way: then there is no second try to trust. */
    get pairing() {
      return pairing;
    },
    /** A handshake is done: the other side holds the key this browser shook hands with, or knew the code. */
    opened(at: Opened): void {
      greeting = null;
      if (at.mode === 'known' && (proven || !pairing)) return;
      proven = { hubStatic: toBase64url(at.remoteStatic), insecure: at.mode === 'sealed' };
      o.keepProven(proven);
    },
    /** The person has used the passkey `id` for this hub. */
    signed(id: string): void {
      passkey = id;
    },
    async control(c: Control): Promise<Verdict> {
      if (c.t === 'welcome') return welcome(c);
      // Nothing counts before the hub has said who it is.
      if (!greeting) return null;
      if (c.t === 'rotate') return rotated(c);
      if (c.t === 'refused')
        return {
          t: 'refused',
          error: new IngleError(isErrorCode(c.error) ? c.error : 'forbidden', c.message),
        };
      if (c.t !== 'admitted') return null;
      await admitted(greeting);
      return { t: 'admitted' };
    },
  };
}

export type Trust = ReturnType<typeof trust>;

/**
 * Whether root may lead a browser that has no new code to `hubId`: a hub it has pinned, and, where it knows which hubs
 * took this passkey, one of those. Root only finds hubs; it does not say which one is whose.
 */
export function leadsHome(pins: readonly Pin[], hubId: string, credentialId: string): boolean {
  const took = pins.filter((p) => p.passkeys?.includes(credentialId));
  return took.length === 0 || took.some((p) => p.hub_id === hubId);
}
