// What a run needs of the world next, and what its journal says of it. Types only.
import type { Value } from './expression.ts';
import type { Retries } from './program.ts';

<<<<<<< HEAD
/** What went wrong in a step or a run: a code of protocol/errors.ts or of an action, and words for a person. */
export interface Failure {
  code: string;
  message: string;
  /** The step it went wrong in. */
  step?: string;
=======
/** `by` reads what `id` gave, and has nothing to put in its place. */
export interface Need {
  id: string;
  by: string;
  /** The steps of which a change may have broken it. */
  ids: readonly string[];
>>>>>>> b25a4fce034f9fc14ff042668706cb225d8c4be3
}

/** A wait as it was written down. Times are Unix milliseconds; `up` is a clock that is never set, of the boot `boot`. */
export interface Asleep {
  since: number;
  due?: number;
  boot: string;
  up: number;
  /** `due` is as good as the clock was: false where the time was not known when the wait began. */
  isTimeKnown: boolean;
}

/** What the journal of a run holds. `seq` numbers what a run needed; `at` is Unix milliseconds. */
export type Entry = { at: number } & (
  | { kind: 'begun'; seq: number }
  | { kind: 'done'; seq: number; result: Value }
  | { kind: 'error'; seq: number; error: Failure; again?: number; isUnknown?: true }
  | ({ kind: 'asleep'; seq: number } & Asleep)
  | { kind: 'holding'; seq: number; from: Asleep | null }
  | { kind: 'woke'; seq: number; by: 'time' | 'event' | 'timeout'; payload?: Value }
  | { kind: 'order'; what: 'pause' | 'resume' | 'stop' | 'timeout'; why?: string }
  | { kind: 'end'; state: 'DONE' | 'FAILED' | 'CANCELED' | 'TIMEOUT'; error?: Failure }
);

/** Locks that are held while a need lasts, and on: needs of the same scope share them. */
export interface Locks {
  scope: string;
  names: readonly string[];
}

interface Common {
  key: string;
  seq: number;
  locks?: Locks;
}

<<<<<<< HEAD
interface Doing extends Common {
  action: string;
  slot?: string;
  args: Record<string, Value>;
  retries: Retries;
  /** Milliseconds. */
  timeout?: number;
  activity?: string;
  /** From 1. */
  attempt: number;
  /** When it may be tried again, Unix milliseconds. */
  again?: number;
  /** A journal says that it began, and not how it ended. */
  begun: boolean;
  /** What it did is undone where its end is not known, so its beginning is written down. */
  isUndoable: boolean;
=======
/** What is left of the steps: whose result a step still needs, and whose place an anchor. */
export function brokenNeeds(p: Prototype, steps: readonly Step[]) {
  const before = orderOf(p.steps);
  const after = orderOf(steps);
  const missing: Need[] = [];
  const late: Need[] = [];
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
>>>>>>> b25a4fce034f9fc14ff042668706cb225d8c4be3
}
export interface ActNeed extends Doing {
  kind: 'act';
}
/** What an action did is undone. */
export interface UndoNeed extends Doing {
  kind: 'undo';
}
export interface DelayNeed extends Common {
  kind: 'delay';
  ms?: number;
  /** Unix milliseconds. */
  until?: number;
  asleep?: Asleep;
}
export interface WaitNeed extends Common {
  kind: 'wait';
  topic: string;
  /** Milliseconds. */
  timeout?: number;
  asleep?: Asleep;
}
export interface HeldNeed extends Common {
  kind: 'held';
  topic: string;
  ms: number;
  timeout?: number;
  away: 'counts' | 'anew';
  asleep?: Asleep;
  /** Since when the condition holds. */
  holding?: Asleep;
}
/** The action at this number is going on or its end is not known, and the run is to stop: end it, and say how it ended. */
export interface SettleNeed extends Common {
  kind: 'settle';
}
export interface EndNeed {
  kind: 'end';
  state: 'DONE' | 'FAILED' | 'CANCELED' | 'TIMEOUT';
  error?: Failure;
}
export type Need = ActNeed | UndoNeed | DelayNeed | WaitNeed | HeldNeed | SettleNeed | EndNeed;
