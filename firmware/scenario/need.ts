// What a run needs of the world next, and what its journal says of it. Types only.
import type { Value } from './expression.ts';
import type { Retries } from './program.ts';

/** What went wrong in a step or a run: a code of protocol/errors.ts or of an action, and words for a person. */
export interface Failure {
  code: string;
  message: string;
  /** The step it went wrong in. */
  step?: string;
}

/** A wait as it was written down. Times are Unix milliseconds; `up` is a clock that is never set, of the boot `boot`. */
export interface Asleep {
  since: number;
  due?: number;
  boot: string;
  up: number;
}

/** What the journal of a run holds. `seq` numbers what a run needed; `at` is Unix milliseconds. */
export type Entry = { at: number } & (
  | { kind: 'begun'; seq: number }
  | { kind: 'done'; seq: number; result: Value }
  | { kind: 'error'; seq: number; error: Failure; again?: number; isUnknown?: true }
  | ({ kind: 'asleep'; seq: number } & Asleep)
  | { kind: 'holding'; seq: number; from: Asleep | null }
  | { kind: 'woke'; seq: number; by: 'time' | 'event' | 'timeout'; payload?: Value }
  /** `wish`: the number the hub that leads gave it, where that hub asked for it. */
  | { kind: 'order'; what: 'pause' | 'resume' | 'stop' | 'timeout'; why?: string; wish?: number }
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
  activity?: string;
}

interface Doing extends Common {
  action: string;
  slot?: string;
  args: Record<string, Value>;
  retries: Retries;
  /** Milliseconds. */
  timeout?: number;
  /** From 1. */
  attempt: number;
  /** When it may be tried again, Unix milliseconds. */
  again?: number;
  /** A journal says that it began, and not how it ended. */
  begun: boolean;
  /** What it did is undone where its end is not known, so its beginning is written down. */
  isUndoable: boolean;
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
