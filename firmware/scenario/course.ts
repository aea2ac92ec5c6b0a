// The course of one run: from its program and the entries of its journal follows what it needs next, always the same. Pure,
// so a run after a crash is where its journal says, and nowhere else.
import { parseMilliseconds } from '../documents/duration.ts';
import { toIngleError } from '../protocol/errors.ts';
import { type Bag, openBag, scopeOf } from './bag.ts';
import { evaluate, holds, type Scope, type Value } from './expression.ts';
import type {
  ActNeed,
  DelayNeed,
  EndNeed,
  Entry,
  Failure,
  HeldNeed,
  Locks,
  Need,
  UndoNeed,
  WaitNeed,
} from './need.ts';
import type { Act, Delay, Each, Group, Held, Node, Program, Retries, Wait } from './program.ts';
import { fill, type Template } from './template.ts';

export interface Course {
  /** What comes next; the same until an entry answers it. */
  need(): Need;
  /** Goes on by an entry. One that answers nothing that is asked changes nothing. */
  take(entry: Entry): void;
  /** Whether an event of the topic counts for the wait that goes on. */
  counts(payload: Value): boolean;
  readonly paused: boolean;
  /** Being stopped, or undoing what it did before it fails. */
  readonly ending: boolean;
  /** How many entries it took. */
  readonly entries: number;
  vars(): Readonly<Record<string, Value>>;
  /** Steps that were passed over since last asked. */
  skipped(): string[];
  /** What could not be undone. */
  unrepaired(): readonly Failure[];
  /** What its steps have begun and is not undone, for stop by activity. */
  activities(): ReadonlySet<string>;
}

/** Bounds of a run: entries, steps in a row without one, rounds of one loop. */
export const COURSE = { entries: 10_000, idle: 20_000, rounds: 1000 };
const undoRetries: Retries = { max: 3, min: 1000, most: 30_000 };
const YEAR = 366 * 86_400_000;

/** What a run starts from. */
export interface Origin {
  run_id: string;
  scenario_id: string;
  ctx: { [key: string]: Value };
  /** Unix milliseconds. */
  started_at: number;
}

interface Frame {
  nodes: readonly Node[];
  index: number;
  of?: Group | Each;
  loop?: { items: Value[]; round: number; as: string };
  locks?: Locks;
}
interface Undo {
  key: string;
  action: string;
  slot?: string;
  args: Record<string, Value>;
}

interface Run {
  readonly program: Program;
  readonly origin: Origin;
  readonly bag: Bag;
  readonly frames: Frame[];
  /** The newest last. */
  readonly undos: Undo[];
  readonly unrepaired: Failure[];
  readonly activities: Set<string>;
  params: Value;
  current: Need | undefined;
  /** The step at hand. */
  node: Node | undefined;
  seq: number;
  entries: number;
  paused: boolean;
  /** When the last entry was written. */
  at: number;
  ending: { state: 'FAILED' | 'CANCELED' | 'TIMEOUT'; error: Failure } | undefined;
  skipped: string[];
}

/** Thrown to fail the run. */
class Fails extends Error {
  readonly failure: Failure;
  constructor(code: string, message: string, step?: string) {
    super(message);
    this.failure = { code, message, ...(step === undefined ? {} : { step }) };
  }
}

function scopeHere(r: Run, more?: Record<string, unknown>): Scope {
  const { run_id, scenario_id, ctx, started_at } = r.origin;
  const time = (ms: number) => new Date(ms).toISOString();
  return scopeOf(
    r.bag,
    {
      params: r.params,
      ctx,
      slots: Object.fromEntries(r.program.slots.map((s) => [s, true])),
      meta: { run_id, scenario_id, started_at: time(started_at), at: time(r.at) },
      items: r.frames.flatMap(({ loop: l }) => (l ? [[l.as, l.items[l.round]!] as const] : [])),
    },
    more,
  );
}
const filled = (r: Run, t: Template): Value => fill(t, scopeHere(r));

/** Milliseconds of a duration ("5m", or a number of seconds). */
function timeOf(r: Run, t: Template | undefined): number | undefined {
  if (!t) return undefined;
  const value = filled(r, t);
  const ms = typeof value === 'number' ? value * 1000 : parseMilliseconds(value);
  if (ms === undefined || !(ms > 0 && ms < YEAR))
    throw new Fails('invalid_request', `${JSON.stringify(value)} is no duration, as 30s or 5m.`, r.node?.key);
  return ms;
}

/** The step at hand is over: its result, its variables. */
function close(r: Run, n: Node, status: 'done' | 'failed', result: Value): void {
  r.bag.put('steps', n.key, { status, result });
  if (n.alias !== undefined) r.bag.put('aliases', n.alias, result);
  for (const [name, t] of n.set) r.bag.put('vars', name, filled(r, t));
  r.frames.at(-1)!.index++;
}

function enter(r: Run, n: Group | Each): void {
  const frame: Frame = {
    nodes: n.steps,
    index: 0,
    of: n,
    ...(n.locks.length > 0 ? { locks: { scope: n.key, names: n.locks } } : {}),
  };
  if (n.kind === 'each') {
    const items = evaluate(n.each, scopeHere(r)) ?? [];
    if (!Array.isArray(items)) throw new Fails('invalid_request', 'A for goes through a list.', n.key);
    if (items.length > COURSE.rounds)
      throw new Fails('too_large', `A for goes through at most ${COURSE.rounds} items.`, n.key);
    if (items.length === 0) {
      close(r, n, 'done', null);
      return;
    }
    r.bag.put('loops', n.key, items);
    frame.loop = { items, round: 0, as: n.as };
  }
  r.frames.push(frame);
}

/** The steps of the innermost frame are done: another round, or on. */
function leave(r: Run, frame: Frame): void {
  if (frame.loop && ++frame.loop.round < frame.loop.items.length) {
    frame.index = 0;
    return;
  }
  r.frames.pop();
  r.bag.drop('loops', frame.of!.key);
  close(r, frame.of!, 'done', null);
}

function needOf(r: Run, n: Act | Delay | Wait | Held): Need {
  const locks: Locks | undefined =
    n.kind === 'act' && n.locks.length > 0
      ? { scope: n.key, names: n.locks }
      : r.frames.findLast((f) => f.locks)?.locks;
  const activity = n.activity ? filled(r, n.activity) : null;
  const common = {
    ...{ key: n.key, seq: ++r.seq },
    ...(locks ? { locks } : {}),
    ...(typeof activity === 'string' && activity ? { activity } : {}),
  };
  if (n.kind === 'act') return actNeed(r, n, common);
  if (n.kind === 'delay') {
    if (n.for) return { kind: 'delay', ...common, ms: timeOf(r, n.for)! };
    const until = filled(r, n.until!);
    const isZoned = typeof until === 'string' && /(?:Z|[+-]\d\d:?\d\d)$/.test(until);
    const time = isZoned ? Date.parse(until) : Number.NaN;
    if (Number.isNaN(time))
      throw new Fails(
        'invalid_request',
        `${JSON.stringify(until)} is no ISO 8601 time with its zone.`,
        n.key,
      );
    return { kind: 'delay', ...common, until: time };
  }
  const timeout = timeOf(r, n.timeout);
  const more = { ...common, topic: n.topic, ...(timeout === undefined ? {} : { timeout }) };
  return n.kind === 'wait'
    ? { kind: 'wait', ...more }
    : { kind: 'held', ...more, ms: timeOf(r, n.for)!, away: n.away };
}

function actNeed(r: Run, n: Act, common: Pick<ActNeed, 'key' | 'seq' | 'locks' | 'activity'>): ActNeed {
  const timeout = timeOf(r, n.timeout);
  return {
    kind: 'act',
    ...common,
    action: n.action,
    args: filled(r, n.args) as Record<string, Value>,
    retries: n.retries,
    attempt: 1,
    begun: false,
    isUndoable: n.compensate !== undefined,
    ...(n.slot === undefined ? {} : { slot: n.slot }),
    ...(timeout === undefined ? {} : { timeout }),
  };
}

/** Goes on to what needs something of the world. */
function advance(r: Run): Need {
  for (let i = 0; ; i++) {
    if (r.ending) return undoOf(r, r.ending);
    try {
      if (i > COURSE.idle) throw new Fails('too_large', 'The scenario goes on without doing anything.');
      const frame = r.frames.at(-1)!;
      if (frame.index >= frame.nodes.length) {
        if (r.frames.length === 1) return { kind: 'end', state: 'DONE' };
        leave(r, frame);
        continue;
      }
      const node = frame.nodes[frame.index]!;
      r.node = node;
      if (node.when && !holds(evaluate(node.when, scopeHere(r)))) {
        r.skipped.push(node.key);
        frame.index++;
      } else if (node.kind === 'set') close(r, node, 'done', null);
      else if (node.kind === 'group' || node.kind === 'each') enter(r, node);
      else return needOf(r, node);
    } catch (e) {
      fail(r, e);
    }
  }
}

function fail(r: Run, e: unknown): void {
  const { code, message } = e instanceof Fails ? e.failure : toIngleError(e);
  const step = e instanceof Fails ? e.failure.step : r.node?.key;
  r.ending ??= { state: 'FAILED', error: { code, message, ...(step === undefined ? {} : { step }) } };
  r.current = undefined;
}

/** What is undone next, or the end. */
function undoOf(r: Run, { state, error }: NonNullable<Run['ending']>): UndoNeed | EndNeed {
  const last = r.undos.at(-1);
  if (!last) return { kind: 'end', state, error };
  const common = { retries: undoRetries, attempt: 1, begun: false, isUndoable: false };
  return { kind: 'undo', ...last, ...common, seq: ++r.seq };
}

/** Remembers what undoes an action, as far as it can be said now. */
function remember(r: Run, n: Act, result: Value): void {
  if (!n.compensate) return;
  const { action, slot, args } = n.compensate;
  const own = fill(args, scopeHere(r, { result, ...(n.alias === undefined ? {} : { [n.alias]: result }) }));
  r.undos.push({ key: n.key, action, args: own as Undo['args'], ...(slot === undefined ? {} : { slot }) });
}

type Acted = Extract<Entry, { kind: 'done' | 'error' }>;

/** The same need once more. What answered with an error is asked anew; what did not answer is asked the same again. */
const again = <N extends ActNeed | UndoNeed>(r: Run, need: N, e: Extract<Acted, { kind: 'error' }>): N => ({
  ...need,
  seq: e.isUnknown && !need.begun ? need.seq : ++r.seq,
  attempt: need.attempt + 1,
  begun: false,
  ...(e.again === undefined ? {} : { again: e.again }),
});

function acted(r: Run, n: Act, need: ActNeed, e: Acted): void {
  r.current = undefined;
  if (e.kind === 'done') {
    if (need.activity !== undefined) r.activities.add(need.activity);
    remember(r, n, e.result);
    if (!r.ending) close(r, n, 'done', e.result);
    return;
  }
  if (need.begun && e.isUnknown) remember(r, n, null);
  if (r.ending) return;
  if (e.again !== undefined) r.current = again(r, need, e);
  else if (n.onError === 'fail') throw new Fails(e.error.code, e.error.message, n.key);
  else close(r, n, 'failed', { error: e.error.code, message: e.error.message });
}

function undid(r: Run, need: UndoNeed, e: Acted): void {
  r.current = undefined;
  if (e.kind === 'error' && e.again !== undefined) {
    r.current = again(r, need, e);
    return;
  }
  if (e.kind === 'error') r.unrepaired.push({ ...e.error, step: need.key });
  r.undos.pop();
}

function woke(r: Run, need: DelayNeed | WaitNeed | HeldNeed, e: Extract<Entry, { kind: 'woke' }>): void {
  const n = r.node as Delay | Wait | Held;
  r.current = undefined;
  if (e.by === 'timeout' && n.kind !== 'delay' && n.otherwise === 'fail')
    throw new Fails('timeout', 'What it waited for did not come in time.', need.key);
  close(r, n, 'done', need.kind === 'delay' ? null : { by: e.by, payload: e.payload ?? null });
}

/** What an entry says to the need it answers. */
function answer(r: Run, need: Need, e: Entry): void {
  if (need.kind === 'end' || need.kind === 'settle' || !('seq' in e) || e.seq !== need.seq) return;
  if (need.kind === 'act' || need.kind === 'undo') {
    if (e.kind === 'begun') r.current = { ...need, begun: true } as Need;
    else if (e.kind === 'done' || e.kind === 'error')
      if (need.kind === 'act') acted(r, r.node as Act, need, e);
      else undid(r, need, e);
  } else if (e.kind === 'asleep') {
    r.current = { ...need, asleep: e };
    if (need.activity !== undefined) r.activities.add(need.activity);
  } else if (e.kind === 'holding' && need.kind === 'held') {
    const { holding: _, ...rest } = need;
    r.current = e.from ? { ...rest, holding: e.from } : rest;
  } else if (e.kind === 'woke') woke(r, need, e);
}

function order(r: Run, e: Extract<Entry, { kind: 'order' }>): void {
  if (e.what === 'pause') r.paused = true;
  else if (e.what === 'resume') r.paused = false;
  else if (!r.ending) {
    const need = r.current ?? advance(r);
    const message = e.why ?? 'It was stopped.';
    r.ending =
      e.what === 'stop'
        ? { state: 'CANCELED', error: { code: 'canceled', message } }
        : { state: 'TIMEOUT', error: { code: 'timeout', message } };
    r.paused = false;
    // An action that goes on, or may have gone on, says how it ended first.
    r.current = need.kind === 'act' && need.again === undefined ? need : undefined;
  }
}

function take(r: Run, e: Entry): void {
  r.at = e.at;
  if (e.kind === 'end') {
    r.current = { kind: 'end', state: e.state, ...(e.error ? { error: e.error } : {}) };
    return;
  }
  if (++r.entries > COURSE.entries && !r.ending)
    fail(r, new Fails('too_large', `A run may take at most ${COURSE.entries} steps.`));
  if (e.kind === 'order') {
    order(r, e);
    return;
  }
  r.current ??= advance(r);
  try {
    answer(r, r.current, e);
  } catch (x) {
    fail(r, x);
  }
}

function need(r: Run): Need {
  r.current ??= advance(r);
  if (!r.ending || r.current.kind !== 'act') return r.current;
  const { key, seq, locks } = r.current;
  return { kind: 'settle', key, seq, ...(locks ? { locks } : {}) };
}

function counts(r: Run, payload: Value): boolean {
  const n = r.node;
  const isWaiting = r.current?.kind === 'wait' || r.current?.kind === 'held';
  if (!isWaiting || (n?.kind !== 'wait' && n?.kind !== 'held')) return false;
  try {
    return n.where === undefined || holds(evaluate(n.where, scopeHere(r, { $: { payload } })));
  } catch {
    return false;
  }
}

export function openCourse(program: Program, origin: Origin): Course {
  const r: Run = {
    ...{
      program,
      origin,
      bag: openBag(),
      frames: [{ nodes: program.steps, index: 0 }],
      undos: [],
      unrepaired: [],
      activities: new Set(),
    },
    ...{
      params: {},
      current: undefined,
      node: undefined,
      seq: 0,
      entries: 0,
      paused: false,
      ending: undefined,
    },
    at: origin.started_at,
    skipped: [],
  };
  try {
    r.params = filled(r, program.params);
    for (const [name, t] of program.vars) r.bag.put('vars', name, filled(r, t));
  } catch (e) {
    fail(r, e);
  }
  return {
    need: () => need(r),
    take: (e) => take(r, e),
    counts: (payload) => counts(r, payload),
    get paused() {
      return r.paused;
    },
    get ending() {
      return r.ending !== undefined;
    },
    get entries() {
      return r.entries;
    },
    vars: () => r.bag.vars,
    skipped: () => r.skipped.splice(0),
    unrepaired: () => r.unrepaired,
    activities: () => r.activities,
  };
}
