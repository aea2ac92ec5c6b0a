// Pairing: the browser offers, root routes, the hub accepts.
import { fromBase64url } from '../firmware/protocol/bytes.ts';
import { IngleError } from '../firmware/protocol/errors.ts';
import { seconds } from './clock.ts';
import type { Session } from './records/records.ts';
import type { Root } from './root.ts';
import { ownedBy } from './webauthn.ts';

/** @throws IngleError `invalid_request` unless base64url of 32 to 133 bytes (X25519 up to P-521) */
export function checkPublicKey(text: string | undefined, field: string): string | undefined {
  if (text === undefined) return undefined;
  try {
    const { length } = fromBase64url(text);
    if (length >= 32 && length <= 133) return text;
  } catch {}
  throw new IngleError('invalid_request', `"${field}" must be a public key, base64url.`, {
    pointer: `/${field}`,
  });
}

/**
 * The hub that the owner has chosen among theirs. Members have no door of their own: the hub that leads them has.
 * @throws IngleError `forbidden` for a guest, `not_found`
 */
async function chosen(root: Root, session: Session, hubId: string) {
  await ownedBy(root, session);
  const hub = (await root.records.estate.hubs(session.owner_id!, seconds())).find((h) => h.hub_id === hubId);
  if (!hub || hub.via !== null) throw new IngleError('not_found', 'There is no such hub to lead to.');
  return hub;
}

/**
 * Records the route of a sid to its hub, waiting or asked for at once.
 * @param hubId another hub of the owner; undefined: the session's
 * @throws IngleError `unauthenticated`, `forbidden`, `not_found`, `invalid_request`
 */
export async function offer(
  root: Root,
  session: Session,
  e2ePubkey: string | undefined,
  hubId: string | undefined,
) {
  const isOther = hubId !== undefined && hubId !== session.hub_id;
  const { hub_id, subnet_id } = isOther ? await chosen(root, session, hubId) : session;
  const { sid, owner_id } = session;
  if (hub_id === null || owner_id === null || subnet_id === null)
    throw new IngleError('unauthenticated', 'Sign in first.');
  const pub = checkPublicKey(e2ePubkey, 'e2e_pubkey');
  const kept = await root.records.routes.offer({
    sid,
    hub_id,
    pubkey: pub,
    now: seconds(),
    exp: session.exp,
  });
  // Signed out, or revoked, while the request was under way.
  if (!kept) throw new IngleError('unauthenticated', 'Sign in first.');
  const left = isOther ? session.hub_id : null;
  // What it has open straight with the other hub would outlive a sign-out, of which only the session's hub is told.
  if (left !== null) root.ways.tell(left, 'session.over', { sid });
  return { routed_to_hub: await root.ways.route({ ...session, hub_id, subnet_id }, pub, left) };
}

/**
 * Binds the route of `sid`, which must lead to this hub. Durable once it settles.
 * @param sealed of the hub's insecure debug mode: goes to the browser as it is.
 * @throws IngleError `invalid_request`, `not_found`, `hub_offline`
 */
export async function accept(
  root: Root,
  hubId: string,
  sid: string,
  hubPub: string | undefined,
  sealed?: string,
): Promise<void> {
  checkPublicKey(hubPub, 'hub_e2e_pub');
  if (sealed !== undefined && !/^[\w-]{1,256}$/.test(sealed))
    throw new IngleError('invalid_request', '"sealed_secret" must be base64url of at most 256 characters.', {
      pointer: '/sealed_secret',
    });
  await root.ways.bind(hubId, sid, sealed);
}
