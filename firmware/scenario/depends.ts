// Which step needs the result of which other, and what a change of the order or a dropped step breaks. Pure.
import { readStep } from './reference.ts';
import type { Prototype, Step } from './schema.ts';
import { idOf, walk } from './walk.ts';

/** `by` reads what `id` gave, and has nothing to put in its place. */
export interface Dependence {
  id: string;
  by: string;
  /** The steps of which a change may have broken it. */
  ids: readonly string[];
}

interface Order {
  /** Steps in the order they are written. */
  place: ReadonlyMap<string, number>;
  /** A step, and those of which one gives what it needs: several where they fill one alias. */
  needs: readonly { by: string; ids: readonly string[] }[];
}

type Reads = { root: string; member?: string }[];
/** What a step reads and cannot do without; parsed once, as the same steps are looked at after each change. */
const reads = new WeakMap<Step, Reads>();
function readsOf(step: Step): Reads {
  const known =
    reads.get(step) ??
    readStep(step, '').references.flatMap(({ root, member, isSoft }) => (isSoft ? [] : [{ root, member }]));
  reads.set(step, known);
  return known;
}

function orderOf(steps: readonly Step[]): Order {
  const placed = walk(steps);
  const aliases = new Map<string, string[]>();
  for (const { step } of placed)
    if (step.alias && idOf(step)) aliases.set(step.alias, [...(aliases.get(step.alias) ?? []), idOf(step)!]);
  const needs = placed.flatMap(({ step }) => {
    const by = idOf(step);
    if (by === undefined) return [];
    return readsOf(step).flatMap(({ root, member }) => {
      if (root === 'steps') return member === undefined ? [] : [{ by, ids: [member] }];
      const ids = aliases.get(root);
      return ids ? [{ by, ids }] : [];
    });
  });
  const once = new Map(needs.map((need) => [JSON.stringify(need), need]));
  const place = new Map(placed.flatMap(({ step }, i) => (idOf(step) ? [[idOf(step)!, i]] : [])));
  return { place, needs: [...once.values()] };
}

/** What is left of the steps: whose result a step still needs, and whose place an anchor. */
export function brokenNeeds(p: Prototype, steps: readonly Step[]) {
  const before = orderOf(p.steps);
  const after = orderOf(steps);
  const missing: Dependence[] = [];
  const late: Dependence[] = [];
  for (const { by, ids } of before.needs) {
    if (!after.place.has(by) || ids.includes(by)) continue;
    const had = ids.filter((id) => before.place.has(id));
    const left = had.filter((id) => after.place.has(id));
    if (had.length > 0 && left.length === 0) missing.push({ id: had.at(-1)!, by, ids: had });
    // Whoever came after one that gave it still comes after one.
    const isBehind = (o: Order, some: readonly string[]) =>
      some.some((id) => o.place.get(id)! < o.place.get(by)!);
    if (left.length > 0 && isBehind(before, had) && !isBehind(after, left))
      late.push({ id: left[0]!, by, ids: [...had, by] });
  }
  const anchors = Object.entries(p.anchors ?? {})
    .filter(([, { after: id }]) => before.place.has(id) && !after.place.has(id))
    .map(([by, { after: id }]) => ({ id, by }));
  return { missing, late, anchors };
}
