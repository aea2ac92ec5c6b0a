// The icon manager: what the owner's desktop shows, pinned and ordered by the owner.
import type { Caller } from '../../firmware/documents/acl.ts';
import type { Answer } from '../../firmware/protocol/endpoint/endpoint.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { skillsApi } from '../../firmware/skills/api.ts';
import type { Known } from '../../firmware/skills/follow.ts';
import type { Store } from '../../firmware/system/store.ts';
import { isShownTo } from './dispatch.ts';

type Icon = Answer<typeof skillsApi.icons>[number];

interface IconRow extends Record<string, unknown> {
  skill_id: string;
  pinned: number;
  ord: number | null;
}

/** Icons of all visual skills the caller may see: pinned first, then in the owner's order, then by title. */
export async function listIcons(
  store: Store,
  skills: ReadonlyMap<string, Known>,
  caller: Caller,
  owner_id: string,
): Promise<Icon[]> {
  const rows = await store.all<IconRow>('SELECT * FROM icons WHERE owner_id = ?', owner_id);
  const kept = new Map(rows.map((r) => [r.skill_id, r]));
  const icons: Icon[] = [];
  for (const [skill_id, { manifest, available }] of skills) {
    const ui = manifest.capabilities.ui;
    if (!manifest.capabilities.visual || !ui || !isShownTo(manifest, caller)) continue;
    icons.push({
      skill_id,
      title: ui.title,
      ...(ui.titles ? { titles: ui.titles } : {}),
      icon: ui.icon ?? 'app',
      entrypoint: ui.entrypoint ?? '',
      modes: ui.modes,
      sizeHints: ui.sizeHints ?? { w: 400, h: 500 },
      pinned: kept.get(skill_id)?.pinned === 1,
      order: kept.get(skill_id)?.ord ?? null,
      schema: ui.schema ?? null,
      ownerOnly: manifest.permissions?.ownerOnly ?? false,
      available,
    });
  }
  const place = (i: Icon) => i.order ?? Number.MAX_SAFE_INTEGER;
  return icons.sort(
    (a, b) => Number(b.pinned) - Number(a.pinned) || place(a) - place(b) || a.title.localeCompare(b.title),
  );
}

const unknown = (skill_id: string) =>
  new IngleError('not_found', `There is no skill "${skill_id.slice(0, 60)}".`);

export async function pinIcon(
  store: Store,
  skills: ReadonlySet<string>,
  owner_id: string,
  { skill_id, pinned }: { skill_id: string; pinned: boolean },
): Promise<void> {
  if (!skills.has(skill_id)) throw unknown(skill_id);
  await store.run(
    `INSERT INTO icons (owner_id, skill_id, pinned) VALUES (?, ?, ?)
     ON CONFLICT (owner_id, skill_id) DO UPDATE SET pinned = excluded.pinned`,
    owner_id,
    skill_id,
    pinned ? 1 : 0,
  );
}

/** Sets the whole order; skills it does not name lose their place. */
export async function orderIcons(
  store: Store,
  skills: ReadonlySet<string>,
  owner_id: string,
  order: readonly unknown[],
): Promise<void> {
  const bad = (i: number, says: string) =>
    new IngleError('invalid_request', `"order" at ${i} ${says}.`, { pointer: `/order/${i}` });
  order.forEach((id, i) => {
    if (typeof id !== 'string' || !skills.has(id)) throw bad(i, 'names no skill');
    if (order.indexOf(id) !== i) throw bad(i, 'is there twice');
  });
  await store.transaction(async (tx) => {
    await tx.run('UPDATE icons SET ord = NULL WHERE owner_id = ?', owner_id);
    for (const [i, id] of (order as string[]).entries())
      await tx.run(
        `INSERT INTO icons (owner_id, skill_id, ord) VALUES (?, ?, ?)
         ON CONFLICT (owner_id, skill_id) DO UPDATE SET ord = excluded.ord`,
        owner_id,
        id,
        i,
      );
  });
}
