// The ways out of the session and to another hub, for pages that flow.ts leads to.
import type { HubHere } from './hubs-offered.ts';

type Out = (forgets?: boolean | string) => Promise<void>;

type Across = (hub: Pick<HubHere, 'hub_id' | 'name' | 'mine'>) => Promise<void>;

let out: Out = async () => {};
let across: Across = async () => {};

/** Told once, by who knows the ways. */
export function wayOut(way: Out, to: Across): void {
  out = way;
  across = to;
}

/** Shows another hub in this tab (switch.ts). */
export const switchTo: Across = (hub) => across(hub);

/**
 * Ends the session here.
 * @param forgets the hub of which everything is taken out of this browser, by its id; `true`: all hubs
 */
export const leave: Out = (forgets) => out(forgets);
