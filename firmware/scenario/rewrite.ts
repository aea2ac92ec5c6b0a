// The changes of one person, done one after the other. Each can only narrow the scenario; what could widen it is refused
// with its reason. Pure.

import { brokenNeeds } from './depends.ts';
import { below, faultAt, type ScenarioFault } from './fault.ts';
import { type Prototype, type Rewrite, rewriteActions, type Step } from './schema.ts';
import { isPartOf, settingFaults, valueFaults } from './value-type.ts';
import { findStep, idOf, mapLists, walk } from './walk.ts';

type Action = (typeof rewriteActions)[number];
type Values = Record<string, unknown>;

export interface Rewritten {
  steps: Step[];
  /** Ids of the steps that are left out, with those in them. */
  dropped: string[];
  params: Values;
  settings: Values;
  /** Slot -> the part of its capability that is left. */
  caps: Record<string, string>;
  faults: ScenarioFault[];
}

const refused: Record<string, 'no_add_step' | 'no_add_slot' | 'no_add_anchor'> = {
  add_step: 'no_add_step',
  add_slot: 'no_add_slot',
  add_anchor: 'no_add_anchor',
};
const isAction = (text: string): text is Action => (rewriteActions as readonly string[]).includes(text);
/** Changes of the steps. */
const orders: readonly string[] = ['drop', 'move_before', 'move_after'];
const takes: Record<Action, 'set' | 'ref' | undefined> = {
  drop: undefined,
  move_before: 'ref',
  move_after: 'ref',
  'param.set': 'set',
  'io.set': 'set',
  'cap.narrow': 'set',
};

/** What is wrong with a change as it stands. */
function shapeFaults(r: Rewrite, pointer: string): ScenarioFault[] {
  if (Object.hasOwn(refused, r.action)) return [faultAt(`${pointer}/action`, refused[r.action]!)];
  if (!isAction(r.action))
    return [faultAt(`${pointer}/action`, 'no_action', { actions: rewriteActions.join(', ') })];
  const wanted = takes[r.action];
  return (['set', 'ref'] as const).flatMap((field) => {
    const isThere = r[field] !== undefined;
    if (field === wanted && !isThere)
      return [faultAt(below(pointer, field), field === 'set' ? 'no_set' : 'no_ref')];
    return field !== wanted && isThere
      ? [faultAt(below(pointer, field), 'no_use', { action: r.action })]
      : [];
  });
}

const without = (steps: readonly Step[], id: string): Step[] =>
  mapLists(steps, (list) => list.filter((s) => idOf(s) !== id));

function moved(steps: readonly Step[], step: Step, ref: string, isAfter: boolean): Step[] {
  return mapLists(without(steps, idOf(step)!), (list) =>
    list.flatMap((s) => (idOf(s) !== ref ? [s] : isAfter ? [s, step] : [step, s])),
  );
}

/** A change of a step. */
function stepFaults(p: Prototype, now: Rewritten, r: Rewrite, pointer: string): ScenarioFault[] {
  const { id } = r.match;
  const missing = (name: string, at: string) =>
    faultAt(at, findStep(p.steps, name) ? 'gone' : 'no_step', { id: name });
  const found = findStep(now.steps, id);
  if (!found) return [missing(id, `${pointer}/match/id`)];
  if (r.action === 'drop') {
    now.steps = without(now.steps, id);
    now.dropped.push(...walk([found.step]).flatMap(({ step }) => idOf(step) ?? []));
    return [];
  }
  const ref = r.ref!;
  if (ref === id) return [faultAt(`${pointer}/ref`, 'self_ref')];
  const to = findStep(now.steps, ref);
  if (!to) return [missing(ref, `${pointer}/ref`)];
  if (to.list !== found.list) return [faultAt(`${pointer}/ref`, 'other_list', { id: ref })];
  now.steps = moved(now.steps, found.step, ref, r.action === 'move_after');
  return [];
}

/** A change of a parameter, a setting or a slot. */
function settingChange(p: Prototype, now: Rewritten, r: Rewrite, pointer: string): ScenarioFault[] {
  const { id } = r.match;
  const at = `${pointer}/match/id`;
  const isTwice = (of: object) => Object.hasOwn(of, id);
  if (r.action === 'param.set') {
    if (!Object.hasOwn(p.params ?? {}, id)) return [faultAt(at, 'no_param', { id })];
    if (isTwice(now.params)) return [faultAt(at, 'already')];
    const faults = valueFaults(r.set, p.params![id], `${pointer}/set`);
    if (faults.length === 0) now.params[id] = r.set;
    return faults;
  }
  if (r.action === 'io.set') {
    const settings = p.io?.settings ?? {};
    if (!Object.hasOwn(settings, id)) return [faultAt(at, 'no_setting', { id })];
    if (isTwice(now.settings)) return [faultAt(at, 'already')];
    const faults = settingFaults(r.set, settings[id], id, p.io!, `${pointer}/set`);
    if (faults.length === 0) now.settings[id] = r.set;
    return faults;
  }
  const slot = Object.hasOwn(p.slots ?? {}, id) ? p.slots![id]! : undefined;
  if (!slot) return [faultAt(at, 'no_slot', { id })];
  if (isTwice(now.caps)) return [faultAt(at, 'already')];
  const isNarrower = typeof r.set === 'string' && /^[\w.-]{1,100}$/.test(r.set) && isPartOf(r.set, slot.cap);
  if (!isNarrower) return [faultAt(`${pointer}/set`, 'not_narrower', { cap: slot.cap })];
  now.caps[id] = r.set as string;
  return [];
}

/** Tells a broken need at the last change of one of its actions that moved or dropped one of the two, else at the last. */
function tellingAt(p: Prototype, rewrites: readonly Rewrite[]) {
  const steps = new Map(walk(p.steps).map(({ step }) => [idOf(step), step]));
  const touched = rewrites.map(({ match, ref }) => {
    const step = steps.get(match.id);
    return new Set([...(step ? walk([step]).map((at) => idOf(at.step)) : []), ref]);
  });
  return (actions: readonly string[], ids: readonly string[]): string => {
    const isOf = (r: Rewrite, i: number) =>
      actions.includes(r.action) && ids.some((id) => touched[i]!.has(id));
    const of = rewrites.findLastIndex(isOf);
    return `/rewrite/${of >= 0 ? of : rewrites.findLastIndex((r) => actions.includes(r.action))}`;
  };
}

/** Does the changes. Those that may not be are told, and not done. */
export function rewritten(p: Prototype, rewrites: readonly Rewrite[]): Rewritten {
  const now: Rewritten = { steps: [...p.steps], dropped: [], params: {}, settings: {}, caps: {}, faults: [] };
  for (const [i, r] of rewrites.entries()) {
    const pointer = `/rewrite/${i}`;
    const shape = shapeFaults(r, pointer);
    const change = orders.includes(r.action) ? stepFaults : settingChange;
    now.faults.push(...(shape.length > 0 ? shape : change(p, now, r, pointer)));
  }
  // An order that nobody changed is as good as the prototype's.
  if (!rewrites.some((r) => orders.includes(r.action))) return now;
  const { missing, late, anchors } = brokenNeeds(p, now.steps);
  const at = tellingAt(p, rewrites);
  now.faults.push(
    ...missing.map(({ id, by, ids }) => faultAt(at(['drop'], ids), 'needed_by_step', { id, by })),
    ...anchors.map(({ id, by }) => faultAt(at(['drop'], [id]), 'needed_by_anchor', { id, by })),
    ...late.map(({ id, by, ids }) => faultAt(at(orders, ids), 'needed_before', { id, by })),
  );
  return now;
}
