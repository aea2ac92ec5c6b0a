// From one hub to another in this tab, without a code: root leads the session there, and what this browser has pinned
// of that hub decides whom it believes.
import { toBase64url } from '../firmware/protocol/bytes.ts';
import { IngleError } from '../firmware/protocol/errors.ts';
import { type OwnedHub, ownedHubs } from './account-root.ts';
import { connect, endSession, stopLink } from './connection.ts';
import { type Pin, read, readAll } from './database.ts';
import { errorOf, failed } from './entrance.ts';
import { browserKey } from './key.ts';
import { post } from './rest.ts';
import { say } from './settings-text.ts';
import { changeSession, session } from './sid.ts';
import { app, noDesktop, set, show, toast } from './store.ts';

/** Before root is asked once more, milliseconds. */
const AGAIN = 1000;

/** A hub that this person may want to see here. */
export interface HubHere {
  hub_id: string;
  name: string;
  /** The one this tab shows. */
  current: boolean;
  /** This browser is paired with it. */
  paired: boolean;
  /** It is of the account that is signed in; of another one, its passkey is asked for. */
  mine: boolean;
  /** As root says it; null where it does not. */
  online: boolean | null;
  /** Unix seconds. */
  last_seen_at: number | null;
}

/**
 * What this browser knows, with what root adds. Hubs that another one leads have no door of their own.
 * @param owned null where root does not say
 */
export function hubsOf(
  pins: readonly Pin[],
  owned: readonly OwnedHub[] | null,
  at: { hub_id: string; name: string },
): HubHere[] {
  const paired = new Set(pins.map((p) => p.hub_id));
  const here = (hub_id: string, name: string, of?: OwnedHub): HubHere => ({
    hub_id,
    // A hub's own word goes before root's.
    name: (hub_id === at.hub_id && at.name) || name || of?.name || hub_id.slice(0, 12),
    current: hub_id === at.hub_id,
    paired: paired.has(hub_id),
    mine: of !== undefined || hub_id === at.hub_id,
    online: of?.online ?? null,
    last_seen_at: of?.last_seen_at ?? null,
  });
  const ofAll = (hub_id: string) => owned?.find((h) => h.hub_id === hub_id);
  const known = pins.map((p) => here(p.hub_id, p.name, ofAll(p.hub_id)));
  const further = (owned ?? [])
    .filter((h) => h.via === null && !paired.has(h.hub_id))
    .map((h) => here(h.hub_id, '', h));
  return [...known, ...further].sort(
    (a, b) => a.name.localeCompare(b.name) || (a.hub_id < b.hub_id ? -1 : 1),
  );
}

/** The hubs of this browser and of who is signed in; a guest, and whoever has no network, sees the browser's alone. */
export async function hubsHere(): Promise<HubHere[]> {
  const [pins, owned] = await Promise.all([readAll('hubs'), ownedHubs().catch(() => null)]);
  return hubsOf(pins, owned, { hub_id: session()?.hub_id ?? '', name: app().hubName ?? '' });
}

/**
 * Has root lead the session to a hub, until it has said so: an answer that is lost would leave it open which one the
 * route is of. @returns false where the person has gone another way meanwhile. @throws IngleError why not
 */
async function led(sid: string, jwt: string, hub_id: string): Promise<boolean> {
  const e2e_pubkey = toBase64url((await browserKey()).publicKey);
  for (;;) {
    try {
      await post('/v1/browser/pairing/offer', { sid, e2e_pubkey, hub_id }, jwt);
      return session()?.sid === sid;
    } catch (e) {
      if (session()?.sid !== sid) return false;
      if (!(e instanceof IngleError) || !['unavailable', 'timeout'].includes(e.code)) throw e;
      set({ link: 'cut' });
      await new Promise((again) => setTimeout(again, AGAIN));
    }
  }
}

/** Shows another hub in this tab. Why it does not is told, and the one before is shown again. */
export async function switchTo(hub: Pick<HubHere, 'hub_id' | 'name' | 'mine'>): Promise<void> {
  const s = session();
  if (!s?.session_jwt || !(await read('hubs', hub.hub_id))) return;
  history.replaceState(null, '', '/');
  stopLink({ at: 'connecting', step: 'hub' });
  if (!hub.mine) {
    await endSession();
    set({ ...noDesktop, pending: 0, hubName: hub.name });
    return show({ at: 'login' });
  }
  try {
    if (!(await led(s.sid, s.session_jwt, hub.hub_id))) return;
    changeSession({ hub_id: hub.hub_id });
    set({ hubName: hub.name });
  } catch (e) {
    if (errorOf(e).code === 'not_found') toast(say('gone', { name: hub.name }));
    else failed(e);
  }
  await connect();
}
