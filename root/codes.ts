// One-time device codes (spec "Authentication" 1, 2): 6 digits, 10 minutes, one use, one open code a hub.
import { randomInt } from 'node:crypto';
import { IngleError } from '../firmware/protocol/errors.ts';
import { CODE_TRIES_PER_SID, DEVICE_CODE_TTL } from '../firmware/protocol/limits.ts';
import { isTicket, passkeyName } from '../firmware/protocol/ticket.ts';
import { clientKey, tooMany } from './limit.ts';
import { credentialsOf, endSessions, findSession, type Hub, moved, seconds } from './records.ts';
import type { Root } from './root.ts';
import { revoke } from './session.ts';

/** Lifetime of a sid between its code and its passkey, seconds. */
const PREAUTH_TTL = 3600;

/** What a hub says with its wish for a code, in its proof, and where it was said from. */
export interface CodeWish {
  ip: string;
  /** What the hub approves with the code. */
  scope: '' | 'new_passkey';
  /** Of the link that goes with the code (`linkTicket`); '' for none. */
  ticket: string;
  /** Names (`passkeyName`) of the passkeys that the hub knows; undefined when it does not say. */
  passkeys: ReadonlySet<string> | undefined;
}

/** Reads a hub's wish out of the claims of its proof; what makes no sense was not said. */
export function wishOf(claims: Record<string, unknown>, ip: string): CodeWish {
  const { scope, ticket, passkeys } = claims;
  return {
    ip,
    scope: scope === 'new_passkey' ? scope : '',
    ticket: isTicket(ticket) ? ticket : '',
    passkeys: Array.isArray(passkeys) ? new Set(passkeys.filter((p) => typeof p === 'string')) : undefined,
  };
}

const networkOf = (root: Root, ip: string) => root.tokens.mac('network', clientKey(ip));
const ticketOf = (root: Root, ticket: string) => root.tokens.mac('ticket', ticket);

/**
 * Ends what earlier codes of a hub began and the hub did not take in: sids that are not signed in, and passkeys the
 * hub does not know. Whoever took the owner's code has nothing left, and the owner is the first again.
 */
async function forgetUnpaired(root: Root, hub: Hub, known: ReadonlySet<string> | undefined): Promise<void> {
  const sids = await root.store.transaction((db) =>
    endSessions(db, 'hub_id = ? AND browser_key_id IS NULL', hub.hub_id),
  );
  for (const sid of sids) root.relay.drop(sid);
  if (!known) return;
  for (const c of await credentialsOf(root.store, hub.owner_id))
    if (!known.has(await passkeyName(c.cred_id))) await revoke(root, hub.owner_id, c.cred_id);
}

/**
 * Issues a code for a hub; the one before, if still open, is void. `taken_ago`: seconds since the last code was taken
 * by somebody, once; the hub knows whether a browser was paired with it.
 */
export async function issueCode(root: Root, hub: Hub, wish: CodeWish) {
  await forgetUnpaired(root, hub, wish.passkeys);
  const { digits, taken } = await root.store.transaction(async (db) => {
    await db.run('DELETE FROM device_code WHERE hub_id = ? AND bind_sid IS NULL', hub.hub_id);
    await db.run('DELETE FROM device_code WHERE exp <= ?', seconds());
    const taken = await db.get<{ at: number }>(
      'DELETE FROM code_taken WHERE hub_id = ? RETURNING at',
      hub.hub_id,
    );
    for (let i = 0; i < 100; i++) {
      const code = String(randomInt(1_000_000)).padStart(6, '0');
      const { changes } = await db.run(
        'INSERT OR IGNORE INTO device_code VALUES (?, ?, ?, ?, ?, NULL, ?, ?)',
        root.tokens.mac('device_code', code),
        hub.owner_id,
        hub.hub_id,
        wish.scope,
        seconds() + DEVICE_CODE_TTL,
        networkOf(root, wish.ip),
        wish.ticket && ticketOf(root, wish.ticket),
      );
      if (changes === 1) return { digits: code, taken };
    }
    throw new IngleError('unavailable', 'No code is free right now. Try again in a minute.');
  });
  return {
    device_code: `${digits.slice(0, 3)}-${digits.slice(3)}`,
    verify_uri: `${root.config.origin}/`,
    expires_in: DEVICE_CODE_TTL,
    ...(taken ? { taken_ago: seconds() - taken.at } : {}),
  };
}

/** A browser's code, and what comes with it. */
export interface Typed {
  code: string;
  ip: string;
  /** Of the link the code came in; '' for none. */
  ticket: string;
  /** Solution of a puzzle of `surge`; '' for none. */
  pow: string;
}

/**
 * Takes a code for a sid: binds the sid to owner, subnet and hub and sets PREAUTH, in one transaction. A link's ticket
 * cannot be guessed and passes at once; six digits pass `surge` and `guesses`.
 * Wrong, expired and spent codes take the same way: one keyed look-up that finds nothing, one count.
 * @throws IngleError `invalid_device_code`, `rate_limited`, `conflict`
 */
export async function verifyCode(root: Root, sid: string, typed: Typed) {
  const code = root.tokens.mac('device_code', typed.code.replace('-', ''));
  if (typed.ticket !== '') {
    const answer = await take(root, sid, code, { ticket: ticketOf(root, typed.ticket) });
    if (answer) return answer;
  }
  root.surge.check(sid, typed.pow);
  const guess = root.guesses.begin(typed.ip);
  let answer: Awaited<ReturnType<typeof take>>;
  try {
    answer = await take(root, sid, code, guess.near ? { network: networkOf(root, typed.ip) } : {});
  } catch (e) {
    guess.refund();
    throw e;
  }
  if (answer) {
    guess.refund();
    return answer;
  }
  root.surge.failed();
  if (guess.near)
    throw new IngleError(
      'rate_limited',
      'Many wrong codes are being typed. Use the link or the QR code of your hub, or type the code on the network of the hub.',
      { retry_after: DEVICE_CODE_TTL, near: true },
    );
  throw new IngleError(
    'invalid_device_code',
    'This code is not valid. Check the digits, or ask the hub for a new one.',
  );
}

/** Looks the code up, among those with this ticket or of hubs on this network if one is given; counts a wrong one. */
async function take(root: Root, sid: string, code: string, among: { ticket?: string; network?: string }) {
  return root.store.transaction(async (db) => {
    const now = seconds();
    const session = (await findSession(db, sid))!;
    const stage = moved(session, 'verify');
    const tries = session.tries_until > now ? session.tries : 0;
    if (tries >= CODE_TRIES_PER_SID) throw tooMany(session.tries_until - now);
    const { ticket = '', network = '' } = among;
    const found = await db.get<{ owner_id: string; hub_id: string; scope: string }>(
      `UPDATE device_code SET bind_sid = ? WHERE code = ? AND bind_sid IS NULL AND exp > ?
       AND (? = '' OR ticket = ?) AND (? = '' OR network = ?) RETURNING owner_id, hub_id, scope`,
      ...[sid, code, now, ticket, ticket, network, network],
    );
    if (!found) {
      // A wrong ticket is no guess; the digits are looked up next.
      if (ticket === '')
        await db.run(
          'UPDATE session_web SET tries = ?, tries_until = ? WHERE sid = ?',
          tries + 1,
          tries === 0 ? now + DEVICE_CODE_TTL : session.tries_until,
          sid,
        );
      return undefined;
    }
    await db.run('INSERT OR REPLACE INTO code_taken VALUES (?, ?)', found.hub_id, now);
    const hub = (await db.get<Hub>('SELECT * FROM hub WHERE hub_id = ?', found.hub_id))!;
    await db.run('UPDATE hub SET kept = 1 WHERE hub_id = ? AND kept = 0', found.hub_id);
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
    return {
      ok: true,
      ...{ owner_id: hub.owner_id, subnet_id: hub.subnet_id, hub_id: hub.hub_id },
      ...(found.scope === 'new_passkey' ? { new_passkey: true } : {}),
    };
  });
}
