// From one hub to another in this tab, without a code: root leads the session there, and what this browser has pinned
// of that hub decides whom it believes.
import { toBase64url } from '../firmware/protocol/bytes.ts';
import { IngleError } from '../firmware/protocol/errors.ts';
import { connect, endSession, stopLink } from './connection.ts';
import { read, readAll } from './database.ts';
import { errorOf, failed, noticeOf, showLogin } from './entrance.ts';
import type { HubHere } from './hubs-offered.ts';
import { browserKey } from './key.ts';
import { post } from './rest.ts';
import { say } from './settings-text.ts';
import { changeSession, type Session, session } from './sid.ts';
import { noDesktop, set, show, toast } from './store.ts';

/** Before root is asked once more, milliseconds. */
const AGAIN = 1000;

/** Has root lead the session to a hub. @throws IngleError why not, `unavailable` where root is silent */
async function lead(sid: string, jwt: string, hub_id: string): Promise<void> {
  const e2e_pubkey = toBase64url((await browserKey()).publicKey);
  await post('/v1/browser/pairing/offer', { sid, e2e_pubkey, hub_id }, jwt);
}

const isSilent = (e: unknown) => e instanceof IngleError && ['unavailable', 'timeout'].includes(e.code);

/**
 * Has root lead the session to a hub, until it has said so: an answer that is lost would leave it open which one the
 * route is of. The page says meanwhile what it waits for.
 * @returns false where the person has gone another way meanwhile. @throws IngleError why not
 */
async function led(sid: string, jwt: string, hub_id: string): Promise<boolean> {
  for (;;) {
    try {
      await lead(sid, jwt, hub_id);
      return session()?.sid === sid;
    } catch (e) {
      if (session()?.sid !== sid) return false;
      if (!isSilent(e)) throw e;
      set({ link: navigator.onLine ? 'down' : 'cut' });
      await new Promise((again) => setTimeout(again, AGAIN));
    }
  }
}

/**
 * Root has led a sign-in to a hub that never took this passkey from this browser. Of an account with several hubs that may
 * be the newest one, so it is asked for the one that did; where it does not lead there, that is the alarm. Where it is
 * silent, nothing is signed in yet: the sign-in begins anew.
 */
export async function goHome(
  entered: Pick<Session, 'session_jwt' | 'browser_key_id' | 'owner_id' | 'subnet_id'> & {
    session_jwt: string;
    passkey: { id: string; public_key: string };
  },
): Promise<void> {
  const took = (await readAll('hubs')).filter((p) => p.passkeys?.includes(entered.passkey.id));
  const { hub_id } = took.sort((a, b) => b.paired - a.paired)[0]!;
  const sid = session()?.sid;
  if (sid === undefined) return;
  try {
    await lead(sid, entered.session_jwt, hub_id);
  } catch (e) {
    if (session()?.sid !== sid) return;
    await endSession();
    if (isSilent(e)) return showLogin({ notice: noticeOf(e) });
    return show({ at: 'alarm', reason: 'hub_id' });
  }
  // The person may have gone another way meanwhile.
  if (session()?.sid !== sid) return;
  changeSession({ ...entered, hub_id });
  await connect();
}

/** Shows another hub in this tab. Why it does not is told, and the one before is shown again. */
export async function switchTo(hub: Pick<HubHere, 'hub_id' | 'name' | 'mine'>): Promise<void> {
  const s = session();
  if (!s?.session_jwt || !(await read('hubs', hub.hub_id))) return;
  history.replaceState(null, '', '/');
  stopLink({ at: 'connecting', step: 'hub' });
  if (!hub.mine) {
    await endSession();
    set({ ...noDesktop, pending: 0, hubName: hub.name });
    return show({ at: 'login' });
  }
  try {
    if (!(await led(s.sid, s.session_jwt, hub.hub_id))) return;
    changeSession({ hub_id: hub.hub_id });
    set({ hubName: hub.name });
  } catch (e) {
    if (errorOf(e).code === 'not_found') toast(say('gone', { name: hub.name }));
    else failed(e);
  }
  await connect();
}
