// The tree of a scenario's steps, each with its place. Pure.
import { below } from './fault.ts';
import type { Step } from './schema.ts';

export interface Placed {
  step: Step;
  pointer: string;
  /** The list it stands in, and where that stands. */
  list: readonly Step[];
  listPointer: string;
  /** The steps it lies in, outermost first. */
  parents: readonly Step[];
}

/** The id of a step in either dialect. */
export const idOf = (step: Step): string | undefined => step.id ?? step.name;

/** The lists of steps in a step, by the field that has them. */
export function listsIn(step: Step): ['do' | 'steps', Step[]][] {
  return [
    ...(Array.isArray(step.do) ? [['do', step.do] as ['do', Step[]]] : []),
    ...(step.steps ? [['steps', step.steps] as ['steps', Step[]]] : []),
  ];
}

/** All steps in the order they are written, each before those in it. */
export function walk(list: readonly Step[], listPointer = '/steps', parents: readonly Step[] = []): Placed[] {
  return list.flatMap((step, i) => {
    const pointer = below(listPointer, i);
    const inside = listsIn(step).flatMap(([field, steps]) =>
      walk(steps, below(pointer, field), [...parents, step]),
    );
    return [{ step, pointer, list, listPointer, parents }, ...inside];
  });
}

/** The step of an id, and the list it stands in. */
export function findStep(
  list: readonly Step[],
  id: string,
): { step: Step; list: readonly Step[] } | undefined {
  for (const step of list) {
    if (idOf(step) === id) return { step, list };
    for (const [, steps] of listsIn(step)) {
      const found = findStep(steps, id);
      if (found) return found;
    }
  }
  return undefined;
}

/** The same steps with each list changed by `change`, from the outside in. Steps without lists stay the same objects. */
export function mapLists(list: readonly Step[], change: (list: readonly Step[]) => Step[]): Step[] {
  return change(list).map((step) => {
    const lists = listsIn(step);
    if (lists.length === 0) return step;
    return {
      ...step,
      ...Object.fromEntries(lists.map(([field, steps]) => [field, mapLists(steps, change)])),
    };
  });
}
