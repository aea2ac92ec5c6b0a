// Whom a pairing code lets in: a browser of the hub's owner, or of a person the owner has invited, or another hub. Pure.
import { IngleError } from '../protocol/errors.ts';

export type Grant = { kind: 'owner' } | { kind: 'person'; person_id: string } | { kind: 'member' };

export const ownerGrant: Grant = { kind: 'owner' };
/** A hub, as a member of the subnet: no browser comes in by it. */
export const memberGrant: Grant = { kind: 'member' };

/** Whose a pinned browser or passkey is. */
export const grantOf = (pin: { person?: string | undefined }): Grant =>
  pin.person === undefined ? ownerGrant : { kind: 'person', person_id: pin.person };

/** The member of a pin that says whose it is. */
export function personOf(grant: Grant): { person?: string } {
  switch (grant.kind) {
    case 'owner':
      return {};
    case 'person':
      return { person: grant.person_id };
    case 'member':
      throw new IngleError('pairing_failed', 'This code is for a hub, not for a browser.');
  }
}

/** As it is stored and compared: one text for each grant. */
export const writeGrant = (grant: Grant): string =>
  JSON.stringify(Object.fromEntries(Object.entries(grant).sort(([a], [b]) => (a < b ? -1 : 1))));

export const sameGrant = (a: Grant, b: Grant): boolean => writeGrant(a) === writeGrant(b);

/** What was stored; undefined for what this program does not know, which must never pass for the owner's. */
export function readGrant(text: string): Grant | undefined {
  let value: { kind?: unknown; person_id?: unknown } | null;
  try {
    value = JSON.parse(text) as typeof value;
  } catch {
    return undefined;
  }
  if (value?.kind === 'owner') return ownerGrant;
  if (value?.kind === 'member') return memberGrant;
  if (value?.kind === 'person' && typeof value.person_id === 'string')
    return { kind: 'person', person_id: value.person_id };
  return undefined;
}
