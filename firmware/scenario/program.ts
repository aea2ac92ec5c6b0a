// What a scenario is once it is compiled: a tree of nodes, each with its key. Pure data.
import type { Expression } from './expression.ts';
import type { Template } from './template.ts';

export interface Retries {
  /** Tries after the first. */
  max: number;
  /** Milliseconds before the first retry, and the most before any; doubled in between. */
  min: number;
  most: number;
}

interface Common {
  /** The step's id, or its place where it has none ("2.1"); no two nodes have the same. */
  key: string;
  when?: Expression;
  /** Variables that are set once the step is done, or has failed and the run goes on, in order. */
  set: readonly (readonly [name: string, value: Template])[];
  /** The name of its result for later steps. */
  alias?: string;
}

export interface Act extends Common {
  kind: 'act';
  action: string;
  /** The action is a method of whatever skill is bound to this slot. */
  slot?: string;
  args: Template;
  retries: Retries;
  /** In order of their names; held while the action goes on. */
  locks: readonly string[];
  /** Milliseconds. */
  timeout?: Template;
  compensate?: { action: string; slot?: string; args: Template };
  activity?: Template;
  onError: 'fail' | 'go';
}

export interface Group extends Common {
  kind: 'group';
  steps: readonly Node[];
  /** Held from its first step to its last; those of its steps are among them. */
  locks: readonly string[];
}
export interface Each extends Common {
  kind: 'each';
  each: Expression;
  as: string;
  steps: readonly Node[];
  locks: readonly string[];
}
export interface Assign extends Common {
  kind: 'set';
}
/** What waits, and is an activity from when it does. */
interface Waiting extends Common {
  activity?: Template;
}
export interface Delay extends Waiting {
  kind: 'delay';
  for?: Template;
  until?: Template;
}
export interface Wait extends Waiting {
  kind: 'wait';
  topic: string;
  where?: Expression;
  timeout?: Template;
  otherwise: 'go' | 'fail';
}
export interface Held extends Waiting {
  kind: 'held';
  topic: string;
  where: Expression;
  for: Template;
  timeout?: Template;
  otherwise: 'go' | 'fail';
  away: 'counts' | 'anew';
}

export type Node = Act | Group | Each | Assign | Delay | Wait | Held;

export interface Program {
  steps: readonly Node[];
  /** Parameters as they are, and variables at the start; templates over `ctx`. */
  params: Template;
  vars: readonly (readonly [name: string, value: Template])[];
  /** Names of slots a skill is bound to. */
  slots: readonly string[];
  /** The longest a run may take, milliseconds. */
  timeout: number;
  /** What the hub that does it must have (placement.ts). */
  constraints: readonly string[];
}

/** Names that expressions have already; no alias may be one. */
export const reserved = ['params', 'vars', 'steps', 'meta', 'ctx', 'slots', 'item', 'io', '$'] as const;
