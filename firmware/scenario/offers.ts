// Which skills fit the slots of a scenario, and which slot has one without being asked for. Pure.
import type { Implementation, Prototype, Step } from './schema.ts';
import { walk } from './walk.ts';

/** A skill that somebody may use, with its declared actions. */
export interface Offer {
  skill_id: string;
  actions: readonly string[];
}

/** The actions that steps ask of a slot. */
export function methodsOf(steps: readonly Step[], slot: string): string[] {
  const of = walk(steps).flatMap(({ step: { slot: own, method, compensate: undo } }) => [
    ...(own === slot && method ? [method] : []),
    ...(undo?.slot === slot && undo.method ? [undo.method] : []),
  ]);
  return [...new Set(of)];
}

/** The skills that fit: called as the slot's capability, or with an action of that name, or with all that is asked of it. */
export function fitting(scenario: Prototype, slot: string, offers: readonly Offer[]): string[] {
  const cap = scenario.slots?.[slot]?.cap;
  if (cap === undefined) return [];
  const methods = methodsOf(scenario.steps, slot);
  return offers
    .filter(
      ({ skill_id, actions }) =>
        cap === skill_id ||
        cap.startsWith(`${skill_id}.`) ||
        actions.includes(cap) ||
        (methods.length > 0 && methods.every((m) => actions.includes(m))),
    )
    .map(({ skill_id }) => skill_id);
}

type Slots = NonNullable<Implementation['bindings']>['slots'];

/** Slots of which nothing is said. A slot that is to stay empty is said, too: its skill is null. */
export const openSlots = (scenario: Prototype, bound: Slots = {}): string[] =>
  Object.keys(scenario.slots ?? {}).filter((slot) => !Object.hasOwn(bound, slot));

/** The skills of slots of which nothing is said: where exactly one fits, that one. */
export function chosenBySelf(
  scenario: Prototype,
  bound: Slots,
  offers: readonly Offer[],
): Record<string, string> {
  return Object.fromEntries(
    openSlots(scenario, bound).flatMap((slot) => {
      const fit = fitting(scenario, slot, offers);
      return fit.length === 1 ? [[slot, fit[0]!]] : [];
    }),
  );
}
