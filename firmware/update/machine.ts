// The states of an update, as one table. What is stored is a state of this table, so a power cut goes on where it was.
import type { Table } from '../system/machine.ts';

export type UpdateState =
  /** Nothing newer is known. */
  | 'idle'
  /** The index offers a version. */
  | 'available'
  | 'downloading'
  /** The bundle lies on the hub, its hash is right. */
  | 'downloaded'
  /** RAUC checks signature, device and version. */
  | 'verifying'
  /** RAUC writes the slot that does not run. */
  | 'installing'
  /** The other slot starts next; it waits for a restart. */
  | 'installed'
  /** The restart comes at night. */
  | 'waiting'
  /** Nothing new begins; what runs comes to its end. */
  | 'draining'
  | 'restarting'
  /** The new slot runs and has not proved itself yet. */
  | 'trial';

export type UpdateEvent =
  | 'offered'
  | 'none'
  | 'fetch'
  | 'fetched'
  | 'cancel'
  | 'prepare'
  | 'verified'
  | 'written'
  | 'failed'
  /** The slot that runs starts next again. */
  | 'set_aside'
  | 'restart'
  | 'night'
  /** The other slot was made the next one without writing it. */
  | 'roll_back'
  | 'drained'
  /** The restart did not come. */
  | 'stuck'
  /** After a boot: the new slot runs on trial, it is proved, or the old one runs. */
  | 'on_trial'
  | 'came_up'
  | 'fell_back';

const booted = { on_trial: 'trial', came_up: 'idle', fell_back: 'idle' } as const;

export const updateTable: Table<UpdateState, UpdateEvent> = {
  idle: { offered: 'available', prepare: 'verifying', roll_back: 'draining' },
  available: {
    offered: 'available',
    none: 'idle',
    fetch: 'downloading',
    prepare: 'verifying',
    roll_back: 'draining',
  },
  downloading: { fetched: 'downloaded', failed: 'available', cancel: 'available' },
  downloaded: { offered: 'available', none: 'idle', prepare: 'verifying', roll_back: 'draining' },
  verifying: { verified: 'installing', failed: 'idle' },
  // Written to its end, but cut before that was noted: the new slot runs already.
  installing: { written: 'installed', failed: 'idle', on_trial: 'trial', came_up: 'idle' },
  installed: { restart: 'draining', night: 'waiting', set_aside: 'idle', ...booted },
  waiting: { restart: 'draining', cancel: 'installed', set_aside: 'idle', ...booted },
  draining: { drained: 'restarting', ...booted },
  restarting: { stuck: 'installed', ...booted },
  trial: { came_up: 'idle', fell_back: 'idle', roll_back: 'draining' },
};

/** States in which nothing goes on by itself, so that the service may end. */
export const restful: ReadonlySet<UpdateState> = new Set(['idle', 'available', 'downloaded', 'installed']);
