// A hub's own membership in a subnet that another hub leads: which places it takes without a person, and from whom.
import { IngleError } from '../protocol/errors.ts';
import { isSigned, partingMessage, type Shown } from './papers.ts';

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

export const same = (a: Whose, b: Whose): boolean => a.owner_id === b.owner_id && a.subnet_id === b.subnet_id;
const aloneOf = (m: Membership): Whose => ({ owner_id: m.alone_owner, subnet_id: m.alone_subnet });

/** Whether the hub is on its way into a subnet, in one, or on its way out. */
export const isMember = (m: Membership | undefined): m is Membership =>
  m !== undefined && m.stage !== 'left' && m.stage !== 'removed';

/** Whether a hub has the place where it is alone: who ends a membership there forgets nobody. */
export const isAtHome = (m: Membership | undefined, at: Whose): boolean =>
  !isMember(m) || same(aloneOf(m), at);

/**
 * The membership once the leading hub has shown its papers in a handshake.
 * @param at the bond and the static key of that handshake, and this hub's key in it
 * @param alone where this hub is alone
 * @returns undefined: as it was
 * @throws IngleError `forbidden` for other papers than before
 */
export function byPapers(
  m: Membership | undefined,
  { hub_id: via, sign_pub: via_sign, owner_id, subnet_id }: Shown,
  at: Pick<Membership, 'bond' | 'via_static' | 'key'>,
  alone: Whose,
): Membership | undefined {
  if (!isMember(m))
    return {
      ...{ stage: 'joining', owner_id, subnet_id, via, via_sign, ...at },
      ...{ alone_owner: alone.owner_id, alone_subnet: alone.subnet_id },
    };
  if (via_sign !== m.via_sign || owner_id !== m.owner_id || subnet_id !== m.subnet_id)
    throw new IngleError('forbidden', 'The hub that leads the subnet shows other papers than before.');
  return m.stage === 'joining' && m.bond !== at.bond ? { ...m, bond: at.bond } : undefined;
}

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
