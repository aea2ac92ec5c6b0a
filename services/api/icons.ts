// What each person made of the icons, as rows.
import type { Transaction } from '../../firmware/documents/archive.ts';
import type { Migration } from '../../firmware/system/store.ts';
import type { Arrangement } from '../../firmware/ui/arranged.ts';

export const desktopSchema: Migration[] = [
  {
    adds: `CREATE TABLE icon_groups (owner_id TEXT NOT NULL, skill_id TEXT NOT NULL, name TEXT NOT NULL,
    PRIMARY KEY (owner_id, skill_id)) WITHOUT ROWID;
CREATE TABLE desktops (owner_id TEXT PRIMARY KEY, role TEXT NOT NULL) WITHOUT ROWID`,
  },
];

interface IconRow extends Record<string, unknown> {
  skill_id: string;
  pinned: number;
  ord: number | null;
}

export async function readArrangement(store: Transaction, owner_id: string): Promise<Arrangement> {
  const icons = await store.all<IconRow>('SELECT * FROM icons WHERE owner_id = ?', owner_id);
  const groups = new Map<string, string[]>();
  for (const { skill_id, name } of await store.all<{ skill_id: string; name: string }>(
    'SELECT skill_id, name FROM icon_groups WHERE owner_id = ? ORDER BY name, skill_id',
    owner_id,
  ))
    groups.set(name, [...(groups.get(name) ?? []), skill_id]);
  return {
    pins: icons.filter((i) => i.pinned === 1).map((i) => i.skill_id),
    order: icons
      .filter((i) => i.ord !== null)
      .sort((a, b) => a.ord! - b.ord!)
      .map((i) => i.skill_id),
    groups: [...groups].map(([name, skills]) => ({ name, skills })),
  };
}

export async function writeArrangement(tx: Transaction, owner_id: string, a: Arrangement): Promise<void> {
  await tx.run('DELETE FROM icons WHERE owner_id = ?', owner_id);
  await tx.run('DELETE FROM icon_groups WHERE owner_id = ?', owner_id);
  const place = new Map(a.order.map((id, i) => [id, i]));
  for (const id of new Set([...a.pins, ...a.order]))
    await tx.run(
      'INSERT INTO icons (owner_id, skill_id, pinned, ord) VALUES (?, ?, ?, ?)',
      ...[owner_id, id, a.pins.includes(id) ? 1 : 0, place.get(id) ?? null],
    );
  for (const { name, skills } of a.groups)
    for (const id of skills)
      await tx.run(
        'INSERT INTO icon_groups (owner_id, skill_id, name) VALUES (?, ?, ?)',
        ...[owner_id, id, name],
      );
}

/** What somebody who is gone made of the icons. */
export async function forgetIcons(tx: Transaction, owner_id: string): Promise<void> {
  for (const table of ['icons', 'icon_groups', 'desktops'])
    await tx.run(`DELETE FROM ${table} WHERE owner_id = ?`, owner_id);
}

/** Takes a skill that is gone from everybody's desktop. */
export async function forgetIcon(store: Transaction, skill_id: string): Promise<void> {
  await store.run('DELETE FROM icons WHERE skill_id = ?', skill_id);
  await store.run('DELETE FROM icon_groups WHERE skill_id = ?', skill_id);
}
