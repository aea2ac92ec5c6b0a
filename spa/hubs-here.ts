// Which hubs can be shown in this browser, as it and root know them now.
import { ownedHubs } from './account-root.ts';
import { read, readAll } from './database.ts';
import { type HubHere, hubsOf } from './hubs-offered.ts';
import { session } from './sid.ts';
import { app } from './store.ts';

/** The hubs of this browser and of who is signed in; a guest, and whoever has no network, sees the browser's alone. */
export async function hubsHere(): Promise<HubHere[]> {
  const [pins, owned] = await Promise.all([readAll('hubs'), ownedHubs().catch(() => null)]);
  return hubsOf(pins, owned, { hub_id: session()?.hub_id ?? '', name: app().hubName ?? '' });
}

/** What this browser or root calls a hub; '' where neither knows. */
export async function calledHere(hub_id: string): Promise<string> {
  const pin = await read('hubs', hub_id).catch(() => undefined);
  if (pin?.name) return pin.name;
  const owned = await ownedHubs().catch(() => []);
  return owned.find((h) => h.hub_id === hub_id)?.name ?? '';
}
