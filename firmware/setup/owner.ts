// What an owner changes in setup: a hub that no browser is paired with is never finished. Pure.
import type { LadderEvent } from './ladder.ts';
import type { SetupState } from './state.ts';

export interface Known {
  /** Root can be reached. */
  online: boolean;
  /** A browser is paired. */
  owned: boolean;
}

/**
 * How the ladder goes on at the start of the service from what was kept. An owner not known yet (null) is one.
 * @param again the hub itself has not been started since setup came to its end: somebody has only asked
 */
export function atStart({ state, owned }: Pick<SetupState, 'state' | 'owned'>, again: boolean): LadderEvent {
  if (state === 'READY' || state === 'READY_WITH_LIMITS') {
    if (owned === false && !again) return 'resume';
    return state === 'READY' ? 'known' : 'known_limits';
  }
  if (state === 'RETEST') return 'retest';
  return state === 'BOOT' || state === 'AUDIO' ? 'fresh' : 'resume';
}

/** The audio test alone makes ready only a hub that somebody can reach and has paired with. */
export function afterAudio(ok: boolean, { online, owned }: Known): LadderEvent {
  if (!ok) return 'audio_failed';
  if (!online) return 'audio_ok_offline';
  return owned ? 'audio_ok' : 'audio_ok_unowned';
}

/** @param byHand a person has just given the network, or said that it is enough: the next step is theirs */
export function afterRetest(
  ok: boolean,
  { owned, byHand }: { owned: boolean; byHand: boolean },
): LadderEvent {
  if (!owned && !byHand) return 'unowned';
  return ok ? 'audio_ok' : 'audio_failed';
}

/** Nobody came. */
export const afterIdle = ({ online, owned }: Known): LadderEvent =>
  online && owned ? 'idle_online' : 'idle';

/** A network has come by itself; without an owner the ways in stay as they are, and undefined is told the code. */
export const whenOnline = ({ owned }: Pick<Known, 'owned'>): LadderEvent | undefined =>
  owned ? 'online' : undefined;
