// Who shows another place when a skill says so (`ui.route`): the app that is open, if it is the skill's to move.
import type { Told } from '../firmware/ui/topic-names.ts';

type Router = (line: Told) => boolean;
let router: Router | null = null;
/** Skills that something was asked of since this page was opened. */
export const asked = new Set<string>();

export function setRouter(next: Router | null): void {
  router = next;
}

/** @returns whether the place is shown */
export const routed = (line: Told): boolean => router?.(line) ?? false;
