// Whether a skill from a package may run: in a sandbox, or where its owner has turned developer mode on.
//
// On a hub systemd makes the sandbox; under `npm start` bubblewrap does, which may be missing. A file beside the table
// says to the hosts of slots that developer mode is on.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type ErrorCode, IngleError } from '../protocol/errors.ts';
import { writeWhole } from '../system/atomic.ts';
import type { Config } from '../system/config.ts';
import { installedTexts } from '../text/installed.ts';
import type { Slot } from './slots.ts';

type Here = Pick<Config, 'data' | 'unconfined'>;

const markOf = (c: Pick<Config, 'data'>) => join(c.data, 'skills', 'developer');

/** Why a skill from a package does not run here, with the next step. */
export function unconfined(code: ErrorCode, reason: Exclude<Config['unconfined'], ''>): IngleError {
  return new IngleError(code, installedTexts.en[`sandbox_${reason}`] as string, {
    reason: 'no_sandbox',
    sandbox: reason,
  });
}

/**
 * Refuses a slot's skill that must not run here. Asked by the slot's host before anything of the skill is loaded.
 * @throws IngleError `unavailable`
 */
export function checkConfined(c: Here, { skill_id, bundle }: Pick<Slot, 'skill_id' | 'bundle'>): void {
  if (!c.unconfined || bundle === undefined) return;
  // What `ingle skill dev` makes is its author's own; no package's folder is called so.
  if (bundle === `${skill_id}-dev` || existsSync(markOf(c))) return;
  throw unconfined('unavailable', c.unconfined);
}

/** Tells the hosts of slots whether developer mode is on. @returns whether that is news */
export async function markDeveloper(c: Here, on: boolean): Promise<boolean> {
  const before = existsSync(markOf(c));
  if (on && c.unconfined) await writeWhole(markOf(c), '', 0o644);
  else rmSync(markOf(c), { force: true });
  return before !== existsSync(markOf(c));
}
