// The web session's stages; root writes them, the SPA follows them.
import type { Stage } from './wire.ts';

export type StageEvent =
  /** A device code was verified for the sid. */
  | 'verify'
  /** A registration challenge was issued; the registration finished. */
  | 'registration_challenge'
  | 'registered'
  /** WebAuthn login finished and a session token was issued; also straight from NEW on later visits. */
  | 'login'
  /** The hub accepted the pairing and the route is bound. */
  | 'accept'
  /** Both sockets are up: frames may pass. */
  | 'up'
  /** The browser's socket, or the hub's, went away. The route is kept. */
  | 'browser_offline'
  | 'hub_offline'
  /** The session ended by its owner, by revocation of its passkey, or by age: the record goes, a new sid starts. */
  | 'logout'
  | 'revoke'
  | 'expire';

type StageTable = Record<Stage, Partial<Record<StageEvent, Stage>>>;

const ended = { logout: 'NEW', revoke: 'NEW', expire: 'NEW' } as const;
/** A logged-in session may log in again or register a further passkey without leaving its stage. */
const authenticated = <S extends Stage>(s: S) => ({
  login: s,
  registration_challenge: s,
  registered: s,
  ...ended,
});

/** For each stage, where each event leads; what is not here is refused. */
export const stageTable: StageTable = {
  NEW: { verify: 'PREAUTH', login: 'AUTH', ...ended },
  PREAUTH: { verify: 'PREAUTH', registration_challenge: 'WEBREG', login: 'AUTH', ...ended },
  WEBREG: {
    verify: 'PREAUTH',
    registration_challenge: 'WEBREG',
    registered: 'WEBREG',
    login: 'AUTH',
    ...ended,
  },
  AUTH: { ...authenticated('AUTH'), accept: 'PAIRED', hub_offline: 'AUTH', browser_offline: 'AUTH' },
  PAIRED: {
    ...authenticated('PAIRED'),
    accept: 'PAIRED',
    up: 'ONLINE',
    hub_offline: 'AUTH',
    browser_offline: 'PAIRED',
  },
  ONLINE: {
    ...authenticated('ONLINE'),
    accept: 'ONLINE',
    up: 'ONLINE',
    hub_offline: 'AUTH',
    browser_offline: 'PAIRED',
  },
};

/** The stage after `event`, or null when `state` does not take it. */
export function next<S extends string, E extends string>(
  table: Record<S, Partial<Record<E, S>>>,
  state: S,
  event: E,
): S | null {
  return table[state][event] ?? null;
}
