// What decides inside a step of the records, the same for every database: pure, on records already read.
import { IngleError } from '../../firmware/protocol/errors.ts';
import { CODE_TRIES_PER_SID, DEVICE_CODE_TTL } from '../../firmware/protocol/limits.ts';
import { next, type StageEvent, stageTable } from '../../firmware/protocol/stage.ts';
import type { Stage } from '../../firmware/protocol/wire.ts';
import { tooMany } from '../limit.ts';
import type { By, Session } from './records.ts';

/** What a session does, and what a hub does, as the trail tells it. */
export const bySession = (s: Pick<Session, 'browser_key_id' | 'place'> & Partial<Session>): By => ({
  ...{
    browser_key_id: s.browser_key_id,
    by_hub: null,
    by_command: s.command ? calledOf(s) : '',
    place: s.place,
  },
});
export const byHub = (hubId: string): By => ({
  ...{ browser_key_id: null, by_hub: hubId, by_command: '', place: '' },
});
/** What a session is called beside its passkey; '' for nothing. */
export const calledOf = (s: Partial<Pick<Session, 'name' | 'command'>>): string => s.name || s.command || '';

/** Lifetime of a sid nobody has used yet, seconds; its signature holds as long. */
export const NEW_TTL = 3600;

/**
 * A hub that never came online is forgotten after a day, one nobody ever paired with a month after it was last there, and
 * one whose owner has no passkey half a year after its certificate ended.
 */
export const UNUSED = { never: 86_400, offline: 30 * 86_400, expired: 180 * 86_400 };

/** A hub that stays online is noted as seen this often, seconds. */
export const SEEN_EVERY = 300;

/** An owner's trail keeps this many entries, and each so long, seconds. */
export const AUDIT = { entries: 1000, age: 365 * 86_400 };

/** @throws IngleError `unauthenticated` for a session that is gone */
export function alive(s: Session | undefined): Session {
  if (!s) throw new IngleError('unauthenticated', 'This session is over. Reload the page.');
  return s;
}

/**
 * The stage after `event`; writing it is the caller's, with what else changes.
 * @throws IngleError `conflict` when the stage does not take the event
 */
export function moved(s: Pick<Session, 'stage'>, event: StageEvent): Stage {
  const stage = next(stageTable, s.stage, event);
  if (stage === null)
    throw new IngleError('conflict', `This cannot be done now (stage ${s.stage}). Reload the page.`, {
      stage: s.stage,
    });
  return stage;
}

/** Whether a code of this scope approves a passkey beside those the owner has. */
export const approvesPasskey = (scope: string): boolean => scope === 'new_passkey' || scope === 'guest';

type Tries = Pick<Session, 'tries' | 'tries_until'>;

/** A session's tries with one more wrong code: the count begins with the first and is over DEVICE_CODE_TTL after it. */
export function oneMoreTry(s: Tries, now: number): Tries {
  return s.tries > 0 && s.tries_until > now
    ? { tries: s.tries + 1, tries_until: s.tries_until }
    : { tries: 1, tries_until: now + DEVICE_CODE_TTL };
}

/** @throws IngleError `rate_limited` after CODE_TRIES_PER_SID wrong codes, until their count is over */
export function mayTry(s: Tries, now: number): void {
  if (s.tries >= CODE_TRIES_PER_SID && s.tries_until > now) throw tooMany(s.tries_until - now);
}

/** Whether an authenticator's counter did not move on, as that of a copy would not; 0 and 0: it does not count. */
export function wentBack(before: number, after: number): boolean {
  return (after > 0 || before > 0) && after <= before;
}
