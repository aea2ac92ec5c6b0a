// Whom the browser's next handshake is with, and what proves it: from what a person gave to the hub's own key.
import { PAIRING_TRIES } from '../limits.ts';
import type { Access } from './channel.ts';
import { purpose } from './transport.ts';

/** A handshake to begin: with psk IKpsk2, else IK. */
export interface With {
  hubStatic: Uint8Array;
  purpose: number;
  psk?: Uint8Array;
}

/** What a run of CPace came to. */
export type Proven = Pick<With, 'hubStatic'> & { psk: Uint8Array };

export interface Whom {
  readonly mode: Access['mode'];
  /** Digits of a typed code that are to be proved first; undefined where `next` says how to go on. */
  readonly secret: string | undefined;
  readonly next: With | undefined;
  /** CPace proved these keys; kept until the hub has forgotten them. */
  proven(keys: Proven): void;
  /** A pairing handshake was answered under this key; the hub has not confirmed it yet. */
  learn(hubStatic: Uint8Array): void;
  /** Both sides hold each other's keys: pairing is over. */
  confirm(hubStatic: Uint8Array): void;
  /** The hub has rotated its key. */
  rotate(hubStatic: Uint8Array): void;
  /** The hub says that no pairing window is open. */
  noPairing(): void;
  /** A try went wrong, which counts while pairing. @returns whether another one may follow */
  again(): boolean;
  /** The hub says that it does not know this browser. */
  unknown(): void;
}

export function whom(access: Access): Whom {
  let typed: Proven | null = null;
  let learned: Uint8Array | null = null;
  /** Pairing tries that went wrong. */
  let refused = 0;
  const known = () => (access.mode === 'known' ? access.hubStatic : learned);
  const pair = () => ('psk' in access ? access : typed);
  const pin = (hubStatic: Uint8Array) => {
    access = { mode: 'known', hubStatic };
  };
  return {
    get mode() {
      return access.mode;
    },
    get secret() {
      return access.mode === 'typed' && !learned && !typed ? access.secret : undefined;
    },
    get next() {
      const hubStatic = known();
      if (hubStatic) return { hubStatic, purpose: purpose.start };
      const by = pair();
      if (!by || access.mode === 'known') return undefined;
      return { hubStatic: by.hubStatic, purpose: purpose[access.mode], psk: by.psk };
    },
    proven(keys) {
      typed = keys;
    },
    learn(hubStatic) {
      learned = hubStatic;
    },
    confirm(hubStatic) {
      if (access.mode !== 'known') pin(hubStatic);
      typed = learned = null;
      refused = 0;
    },
    rotate: pin,
    noPairing() {
      typed = null;
      // Perhaps the window closed because this very browser got in, and died before it kept that.
      if ('psk' in access) learned = access.hubStatic;
    },
    again: () => access.mode === 'known' || ++refused < PAIRING_TRIES,
    unknown() {
      learned = null;
    },
  };
}
