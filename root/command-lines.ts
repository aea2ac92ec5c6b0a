// Command lines that an owner lets in, as RFC 8628 has it: one asks and shows a code, the owner types it on the page of
// access and allows it by a passkey, and the command line gets a token once. With it it is a session like a browser's,
// which the endpoints that say `account` are open to and nothing else (ARCHITECTURE D177).
import { randomInt } from 'node:crypto';
import type { Became } from '../firmware/protocol/account.ts';
import { random, toBase64url } from '../firmware/protocol/bytes.ts';
import { IngleError } from '../firmware/protocol/errors.ts';
import { COMMAND_LINE_TTL, DEVICE_CODE_TTL } from '../firmware/protocol/limits.ts';
import { commandContext } from '../firmware/protocol/pairing/command.ts';
import { seconds } from './clock.ts';
import { networkOf, type Typed, tried } from './codes.ts';
import { digest } from './digest.ts';
import { placeOf, tooMany } from './limit.ts';
import type { Session } from './records/records.ts';
import { bySession } from './records/rules.ts';
import type { Root } from './root.ts';
import { isLoggedIn } from './session.ts';
import { asserted, assertionOptions, ownedBy, takeSigned } from './webauthn.ts';

/** How often a command line may ask what became of its wish, seconds. */
const INTERVAL = 3;
/** Command lines that may ask at once: a mistyped code meets one of them by 1 in 100 at most. */
const MOST = 10_000;
/** Codes drawn before root says that none is free. */
const DRAWS = 100;
const SEEN_EVERY = 60;

const TOKEN = /^ingle_[\w-]{43}$/;
/** Only the digest of a token is kept, and names its session. */
const sidOf = (token: string) => `command.${digest(token)}`;

export const isCommandToken = (token: string | undefined): token is string => TOKEN.test(token ?? '');

const full = () =>
  new IngleError('unavailable', 'Too many command lines ask to be let in. Try again in a few minutes.');

/** A command line asks to be let in. @throws IngleError `unavailable` */
export async function askIn(root: Root, name: string, ip: string) {
  const now = seconds();
  const device_code = toBase64url(random(32));
  let digits = '';
  let draws = 0;
  const draw = () => {
    if (draws++ === DRAWS) throw full();
    digits = String(randomInt(1_000_000)).padStart(6, '0');
    return root.tokens.mac('user_code', digits);
  };
  const asking = {
    id: digest(device_code),
    name,
    place: placeOf(ip),
    asked: now,
    exp: now + DEVICE_CODE_TTL,
  };
  if (!(await root.records.commandLines.ask({ ...asking, network: networkOf(root, ip), most: MOST }, draw)))
    throw full();
  return {
    device_code,
    user_code: `${digits.slice(0, 3)}-${digits.slice(3)}`,
    verification_uri: `${root.config.origin}/`,
    expires_in: DEVICE_CODE_TTL,
    interval: INTERVAL,
  };
}

/**
 * What became of its wish; the token comes once.
 * @throws IngleError `rate_limited` before its time, `forbidden` when it was denied, `ticket_spent`, `invalid_device_code` when its time is over
 */
export async function pollIn(root: Root, deviceCode: string, ip: string): Promise<Became> {
  const now = seconds();
  const token = `ingle_${toBase64url(random(32))}`;
  const expires_at = now + COMMAND_LINE_TTL;
  const became = await root.records.commandLines.poll({
    ...{
      id: digest(deviceCode),
      sid: sidOf(token),
      interval: INTERVAL,
      place: placeOf(ip),
      now,
      exp: expires_at,
    },
  });
  if (typeof became === 'object') return { state: 'allowed', token, expires_at, owner_id: became.owner_id };
  if (became === 'asking') return { state: 'asking', interval: INTERVAL };
  if (became === 'early') throw tooMany(INTERVAL);
  if (became === 'denied')
    throw new IngleError('forbidden', 'The owner said no. Ask again with ingle account login.');
  if (became === 'spent')
    throw new IngleError(
      'ticket_spent',
      'This sign-in was taken already. Ask again with ingle account login.',
    );
  throw new IngleError(
    'invalid_device_code',
    'Nobody allowed it in time. Ask again with ingle account login.',
  );
}

/**
 * Who asks by a code the owner typed, and the request for the passkey that lets it in. For the owner alone, and for
 * nobody else once they have typed it.
 * @throws IngleError `forbidden` for a guest, `invalid_device_code`, `rate_limited`
 */
export async function findAsking(root: Root, session: Session, typed: Typed) {
  const own = (await ownedBy(root, session)).filter((p) => !p.guest);
  const owner_id = session.owner_id!;
  // Of the account, so that more tabs are no more tries.
  const refund = root.limits.join.take(owner_id);
  const found = await tried(root, owner_id, 'user_code', typed, (code, { ticket, network = '' }) =>
    ticket
      ? Promise.resolve(undefined)
      : root.records.commandLines.find({ code, network, owner_id, now: seconds() }),
  );
  refund();
  const { id, name, place, asked, exp } = found;
  const options = await assertionOptions(root, session.sid, 'command', own);
  return { id, name, place, asked_at: asked, expires_at: exp, ...options };
}

const notAsking = () =>
  new IngleError('not_found', 'It does not ask any more. Start again there with ingle account login.');

/** Lets it in. @throws IngleError `forbidden` for a guest, `assertion_failed`, `not_found` */
export async function allow(root: Root, session: Session, id: string, credential: Record<string, unknown>) {
  await ownedBy(root, session);
  const owner_id = session.owner_id!;
  // It was signed for this command line and no other one.
  const challenge = await takeSigned(root, session.sid, 'command', commandContext(session.sid, id));
  const { cred, counter } = await asserted(root, credential, challenge, owner_id);
  const given = { cred_id: cred.cred_id, sign_count: counter, by: bySession(session), now: seconds() };
  if (!(await root.records.commandLines.allow({ id, owner_id, ...given }))) throw notAsking();
  return { ok: true as const };
}

/** @throws IngleError `forbidden` for a guest, `not_found` */
export async function deny(root: Root, session: Session, id: string) {
  await ownedBy(root, session);
  const given = { id, owner_id: session.owner_id!, by: bySession(session), now: seconds() };
  if (!(await root.records.commandLines.deny(given))) throw notAsking();
  return { ok: true as const };
}

/** The session of a command line's token. @throws IngleError `unauthenticated` */
export async function authenticateCommand(root: Root, token: string): Promise<Session> {
  const now = seconds();
  const s = await root.records.sessions.find(sidOf(token), now);
  if (!s || s.command === '' || !isLoggedIn(s))
    throw new IngleError('unauthenticated', 'This sign-in is over. Sign in again with ingle account login.');
  if (s.last_seen + SEEN_EVERY <= now) await root.records.sessions.seen(s.sid, now);
  return s;
}
