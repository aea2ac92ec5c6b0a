// From an effective scenario to its program: both dialects of steps, locks, times, expressions. Pure.
import { parseMilliseconds } from '../documents/duration.ts';
import { IngleError } from '../protocol/errors.ts';
import { kindOf } from './kind.ts';
import type { Act, Each, Group, Node, Program, Retries } from './program.ts';
import { reserved } from './program.ts';
import type { Prototype, Step } from './schema.ts';
import { conditionOf, type Template, templateOf } from './template.ts';
import { idOf, listsIn } from './walk.ts';

const MOST_NODES = 500;
const MOST_DEPTH = 8;
const DAY = 86_400_000;
/** A retry where the scenario says nothing of its times, milliseconds. */
const defaultBackoff = { min: 1000, most: 60_000 };

const bad = (says: string, pointer: string) => new IngleError('invalid_request', says, { pointer });

/** `exp:200ms..30s` or `5s`. @throws IngleError `invalid_request` */
export function retriesOf(given: Step['retries'], pointer = ''): Retries {
  const max = given?.max ?? 0;
  if (given?.backoff === undefined) return { max, ...defaultBackoff };
  const m = /^(exp:)?([^.]+)(?:\.\.(.+))?$/.exec(given.backoff);
  const min = parseMilliseconds(m?.[2]);
  const most = m?.[3] === undefined ? (m?.[1] ? defaultBackoff.most : min) : parseMilliseconds(m[3]);
  if (min === undefined || most === undefined || most < min)
    throw bad('A backoff is exp:<min>..<max> with the smaller first, or one duration.', `${pointer}/backoff`);
  return { max, min, most };
}

/** How long the wait before try `n` (from 1) is, milliseconds: doubled each time, with half of it left to chance. */
export function backoffOf(r: Retries, n: number, random: number): number {
  const full = Math.min(r.most, r.min * 2 ** Math.min(30, n - 1));
  return r.min === r.most ? full : Math.round(full / 2 + (full / 2) * random);
}

interface Planning {
  keys: Set<string>;
  slots: Readonly<Record<string, unknown>>;
  count: number;
}

/**
 * Compiles an effective scenario.
 * @param bound the slots that a skill is bound to
 * @throws IngleError `invalid_request` with the pointer of the first thing that is wrong
 */
export function planOf(p: Prototype, bound: readonly string[] = []): Program {
  const planning: Planning = { keys: new Set(), slots: p.slots ?? {}, count: 0 };
  const steps = p.steps.map((s, i) => nodeOf(s, `/steps/${i}`, `${i + 1}`, 0, planning));
  return {
    steps,
    params: templateOf(p.params ?? {}, '/params'),
    vars: entriesOf(p.vars, '/vars'),
    slots: bound.filter((s) => Object.hasOwn(planning.slots, s)),
    // The check refuses what cannot be read; of what an earlier version let pass, runs go on.
    timeout: parseMilliseconds(p.timeout) ?? DAY,
    constraints: p.constraints ?? [],
  };
}

const entriesOf = (given: Record<string, unknown> | undefined, pointer: string): [string, Template][] =>
  Object.entries(given ?? {}).map(([name, value]) => [name, templateOf(value, `${pointer}/${name}`)]);

function nodeOf(s: Step, pointer: string, place: string, depth: number, p: Planning): Node {
  if (depth > MOST_DEPTH) throw bad(`Steps may nest ${MOST_DEPTH} deep.`, pointer);
  if (++p.count > MOST_NODES) throw bad(`A scenario may have at most ${MOST_NODES} steps.`, pointer);
  const kind = kindOf(s);
  if (!kind)
    throw bad(
      'A step does one thing: say, ask, call, for, set, delay, wait_for, held_for, or a list of steps.',
      pointer,
    );
  const key = idOf(s) ?? place;
  if (p.keys.has(key)) throw bad(`There are two steps "${key}". Each has a name of its own.`, pointer);
  p.keys.add(key);
  if (s.alias !== undefined && (reserved as readonly string[]).includes(s.alias))
    throw bad(`"${s.alias}" means something else already. Choose another alias.`, `${pointer}/alias`);
  const when = s.if ?? s.when;
  const common = {
    key,
    set: entriesOf(s.set, `${pointer}/set`),
    ...(when === undefined
      ? {}
      : { when: conditionOf(when, `${pointer}/${s.if === undefined ? 'when' : 'if'}`) }),
    ...(s.alias === undefined ? {} : { alias: s.alias }),
  };
  const locks = [...(s.locks ?? [])].sort();
  if (kind === 'steps' || kind === 'for')
    return nested(s, kind, { ...common, locks }, pointer, place, depth, p);
  if (kind === 'set') return { kind: 'set', ...common };
  if (kind === 'include') throw bad('An include is put in place before a scenario is compiled.', pointer);
  if (kind === 'delay' || kind === 'wait_for' || kind === 'held_for')
    return { ...common, ...activityOf(s, pointer), ...waitOf(s, kind, pointer) };
  return { ...common, ...actOf(s, kind, pointer, locks, p) };
}

function nested(
  s: Step,
  kind: 'steps' | 'for',
  common: Pick<Group, 'key' | 'set' | 'when' | 'alias' | 'locks'>,
  pointer: string,
  place: string,
  depth: number,
  p: Planning,
): Group | Each {
  const [inner] = listsIn(s);
  if (!inner) throw bad('A for has "steps", which are done for each.', pointer);
  const steps = inner[1].map((x, i) =>
    nodeOf(x, `${pointer}/${inner[0]}/${i}`, `${place}.${i + 1}`, depth + 1, p),
  );
  const held = hoist(common.locks, steps);
  if (kind === 'steps') return { kind: 'group', ...common, ...held };
  if (s.each === undefined) throw bad('A for has "each", the list it goes through.', `${pointer}/each`);
  const as = s.as ?? 'item';
  if (as !== 'item' && (reserved as readonly string[]).includes(as))
    throw bad(`"${as}" means something else already.`, `${pointer}/as`);
  return { kind: 'each', ...common, ...held, each: conditionOf(s.each, `${pointer}/each`), as };
}

/**
 * Who holds locks takes no further ones, so nobody can wait in a circle: locks of the steps within a step that has locks
 * are taken with its own.
 */
function hoist(own: readonly string[], steps: readonly Node[]): { locks: string[]; steps: Node[] } {
  if (own.length === 0) return { locks: [], steps: [...steps] };
  const all = new Set(own);
  const bare = (n: Node): Node => {
    if (n.kind === 'act') {
      for (const l of n.locks) all.add(l);
      return { ...n, locks: [] };
    }
    if (n.kind !== 'group' && n.kind !== 'each') return n;
    for (const l of n.locks) all.add(l);
    return { ...n, locks: [], steps: n.steps.map(bare) };
  };
  const inner = steps.map(bare);
  return { locks: [...all].sort(), steps: inner };
}

const timeOf = (text: string | undefined, pointer: string): Template | undefined =>
  text === undefined ? undefined : templateOf(text, pointer);
const activityOf = (s: Step, pointer: string): { activity?: Template } =>
  given({ activity: timeOf(s.activityId, `${pointer}/activityId`) });
const given = <T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, v]) => v !== undefined)) as never;

type Bare<N> = N extends Node ? Omit<N, 'key' | 'set' | 'when' | 'alias'> : never;

function waitOf(
  s: Step,
  kind: 'delay' | 'wait_for' | 'held_for',
  pointer: string,
): Bare<Exclude<Node, Act | Group | Each>> {
  const length = timeOf(s.for, `${pointer}/for`);
  if (kind === 'delay') {
    if ((s.for === undefined) === (s.until === undefined))
      throw bad('A delay has "for" or "until".', pointer);
    return { kind: 'delay', ...given({ for: length, until: timeOf(s.until, `${pointer}/until`) }) };
  }
  if (s.topic === undefined) throw bad('It waits for a "topic" of the bus.', `${pointer}/topic`);
  const common = {
    topic: s.topic,
    otherwise: s.otherwise ?? 'go',
    ...given({ timeout: timeOf(s.timeout, `${pointer}/timeout`) }),
  } as const;
  const where = s.where === undefined ? undefined : conditionOf(s.where, `${pointer}/where`);
  if (kind === 'wait_for') return { kind: 'wait', ...common, ...given({ where }) };
  if (!where || !length) throw bad('held_for has "where", what must hold, and "for", how long.', pointer);
  return { kind: 'held', ...common, where, for: length, away: s.away ?? 'counts' };
}

/** Actions behind the short forms. */
export const said = { say: 'io.say', ask: 'io.ask' } as const;

function actOf(
  s: Step,
  kind: 'say' | 'ask' | 'call',
  pointer: string,
  locks: string[],
  p: Planning,
): Bare<Act> {
  if (s.slot !== undefined && !Object.hasOwn(p.slots, s.slot))
    throw bad(`There is no slot "${s.slot}".`, `${pointer}/slot`);
  if (kind !== 'call' && s.text === undefined) throw bad(`"${kind}" has a "text".`, `${pointer}/text`);
  const action = kind === 'call' ? (s.call ?? s.method) : said[kind];
  if (action === undefined) throw bad('A call has "call", or "slot" and "method".', pointer);
  if (s.call === undefined && kind === 'call' && s.slot === undefined)
    throw bad('A method is one of a "slot".', `${pointer}/slot`);
  const args = kind === 'call' ? (s.args ?? {}) : { ...s.args, text: s.text };
  const c = s.compensate;
  return {
    kind: 'act',
    action,
    ...(kind === 'call' && s.call === undefined && s.slot !== undefined ? { slot: s.slot } : {}),
    args: templateOf(args, kind === 'call' ? `${pointer}/args` : pointer),
    retries: retriesOf(s.retries, `${pointer}/retries`),
    locks,
    onError: s.onError ?? 'fail',
    ...activityOf(s, pointer),
    ...given({
      timeout: timeOf(s.timeout, `${pointer}/timeout`),
      compensate: c && {
        action: c.call ?? c.method ?? '',
        ...(c.call === undefined && c.slot !== undefined ? { slot: c.slot } : {}),
        args: templateOf(c.args ?? {}, `${pointer}/compensate/args`),
      },
    }),
  };
}
