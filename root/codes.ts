// One-time device codes: 6 digits, 10 minutes, one use, one open code per hub.
import { randomInt } from 'node:crypto';
import { random, toBase64url } from '../firmware/protocol/bytes.ts';
import { IngleError } from '../firmware/protocol/errors.ts';
import { DEVICE_CODE_TTL } from '../firmware/protocol/limits.ts';
import { isTicket, passkeyName } from '../firmware/protocol/pairing/ticket.ts';
import type { Verified } from '../firmware/protocol/sign-in.ts';
import { seconds } from './clock.ts';
import { clientKey, placeOf } from './limit.ts';
import type { Hub, Session } from './records/records.ts';
import { approvesPasskey, byHub, bySession } from './records/rules.ts';
import type { Root } from './root.ts';
import { revoke } from './session.ts';

/** Lifetime of a sid between its code and its passkey, seconds. */
const PREAUTH_TTL = 3600;
/** How long a hub that took a code may take until the hub of the code lets it in, seconds. */
const JOIN_TTL = 900;
/** Codes drawn before root says that none is free; all but a few of a million would have to be open for that. */
const DRAWS = 100;

/** What a hub says with its wish for a code, in its proof, and where it was said from. */
export interface CodeWish {
  ip: string;
  /** What the hub approves with the code. */
  scope: '' | 'new_passkey' | 'guest' | 'member';
  /** Of the link that goes with the code (`linkTicket`); '' for none. */
  ticket: string;
  /** Names (`passkeyName`) of the passkeys that the hub knows; undefined when it does not say. */
  passkeys: ReadonlySet<string> | undefined;
  /** Names of those that are not the owner's. */
  guests: ReadonlySet<string>;
}

/** Reads a hub's wish out of the claims of its proof; what makes no sense was not said. */
export function wishOf(claims: Record<string, unknown>, ip: string): CodeWish {
  const { scope, ticket, passkeys, guest, guests } = claims;
  const named = (list: unknown) =>
    Array.isArray(list) ? new Set(list.filter((p) => typeof p === 'string')) : undefined;
  const approved = scope === 'new_passkey' || scope === 'member' ? scope : '';
  return {
    ip,
    scope: approved === 'new_passkey' && guest === true ? 'guest' : approved,
    ticket: isTicket(ticket) ? ticket : '',
    passkeys: named(passkeys),
    guests: named(guests) ?? new Set(),
  };
}

export const networkOf = (root: Root, ip: string) => root.tokens.mac('network', clientKey(ip));
const ticketOf = (root: Root, ticket: string) => root.tokens.mac('ticket', ticket);

/**
 * Ends what earlier codes of a hub began and the hub did not take in: sids that are not signed in, and passkeys the
 * hub does not know. Whoever took the owner's code has nothing left, and the owner is the first again. Of those it
 * knows it says which are not the owner's: one that came before codes said so is marked now.
 */
async function forgetUnpaired(root: Root, hub: Hub, { passkeys: known, guests }: CodeWish): Promise<void> {
  for (const sid of await root.records.sessions.endUnpaired(hub.hub_id, seconds())) root.ways.drop(sid);
  if (!known) return;
  // In a subnet each hub knows only what came by its own codes.
  const isMember = (await root.records.members.find(hub.hub_id, seconds()))?.admitted === true;
  const mine = (by: string) => by === hub.hub_id || (by === '' && !isMember);
  for (const c of await root.records.passkeys.ofOwner(hub.owner_id)) {
    if (!mine(c.hub_id)) continue;
    const name = await passkeyName(c.cred_id);
    if (!known.has(name)) await revoke(root, hub.owner_id, c.cred_id, byHub(hub.hub_id));
    else if (!c.guest && guests.has(name)) await root.records.passkeys.markGuest(c.cred_id);
  }
}

/**
 * Issues a code for a hub; the one before, if still open, is void. `taken_ago`: seconds since the last code was taken
 * by somebody, once; the hub knows whether a browser was paired with it.
 */
export async function issueCode(root: Root, hub: Hub, wish: CodeWish) {
  if (wish.scope === 'member' && (await root.records.members.find(hub.hub_id, seconds()))?.admitted)
    throw new IngleError('conflict', 'A member invites nobody. Ask the hub of its subnet.');
  await forgetUnpaired(root, hub, wish);
  const now = seconds();
  let digits = '';
  let draws = 0;
  const draw = () => {
    if (draws++ === DRAWS)
      throw new IngleError('unavailable', 'No code is free right now. Try again in a minute.');
    digits = String(randomInt(1_000_000)).padStart(6, '0');
    return root.tokens.mac('device_code', digits);
  };
  const { hub_id, owner_id } = hub;
  const network = networkOf(root, wish.ip);
  const ticket = wish.ticket && ticketOf(root, wish.ticket);
  const code = { hub_id, owner_id, scope: wish.scope, network, ticket, exp: now + DEVICE_CODE_TTL, now };
  const { taken_at } = await root.records.codes.issue(code, draw);
  return {
    device_code: `${digits.slice(0, 3)}-${digits.slice(3)}`,
    verify_uri: `${root.config.origin}/`,
    expires_in: DEVICE_CODE_TTL,
    ...(taken_at === null ? {} : { taken_ago: now - taken_at }),
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
export const verifyCode = (root: Root, sid: string, typed: Typed) =>
  tried(root, sid, 'device_code', typed, (code, among) => take(root, sid, code, among, placeOf(typed.ip)));

/**
 * The same for a hub that wants to be a member: it may now ask the code's hub to let it in, and is nothing more yet.
 * A code for a browser is as good as a wrong one here, and the other way round.
 * @throws IngleError `invalid_device_code`, `rate_limited`, `conflict`
 */
export async function joinSubnet(root: Root, { hub_id }: Hub, typed: Typed) {
  const refund = root.limits.join.take(hub_id);
  const via = await tried(root, hub_id, 'device_code', typed, (code, { ticket = '', network = '' }) => {
    const now = seconds();
    return root.records.codes.join({ hub_id, code, ticket, network, now, exp: now + JOIN_TTL });
  });
  refund();
  return { hub_id: via.hub_id, owner_id: via.owner_id, subnet_id: via.subnet_id };
}

/**
 * The same for an owner to whom a hub is offered (root/estate.ts): it is theirs at root from now. What the hub makes of
 * that a person decides there (ARCHITECTURE D24).
 * @throws IngleError `invalid_device_code`, `rate_limited`
 */
export async function takeHub(root: Root, session: Session, typed: Typed) {
  const refund = root.limits.join.take(session.sid);
  const taken = await tried(root, session.sid, 'device_code', typed, (code, { ticket = '', network = '' }) =>
    root.records.estate.take({
      ...{ code, ticket, network, owner_id: session.owner_id!, home: session.hub_id ?? '' },
      subnet_id: `net_${toBase64url(random(12))}`,
      by: bySession(session),
      now: seconds(),
    }),
  );
  refund();
  for (const sid of taken.ended) root.ways.drop(sid);
  // It comes back, and learns of its place.
  root.ways.rotated(taken.hub_id, true);
  return { hub_id: taken.hub_id };
}

/** Where a code is looked for. */
type Among = { ticket?: string; network?: string };

/** What is said of codes that people type. */
const kinds = {
  device_code: {
    wrong: 'This code is not valid. Check the digits, or ask the hub for a new one.',
    near: 'Many wrong codes are being typed. Use the link or the QR code of your hub, or type the code on the network of the hub.',
  },
  user_code: {
    wrong:
      'No command line asks by this code. Check the digits, or start again there with ingle account login.',
    near: 'Many wrong codes are being typed. Type the code on the network of the command line, or try again later.',
  },
} as const;

/** Looks among codes of a kind for one that was typed, within all limits of typed codes. */
export async function tried<A>(
  root: Root,
  who: string,
  kind: keyof typeof kinds,
  typed: Typed,
  look: (code: string, among: Among) => Promise<A | undefined>,
): Promise<A> {
  const code = root.tokens.mac(kind, typed.code.replace('-', ''));
  if (typed.ticket !== '') {
    const answer = await look(code, { ticket: ticketOf(root, typed.ticket) });
    if (answer) return answer;
  }
  root.surge.check(who, typed.pow);
  const guess = root.guesses.begin(typed.ip);
  let answer: A | undefined;
  try {
    answer = await look(code, guess.near ? { network: networkOf(root, typed.ip) } : {});
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
    throw new IngleError('rate_limited', kinds[kind].near, { retry_after: DEVICE_CODE_TTL, near: true });
  throw new IngleError('invalid_device_code', kinds[kind].wrong);
}

/** Looks the code up, among those with this ticket or of hubs on this network if one is given; counts a wrong one. */
async function take(
  root: Root,
  sid: string,
  code: string,
  among: Among,
  place: string,
): Promise<Verified | undefined> {
  const now = seconds();
  const { ticket = '', network = '' } = among;
  const exp = now + PREAUTH_TTL;
  const taken = await root.records.codes.take({ sid, code, ticket, network, place, now, exp });
  if (!taken) return undefined;
  const { owner_id, subnet_id, hub_id } = taken.hub;
  const again = approvesPasskey(taken.scope) ? ({ new_passkey: true } as const) : {};
  return { ok: true, owner_id, subnet_id, hub_id, ...again };
}
