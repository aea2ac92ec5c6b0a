// That the hub is reached is said together with what a desktop shows of it, so that a slow phone draws both at once.
import { type App, set } from './store.ts';

/** So long after its welcome the hub has sent what a desktop shows, milliseconds; it is reached all the same where not. */
const TOGETHER = 100;
let waiting: Partial<App> | undefined;

/** To be said with what a desktop shows. */
export function hold(what: Partial<App>): void {
  if (!waiting) setTimeout(rise, TOGETHER);
  waiting = { ...waiting, ...what };
}

/** Says it at once, or with what waits. */
export function tell(what: Partial<App>): void {
  if (waiting) hold(what);
  else set(what);
}

/** Says what waits. */
export function rise(): void {
  if (waiting) set(waiting);
  waiting = undefined;
}

/** What waits is no longer so. */
export function fall(): void {
  waiting = undefined;
}
