// Pairing: the browser offers, root routes, the hub accepts.
import { fromBase64url } from '../firmware/protocol/bytes.ts';
import { IngleError } from '../firmware/protocol/errors.ts';
import { seconds } from './clock.ts';
import type { Session } from './records/records.ts';
import type { Root } from './root.ts';

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

/** Records the route of a sid to its hub, waiting or asked for at once. */
export async function offer(root: Root, session: Session, e2ePubkey: string | undefined) {
  const { sid, hub_id, owner_id, subnet_id } = session;
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
  return { routed_to_hub: root.relay.route(session, pub) };
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
  await root.relay.bind(hubId, sid, sealed);
}
