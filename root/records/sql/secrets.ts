// The secrets root makes for itself. The first of a name has it for its own, a later one with the time it counts from:
// `sign`, `sign@1764201600`.
import type { Records, Secret } from '../records.ts';
import type { Db, Store } from './store.ts';

type Row = { name: string; value: string };

const NAMED = '(name = ? OR substr(name, 1, ?) = ?)';
const named = (name: string) => [name, name.length + 1, `${name}@`] as const;

async function allOf(db: Db, name: string): Promise<Secret[]> {
  const rows = await db.all<Row>(`SELECT name, value FROM secret WHERE ${NAMED}`, ...named(name));
  return rows
    .map((r) => ({ value: r.value, since: Number(r.name.slice(name.length + 1)) }))
    .sort((a, b) => a.since - b.since);
}

export function sqlSecrets(store: Store): Pick<Records, 'secret' | 'secrets' | 'renewSecret'> {
  return {
    secret: (name, fresh) =>
      store.transaction(async (db) => {
        await db.run('INSERT INTO secret VALUES (?, ?) ON CONFLICT DO NOTHING', name, fresh);
        return (await db.get<Row>('SELECT name, value FROM secret WHERE name = ?', name))!.value;
      }),
    secrets: (name) => allOf(store, name),
    renewSecret: (name, value, now, alone) =>
      store.transaction(async (db) => {
        const last = (await allOf(db, name)).at(-1);
        if (alone) await db.run(`DELETE FROM secret WHERE ${NAMED}`, ...named(name));
        const since = Math.max(now, (last?.since ?? 0) + 1);
        await db.run('INSERT INTO secret VALUES (?, ?)', alone ? name : `${name}@${since}`, value);
      }),
  };
}
