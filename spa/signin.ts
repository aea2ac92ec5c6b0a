// Signing in at root: the code, then the passkey.
import { IngleError } from '../firmware/protocol/errors.ts';
import type { Creation, Entered, Requested, Verified } from '../firmware/protocol/sign-in.ts';
import { connect, endSession, isInsecure } from './connection.ts';
import { checkStorage, readAll } from './database.ts';
import { errorOf, loaded, noticeOf, showEntry } from './entrance.ts';
import { newSession, openSession, post } from './rest.ts';
import { changeSession, dropSession, keepSession, type Session, session } from './sid.ts';
import { app, type Notice, set, show, Trouble } from './store.ts';
import { leadsHome } from './trust.ts';

/**
 * The first group goes to root, and the second nowhere but into the proof. A session that is signed in stays what it
 * is until root has taken the code.
 * @param access what a link carries.
 */
export async function verify(code: string, secret: string | null, access?: Session['access']): Promise<void> {
  const aside = Boolean(session()?.session_jwt);
  const page = app().page;
  const busy = (busy: 'checking' | 'proving') =>
    show(page.at === 'link' ? { ...page, busy } : { at: 'entry', busy });
  busy('checking');
  try {
    // A code is good once: it is not spent by a browser that cannot keep what it leads to.
    await checkStorage();
    const { sid, browser } = aside ? await newSession() : await openSession();
    const ticket = access?.mode === 'link' ? await ticketOf(access.psk) : undefined;
    const send = (headers?: Record<string, string>) =>
      post<Verified>(
        '/v1/owner/login/verify',
        { device_code: code, sid, ...(ticket ? { ticket } : {}) },
        undefined,
        headers,
      );
    const r = await send().catch(async (e) => {
      if (!(e instanceof IngleError && e.details?.['pow'])) throw e;
      const { solved } = await loaded(import('./prove.ts'));
      return send(await solved(e, () => busy('proving')));
    });
    if (aside) await endSession();
    const { owner_id, subnet_id, hub_id, new_passkey } = r;
    keepSession({ ...session(), sid, browser, owner_id, subnet_id, hub_id, new_passkey, access });
  } catch (e) {
    const isNear = e instanceof IngleError && e.details?.['near'] === true;
    const near = isNear && (await import('./prove.ts').catch(() => undefined))?.near();
    const notice: Notice = near || noticeOf(e);
    if (aside && page.at === 'link') {
      const spent = 'error' in notice && notice.error === 'invalid_device_code';
      return show({ at: 'link', is: spent ? 'spent' : page.is, ...(spent ? {} : { notice }) });
    }
    // The tries of this sid are used up, or root forgot it: the next try begins with a new one.
    if ('error' in notice && ['unauthenticated', 'conflict'].includes(notice.error)) dropSession();
    return showEntry(notice);
  }
  set({ insecure: isInsecure(access) });
  if (access) return passkey();
  if (!secret) return show({ at: 'second' });
  return second(secret);
}

/** What shows root that the code came by a link and is no guess. */
async function ticketOf(psk: string): Promise<string> {
  const [{ fromBase64url }, { linkTicket }] = await loaded(
    Promise.all([import('../firmware/protocol/bytes.ts'), import('../firmware/protocol/pairing/ticket.ts')]),
  );
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

/** Login with a passkey; or registration of the first one, or of the one that the code permits. */
export async function passkey(o: { own?: boolean } = {}): Promise<void> {
  if (session()?.new_passkey && !o.own) return show({ at: 'register' });
  if (o.own) show({ at: 'register', busy: 'checking' });
  try {
    challenge = { options: await loginChallenge(), at: Date.now() };
    show({ at: 'login' });
  } catch (e) {
    const error = errorOf(e);
    if (error.code === 'registration_required')
      return show({ at: 'register', ...(o.own && { notice: { text: 'register_first' } }) });
    if (error.code === 'unauthenticated') dropSession();
    await showEntry({ error: error.code });
  }
}

/** Root keeps a challenge for five minutes; a page left open longer asks for another. */
const CHALLENGE_FRESH = 240_000;

async function loginChallenge(): Promise<unknown> {
  const s = await openSession();
  try {
    const r = await post<Requested>('/v1/owner/webauthn/login/challenge', { sid: s.sid });
    return r.publicKeyCredentialRequestOptions;
  } catch (e) {
    // A sid that only waited and is over is replaced without a word; one that a code was spent on is not.
    if (errorOf(e).code !== 'unauthenticated' || s.access) throw e;
    dropSession();
    return loginChallenge();
  }
}

/** The person does not want to wait any longer; the prompt may not be there yet. */
let left = false;

/** @throws Trouble when the person has left before there was a prompt. */
function stay(): void {
  if (left) throw new Trouble({ text: 'passkey_cancelled' });
}

export async function register(from: 'register' | 'nopasskey' = 'register'): Promise<void> {
  left = false;
  show({ at: from, busy: 'passkey_waiting' });
  try {
    const { sid } = await openSession();
    const { createPasskey } = await loaded(import('./passkey.ts'));
    const o = await post<Creation>('/v1/owner/webauthn/registration/challenge', { sid });
    stay();
    const credential = await createPasskey(o.publicKeyCredentialCreationOptions, sid);
    await post('/v1/owner/webauthn/registration/finish', { sid, credential });
    changeSession({ new_passkey: undefined });
    challenge = { options: await loginChallenge(), at: Date.now() };
  } catch (e) {
    const notice = noticeOf(e);
    if ('text' in notice && notice.text === 'passkey_exists') return show({ at: 'login', notice });
    return show({ at: from, notice });
  }
  await login();
}

export async function login(): Promise<void> {
  left = false;
  show({ at: 'login', busy: 'passkey_waiting' });
  try {
    const { signInAtRoot } = await loaded(import('./passkey.ts'));
    const fresh = challenge && Date.now() - challenge.at < CHALLENGE_FRESH;
    const options = fresh ? challenge!.options : await loginChallenge();
    challenge = null;
    const { sid } = await openSession();
    stay();
    const credential = await signInAtRoot(options, sid);
    const r = await post<Entered>('/v1/owner/webauthn/login/finish', { sid, credential });
    const { session_jwt, browser_key_id, owner_id, subnet_id, hub_id } = r;
    const passkey = { id: credential.id, public_key: r.public_key };
    const entered = { session_jwt, browser_key_id, owner_id, subnet_id, hub_id, passkey };
    if (!session()?.access && !leadsHome(await readAll('hubs'), hub_id, credential.id))
      return await (await loaded(import('./switch.ts'))).goHome(entered);
    changeSession(entered);
  } catch (e) {
    const notice = noticeOf(e);
    const error = 'error' in notice ? notice.error : null;
    // Only a code of the hub leads to a first passkey; root's word does not.
    if (error === 'registration_required' && session()?.owner_id) return show({ at: 'register', notice });
    if (error === 'unauthenticated') {
      const kept = session();
      dropSession();
      if (kept?.access) return showEntry(notice);
    }
    return show({ at: 'login', notice });
  }
  await connect();
}

/** Ends the passkey prompt that is open, or keeps it from opening. */
export async function cancelWaiting(): Promise<void> {
  left = true;
  (await import('./passkey.ts')).cancelPrompt();
}
