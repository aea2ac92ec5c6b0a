// What the uplink remembers, as plain records.
import type { Grant } from './grant.ts';

/** The hub's place at root. Times are Unix seconds. */
export interface Identity {
  owner_id: string;
  subnet_id: string;
  hub_id: string;
  /** JWT by root over the hub's keys. */
  certificate: string;
  issued_at: number;
  expires_at: number;
  /** Root as configured when the hub enrolled. */
  root_url: string;
  /** Address of the owner's application, pinned: passkeys must speak for its origin. */
  app_url: string;
}

/** A pinned browser. `id` = base64url of its static key; times are Unix seconds. */
export interface Browser {
  id: string;
  label: string;
  paired_at: number;
  seen_at: number;
  /** Admin skills are open to it until then; 0 = closed (ARCHITECTURE D5). */
  elevated_until: number;
  /** The passkey that let it in. */
  cred_id: string;
  /** The person it is of; none: the owner. */
  person?: string;
}

/** A browser that knew a window's secret and still owes its assertion. */
export interface Proven {
  id: string;
  new_passkey: boolean;
  /** Whom its assertion may let in. */
  grant: Grant;
  expires_at: number;
  failures: number;
}

/** A pinned passkey; `regressions` counts how often its counter went back. */
export interface Passkey {
  cred_id: string;
  /** COSE key. */
  public_key: Uint8Array;
  counter: number;
  label: string;
  pinned_at: number;
  regressions: number;
  /** The person it proves, and never anybody else; none: the owner. */
  person?: string;
}
