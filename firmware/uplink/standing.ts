// How a browser stands with the hub, by its static key: whose it is, whom its code was for, whether the hub is open to them.
import { IngleError } from '../protocol/errors.ts';
import { type Grant, grantOf } from './grant.ts';
import type { People } from './people.ts';
import type { Pins } from './pins.ts';
import type { Browser, Proven } from './rows.ts';

export function standing(o: {
  readonly pins: Pick<Pins, 'browser' | 'proven' | 'hasPasskey'>;
  readonly people: Pick<People, 'welcome'>;
}) {
  /** Whether the hub is open to them now; it always is to its owner. */
  const isOpenTo = (grant: Grant): boolean =>
    grant.kind === 'owner' || (grant.kind === 'person' && o.people.welcome(grant.person_id) !== undefined);
  const pinned = (id: string): Browser | undefined => {
    const b = id === '' ? undefined : o.pins.browser(id);
    return b && isOpenTo(grantOf(b)) ? b : undefined;
  };
  const proven = (id: string): Proven | undefined => {
    const p = o.pins.proven(id);
    return p && isOpenTo(p.grant) ? p : undefined;
  };
  return {
    pinned,
    proven,
    /** Whom an assertion of this browser must prove: whose it is, else whom its code was for. */
    wanted(id: string): Grant | undefined {
      const b = pinned(id);
      return b ? grantOf(b) : proven(id)?.grant;
    },
    /** The hub takes an unknown passkey from this browser. */
    takesNew(id: string): boolean {
      const p = proven(id);
      return p !== undefined && (p.new_passkey || (p.grant.kind === 'owner' && !o.pins.hasPasskey));
    },
    /** Why a browser nobody waits for stays out. */
    stranger: (id: string): IngleError =>
      o.pins.browser(id)
        ? new IngleError('forbidden', 'Your time on this hub is over. Ask its owner.')
        : new IngleError('pairing_failed', 'This browser is not paired with the hub. Pair it first.'),
  };
}
