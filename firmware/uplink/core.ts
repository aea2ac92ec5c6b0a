// What the pieces of the uplink share.
import type { Config } from '../system/config.ts';
import type { Log } from '../system/log.ts';
import type { Values } from '../text/i18n.ts';
import type { UplinkText } from '../text/uplink.ts';
import type { Enrolment } from './enrolment.ts';
import type { Keyring } from './keyring.ts';
import type { Nodes } from './nodes.ts';
import type { People } from './people.ts';
import type { Pins } from './pins.ts';
import type { RootClient } from './root.ts';
import type { UplinkStore } from './store.ts';

export interface UplinkEvents {
  connected(up: boolean): void;
  paired(m: { sid: string; browser: string; label: string }): void;
  /** A member of the subnet is something else than before. */
  node(m: { hub_id: string; state: string }): void;
  /** The hub that leads has something for this one to do. */
  work(): void;
  pairingFailed(m: { sid: string; reason: string; left: number }): void;
}

export interface Core {
  readonly config: Config;
  readonly on: UplinkEvents;
  readonly log: Log;
  /** What root and browsers cause is logged here: they could cause it without end. */
  readonly outside: Log;
  /** Unix seconds. */
  now(): number;
  text(key: UplinkText, values?: Values): string;
  readonly ring: Keyring;
  readonly store: UplinkStore;
  readonly pins: Pins;
  readonly nodes: Nodes;
  readonly people: People;
  readonly root: RootClient;
  readonly place: Enrolment;
  /** What a person is told of the newest trouble; empty: there is none. */
  trouble: string;
}
