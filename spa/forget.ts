// What goes out of this browser with a hub that it forgets, and with the last one.
import { forgetBrand } from './brand.ts';
import { erase, keysOf, pinnedHub, readAll } from './database.ts';
import { forgetChanges } from './icons.ts';
import { forgetPlaces } from './place.ts';

/** All that is of one hub. Preferences name theirs in their key. */
async function forgetOne(hubId: string): Promise<void> {
  await erase('hubs', hubId);
  await erase('icons', hubId);
  for (const op of await readAll('ops_outbox'))
    if ((op.hub ?? hubId) === hubId) await erase('ops_outbox', op.id);
  for (const key of await keysOf('prefs')) if (key.split(/[: ]/).includes(hubId)) await erase('prefs', key);
}

/** @param hubId the only one to be forgotten; the key of this browser stays for the others @throws Trouble */
export async function forget(hubId?: string): Promise<void> {
  forgetBrand();
  await forgetChanges();
  if (hubId) {
    await forgetOne(hubId);
    if (await pinnedHub()) return;
  }
  forgetPlaces();
  for (const table of ['hubs', 'icons', 'ops_outbox', 'prefs', 'keys'] as const) await erase(table);
}
