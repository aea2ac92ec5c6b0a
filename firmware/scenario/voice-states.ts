// A conversation by voice as one table.
import type { Table } from '../system/machine.ts';

export type VoiceState =
  | 'IDLE'
  /** The microphone is open. */
  | 'LISTENING'
  /** What was said is looked up, and its scenario started. */
  | 'ACTING'
  /** The scenario speaks; whoever speaks stops it. */
  | 'ANSWERING'
  /** The hub says that it did not understand, or cannot; whoever speaks stops it. */
  | 'REFUSING';

export type VoiceEvent =
  | 'wake'
  /** One of the sentences that can be said. */
  | 'heard'
  /** Somebody spoke, and it was none of them. */
  | 'unclear'
  /** Nobody spoke. */
  | 'silent'
  | 'started'
  | 'refused'
  /** All was said that is to be said. */
  | 'told'
  | 'stop'
  | 'fault';

const speaking = {
  wake: 'LISTENING',
  heard: 'ACTING',
  // Whoever talks over the hub wants it to be silent: it does not answer that.
  unclear: 'IDLE',
  told: 'IDLE',
  stop: 'IDLE',
  fault: 'IDLE',
} as const;

export const voiceTable: Table<VoiceState, VoiceEvent> = {
  IDLE: { wake: 'LISTENING' },
  LISTENING: { heard: 'ACTING', unclear: 'REFUSING', silent: 'IDLE', stop: 'IDLE', fault: 'IDLE' },
  ACTING: { started: 'ANSWERING', refused: 'REFUSING', told: 'IDLE', stop: 'IDLE', fault: 'IDLE' },
  ANSWERING: speaking,
  REFUSING: speaking,
};
