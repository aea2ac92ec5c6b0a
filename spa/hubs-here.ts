// Which hubs can be shown in this browser, as it and root know them now.
import { ownedHubs } from './account-root.ts';
import { readAll } from './database.ts';
import { type HubHere, hubsOf } from './hubs-offered.ts';
import { session } from './sid.ts';
import { app } from './store.ts';

/** The hubs of this browser and of who is signed in; a guest, and whoever has no network, sees the browser's alone. */
export async function hubsHere(): Promise<HubHere[]> {
  const [pins, owned] = await Promise.all([readAll('hubs'), ownedHubs().catch(() => null)]);
  return hubsOf(pins, owned, { hub_id: session()?.hub_id ?? '', name: app().hubName ?? '' });
}
