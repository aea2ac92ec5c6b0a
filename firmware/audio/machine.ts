// The audio initialisation machine as one table.
import type { Table } from '../system/machine.ts';

export type AudioState =
  | 'START'
  | 'ENUM_DEVICES'
  | 'RANK_CANDIDATES'
  | 'TEST_PAIR'
  | 'OUTPUT_OK'
  | 'INPUT_OK'
  | 'HINT_RETRY'
  | 'HUMAN_CONFIRM'
  | 'NEXT_PAIR'
  | 'SUCCESS'
  | 'SAVE_PROFILE'
  | 'READY'
  | 'FALLBACK_UI'
  | 'READY_WITH_LIMITS';

export type AudioEvent =
  | 'start'
  | 'listed'
  | 'pair'
  | 'no_pairs'
  /** Correlation, SNR and latency of the output check. */
  | 'heard'
  | 'not_heard'
  /** Level and SNR of the input check. */
  | 'clear'
  | 'unclear'
  /** Nobody is asked: the fast path of a fresh profile, or the quick retest. */
  | 'known'
  | 'ask'
  | 'hinted'
  | 'no_hint_left'
  /** A yes, or no answer: neither fails the flow. */
  | 'answered'
  | 'silent'
  /** The person said no: the next pair is tried. */
  | 'denied'
  | 'confirmed'
  | 'saved'
  | 'offered'
  | 'cancel'
  | 'fault';

/** Every working state can be left for the fallback: a fault or a person ends the probe, never a hang. */
const ends = { cancel: 'FALLBACK_UI', fault: 'FALLBACK_UI' } as const;

export const audioTable: Table<AudioState, AudioEvent> = {
  START: { start: 'ENUM_DEVICES' },
  ENUM_DEVICES: { ...ends, listed: 'RANK_CANDIDATES' },
  RANK_CANDIDATES: { ...ends, pair: 'TEST_PAIR', no_pairs: 'FALLBACK_UI' },
  TEST_PAIR: { ...ends, heard: 'OUTPUT_OK', not_heard: 'NEXT_PAIR' },
  OUTPUT_OK: { ...ends, clear: 'INPUT_OK', unclear: 'HINT_RETRY' },
  HINT_RETRY: { ...ends, hinted: 'TEST_PAIR', no_hint_left: 'NEXT_PAIR' },
  INPUT_OK: { ...ends, ask: 'HUMAN_CONFIRM', known: 'SUCCESS' },
  HUMAN_CONFIRM: { ...ends, answered: 'SUCCESS', silent: 'SUCCESS', denied: 'NEXT_PAIR' },
  NEXT_PAIR: { ...ends, pair: 'TEST_PAIR', no_pairs: 'FALLBACK_UI' },
  SUCCESS: { ...ends, confirmed: 'SAVE_PROFILE' },
  SAVE_PROFILE: { ...ends, saved: 'READY' },
  READY: { start: 'ENUM_DEVICES' },
  FALLBACK_UI: { offered: 'READY_WITH_LIMITS' },
  READY_WITH_LIMITS: { start: 'ENUM_DEVICES' },
};

/** Attempts a pair gets, and its time, milliseconds: 8 to 12 s, as a person waits and listens. */
export const ATTEMPTS = 2;
export const PAIR_BUDGET_MS = 12_000;
