// A hub's own membership in a subnet that another hub leads: which places it takes without a person, and from whom.
import { isSigned, partingMessage } from './papers.ts';

/**
 * `joining`: the leading hub has shown who it is. `in`: a member. `leaving`: wants to be alone again. `left`, `removed`:
 * alone again, by itself or let go; kept to be told.
 */
export type MembershipStage = 'joining' | 'in' | 'leaving' | 'left' | 'removed';

/** A place at root, less the address of the application. */
export interface Whose {
  owner_id: string;
  subnet_id: string;
}

export interface Membership extends Whose {
  stage: MembershipStage;
  /** The hub that leads; its keys, base64url. */
  via: string;
  via_static: string;
  via_sign: string;
  /** Base64url: the handshake in which it was asked; only the two hubs know it. */
  bond: string;
  /** Base64url: the key of the channel to it, used for nothing else. */
  key: string;
  /** Where this hub was alone. */
  alone_owner: string;
  alone_subnet: string;
}

const same = (a: Whose, b: Whose): boolean => a.owner_id === b.owner_id && a.subnet_id === b.subnet_id;
const aloneOf = (m: Membership): Whose => ({ owner_id: m.alone_owner, subnet_id: m.alone_subnet });

/** Whether the hub is on its way into a subnet, in one, or on its way out. */
export const isMember = (m: Membership | undefined): m is Membership =>
  m !== undefined && m.stage !== 'left' && m.stage !== 'removed';

/**
 * The membership once root offers this hub the place `offered`, if that is what the hub asked for, or what the hub that
 * leads has signed; undefined: a person decides.
 * @param note what root says the leading hub has signed; root can keep it back, and not make one
 */
export function verdict(
  m: Membership | undefined,
  hubId: string,
  offered: Whose,
  note: string,
): Membership | undefined {
  if (!isMember(m)) return undefined;
  if (m.stage === 'joining') return same(m, offered) ? { ...m, stage: 'in' } : undefined;
  if (!same(aloneOf(m), offered)) return undefined;
  if (m.stage === 'leaving') return { ...m, stage: 'left' };
  return isSigned(m.via_sign, partingMessage(hubId, m.bond), note) ? { ...m, stage: 'removed' } : undefined;
}
