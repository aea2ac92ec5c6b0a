// What joining a network comes to, from wpa_supplicant's words. Pure.
import type { WifiReason } from './contract.ts';

/** One thing wpa_supplicant said of its interface (fi.w1.wpa_supplicant1.Interface). */
export type Told =
  | { state: string }
  | { disconnectReason: number }
  | { authStatus: number }
  | { assocStatus: number }
  | { scanDone: boolean };

export interface Joining {
  /** Scans that ended without the network in them. */
  empty: number;
  /** Times the 4-way handshake was begun and not ended. */
  handshakes: number;
  /** Times the network turned us away otherwise. */
  refusals: number;
  state: string;
}

export const joining: Joining = { empty: 0, handshakes: 0, refusals: 0, state: '' };

/** Scans without the network before it is called absent: an access point may miss a probe. */
const scans = 3;
/** Broken handshakes before the password is called wrong: a frame may be lost. */
const handshakes = 2;
const refusals = 3;

/**
 * One step; `verdict` is `associated`, a reason to give up, or undefined to go on.
 * A wrong WPA2 password breaks the 4-way handshake (IEEE 802.11 reasons 2, 15); a wrong WPA3 password fails the SAE
 * confirm (status 1 or 15).
 */
export function judge(
  before: Joining,
  told: Told,
): {
  next: Joining;
  verdict?: 'associated' | Extract<WifiReason, 'wrong_password' | 'not_found' | 'refused'>;
} {
  const next = { ...before };
  if ('state' in told) {
    next.state = told.state;
    if (told.state === 'completed') return { next, verdict: 'associated' };
    if (told.state === 'authenticating' || told.state === 'associating') next.empty = 0;
    const broke = ['disconnected', 'scanning', 'inactive'].includes(told.state);
    if (before.state === '4way_handshake' && broke) next.handshakes++;
  } else if ('authStatus' in told) {
    // SAE tells a wrong password by these; status 76, 77 and 126 belong to a handshake that goes on.
    if (told.authStatus === 1 || told.authStatus === 15) next.handshakes++;
    else if (told.authStatus !== 0 && ![76, 77, 126, 127].includes(told.authStatus)) next.refusals++;
  } else if ('assocStatus' in told) {
    // 30: come back later (protected management frames).
    if (told.assocStatus !== 0 && told.assocStatus !== 30) next.refusals++;
  } else if ('scanDone' in told) {
    if (told.scanDone && ['scanning', 'disconnected', 'inactive', ''].includes(before.state)) next.empty++;
  } else if ([15, 23].includes(told.disconnectReason) && before.state === '4way_handshake') {
    next.handshakes++;
    next.state = 'disconnected';
  }
  if (next.handshakes >= handshakes) return { next, verdict: 'wrong_password' };
  if (next.refusals >= refusals) return { next, verdict: 'refused' };
  if (next.empty >= scans) return { next, verdict: 'not_found' };
  return { next };
}
