// The way out of the session, for pages that flow.ts leads to.
type Out = (isForgotten?: boolean) => Promise<void>;

let out: Out = async () => {};

/** Told once, by who knows the way. */
export function wayOut(way: Out): void {
  out = way;
}

/** Ends the session here; `isForgotten` takes everything of the hub out of this browser. */
export const leave: Out = (isForgotten) => out(isForgotten);
