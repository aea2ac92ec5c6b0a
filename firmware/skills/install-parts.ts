// What installing works with: the hub's own parts are wired in services/api.
import type { Config } from '../system/config.ts';
import type { Durable, DurableRows, Here } from '../system/durable.ts';
import type { Log } from '../system/log.ts';
import type { Store } from '../system/store.ts';
import type { Bundles } from './bundles.ts';
import type { InstallEvent, InstallState, Memory } from './install-machine.ts';
import type { Owned, Publishers } from './publishers.ts';
import type { Root, Table } from './slots.ts';

/** A skill that was installed from a package. */
export type Row = Durable<InstallState, InstallEvent, Memory>;
export type Rows = DurableRows<InstallState, InstallEvent, Memory>;
/** A row in its state, for as long as that lasts. */
export type At = Here<InstallState, InstallEvent, Memory>;

/** The most that may lie prepared or installed: packages, and bytes unpacked. */
export const MOST = { packages: 200, bytes: 256 * 1024 * 1024 };

export interface InstallParts {
  store: Pick<Store, 'run' | 'all'>;
  log: Log;
  bundles: Bundles;
  places: {
    read(): { root: Root; table: Table };
    /** Settles when it is on the disk. */
    change(change: (table: Table, root: Root) => Table): Promise<void>;
  };
  publishers: { read(): Publishers; write(owned: Owned): Promise<void> };
  /** 32 hexadecimal digits, drawn. */
  tag(): string;
  isDeveloper(): boolean;
  /** Why skills from packages have no sandbox here; empty: they have one. */
  unconfined?: Config['unconfined'];
  running: {
    /** The table has changed: who lives where is read anew. */
    changed(): Promise<void>;
    /** Makes the process of a slot go; settles when it has, or cannot be made to within its watchdog's time. */
    leave(slot: number): Promise<void>;
    /** Settles when the skill is there, in the version its bundle has. @throws IngleError why it does not start */
    come(skill_id: string, signal: AbortSignal): Promise<void>;
    /** Has the user of a slot without a skill wipe its state. */
    wipe(slot: number): Promise<void>;
    /** Forgets what the hub keeps of a skill: documents, icons, its manifest. */
    forget(skill_id: string): Promise<void>;
  };
  /** Told of each move, and of each package that was prepared. */
  told(skill_id: string, row: Pick<Row, 'state' | 'memory'>): void;
  /** Told that nothing is left of a skill. */
  gone(skill_id: string): void;
  trialMs?: number;
  retryMs?: number;
  most?: typeof MOST;
  /** Unix milliseconds. */
  now?: () => number;
}
