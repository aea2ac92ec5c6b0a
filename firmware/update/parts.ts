// What an update is made of: RAUC, the network, the disk, the machine; services/update and tests give them.

import type { Log } from '../system/log.ts';
import type { Store } from '../system/store.ts';
import type { Language } from '../text/i18n.ts';
import type { Downloads } from './download.ts';
import type { UpdateState } from './machine.ts';
import type { Rauc } from './rauc.ts';
import type { Result } from './record.ts';

export interface Settings {
  /** Where indexes lie; empty: no server. */
  url: string;
  channel: string;
  min_version: string;
  language: Language;
}

export interface UpdateParts {
  rauc: Rauc;
  store: Store;
  downloads: Downloads;
  /** Fetches an index. */
  index(url: string): Promise<Uint8Array>;
  /** Bundles on USB sticks, newest first. */
  sticks(): Promise<{ path: string; size: number }[]>;
  boot: {
    /** The kernel's id of this boot. */
    id: string;
    /** Version the running image names; empty: it does not. */
    version: string;
    /** Version of this program, where nothing else tells. */
    built: string;
    /** Whether this boot has proved itself. */
    committed(): boolean;
    /** What the health check of a version that failed left behind. */
    health(version: string): string;
  };
  askRestart(): void;
  settings: Settings;
  events: {
    state(state: UpdateState, old: UpdateState, reason: string): void;
    progress(step: string, percent: number, bytes: number, total: number): void;
    result(r: Result): void;
  };
  log: Log;
  now?: () => Date;
  /** Milliseconds. */
  drainMs?: number;
  stuckMs?: number;
  pollMs?: number;
}
