// Who shows another place when a skill says so (`ui.route`): the app that is open, if it is the skill's to move.
import type { Told } from '../firmware/ui/topic-names.ts';

type Router = (line: Told) => boolean;
let router: Router | null = null;

export function setRouter(next: Router | null): void {
  router = next;
}

/** @returns whether the place is shown */
export const routed = (line: Told): boolean => router?.(line) ?? false;
