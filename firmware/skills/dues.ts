// When skills that sleep are to be woken for their timers: kept on the disk, one process timer for the next.
import type { Log } from '../system/log.ts';
import type { Migration, Store } from '../system/store.ts';
import { type Clock, LOOK_MS, systemClock } from './timers.ts';

export const duesSchema: Migration = {
  adds: 'CREATE TABLE dues (skill_id TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID',
};

export interface Dues {
  /** Keeps when a skill is due next, milliseconds since 1970; 0: it is not. It is on the disk when this settles. */
  keep(skill_id: string, at: number): Promise<void>;
  /** Wakes from now on; what was due before, at once. */
  begin(): void;
  stop(): void;
}

/**
 * @param o.wake starts a skill that sleeps; false for one that is no longer here. What it was due for it finds in its
 * own storage, so one that was missed, however often, is woken once. One that does not come is woken again.
 */
export async function openDues(o: {
  store: Pick<Store, 'run' | 'all'>;
  log: Log;
  wake(skill_id: string): boolean;
  clock?: Clock;
}): Promise<Dues> {
  const clock = o.clock ?? systemClock;
  const dues = new Map<string, number>();
  /** Those that were woken and have not said yet when they are due again. */
  const woken = new Map<string, number>();
  let cancel = () => {};
  let isOn = false;

  const dueOf = (id: string, at: number) => Math.max(at, woken.get(id) ?? 0);
  function plan(): void {
    cancel();
    cancel = () => {};
    if (dues.size === 0 || !isOn) return;
    const next = Math.min(...[...dues].map(([id, at]) => dueOf(id, at)));
    cancel = clock.after(Math.min(LOOK_MS, Math.max(0, next - clock.now())), look);
  }
  function look(): void {
    const now = clock.now();
    for (const [id, at] of dues) {
      if (dueOf(id, at) > now) continue;
      woken.set(id, now + LOOK_MS);
      if (!o.wake(id)) keep(id, 0).catch((cause) => o.log.warn('a due time stays', { skill: id, cause }));
    }
    plan();
  }
  async function keep(id: string, at: number): Promise<void> {
    if (at > 0)
      await o.store.run('INSERT OR REPLACE INTO dues (skill_id, at) VALUES (?, ?)', id, Math.ceil(at));
    else await o.store.run('DELETE FROM dues WHERE skill_id = ?', id);
    woken.delete(id);
    if (at > 0) dues.set(id, at);
    else dues.delete(id);
    plan();
  }

  for (const row of await o.store.all<{ skill_id: string; at: number }>('SELECT * FROM dues'))
    dues.set(row.skill_id, row.at);
  return {
    keep,
    begin() {
      isOn = true;
      plan();
    },
    stop() {
      isOn = false;
      cancel();
    },
  };
}
