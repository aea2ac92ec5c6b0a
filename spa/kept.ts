// What this browser keeps: screens of skills as they were last seen live, to be read while the hub is away; and how all
// that is kept of a hub is forgotten.
import { translator } from '../firmware/text/i18n.ts';
import { spaShutTexts } from '../firmware/text/spa-shut.ts';
import type { Tree } from '../firmware/ui/tree.ts';
import { erase, pinnedHub, read, readAll, run, write } from './database.ts';
import { session } from './sid.ts';
import { app, toast } from './store.ts';

export interface Kept {
  tree: Tree;
  state: unknown;
  /** When it was true, milliseconds since 1970. */
  at: number;
}

/** Screens that are kept, the newest; and bytes of one. */
const MOST = 16;
const LARGEST = 300_000;

const keyOf = (what: string) => `screen:${session()?.hub_id}:${app().mine}:${what}`;

/** What is kept only spares a wait: a browser that keeps nothing loses nothing by it. */
export async function keepScreen(skill_id: string, kept: Kept): Promise<void> {
  // A window that closes as its person signs out or forgets the hub leaves nothing behind.
  const hub = session()?.hub_id;
  if (!hub || JSON.stringify(kept).length > LARGEST) return;
  const listed = await read('prefs', keyOf('')).catch(() => undefined);
  const before = Array.isArray(listed) ? (listed as string[]) : [];
  const ids = [skill_id, ...before.filter((id) => id !== skill_id)];
  if (session()?.hub_id !== hub) return;
  try {
    await write('prefs', keyOf(skill_id), kept);
    if (ids.join() !== before.join()) await write('prefs', keyOf(''), ids.slice(0, MOST));
    for (const id of ids.slice(MOST)) await erase('prefs', keyOf(id));
  } catch {}
}

export async function screenOf(skill_id: string): Promise<Kept | undefined> {
  const kept = (await read('prefs', keyOf(skill_id)).catch(() => undefined)) as Kept | undefined;
  return Array.isArray(kept?.tree?.main) ? kept : undefined;
}

const say = (key: 'kept' | 'away', values?: Record<string, string>) =>
  toast(translator(spaShutTexts, app().language)(key, values));

/** Says why a skill cannot be opened, of which no screen is kept. */
export const blocked = (title: string): void => say('away', { title });

/** Says why a tap on such a screen does nothing. */
export async function onlyKept(): Promise<{ done: false }> {
  say('kept');
  return { done: false };
}

/** All that is kept of one hub goes. Preferences name theirs in their key. */
async function forgetOne(hubId: string): Promise<void> {
  await erase('hubs', hubId);
  await erase('icons', hubId);
  for (const op of await readAll('ops_outbox'))
    if ((op.hub ?? hubId) === hubId) await erase('ops_outbox', op.id);
  for (const key of await run('prefs', 'readonly', (s) => s.getAllKeys()))
    if (String(key).split(/[: ]/).includes(hubId)) await erase('prefs', String(key));
}

/**
 * Forgets a hub, by its id, or all. With the last one goes what this browser is known by.
 * @throws Trouble
 */
export async function forget(which: string | true): Promise<void> {
  if (which !== true) {
    await forgetOne(which);
    if (await pinnedHub()) return;
  }
  for (const table of ['hubs', 'icons', 'ops_outbox', 'prefs', 'keys'] as const) await erase(table);
}
