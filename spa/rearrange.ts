// Changes of the desktop on their way: shown at once, kept until the hub has them, with the way back.
import { inOrder } from '../firmware/ui/arranged.ts';
import { idOf, type Tiles, tilesNow } from './arrange.ts';
import { failed } from './entrance.ts';
import { say } from './groups-text.ts';
import { changes, keep } from './icons.ts';
import { arrangementOf, movedTo, pinned, standing } from './regroup.ts';
import { type App, app, type Icon, toast } from './store.ts';
import { t, titleOf } from './text.ts';

/** Shows other tiles and tells the hub. `said` is told once they show, with the way back; `more` shows with them. */
async function arrange(tiles: Tiles, said: (now: Tiles) => string, more: Partial<App> = {}): Promise<void> {
  await take(standing(tiles), () => said(tilesNow(app().icons ?? [])), more);
}

/** The same, where nobody waits for it. */
export const change = (...a: Parameters<typeof arrange>): void => void arrange(...a).catch(failed);

/** Moves a tile, or an icon within its group, to `place`. */
export function move(tiles: Tiles, id: string, place: number, title: string): void {
  const list = (now: Tiles) => {
    const within = now.find((x) => x.group !== null && x.icons.some((i) => i.skill_id === id));
    return within?.icons.map((i) => i.skill_id) ?? now.map(idOf);
  };
  change(movedTo(tiles, id, place), (now) =>
    say('moved', { title, n: list(now).indexOf(id) + 1, total: list(now).length }),
  );
}

/** Takes the last change back; once more makes it again. */
export async function undo(): Promise<void> {
  const { before, icons } = app();
  // Skills that came or went since stay so.
  const back = new Map(before?.map((i) => [i.skill_id, i]));
  const next = (icons ?? []).map((i) => {
    const { pinned, order, group } = back.get(i.skill_id) ?? i;
    return { ...i, pinned, order, group };
  });
  await take(next, () => say('undone'));
}

async function take(icons: Icon[], said: () => string, more: Partial<App> = {}): Promise<void> {
  const before = app().icons ?? [];
  const [was, now] = [before, icons].map((some) => arrangementOf(inOrder(some, titleOf)));
  const parts = ['pins', 'order', 'groups'] as const;
  const body = Object.fromEntries(
    parts.filter((p) => JSON.stringify(was![p]) !== JSON.stringify(now![p])).map((p) => [p, now![p]]),
  );
  if (Object.keys(body).length === 0) return;
  const box = await changes();
  await box.enqueue({ method: 'PUT', path: '/v1/icons/arrangement', body });
  await keep(icons, app().iconsAt ?? Date.now(), app().look, { ...more, before });
  if (app().link === 'up') box.online();
  toast(said(), { text: t('undo'), act: () => void undo().catch(failed) });
}

/** Pins a tile, or unpins it. */
export function pin(tiles: Tiles, id: string, on: boolean): void {
  change(pinned(tiles, id, on), () => (on ? t('pinned') : say('unpinned')));
}
