// Whether root can do its work, and what of it cannot.
import type { Records } from './records/records.ts';

/**
 * `records`: the database does not answer. `cluster`: this node has just begun, or Redis does not answer it. `draining`:
 * root was told to end.
 */
export type NotReady = 'records' | 'cluster' | 'draining';

/** A database that answers later than this is not ready, milliseconds: who asks does not wait longer either. */
const LATE_MS = 2000;

export interface Health {
  /** Root was told to end. */
  readonly draining: boolean;
  /** Root ends: from now on it is not ready. */
  drain(): void;
  /** Whether this process still has hubs to serve, or may come to have some. */
  isServing(): boolean;
  /** What is not ready now; nothing when root is. */
  notReady(): Promise<NotReady[]>;
}

/** @param node whether this one may take hubs, and whether it has lost those it had, where there are several */
export function openHealth(
  records: Pick<Records, 'ready'>,
  node: { isReady(): boolean; isOut(): boolean } = { isReady: () => true, isOut: () => false },
  lateMs = LATE_MS,
): Health {
  let draining = false;
  let asking: Promise<boolean> | undefined;
  async function answers(): Promise<boolean> {
    let late: NodeJS.Timeout | undefined;
    const silence = new Promise<boolean>((resolve) => {
      late = setTimeout(() => resolve(false), lateMs);
    });
    // One question at a time, whoever asks: a flood of them would fill the way to the records.
    asking ??= records
      .ready()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        asking = undefined;
      });
    try {
      return await Promise.race([asking, silence]);
    } finally {
      clearTimeout(late);
    }
  }
  return {
    get draining() {
      return draining;
    },
    drain() {
      draining = true;
    },
    isServing: () => !node.isOut(),
    async notReady() {
      const is = await answers();
      const faults = { records: !is, cluster: !node.isReady(), draining };
      return (Object.keys(faults) as NotReady[]).filter((what) => faults[what]);
    },
  };
}
