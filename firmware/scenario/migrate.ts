// What a new version of a prototype makes of what a person changed: what a rule can repair is repaired, the rest is kept
// aside, and all of it is told. Pure.
import { below, faultAt, type ScenarioFault } from './fault.ts';
import { rewritten } from './rewrite.ts';
import { type Implementation, MOST_NOTES, type Prototype, type Rewrite, rewriteActions } from './schema.ts';
import { isPartOf, settingFaults, typeOf, valueFaults } from './value-type.ts';
import { idOf, walk } from './walk.ts';

/** Pointers are those of the implementation as it was before. */
export interface Migration {
  implementation: Implementation;
  /** What goes on, as it is or otherwise, without the person. */
  repaired: ScenarioFault[];
  /** What the person has to decide anew. */
  broken: ScenarioFault[];
}

type Note = NonNullable<Implementation['notes']>[number];

/** One change on its way to the new version, and where it stood. */
interface Moving {
  rewrite: Rewrite;
  pointer: string;
  /** As the person made it. */
  original: Rewrite;
}

interface Work {
  before: Prototype;
  after: Prototype;
  notes: Note[];
  repaired: ScenarioFault[];
  broken: ScenarioFault[];
}

/** Keeps what stood at a pointer, and tells why. */
function aside(w: Work, fault: ScenarioFault, value: unknown, pointer: string, list: ScenarioFault[]): void {
  w.notes.push({ pointer, code: fault.code, value });
  list.push(fault);
}

/** A value as a wider type has it; undefined where it is none. */
function widened(value: unknown, of: unknown): unknown {
  const type = typeOf(of);
  if (type === 'text' && (typeof value === 'number' || typeof value === 'boolean')) return String(value);
  if (type === 'list' && !Array.isArray(value) && value !== null && typeof value !== 'object') return [value];
  return undefined;
}

/** The value of a parameter in the new version; undefined where it is kept aside. */
function valueFor(w: Work, id: string, value: unknown, pointer: string, kept: unknown): unknown {
  const params = w.after.params ?? {};
  if (!Object.hasOwn(params, id)) {
    aside(w, faultAt(pointer, 'param_gone'), kept, pointer, w.repaired);
    return undefined;
  }
  if (valueFaults(value, params[id], pointer).length === 0) return value;
  const other = widened(value, params[id]);
  if (other !== undefined && valueFaults(other, params[id], pointer).length === 0) {
    // How it was written is kept too.
    aside(w, faultAt(pointer, 'param_widened'), kept, pointer, w.repaired);
    return other;
  }
  aside(w, faultAt(pointer, 'param_type', { type: typeOf(params[id]) }), kept, pointer, w.broken);
  return undefined;
}

function settingFor(w: Work, id: string, value: unknown, pointer: string, kept: unknown): boolean {
  const settings = w.after.io?.settings ?? {};
  if (!Object.hasOwn(settings, id)) {
    aside(w, faultAt(pointer, 'setting_gone'), kept, pointer, w.repaired);
    return false;
  }
  if (settingFaults(value, settings[id], id, w.after.io!, pointer).length === 0) return true;
  aside(w, faultAt(pointer, 'setting_type'), kept, pointer, w.broken);
  return false;
}

function slotStays(w: Work, id: string, value: unknown, pointer: string): boolean {
  const slot = Object.hasOwn(w.after.slots ?? {}, id) ? w.after.slots![id] : undefined;
  if (!slot) {
    aside(w, faultAt(pointer, 'slot_gone'), value, pointer, w.repaired);
    return false;
  }
  const before = w.before.slots?.[id]?.cap;
  // A skill that offers all of a capability offers each part of it, and not the other way round.
  if (before === undefined || isPartOf(slot.cap, before)) return true;
  aside(w, faultAt(pointer, 'slot_cap', { before, cap: slot.cap }), value, pointer, w.broken);
  return false;
}

const listOf = (p: Prototype, id: string) => walk(p.steps).find(({ step }) => idOf(step) === id);
/** What a step is called in the new version. */
function newIdOf(after: Prototype, id: string): string | undefined {
  if (listOf(after, id)) return id;
  const renamed = walk(after.steps).find(({ step }) => step.was === id);
  return renamed && idOf(renamed.step);
}

/** The step that stood nearest to a step that is gone, and still stands in the list of `moved`. */
function neighbour(w: Work, gone: string, moved: string): { id: string; isBefore: boolean } | undefined {
  const was = listOf(w.before, gone);
  const list = listOf(w.after, moved)?.listPointer;
  if (!was) return undefined;
  const at = was.list.indexOf(was.step);
  const there = (steps: readonly (typeof was.step)[]) =>
    steps
      .flatMap((s) => (idOf(s) === undefined ? [] : (newIdOf(w.after, idOf(s)!) ?? [])))
      .find((id) => id !== moved && listOf(w.after, id)?.listPointer === list);
  const earlier = there(was.list.slice(0, at).reverse());
  if (earlier !== undefined) return { id: earlier, isBefore: true };
  const later = there(was.list.slice(at + 1));
  return later === undefined ? undefined : { id: later, isBefore: false };
}

/** A change of a step in the new version; undefined where it is kept aside. */
function stepChange(w: Work, { rewrite, pointer }: Moving): Rewrite | undefined {
  const { id: before } = rewrite.match;
  const isDrop = rewrite.action === 'drop';
  const id = newIdOf(w.after, before);
  if (id === undefined) {
    const fault = faultAt(pointer, isDrop ? 'drop_moot' : 'move_moot', { id: before });
    aside(w, fault, rewrite, pointer, w.repaired);
    return undefined;
  }
  if (id !== before) w.repaired.push(faultAt(`${pointer}/match/id`, 'step_renamed', { before, id }));
  const changed: Rewrite = { ...rewrite, match: { id } };
  if (isDrop || rewrite.ref === undefined) return changed;
  const ref = newIdOf(w.after, rewrite.ref);
  if (ref !== undefined) {
    if (ref !== rewrite.ref)
      w.repaired.push(faultAt(`${pointer}/ref`, 'step_renamed', { before: rewrite.ref, id: ref }));
    return { ...changed, ref };
  }
  const beside = neighbour(w, rewrite.ref, id);
  if (!beside) {
    aside(w, faultAt(`${pointer}/ref`, 'ref_gone', { id: rewrite.ref }), rewrite, pointer, w.broken);
    return undefined;
  }
  const told = faultAt(`${pointer}/ref`, 'ref_replaced', { before: rewrite.ref, id: beside.id });
  aside(w, told, rewrite, pointer, w.repaired);
  return { ...changed, action: beside.isBefore ? 'move_after' : 'move_before', ref: beside.id };
}

/** A change in the new version; undefined where it is kept aside. */
function changeFor(w: Work, moving: Moving): Rewrite | undefined {
  const { rewrite, pointer } = moving;
  const { id } = rewrite.match;
  if (rewrite.action === 'param.set' && rewrite.set !== undefined) {
    const value = valueFor(w, id, rewrite.set, pointer, rewrite);
    return value === undefined ? undefined : { ...rewrite, set: value };
  }
  if (rewrite.action === 'io.set')
    return settingFor(w, id, rewrite.set, pointer, rewrite) ? rewrite : undefined;
  if (rewrite.action === 'cap.narrow') {
    if (Object.hasOwn(w.after.slots ?? {}, id)) return rewrite;
    aside(w, faultAt(pointer, 'slot_gone'), rewrite, pointer, w.repaired);
    return undefined;
  }
  // What is no change that can be made is told by the check behind this.
  return (rewriteActions as readonly string[]).includes(rewrite.action) ? stepChange(w, moving) : rewrite;
}

const isNeed = (f: ScenarioFault) => f.code.startsWith('needed_');

/**
 * Takes changes away until those that are left fit together: first those that break what a step needs, as others may
 * only be wrong because of them.
 */
function fitting(w: Work, all: readonly Moving[]): Rewrite[] {
  let left = all;
  for (;;) {
    const rewrite = left.map((m) => m.rewrite);
    const { faults } = rewritten(w.after, rewrite);
    if (faults.length === 0) return rewrite;
    const some = faults.some(isNeed) ? faults.filter(isNeed) : faults;
    const away = new Map(some.map((f) => [Number(f.pointer.split('/')[2]), f]));
    for (const [i, { says }] of away) {
      const { original, pointer } = left[i]!;
      aside(w, faultAt(pointer, 'does_not_fit', { why: says }), original, pointer, w.broken);
    }
    left = left.filter((_, i) => !away.has(i));
  }
}

/** The entries of a map for which `keep` gives a value. */
function mapped<V>(
  of: Readonly<Record<string, V>> | undefined,
  keep: (id: string, value: V) => V | undefined,
) {
  if (!of) return undefined;
  return Object.fromEntries(
    Object.entries(of).flatMap(([id, value]) => {
      const next = keep(id, value);
      return next === undefined ? [] : [[id, next] as const];
    }),
  );
}

/**
 * Brings what a person changed to a new version of its prototype. Nothing is left out in silence: each member is in the
 * new implementation as it was, or told in `repaired` or `broken` and kept in its `notes`.
 * @param implementation one that has the right form
 * @param before the version it was made for
 */
export function migrate(implementation: Implementation, before: Prototype, after: Prototype): Migration {
  const w: Work = { before, after, notes: [...(implementation.notes ?? [])], repaired: [], broken: [] };
  const { params, io, bindings, rewrite, hosts, notes: _, ...rest } = implementation;
  const newParams = mapped(params, (id, value) => valueFor(w, id, value, below('/params', id), value));
  const settings = mapped(io?.settings, (id, value) =>
    settingFor(w, id, value, below('/io/settings', id), value) ? value : undefined,
  );
  const slots = mapped(bindings?.slots, (id, value) =>
    slotStays(w, id, value, below('/bindings/slots', id)) ? value : undefined,
  );
  const newHosts = hosts?.filter((host, at) => {
    const stays = after.hosts?.includes(host);
    if (!stays) aside(w, faultAt(`/hosts/${at}`, 'host_gone', { host }), host, `/hosts/${at}`, w.repaired);
    return stays;
  });
  const moving = (rewrite ?? []).flatMap((r, i): Moving[] => {
    const pointer = `/rewrite/${i}`;
    const changed = changeFor(w, { rewrite: r, pointer, original: r });
    return changed ? [{ rewrite: changed, pointer, original: r }] : [];
  });
  const rewrites = fitting(w, moving);
  // The oldest go first; what they were is told.
  for (const { pointer } of w.notes.splice(0, Math.max(0, w.notes.length - MOST_NOTES)))
    w.broken.push(faultAt(pointer, 'notes_full', { most: MOST_NOTES }));
  return {
    implementation: {
      ...rest,
      ...(newParams ? { params: newParams } : {}),
      ...(io ? { io: { ...io, ...(settings ? { settings } : {}) } } : {}),
      ...(bindings ? { bindings: { ...bindings, ...(slots ? { slots } : {}) } } : {}),
      ...(newHosts ? { hosts: newHosts } : {}),
      ...(rewrite ? { rewrite: rewrites } : {}),
      ...(w.notes.length > 0 ? { notes: w.notes } : {}),
    },
    repaired: w.repaired,
    broken: w.broken,
  };
}
