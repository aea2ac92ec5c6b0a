// The ways out of the session and to another hub, for pages that flow.ts leads to.
import type { HubHere } from './hubs-offered.ts';

type Out = (forgets?: boolean | string) => Promise<void>;

/** switch.ts, once it is here. */
type Across = () => Promise<{
  switchTo(hub: Pick<HubHere, 'hub_id' | 'name' | 'mine'>): Promise<void>;
}>;

let out: Out;
let across: Across;

/** Told once, by who knows the ways. */
export function wayOut(way: Out, to: Across): void {
  out = way;
  across = to;
}

/** What shows another hub in this tab. */
export const toAnother: Across = () => across();

/**
 * Ends the session here.
 * @param forgets the hub of which everything is taken out of this browser, by its id; `true`: all hubs
 */
export const leave: Out = (forgets) => out(forgets);
