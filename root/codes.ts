// One-time device codes (spec "Authentication" 1, 2): 6 digits, 10 minutes, one use, one open code a hub.
import { randomInt } from 'node:crypto';
import { IngleError } from '../firmware/protocol/errors.ts';
import { CODE_TRIES_PER_SID, DEVICE_CODE_TTL } from '../firmware/protocol/limits.ts';
import { tooMany } from './limit.ts';
import { findSession, type Hub, moved, seconds } from './records.ts';
import type { Root } from './root.ts';

/** Lifetime of a sid between its code and its passkey, seconds. */
const PREAUTH_TTL = 3600;

/** Issues a code for a hub; the one before, if still open, is void. `scope` is what the hub approves with it. */
export async function issueCode(root: Root, hub: Hub, scope: '' | 'new_passkey') {
  const digits = await root.store.transaction(async (db) => {
    await db.run('DELETE FROM device_code WHERE hub_id = ? AND bind_sid IS NULL', hub.hub_id);
    await db.run('DELETE FROM device_code WHERE exp <= ?', seconds());
    for (let i = 0; i < 100; i++) {
      const code = String(randomInt(1_000_000)).padStart(6, '0');
      const { changes } = await db.run(
        'INSERT OR IGNORE INTO device_code VALUES (?, ?, ?, ?, ?, NULL)',
        root.tokens.mac('device_code', code),
        hub.owner_id,
        hub.hub_id,
        scope,
        seconds() + DEVICE_CODE_TTL,
      );
      if (changes === 1) return code;
    }
    throw new IngleError('unavailable', 'No code is free right now. Try again in a minute.');
  });
  return {
    device_code: `${digits.slice(0, 3)}-${digits.slice(3)}`,
    verify_uri: `${root.config.origin}/`,
    expires_in: DEVICE_CODE_TTL,
  };
}

/**
 * Takes a code for a sid: binds the sid to owner, subnet and hub and sets PREAUTH, in one transaction.
 * Wrong, expired and spent codes take the same way: one keyed look-up that finds nothing, one count.
 * @throws IngleError `invalid_device_code`, `rate_limited`, `conflict`
 */
export async function verifyCode(root: Root, sid: string, typed: string) {
  const code = root.tokens.mac('device_code', typed.replace('-', ''));
  const answer = await root.store.transaction(async (db) => {
    const now = seconds();
    const session = (await findSession(db, sid))!;
    const stage = moved(session, 'verify');
    const tries = session.tries_until > now ? session.tries : 0;
    if (tries >= CODE_TRIES_PER_SID) throw tooMany(session.tries_until - now);
    const found = await db.get<{ owner_id: string; hub_id: string; scope: string }>(
      'UPDATE device_code SET bind_sid = ? WHERE code = ? AND bind_sid IS NULL AND exp > ? RETURNING owner_id, hub_id, scope',
      sid,
      code,
      now,
    );
    if (!found) {
      await db.run(
        'UPDATE session_web SET tries = ?, tries_until = ? WHERE sid = ?',
        tries + 1,
        tries === 0 ? now + DEVICE_CODE_TTL : session.tries_until,
        sid,
      );
      return undefined;
    }
    const hub = (await db.get<Hub>('SELECT * FROM hub WHERE hub_id = ?', found.hub_id))!;
    await db.run(
      `UPDATE session_web SET stage = ?, owner_id = ?, subnet_id = ?, hub_id = ?, scope = ?, browser_key_id = NULL,
       tries = 0, last_seen = ?, exp = ? WHERE sid = ?`,
      stage,
      hub.owner_id,
      hub.subnet_id,
      hub.hub_id,
      found.scope,
      now,
      now + PREAUTH_TTL,
      sid,
    );
    return { ok: true, owner_id: hub.owner_id, subnet_id: hub.subnet_id, hub_id: hub.hub_id };
  });
  if (answer) return answer;
  root.surge.failed();
  throw new IngleError(
    'invalid_device_code',
    'This code is not valid. Check the digits, or ask the hub for a new one.',
  );
}
