// What the expressions of a scenario refer to: which step's result, which parameter, which slot. Pure.
import { IngleError } from '../protocol/errors.ts';
import type { Expression } from './expression.ts';
import { below, faultAt, type ScenarioFault } from './fault.ts';
import type { Prototype, Step } from './schema.ts';
import type { SealedKind } from './sealed.ts';
import { conditionOf, type Template, templateOf } from './template.ts';
import { walk } from './walk.ts';

export interface Reference {
  pointer: string;
  /** The name it begins with: `steps` of `steps.ask.result`, an alias, `params`. */
  root: string;
  /** What follows it where that is plain: `ask`. */
  member?: string;
  /** Whether `default(…)` stands around it, so that nothing breaks where it is missing. */
  isSoft: boolean;
  /** Nothing is made of it: it stands by itself, or within a text. */
  isWhole?: true;
}

/** A place that holds expressions. */
interface Site {
  pointer: string;
  kind: 'template' | 'condition' | 'moment';
  value: unknown;
}

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)?$/;

function inExpression(e: Expression, pointer: string, isSoft = false): Reference[] {
  const of = (x: Expression, soft = isSoft) => inExpression(x, pointer, soft);
  switch (e.kind) {
    case 'literal':
      return [];
    case 'list':
      return e.items.flatMap((i) => of(i));
    case 'name':
      return [{ pointer, root: e.name, isSoft }];
    case 'member':
      if (e.of.kind === 'name' && e.key.kind === 'literal' && typeof e.key.value === 'string')
        return [{ pointer, root: e.of.name, member: e.key.value, isSoft }];
      return [...of(e.of), ...of(e.key)];
    case 'call': {
      const [first, ...rest] = e.args;
      if (e.name === 'hasSlot' && first?.kind === 'literal' && typeof first.value === 'string')
        return [{ pointer, root: 'slots', member: first.value, isSoft: true }];
      if (e.name === 'default') return [...of(first!, true), ...rest.flatMap((a) => of(a))];
      return e.args.flatMap((a) => of(a));
    }
    case 'binary':
      return [...of(e.left), ...of(e.right)];
    default:
      return of(e.of);
  }
}

/** An expression that stands in a template. */
function whole(e: Expression, pointer: string): Reference[] {
  const of = inExpression(e, pointer);
  return e.kind === 'member' && e.of.kind === 'name' ? of.map((r) => ({ ...r, isWhole: true as const })) : of;
}

function inTemplate(t: Template, pointer: string): Reference[] {
  switch (t.kind) {
    case 'value':
      return [];
    case 'expression':
      return whole(t.of, pointer);
    case 'text':
      return t.parts.flatMap((p) => (typeof p === 'string' ? [] : whole(p, pointer)));
    case 'list':
      return t.items.flatMap((i, at) => inTemplate(i, below(pointer, at)));
    case 'object':
      return t.entries.flatMap(([key, v]) => inTemplate(v, below(pointer, key)));
  }
}

/** The references of a place, and what does not parse there. */
function read({ pointer, kind, value }: Site): { references: Reference[]; faults: ScenarioFault[] } {
  try {
    if (kind === 'template')
      return { references: inTemplate(templateOf(value, pointer), pointer), faults: [] };
    if (kind === 'moment' && isoTime.test(value as string)) return { references: [], faults: [] };
    return { references: inExpression(conditionOf(value as string, pointer), pointer), faults: [] };
  } catch (e) {
    if (!(e instanceof IngleError)) throw e;
    const at = e.details?.['pointer'];
    const why = e.message.replace(/\.$/, '');
    return {
      references: [],
      faults: [faultAt(typeof at === 'string' ? at : pointer, 'expression', { why })],
    };
  }
}

const templates = ['text', 'args', 'set', 'timeout', 'for', 'activityId'] as const;
const conditions = ['if', 'when', 'each', 'where'] as const;

function sitesOf(step: Step, pointer: string): Site[] {
  const at = (field: string, kind: Site['kind'], value: unknown): Site[] =>
    value === undefined ? [] : [{ pointer: below(pointer, field), kind, value }];
  return [
    ...templates.flatMap((f) => at(f, 'template', step[f])),
    ...conditions.flatMap((f) => at(f, 'condition', step[f])),
    ...at('until', 'moment', step.until),
    ...(step.compensate?.args
      ? [{ pointer: `${pointer}/compensate/args`, kind: 'template' as const, value: step.compensate.args }]
      : []),
  ];
}

export interface Read {
  references: Reference[];
  faults: ScenarioFault[];
}
const all = (sites: Site[]): Read => {
  const each = sites.map(read);
  return { references: each.flatMap((r) => r.references), faults: each.flatMap((r) => r.faults) };
};

/** The expressions of one step, without those of the steps in it. */
export const readStep = (step: Step, pointer: string): Read => all(sitesOf(step, pointer));

/** The expressions beside the steps, by what they may begin with. */
export function readHead(p: Prototype): (Read & { roots: string[] })[] {
  const triggers = (p.triggers ?? []).flatMap((t, i): Site[] => {
    if (t.type !== 'event') return [];
    const at = (field: 'when' | 'ctx', kind: Site['kind']): Site[] =>
      t[field] === undefined ? [] : [{ pointer: `/triggers/${i}/${field}`, kind, value: t[field] }];
    return [...at('when', 'condition'), ...at('ctx', 'template')];
  });
  const at = (field: 'params' | 'vars' | 'timeout'): Site[] =>
    p[field] === undefined ? [] : [{ pointer: `/${field}`, kind: 'template', value: p[field] }];
  return [
    { ...all(triggers), roots: ['$'] },
    { ...all(at('params')), roots: ['ctx', 'meta'] },
    { ...all([...at('vars'), ...at('timeout')]), roots: ['ctx', 'meta', 'params', 'slots', 'io'] },
  ];
}

/** The secrets and devices that steps give to actions, by name. */
export function sealedIn(steps: readonly Step[]): { secrets: string[]; devices: string[] } {
  const references = walk(steps).flatMap(({ step }) => readStep(step, '').references);
  const of = (kind: SealedKind) => [
    ...new Set(
      references.flatMap(({ root, member }) => (root === kind && member !== undefined ? [member] : [])),
    ),
  ];
  return { secrets: of('secret'), devices: of('device') };
}
