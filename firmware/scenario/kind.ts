// What a step does, and which fields belong to that. Pure.
import { below, faultAt, type ScenarioFault } from './fault.ts';
import type { Step } from './schema.ts';

export type Kind =
  | 'say'
  | 'ask'
  | 'call'
  | 'for'
  | 'set'
  | 'delay'
  | 'wait_for'
  | 'held_for'
  | 'steps'
  | 'include';
type Field = keyof Step;

/** Fields that any step may have. */
const common: readonly Field[] = [
  'id',
  'name',
  'was',
  'if',
  'when',
  'alias',
  'set',
  'timeout',
  'retries',
  'compensate',
  'locks',
  'activityId',
  'onError',
];
const known: Record<Kind, { needs: readonly Field[]; may: readonly Field[] }> = {
  say: { needs: ['text'], may: ['args'] },
  ask: { needs: ['text'], may: ['args', 'otherwise'] },
  call: { needs: [], may: ['args'] },
  for: { needs: ['each', 'steps'], may: ['as'] },
  set: { needs: ['set'], may: [] },
  delay: { needs: [], may: ['for', 'until'] },
  wait_for: { needs: ['topic'], may: ['where', 'otherwise'] },
  held_for: { needs: ['topic', 'where', 'for'], may: ['away', 'otherwise'] },
  steps: { needs: [], may: [] },
  include: { needs: [], may: [] },
};

/** The field that says what the step does. */
function saidBy(step: Step): Field[] {
  const of = (['do', 'call', 'include'] as const).filter((f) => step[f] !== undefined);
  return of.length > 0 ? of : step.set ? ['set'] : [];
}

/** What a step does; undefined for one that does nothing. Of one that does two things, the first. */
export function kindOf(step: Step): Kind | undefined {
  const [by] = saidBy(step);
  if (by === 'do') return Array.isArray(step.do) ? 'steps' : step.do;
  return by as 'call' | 'set' | 'include' | undefined;
}

/** What undoes a step is an action, or a slot and its method. */
function undoFaults({ compensate }: Step, pointer: string): ScenarioFault[] {
  if (!compensate) return [];
  const at = below(pointer, 'compensate');
  const { call, slot, method } = compensate;
  const by = [...(call === undefined ? [] : ['call']), ...(slot === undefined ? [] : ['slot'])];
  if (by.length === 0) return [faultAt(below(at, 'call'), 'missing', { kind: 'compensate' })];
  if (by.length > 1) return [faultAt(at, 'two_kinds', { kinds: by.join(', ') })];
  if (slot !== undefined && method === undefined)
    return [faultAt(below(at, 'method'), 'missing', { kind: 'compensate' })];
  return call !== undefined && method !== undefined
    ? [faultAt(below(at, 'method'), 'stray', { kind: 'call' })]
    : [];
}

/** What is wrong with the fields of a step as such. */
export function kindFaults(step: Step, pointer: string): ScenarioFault[] {
  const by = saidBy(step);
  const kind = kindOf(step);
  if (!kind) return [faultAt(pointer, 'no_kind')];
  if (by.length > 1) return [faultAt(pointer, 'two_kinds', { kinds: by.join(', ') })];
  const { needs, may } = known[kind];
  const isBySlot = kind === 'call' && step.do === 'call';
  const allNeeded = isBySlot ? ([...needs, 'slot', 'method'] as const) : needs;
  const allowed = new Set<Field>([...common, ...by, ...allNeeded, ...may]);
  return [
    ...allNeeded
      .filter((f) => step[f] === undefined)
      .map((f) => faultAt(below(pointer, f), 'missing', { kind: isBySlot ? 'do: call' : kind })),
    ...(Object.keys(step) as Field[])
      .filter((f) => !allowed.has(f))
      .map((f) => faultAt(below(pointer, f), 'stray', { kind })),
    ...(kind === 'delay' && (step.for === undefined) === (step.until === undefined)
      ? [faultAt(pointer, 'for_or_until')]
      : []),
    ...undoFaults(step, pointer),
  ];
}
