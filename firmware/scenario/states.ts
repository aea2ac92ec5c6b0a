// States of runs and instances, and which order each takes. A run is the work of an instance: they share one id.
import { IngleError } from '../protocol/errors.ts';
import type { Table } from '../system/machine.ts';

export type RunState = 'PENDING' | 'RUNNING' | 'DONE' | 'FAILED' | 'CANCELED' | 'TIMEOUT';
export type RunEvent = 'picked' | 'done' | 'failed' | 'canceled' | 'overdue';

export const runTable: Table<RunState, RunEvent> = {
  PENDING: { picked: 'RUNNING', canceled: 'CANCELED', overdue: 'TIMEOUT' },
  RUNNING: { done: 'DONE', failed: 'FAILED', canceled: 'CANCELED', overdue: 'TIMEOUT' },
  DONE: {},
  FAILED: {},
  CANCELED: {},
  TIMEOUT: {},
};

export type InstanceState = 'running' | 'paused' | 'stopping' | 'stopped' | 'failed';
export type InstanceOrder = 'stop' | 'pause' | 'resume' | 'kill';

export const instanceTable: Table<InstanceState, InstanceOrder | 'end' | 'error'> = {
  running: { pause: 'paused', stop: 'stopping', kill: 'stopped', end: 'stopped', error: 'failed' },
  paused: { resume: 'running', stop: 'stopping', kill: 'stopped', error: 'failed' },
  stopping: { kill: 'stopped', end: 'stopped', error: 'failed' },
  stopped: {},
  failed: {},
};

const words: Record<InstanceState, string> = {
  running: 'is running',
  paused: 'is paused',
  stopping: 'is being stopped already',
  stopped: 'has ended',
  failed: 'has failed; replay it from the dead letters',
};

/** @throws IngleError `conflict` where an instance in this state does not take the order */
export function checkOrder(state: InstanceState, order: InstanceOrder): void {
  if (!instanceTable[state][order])
    throw new IngleError('conflict', `The instance ${words[state]}, so it cannot ${order}.`, { state });
}

export const isOver = (state: RunState): boolean => Object.keys(runTable[state]).length === 0;

/** The instance of a run. */
export function instanceOf(o: { state: RunState; paused: boolean; ending: boolean }): InstanceState {
  if (o.state === 'FAILED' || o.state === 'TIMEOUT') return 'failed';
  if (isOver(o.state)) return 'stopped';
  return o.ending ? 'stopping' : o.paused ? 'paused' : 'running';
}
