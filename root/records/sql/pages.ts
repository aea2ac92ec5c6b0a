// Skills' pages that come through root, in SQL.
import type { Pages, SkillPage } from '../records.ts';
import type { Db, Store } from './store.ts';

/** Its words are root's own: none of them is one that passes between a browser and its hub. */
interface Row extends Omit<SkillPage, 'skill_id'>, Record<string, unknown> {
  skill: string;
  spent: number;
}

/** A page whose time and whose session are not over. */
async function find(db: Db, id: string, now: number): Promise<Row | undefined> {
  return db.get<Row>(
    `SELECT * FROM skill_page p WHERE id = ? AND exp > ?
     AND EXISTS (SELECT 1 FROM session_web s WHERE s.sid = p.sid AND s.exp > ?)`,
    ...[id, now, now],
  );
}

const plain = ({ id, sid, owner_id, hub_id, skill, exp }: Row): SkillPage => ({
  ...{ id, sid, owner_id, hub_id, skill_id: skill, exp },
});

export function sqlPages(store: Store): Pages {
  return {
    begin: async ({ id, sid, owner_id, hub_id, skill_id, exp }) =>
      void (await store.run(
        'INSERT INTO skill_page VALUES (?, ?, ?, ?, ?, ?, 0)',
        ...[id, sid, owner_id, hub_id, skill_id, exp],
      )),
    spend: ({ id, now, exp }) =>
      store.transaction(async (db) => {
        const row = await find(db, id, now);
        if (!row) return undefined;
        const { changes } = await db.run(
          'UPDATE skill_page SET spent = 1, exp = ? WHERE id = ? AND spent = 0',
          ...[exp, id],
        );
        return changes === 1 ? plain({ ...row, exp }) : 'spent';
      }),
    async find(id, now) {
      const row = await find(store, id, now);
      return row?.spent === 1 ? plain(row) : undefined;
    },
  };
}
