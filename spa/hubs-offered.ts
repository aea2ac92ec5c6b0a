// Which hubs are offered in this browser: those it has pinned, and further ones of who is signed in.
import type { OwnedHub } from '../firmware/protocol/account.ts';
import type { Pin } from './database.ts';

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
