// The states of an installed skill and what is remembered of it. Pure.
import type { Table } from '../system/machine.ts';
import { compareVersions } from '../update/version.ts';
import type { Manifest } from './manifest.ts';

/**
 * `prepared`: packages lie there, none is used. `trial`: a version was put in its slot and must come up. `active`: one
 * is used. `returning`: the trial failed, the version before comes back. `removing`: all of it goes.
 */
export type InstallState = 'prepared' | 'trial' | 'active' | 'returning' | 'removing';
export type InstallEvent = 'activate' | 'came' | 'failed' | 'back' | 'none' | 'remove';

export const installTable: Table<InstallState, InstallEvent> = {
  prepared: { activate: 'trial', remove: 'removing' },
  trial: { came: 'active', failed: 'returning', remove: 'removing' },
  active: { activate: 'trial', remove: 'removing' },
  returning: { back: 'active', none: 'prepared', remove: 'removing' },
  removing: {},
};

/** A package that was read whole and lies in a folder of its own. */
export interface Kept {
  version: string;
  /** Names the whole content (package.ts). */
  digest: string;
  /** Folder below `<data>/skills/bundles`. */
  bundle: string;
  /** The publisher's public key; null: unsigned. */
  key: string | null;
  /** Unpacked, bytes. */
  size: number;
  /** Unix seconds. */
  prepared_at: number;
  manifest: Manifest;
}

/**
 * Why a version was not taken. `timeout`: it did not come up in time. `broken`: its process says why it does not start.
 * `no_room`: every slot is taken. `storage`: the table of skills could not be written.
 */
export type FaultReason = 'timeout' | 'broken' | 'no_room' | 'storage';
export interface Fault {
  version: string;
  reason: FaultReason;
  /** What was said of it, in English; the reason is what is translated. */
  message: string;
  /** Unix seconds. */
  at: number;
}

export interface Memory {
  /** One of each version. */
  kept: Kept[];
  /** Versions: the one that is used, the one before it, the one on trial. */
  current: string | null;
  previous: string | null;
  trying: string | null;
  fault: Fault | null;
  /** Nobody signed what was once used here. */
  unsigned: boolean;
}

export const nothing: Memory = {
  kept: [],
  current: null,
  previous: null,
  trying: null,
  fault: null,
  unsigned: false,
};

export const keptOf = (m: Readonly<Memory>, version: string | null): Kept | undefined =>
  m.kept.find((k) => k.version === version);

/** The version that belongs in the slot. */
export const wanted = (m: Readonly<Memory>): Kept | undefined => keptOf(m, m.trying ?? m.current);

/** What is remembered once the version on trial has come: it, the one before, and what is newer. */
export function arrived(m: Readonly<Memory>): Partial<Memory> {
  const current = m.trying!;
  const isNewer = (a: string, b: string) => compareVersions(a, b) > 0;
  // After a step back there is nothing further back to step to.
  const previous = m.current && isNewer(current, m.current) ? m.current : null;
  const stays = (v: string) => v === current || v === previous || isNewer(v, current);
  return {
    ...{ current, previous, trying: null, fault: null },
    kept: m.kept.filter((k) => stays(k.version)),
  };
}
