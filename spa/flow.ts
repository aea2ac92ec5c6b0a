// What a visit begins with and where a person turns: a link, the hub this browser knows, a new code, out.
import { toBase64url } from '../firmware/protocol/bytes.ts';
import { forgetBrand } from './brand.ts';
import { type PairingLink, readFragment } from './code.ts';
import { connect, endSession, isInsecure, stopLink, stuck } from './connection.ts';
import { type Pin, pinnedHub } from './database.ts';
import { loaded, loginCommand, showEntry, showLogin } from './entrance.ts';
import { forgetPlaces } from './place.ts';
import { type Session, session } from './sid.ts';
import { passkey, verify } from './signin.ts';
import { type LinkQuestion, noDesktop, set, show } from './store.ts';
import { askSession, takeTab } from './tab.ts';

/** What this page load begins with: a link, a session, a paired hub, or nothing. */
export async function begin(): Promise<void> {
  const given = readFragment(location.hash);
  set({ linked: /^#(?:preview|open)\.(.+)/.exec(location.hash)?.[1] ?? null });
  if (location.hash) history.replaceState(null, '', location.pathname);
  await (given ? openPairing(given) : resume()).catch(stuck);
}

/** Where this browser stands without a link. */
async function resume(): Promise<void> {
  const s = session();
  set({ insecure: isInsecure(s?.access) });
  if (s?.session_jwt) return connect();
  if (s?.owner_id && s.access) return passkey();
  await showLogin();
}

/** The hub this browser is paired with and signed in to, while no pairing is under way. @throws Trouble */
async function signedInHub(): Promise<Pin | undefined> {
  const s = session();
  return s?.session_jwt && s.hub_id && !s.access ? pinnedHub(s.hub_id) : undefined;
}

let asked: PairingLink | null = null;

/**
 * A pairing link that was opened, scanned or pasted. A browser that is signed in to a hub it is paired with stays so:
 * it says what the link is, and a person decides. Any other follows it at once.
 */
export async function openPairing(given: PairingLink | 'bad'): Promise<void> {
  const pin = await signedInHub().catch(() => undefined);
  if (!pin)
    return given === 'bad'
      ? showEntry({ text: 'entry_bad_link', command: loginCommand })
      : verify(given.code, null, accessOf(given));
  // Nothing of the session before has begun, or it goes on where it was left.
  stopLink({ at: 'boot' });
  set({ hubName: pin.name || null });
  asked = given === 'bad' ? null : given;
  const same = asked?.secret?.hubStatic === toBase64url(pin.hubStatic);
  show({ at: 'link', is: given === 'bad' ? 'bad' : same ? 'same' : 'other' });
}

const accessOf = ({ secret }: PairingLink): Session['access'] =>
  secret ? { mode: 'link', ...secret } : { mode: 'sealed' };

/** The person wants the link although there is a hub. */
export async function useLink(is: LinkQuestion['is']): Promise<void> {
  if (!asked) return;
  show({ at: 'link', is, busy: 'checking' });
  await verify(asked.code, null, accessOf(asked));
}

/** Back to the hub this browser knows: to the session that is signed in there; a pairing that was begun ends. */
export async function backToHub(): Promise<void> {
  asked = null;
  try {
    if (await signedInHub()) return await tryAgain();
  } catch (e) {
    return stuck(e);
  }
  void endSession();
  set({ insecure: false });
  await showLogin();
}

/** Takes the visit up where it stands. */
export async function tryAgain(): Promise<void> {
  show({ at: 'boot' });
  await resume().catch(stuck);
}

/** Begins a pairing. What this browser has pinned stays until that succeeds. */
export async function newCode(): Promise<void> {
  void endSession();
  set({ insecure: false });
  await showEntry();
}

/** Ends the session. Keys and pins stay, but of what is forgotten: a hub by its id, or by `true` each. */
export async function signOut(forgets: boolean | string = false): Promise<void> {
  const hubId = session()?.hub_id;
  void endSession();
  // Whoever comes to this browser next is told nothing of the hub.
  import('./push.ts').then((m) => m.silence()).catch(() => {});
  if (forgets) {
    forgetBrand();
    forgetPlaces();
    try {
      await (await loaded(import('./icons.ts'))).forgetChanges();
      await (await loaded(import('./kept.ts'))).forget(forgets);
    } catch (e) {
      return stuck(e);
    }
  }
  set({
    ...{ ...noDesktop, open: null, managing: null },
    pending: 0,
    insecure: false,
    ...(forgets ? { hubName: null } : {}),
  });
  // Where another hub is known, its login is the way in.
  if (!forgets && !hubId) return showEntry();
  await showLogin({ out: !forgets });
}

/**
 * Makes this tab the one that speaks with the hub.
 * @param steal take that from another tab, with its session; that tab then shows that it lost it.
 * @returns whether this tab is the one; else it shows so.
 */
export async function takeover(steal: boolean): Promise<boolean> {
  if (steal) await askSession();
  const here = await takeTab(steal, () => stopLink({ at: 'elsewhere' }));
  if (!here) show({ at: 'elsewhere' });
  return here;
}

export async function useThisTab(): Promise<void> {
  show({ at: 'boot' });
  if (await takeover(true)) await begin();
}
