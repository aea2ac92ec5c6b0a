// The way out of the session, for pages that flow.ts leads to.
type Out = (forgets?: boolean | string) => Promise<void>;

let out: Out = async () => {};

/** Told once, by who knows the way. */
export function wayOut(way: Out): void {
  out = way;
}

/**
 * Ends the session here.
 * @param forgets the hub of which everything is taken out of this browser, by its id; `true`: all hubs
 */
export const leave: Out = (forgets) => out(forgets);
