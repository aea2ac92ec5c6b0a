// Subnets: a hub that leads others, and what it says of them. Who is let in, that hub alone decides, behind the channel.
import { IngleError } from '../firmware/protocol/errors.ts';
import { MOST_MEMBERS } from '../firmware/protocol/limits.ts';
import { memberSid } from '../firmware/protocol/subnet.ts';
import { seconds } from './clock.ts';
import { publicKey32 } from './hubs.ts';
import type { Hub } from './records/records.ts';
import type { Root } from './root.ts';

/** What a hub may say to one it lets go, characters. */
const NOTE = 512;

/** The hub of a subnet lets in one that took its code. @throws IngleError `not_found` */
export async function admit(root: Root, hub: Hub, memberId: string, signPub: string) {
  publicKey32(signPub, 'sign_pub');
  const sids = await root.records.members.admit({
    ...{ hub_id: memberId, sign_pub: signPub, via: hub.hub_id },
    ...{ most: MOST_MEMBERS, now: seconds() },
  });
  if (!sids) throw new IngleError('not_found', 'No such hub waits to be let in, or the subnet is full.');
  for (const sid of sids) root.ways.drop(sid);
  return { ok: true as const };
}

/**
 * A member leaves, or the hub of its subnet lets it go; then it is alone again, as it was.
 * @param memberId null: the hub itself leaves
 * @param note what is said to one that is let go, which root cannot make: it is signed
 * @throws IngleError `not_found`
 */
export async function part(root: Root, hub: Hub, memberId: string | null, note: string) {
  if (note.length > NOTE)
    throw new IngleError('too_large', `"note" has at most ${NOTE} characters.`, { pointer: '/note' });
  const hub_id = memberId ?? hub.hub_id;
  const via = memberId === null ? null : hub.hub_id;
  const sids = await root.records.members.part({ hub_id, via, note, now: seconds() });
  if (!sids) throw new IngleError('not_found', 'No such hub is in this subnet.');
  for (const sid of [...sids, memberSid(hub_id)]) root.ways.drop(sid);
  // It comes back, and learns of its place.
  root.ways.rotated(hub_id, true);
  return { ok: true as const };
}
