// What is stored of hooks, and of the messages they took: whatever the clock does, none is taken twice.
import type { Migration, Store } from '../system/store.ts';
import { type Signed, TOLERANCE_S } from './signature.ts';

export const hooksSchema: Migration[] = [
  {
    adds: `CREATE TABLE hooks (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, topic TEXT NOT NULL, secret BLOB NOT NULL, made_at INTEGER NOT NULL,
    used_at INTEGER, floor INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE hook_messages (
    hook TEXT NOT NULL REFERENCES hooks (id) ON DELETE CASCADE, id TEXT NOT NULL, at INTEGER NOT NULL,
    published INTEGER NOT NULL, PRIMARY KEY (hook, id)) WITHOUT ROWID`,
  },
];

/** Messages of one hook whose ids are kept; beyond them the oldest go, and nothing as old is taken any more. */
const MAX_KEPT = 1024;

interface HookRow extends Record<string, unknown> {
  id: string;
  name: string;
  topic: string;
  secret: Uint8Array;
  made_at: number;
  used_at: number | null;
}

export function hookRecords(store: Store) {
  return {
    all: () => store.all<HookRow>('SELECT * FROM hooks ORDER BY made_at, id'),
    add: ({
      id,
      name,
      topic,
      made_at,
      secret,
    }: Pick<HookRow, 'id' | 'name' | 'topic' | 'made_at' | 'secret'>) =>
      store.run(
        'INSERT INTO hooks (id, name, topic, secret, made_at) VALUES (?, ?, ?, ?, ?)',
        ...[id, name, topic, secret, made_at],
      ),
    remove: (id: string) => store.run('DELETE FROM hooks WHERE id = ?', id),
    /** Another secret; what was taken under the one before is forgotten. */
    rotate: (id: string, secret: Uint8Array) =>
      store.transaction(async (tx) => {
        await tx.run('UPDATE hooks SET secret = ?, floor = 0 WHERE id = ?', secret, id);
        await tx.run('DELETE FROM hook_messages WHERE hook = ?', id);
      }),
    /**
     * Keeps the id of a message.
     * @param now Unix seconds @param mayTake asked for what is new
     * @returns what is known of it: nothing, or that it was published
     */
    accept(
      id: string,
      m: Signed,
      now: number,
      mayTake: () => boolean,
    ): Promise<'new' | 'again' | 'replay' | 'late' | 'rate'> {
      return store.transaction(async (tx) => {
        const seen = await tx.get<{ at: number; published: number }>(
          'SELECT at, published FROM hook_messages WHERE hook = ? AND id = ?',
          id,
          m.id,
        );
        // The same time is the same bytes, which anybody may have kept; another one was signed by who has the secret.
        if (seen?.published) return seen.at === m.at ? 'replay' : 'again';
        if (seen) {
          await tx.run('UPDATE hook_messages SET at = ? WHERE hook = ? AND id = ?', m.at, id, m.id);
          return 'new';
        }
        const { floor } = (await tx.get<{ floor: number }>('SELECT floor FROM hooks WHERE id = ?', id)) ?? {
          floor: Infinity,
        };
        if (m.at <= floor) return 'late';
        // Only what is new counts: who sends again what others have sent takes nothing from them.
        if (!mayTake()) return 'rate';
        await forget(tx, id, now);
        await tx.run(
          'INSERT INTO hook_messages (hook, id, at, published) VALUES (?, ?, ?, 0)',
          id,
          m.id,
          m.at,
        );
        return 'new';
      });
    },
    published: (id: string, m: Signed, now: number) =>
      store.transaction(async (tx) => {
        await tx.run('UPDATE hook_messages SET published = 1 WHERE hook = ? AND id = ?', id, m.id);
        await tx.run('UPDATE hooks SET used_at = ? WHERE id = ?', now, id);
      }),
  };
}

/** Drops ids whose time is over, and raises the time up to which nothing is taken: no clock that is set back changes it. */
async function forget(tx: Pick<Store, 'run' | 'get'>, id: string, now: number): Promise<void> {
  const oldest = now - TOLERANCE_S;
  const excess = await tx.get<{ at: number }>(
    'SELECT at FROM hook_messages WHERE hook = ? ORDER BY at DESC LIMIT 1 OFFSET ?',
    id,
    MAX_KEPT - 1,
  );
  const upTo = Math.max(oldest - 1, excess?.at ?? 0);
  const top = await tx.get<{ at: number | null }>(
    'SELECT max(at) AS at FROM hook_messages WHERE hook = ? AND at <= ?',
    id,
    upTo,
  );
  if (top?.at == null) return;
  await tx.run('UPDATE hooks SET floor = max(floor, ?) WHERE id = ?', top.at, id);
  await tx.run('DELETE FROM hook_messages WHERE hook = ? AND at <= ?', id, upTo);
}
