// Whether a prototype is right: all that is wrong with it at once, each with its place. Pure.
import { parseMilliseconds } from '../documents/duration.ts';
import { isCronForm, isZone } from './cron-form.ts';
import { below, faultAt, formFaults, type ScenarioFault } from './fault.ts';
import { kindFaults, kindOf } from './kind.ts';
import { type Reference, readHead, readStep } from './reference.ts';
import { MOST_STEPS, type Prototype, prototypeSchema, type Step } from './schema.ts';
import { sealedKinds } from './sealed.ts';
import { idOf, type Placed, walk } from './walk.ts';

/** What only the hub knows. */
export interface Surroundings {
  /** Whether a time table can be computed, in its zone; without it, its form is looked at. */
  isCron?(text: string, zone: string | undefined): boolean;
  /** Whether an action exists that a step calls by its name; without it, any may. */
  isAction?(name: string): boolean;
}

/** The most lists of steps that lie in each other. */
const MOST_DEPTH = 8;

/** Names that expressions may begin with in any step. */
const roots = ['vars', 'steps', 'meta', 'params', 'ctx', 'slots', 'io'];
const reserved = [...roots, ...sealedKinds, 'item', 'true', 'false', 'null', 'not', 'and', 'or', 'in'];
const actionForm = /^[A-Za-z][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+){0,7}$/;
/** Arguments of the hub's own actions that decide what is done, and so may not be computed. */
const plainArgs: Record<string, readonly string[]> = {
  'skills.run': ['skill', 'action'],
  'skills.handle': ['skill', 'topic'],
  'schedule.at': ['scenario'],
};

const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
function milliseconds(text: string): number {
  const [, count, unit] = /^(\d+)(ms|s|m|h)$/.exec(text)!;
  return Number(count) * units[unit!]!;
}

function triggerFaults(p: Prototype, isCron: NonNullable<Surroundings['isCron']>): ScenarioFault[] {
  return (p.triggers ?? []).flatMap((t, i) => {
    if (t.type !== 'time') return [];
    const isKnown = t.zone === undefined || isZone(t.zone);
    return [
      ...(isKnown ? [] : [faultAt(`/triggers/${i}/zone`, 'bad_zone')]),
      ...(isCron(t.cron, isKnown ? t.zone : undefined) ? [] : [faultAt(`/triggers/${i}/cron`, 'bad_cron')]),
    ];
  });
}

/** What no expression of a step computes is a length that can be read as it stands. */
function lengthFaults(p: Prototype, placed: readonly Placed[]): ScenarioFault[] {
  const fixed: [string, string | undefined][] = [
    ['/timeout', p.timeout],
    ...(p.triggers ?? []).map((t, i): [string, string | undefined] => [
      `/triggers/${i}/grace`,
      t.type === 'time' ? t.grace : undefined,
    ]),
    ...placed.flatMap(({ step, pointer }) =>
      (['for', 'timeout'] as const)
        .filter((field) => !step[field]?.startsWith('${'))
        .map((field): [string, string | undefined] => [below(pointer, field), step[field]]),
    ),
  ];
  return fixed
    .filter(([, text]) => text !== undefined && parseMilliseconds(text) === undefined)
    .map(([pointer]) => faultAt(pointer, 'bad_length'));
}

/** Ids that come twice, at the later ones. */
function doubles(placed: readonly Placed[]): ScenarioFault[] {
  const seen = new Set<string>();
  return placed.flatMap(({ step, pointer }) => {
    const id = idOf(step);
    if (id === undefined || !seen.has(id)) {
      if (id !== undefined) seen.add(id);
      return [];
    }
    return [faultAt(below(pointer, step.id === undefined ? 'name' : 'id'), 'twice')];
  });
}

/** An old id leads to one step, and not from one that is there. */
function oldNames(placed: readonly Placed[]): ScenarioFault[] {
  const taken = new Set(placed.flatMap(({ step }) => idOf(step) ?? []));
  return placed.flatMap(({ step: { was }, pointer }) => {
    if (was === undefined) return [];
    const isTaken = taken.has(was);
    taken.add(was);
    return isTaken ? [faultAt(below(pointer, 'was'), 'was_taken', { id: was })] : [];
  });
}

function nameFaults({ step, pointer }: Placed): ScenarioFault[] {
  const faults: ScenarioFault[] = [];
  const isPart = kindOf(step) === 'include';
  if (idOf(step) === undefined) {
    if (!isPart) faults.push(faultAt(pointer, 'no_id'));
    else if (step.if !== undefined || step.when !== undefined) faults.push(faultAt(pointer, 'include_bare'));
  }
  if (step.id !== undefined && step.name !== undefined && step.id !== step.name)
    faults.push(faultAt(below(pointer, 'name'), 'two_ids'));
  if (step.if !== undefined && step.when !== undefined)
    faults.push(faultAt(below(pointer, 'when'), 'two_conditions'));
  for (const field of ['alias', 'as'] as const) {
    const id = step[field];
    // `as: item` is what it is called anyway.
    if (id !== undefined && reserved.includes(id) && !(field === 'as' && id === 'item'))
      faults.push(faultAt(below(pointer, field), 'reserved', { id }));
  }
  const [, least, most] = /^exp:(\w+)\.\.(\w+)$/.exec(step.retries?.backoff ?? '') ?? [];
  if (least && most && milliseconds(least) > milliseconds(most))
    faults.push(faultAt(`${pointer}/retries/backoff`, 'bad_backoff'));
  return faults;
}

function callFaults(p: Prototype, { step, pointer }: Placed, around: Surroundings): ScenarioFault[] {
  const faults: ScenarioFault[] = [];
  const isAction = (name: string) => actionForm.test(name) && (around.isAction?.(name) ?? true);
  for (const [at, { call, slot, method }] of [
    [pointer, step],
    [`${pointer}/compensate`, step.compensate ?? {}],
  ] as const) {
    if (call !== undefined && !isAction(call))
      faults.push(faultAt(below(at, 'call'), 'unknown_action', { id: call }));
    if (method !== undefined && !actionForm.test(method))
      faults.push(faultAt(below(at, 'method'), 'unknown_action', { id: method }));
    if (slot !== undefined && !Object.hasOwn(p.slots ?? {}, slot))
      faults.push(faultAt(below(at, 'slot'), 'unknown_slot', { id: slot }));
  }
  if ((step.call === 'http.fetch' || step.compensate?.call === 'http.fetch') && !p.hosts?.length)
    faults.push(faultAt(pointer, 'no_hosts'));
  const called: [string, string | undefined, Record<string, unknown> | undefined][] = [
    [pointer, step.call, step.args],
    [`${pointer}/compensate`, step.compensate?.call, step.compensate?.args],
  ];
  for (const [at, action, args] of called)
    for (const arg of action !== undefined && Object.hasOwn(plainArgs, action) ? plainArgs[action]! : []) {
      const value = args?.[arg];
      if (value === undefined) faults.push(faultAt(`${at}/args/${arg}`, 'missing', { kind: action! }));
      else if (typeof value !== 'string' || value.includes('${'))
        faults.push(faultAt(`${at}/args/${arg}`, 'must_be_plain'));
    }
  return faults;
}

/** What references name that is not there. */
function referenceFaults(
  p: Prototype,
  references: readonly Reference[],
  allowed: readonly string[],
  ids: ReadonlySet<string> | undefined,
): ScenarioFault[] {
  const has = (of: object | undefined, id: string) => Object.hasOwn(of ?? {}, id);
  return references.flatMap(({ pointer, root, member }) => {
    if (!allowed.includes(root))
      // What a part from another file calls by name is known when it is put in.
      return ids || root === '$' ? [faultAt(pointer, 'unknown_name', { id: root })] : [];
    if (member === undefined) return [];
    if (root === 'steps' && ids && !ids.has(member))
      return [faultAt(pointer, 'unknown_step', { id: member })];
    if (root === 'params' && !has(p.params, member))
      return [faultAt(pointer, 'unknown_param', { id: member })];
    if (root === 'slots' && !has(p.slots, member)) return [faultAt(pointer, 'unknown_slot', { id: member })];
    return [];
  });
}

function expressionFaults(
  p: Prototype,
  placed: readonly Placed[],
  ids: ReadonlySet<string> | undefined,
): ScenarioFault[] {
  const aliases = placed.flatMap(({ step }) => step.alias ?? []);
  const head = readHead(p).flatMap(({ references, faults, roots: allowed }) => [
    ...faults,
    ...referenceFaults(p, references, allowed, ids ?? new Set()),
  ]);
  const inSteps = placed.flatMap(({ step, pointer, parents }) => {
    const { references, faults } = readStep(step, pointer);
    const loops = parents.filter((s) => s.do === 'for');
    const items = loops.length > 0 ? ['item', ...loops.flatMap((s) => s.as ?? [])] : [];
    const allowed = [...roots, ...aliases, ...items];
    // Only which events count is asked of the event.
    // What is sealed goes to an action as it is, and nowhere else.
    const isSealed = (r: Reference) => (sealedKinds as readonly string[]).includes(r.root);
    const isGiven = (r: Reference) =>
      r.isWhole &&
      r.member !== undefined &&
      /^\/(?:compensate\/)?args\//.test(r.pointer.slice(pointer.length));
    const isOfEvent = (r: Reference) => r.root === '$' && r.pointer === below(pointer, 'where');
    return [
      ...faults,
      ...references
        .filter((r) => isSealed(r) && !isGiven(r))
        .map((r) => faultAt(r.pointer, 'sealed', { id: r.root })),
      ...referenceFaults(
        p,
        references.filter((r) => !isOfEvent(r) && !isSealed(r)),
        allowed,
        ids,
      ),
    ];
  });
  // A name that is wrong twice in one text is told once.
  const once = new Map([...head, ...inSteps].map((f) => [`${f.pointer} ${f.says}`, f]));
  return [...once.values()];
}

const includes = (p: Prototype, placed: readonly Placed[]) =>
  (p.include ?? []).length > 0 || placed.some(({ step }) => step.include !== undefined);

/** Lists that lie too deeply are told before anything walks through them. */
function sizeFaults(p: Prototype): ScenarioFault[] {
  let count = 0;
  const visit = (steps: readonly Step[], pointer: string, depth: number): ScenarioFault[] => {
    if (depth > MOST_DEPTH) return [faultAt(pointer, 'too_deep', { most: MOST_DEPTH })];
    count += steps.length;
    return steps.flatMap((s, i) => [
      ...(Array.isArray(s.do) ? visit(s.do, `${pointer}/${i}/do`, depth + 1) : []),
      ...(s.steps ? visit(s.steps, `${pointer}/${i}/steps`, depth + 1) : []),
    ]);
  };
  const faults = visit(p.steps, '/steps', 1);
  return count > MOST_STEPS ? [...faults, faultAt('/steps', 'too_many', { most: MOST_STEPS })] : faults;
}

/**
 * Everything that is wrong with a prototype; where its form is wrong, only that. Steps of other files that are not
 * included yet (include.ts) are taken as they are.
 */
export function checkPrototype(value: unknown, around: Surroundings = {}): ScenarioFault[] {
  const form = formFaults(prototypeSchema, value);
  if (form.length > 0) return form;
  const p = value as Prototype;
  const size = sizeFaults(p);
  if (size.length > 0) return size;
  const placed = walk(p.steps);
  const ids = includes(p, placed) ? undefined : new Set(placed.flatMap(({ step }) => idOf(step) ?? []));
  const isCron = around.isCron ?? isCronForm;
  return [
    ...triggerFaults(p, isCron),
    ...lengthFaults(p, placed),
    ...doubles(placed),
    ...oldNames(placed),
    ...placed.flatMap((at) => [
      ...kindFaults(at.step, at.pointer),
      ...nameFaults(at),
      ...callFaults(p, at, around),
    ]),
    ...expressionFaults(p, placed, ids),
    ...Object.keys(p.paramDocs ?? {})
      .filter((id) => !Object.hasOwn(p.params ?? {}, id))
      .map((id) => faultAt(below('/paramDocs', id), 'no_such_param', { id })),
    ...Object.entries(p.anchors ?? {})
      .filter(([, { after }]) => ids && !ids.has(after))
      .map(([name, { after }]) => faultAt(`${below('/anchors', name)}/after`, 'unknown_step', { id: after })),
  ];
}
