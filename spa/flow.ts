// From a code to the desktop: the steps of a visit, in order.
import { IngleError, toIngleError } from '../firmware/protocol/errors.ts';
import { forgetBrand } from './brand.ts';
import { readFragment } from './code.ts';
import { erase, pinnedHub, read, readAll } from './database.ts';
import type { Link } from './link.ts';
import { openSession, post } from './rest.ts';
import { changeSession, dropSession, type Session, session } from './session.ts';
import { app, type Notice, type Page, set, show, toast } from './store.ts';
import { askSession, takeTab } from './tab.ts';
import { errorText, t } from './text.ts';
import { leadsHome } from './trust.ts';

let link: Link | null = null;
let opening = 0;
let linkCode: Session['access'] | null = null;

export function currentLink(): Link | null {
  return link;
}

/** The command that prints a code, as pages name it. */
export const loginCommand = 'npx ingle login';

/** The error behind a caught value; one that is not ours is a fault, and the console shall have it. */
function errorOf(e: unknown): IngleError {
  if (!(e instanceof IngleError)) console.error(e);
  return toIngleError(e);
}

function noticeOf(e: unknown): Notice {
  if (e instanceof Error && 'notice' in e) return e.notice as Notice;
  return { error: errorOf(e).code };
}

/** What this page load begins with: a link, a session, a paired hub, or nothing. */
export async function begin(): Promise<void> {
  const given = readFragment(location.hash);
  set({ paired: await isPaired() });
  if (location.hash) history.replaceState(null, '', location.pathname);
  if (given === 'bad')
    return show({ at: 'entry', notice: { text: 'entry_bad_link', command: loginCommand } });
  if (given) {
    if (session()?.session_jwt) await endSession();
    linkCode = given.secret ? { mode: 'link', ...given.secret } : { mode: 'sealed' };
    set({ insecure: !given.secret });
    return verify(given.code, null);
  }
  const s = session();
  set({ insecure: isInsecure(s?.access) });
  if (s?.session_jwt) return connect();
  if (s?.owner_id && s.access) return passkey();
  await showLogin();
}

const isPaired = async () => Boolean(await pinnedHub().catch(() => undefined));

/** Login where a hub is known, else the code. */
async function showLogin(page: Partial<Extract<Page, { at: 'login' }>> = {}): Promise<void> {
  const pin = await pinnedHub().catch(() => undefined);
  if (!pin) return show({ at: 'entry', ...(page.notice ? { notice: page.notice } : {}) });
  set({ hubName: pin.name || null });
  show({ ...page, at: 'login' });
}

/** The first group goes to root, and the second nowhere but into the proof. */
export async function verify(code: string, secret: string | null): Promise<void> {
  show({ at: 'entry', busy: 'checking' });
  try {
    await openSession();
    const { postProving } = await import('./prove.ts');
    const ticket = linkCode?.mode === 'link' ? await ticketOf(linkCode.psk) : undefined;
    const r = await postProving<{ owner_id: string; subnet_id: string; hub_id?: string }>(
      '/v1/owner/login/verify',
      () => ({ device_code: code, sid: session()!.sid, ...(ticket ? { ticket } : {}) }),
      () => show({ at: 'entry', busy: 'proving' }),
    );
    changeSession({ owner_id: r.owner_id, subnet_id: r.subnet_id, hub_id: r.hub_id });
  } catch (e) {
    linkCode = null;
    const error = errorOf(e);
    // The tries of this sid are used up, or root forgot it: the next try begins with a new one.
    if (error.code === 'unauthenticated' || error.code === 'conflict') dropSession();
    const near = error.details?.['near'] === true;
    return show({ at: 'entry', notice: near ? { text: 'entry_near' } : { error: error.code } });
  }
  if (linkCode) {
    changeSession({ access: linkCode });
    linkCode = null;
    return passkey();
  }
  if (!secret) return show({ at: 'second' });
  return second(secret);
}

/** What shows root that the code came by a link and is no guess. */
async function ticketOf(psk: string): Promise<string> {
  const [{ fromBase64url }, { linkTicket }] = await Promise.all([
    import('../firmware/protocol/bytes.ts'),
    import('../firmware/protocol/ticket.ts'),
  ]);
  return linkTicket(fromBase64url(psk));
}

export async function second(secret: string): Promise<void> {
  changeSession({ access: { mode: 'typed', secret } });
  set({ insecure: false });
  // After a wrong second group everything before it still stands.
  if (session()?.session_jwt) return connect();
  return passkey();
}

let challenge: { options: unknown; at: number } | null = null;

/** Login with a passkey, or registration of the first one. */
async function passkey(): Promise<void> {
  try {
    challenge = { options: await loginChallenge(), at: Date.now() };
    show({ at: 'login' });
  } catch (e) {
    const error = errorOf(e);
    if (error.code === 'registration_required') return show({ at: 'register' });
    if (error.code === 'unauthenticated') dropSession();
    show({ at: 'entry', notice: { error: error.code } });
  }
}

/** Root keeps a challenge for five minutes; a page left open longer asks for another. */
const CHALLENGE_FRESH = 240_000;

async function loginChallenge(): Promise<unknown> {
  const s = await openSession();
  try {
    const r = await post<{ publicKeyCredentialRequestOptions: unknown }>(
      '/v1/owner/webauthn/login/challenge',
      { sid: s.sid },
    );
    return r.publicKeyCredentialRequestOptions;
  } catch (e) {
    // A sid that only waited and is over is replaced without a word; one that a code was spent on is not.
    if (errorOf(e).code !== 'unauthenticated' || s.access) throw e;
    dropSession();
    return loginChallenge();
  }
}

export async function register(from: 'register' | 'nopasskey' = 'register'): Promise<void> {
  show({ at: from, busy: 'passkey_waiting' });
  try {
    const { sid } = await openSession();
    const { createPasskey } = await import('./passkey.ts');
    const o = await post<{ publicKeyCredentialCreationOptions: unknown }>(
      '/v1/owner/webauthn/registration/challenge',
      { sid },
    );
    const credential = await createPasskey(o.publicKeyCredentialCreationOptions, sid);
    await post('/v1/owner/webauthn/registration/finish', { sid, credential });
    challenge = { options: await loginChallenge(), at: Date.now() };
  } catch (e) {
    const notice = noticeOf(e);
    if ('text' in notice && notice.text === 'passkey_exists') return show({ at: 'login', notice });
    return show({ at: from, notice });
  }
  await login();
}

export async function login(): Promise<void> {
  show({ at: 'login', busy: 'passkey_waiting' });
  try {
    const { signInAtRoot } = await import('./passkey.ts');
    const fresh = challenge && Date.now() - challenge.at < CHALLENGE_FRESH;
    const options = fresh ? challenge!.options : await loginChallenge();
    challenge = null;
    const { sid } = await openSession();
    const credential = await signInAtRoot(options, sid);
    const r = await post<{
      session_jwt: string;
      browser_key_id: string;
      public_key: string;
      owner_id: string;
      subnet_id: string;
      hub_id: string;
    }>('/v1/owner/webauthn/login/finish', { sid, credential });
    const { session_jwt, browser_key_id, owner_id, subnet_id, hub_id } = r;
    const passkey = { id: credential.id, public_key: r.public_key };
    if (!session()?.access && !leadsHome(await readAll('hubs'), hub_id, credential.id)) {
      await endSession();
      return show({ at: 'alarm', reason: 'hub_id' });
    }
    changeSession({ session_jwt, browser_key_id, owner_id, subnet_id, hub_id, passkey });
  } catch (e) {
    const notice = noticeOf(e);
    const error = e instanceof IngleError ? e : null;
    // Only a code of the hub leads to a first passkey; root's word does not.
    if (error?.code === 'registration_required' && session()?.owner_id)
      return show({ at: 'register', notice });
    if (error?.code === 'unauthenticated') {
      const kept = session();
      dropSession();
      if (kept?.access) return show({ at: 'entry', notice });
    }
    return show({ at: 'login', notice });
  }
  await connect();
}

const isInsecure = (a: Session['access']) => a?.mode === 'sealed' || (a?.mode === 'proven' && a.insecure);
let shown: string | undefined;

/** Opens the link of a signed-in session; the desktop shows at once where its icons are known. */
async function connect(): Promise<void> {
  const mine = ++opening;
  link?.close();
  link = null;
  const s = session();
  const pin = await pinnedHub(s?.hub_id);
  const known = !s?.access && pin ? pin : undefined;
  const insecure = s?.access ? isInsecure(s.access) : Boolean(pin?.insecure);
  // Another hub's icons are not this one's.
  if (shown !== s?.hub_id) set({ icons: null, iconsAt: null, open: null });
  shown = s?.hub_id;
  set({ link: 'connecting', hubName: pin?.name || app().hubName, insecure });
  if (known) await desktop(known.hub_id);
  else show({ at: 'connecting', step: 'hub' });
  try {
    const { openLink } = await import('./link.ts');
    const opened = await openLink({
      state(state, lag) {
        if (mine !== opening) return;
        set({ link: state, lag });
        const at = app().page.at;
        if (state === 'up' && (at === 'connecting' || at === 'approve')) void desktop(session()?.hub_id);
        else if (state === 'connecting' && at === 'connecting') show({ at, step: 'prove' });
        else if ((state === 'offline' || state === 'down') && at === 'connecting') show({ at, step: 'hub' });
      },
      asks: () => show({ at: 'approve' }),
      hub: (hubName) => set({ hubName }),
      refused: (e) => stopLink({ at: 'refused', notice: { error: e.code } }),
      alarm: (reason) => stopLink({ at: 'alarm', reason }),
      unanswered: () => stopLink({ at: 'refused', notice: { text: 'no_answer' } }),
      wrongCode: () => stopLink({ at: 'second', title: 'code_wrong_title' }),
      signedOut() {
        stopLink({ at: 'boot' });
        dropSession();
        void showLogin({ notice: { error: 'unauthenticated' } });
      },
      elsewhere: () => stopLink({ at: 'elsewhere' }),
      // Anybody on the way can say so: what this browser knows of its hub stays.
      unknown: () => stopLink({ at: 'unknown' }),
    });
    if (mine !== opening) return opened.close();
    link = opened;
    if (app().page.at === 'desktop') await startDesk();
  } catch (e) {
    const code = errorOf(e).code;
    // The session is good, but this browser never met the hub: only a code from the hub can help.
    if (code === 'pairing_failed') return show({ at: 'entry', notice: { error: code } });
    return showLogin({ notice: { error: code } });
  }
}

function stopLink(page: Page): void {
  opening++;
  link?.close();
  link = null;
  set({ link: 'connecting', open: null });
  show(page);
}

async function desktop(hubId: string | undefined): Promise<void> {
  const kept = hubId ? await read('icons', hubId).catch(() => undefined) : undefined;
  if (kept && !app().icons) set({ icons: kept.icons, iconsAt: kept.at });
  await import('./desktop.ts');
  show({ at: 'desktop' });
  if (link) await startDesk();
}

async function startDesk(): Promise<void> {
  const { startIcons } = await import('./icons.ts');
  await startIcons();
}

/** The touch the hub itself asks for (D4). */
export async function approve(): Promise<void> {
  show({ at: 'approve', busy: 'passkey_waiting' });
  try {
    await assertToHub();
    await desktop(session()?.hub_id);
  } catch (e) {
    const notice = noticeOf(e);
    if ('error' in notice && ['pairing_failed', 'forbidden'].includes(notice.error))
      return stopLink({ at: 'refused', notice });
    show({ at: 'approve', notice });
  }
}

/** An assertion over the handshake hash, checked by the hub. @throws IngleError, PasskeyTrouble */
export async function assertToHub(): Promise<void> {
  const l = link;
  if (!l) throw new IngleError('hub_offline', 'The hub is not reached.');
  const { signForHub } = await import('./passkey.ts');
  await l.assert(await signForHub(l.hubId, l.handshake()));
}

async function endSession(): Promise<void> {
  const s = session();
  opening++;
  link?.close();
  link = null;
  dropSession();
  if (s?.session_jwt) await post('/v1/owner/logout', { sid: s.sid }, s.session_jwt).catch(() => {});
}

/** Ends the session. Keys and pins stay unless `forget`. */
export async function signOut(forget = false): Promise<void> {
  const hubId = session()?.hub_id;
  await endSession();
  if (forget) {
    await (await import('./icons.ts')).forgetChanges();
    forgetBrand();
    for (const table of ['hubs', 'icons', 'ops_outbox', 'prefs', 'keys'] as const) await erase(table);
  }
  set({
    open: null,
    icons: null,
    iconsAt: null,
    pending: 0,
    insecure: false,
    ...(forget ? { hubName: null, paired: false } : {}),
  });
  if (forget || !hubId) return show({ at: 'entry' });
  await showLogin({ out: true });
}

/** Begins a pairing. What this browser has pinned stays until that succeeds. */
export async function newCode(): Promise<void> {
  void endSession();
  set({ insecure: false, paired: await isPaired() });
  show({ at: 'entry' });
}

/** Leaves a pairing that was begun, for the hub this browser knows. */
export async function backToHub(): Promise<void> {
  void endSession();
  set({ insecure: false });
  await showLogin();
}

/** Shakes hands with the hub anew. */
export async function tryAgain(): Promise<void> {
  if (session()?.session_jwt) await connect();
  else await showLogin();
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

export function failed(e: unknown): void {
  const notice = noticeOf(e);
  toast('error' in notice ? t('action_failed', { message: errorText(notice.error) }) : t(notice.text));
}
