import { IngleError } from '../firmware/protocol/errors.ts';
import { assertToHub } from './assert.ts';
import { currentLink, setLink } from './current.ts';
import { pinnedHub, read } from './database.ts';
import { loaded, noticeOf, showEntry, showLogin } from './entrance.ts';
import type { LinkEvents } from './link.ts';
import { post } from './rest.ts';
import { fall, hold, tell } from './rising.ts';
import { dropSession, type Session, session } from './sid.ts';
import { app, noDesktop, type Page, set, show } from './store.ts';

let opening = 0;

export const isInsecure = (a: Session['access']): boolean =>
  a?.mode === 'sealed' || (a?.mode === 'proven' && a.insecure);

let shown: string | undefined;

/** Opens the link of a signed-in session; the desktop shows at once where its icons are known. */
export async function connect(): Promise<void> {
  const mine = ++opening;
  fall();
  setLink(null);
  // All that a visit to the desktop needs, now, and not each part once the one before is here.
  Promise.all([import('./link.ts'), import('./icons.ts'), import('./sync.ts')]).catch(() => {});
  try {
    const s = session();
    const pin = await pinnedHub(s?.hub_id);
    const known = !s?.access && pin ? pin : undefined;
    const insecure = s?.access ? isInsecure(s.access) : Boolean(pin?.insecure);
    // Another hub's icons are not this one's.
    if (shown !== s?.hub_id) set({ ...noDesktop, open: null, managing: null });
    shown = s?.hub_id;
    set({
      link: 'connecting',
      direct: false,
      lag: null,
      heardAt: null,
      hubName: pin?.name || app().hubName,
      insecure,
    });
    await Promise.all([meet(mine), known ? desktop(known.hub_id) : show({ at: 'connecting', step: 'hub' })]);
  } catch (e) {
    if (mine === opening) await stuck(e);
  }
}

/** Opens the link; whichever comes last, it or the desktop, starts the desktop. */
async function meet(mine: number): Promise<void> {
  const { openLink } = await loaded(import('./link.ts'));
  const link = await openLink(events(mine));
  if (mine !== opening) return link.close();
  setLink(link);
  if (app().page.at === 'desktop') await startDesk();
}

/** A step that did not succeed says so, with a way on. */
export async function stuck(e: unknown): Promise<void> {
  const notice = noticeOf(e);
  closeLink();
  if (!('error' in notice) || notice.error === 'timeout') return show({ at: 'trouble', notice });
  // The session is good, but this browser never met the hub: only a code from the hub can help.
  if (notice.error === 'pairing_failed') return showEntry(notice);
  return showLogin({ notice });
}

/** What the link of the connection `mine` brings. */
function events(mine: number): LinkEvents {
  return {
    answered: (lag) => tell({ lag, heardAt: Date.now() }),
    near: () => {
      if (mine === opening) import('./icons.ts').then((m) => m.join()).catch(() => {});
    },
    state(state, direct) {
      if (mine !== opening) return;
      const { link, page } = app();
      const { at } = page;
      if (state === 'up' && link === 'connecting' && at === 'desktop') hold({ link: state, direct });
      else {
        fall();
        if (state !== link || direct !== app().direct) set({ link: state, direct });
      }
      if (state === 'up' && (at === 'connecting' || at === 'approve'))
        void desktop(session()?.hub_id).catch(stuck);
      else if (state === 'connecting' && at === 'connecting') show({ at, step: 'prove' });
      else if (at === 'connecting') show({ at, step: 'hub' });
    },
    asks: () => show({ at: 'approve' }),
    hub: (hubName) => hubName !== app().hubName && set({ hubName }),
    refused: (e) => stopLink(refusedAs(e)),
    alarm: (reason) => stopLink({ at: 'alarm', reason }),
    unanswered: () => stopLink({ at: 'refused', notice: 'no_answer' }),
    wrongCode: () => stopLink({ at: 'second', title: 'code_wrong_title' }),
    signedOut() {
      stopLink({ at: 'boot' });
      dropSession();
      void showLogin({ notice: { error: 'unauthenticated' } });
    },
    elsewhere: () => stopLink({ at: 'elsewhere' }),
    trouble: (e) => void stuck(e),
    // Anybody on the way can say so: what this browser knows of its hub stays.
    unknown: () => stopLink({ at: 'unknown' }),
  };
}

/** Why the hub keeps this browser out, as a page with a way on. */
function refusedAs(e: IngleError): Page {
  if (e.code === 'forbidden') return { at: 'ended' };
  return e.code === 'conflict' ? { at: 'taken' } : { at: 'refused', notice: { error: e.code } };
}

function closeLink(): void {
  opening++;
  fall();
  setLink(null);
  set({ link: 'connecting', open: null, managing: null });
}

export function stopLink(page: Page): void {
  closeLink();
  show(page);
}

async function desktop(hubId: string | undefined): Promise<void> {
  const mine = opening;
  const kept = hubId ? await read('icons', hubId).catch(() => undefined) : undefined;
  if (kept && !app().icons) set({ ...noDesktop, ...kept, iconsAt: kept.at });
  await loaded(import('./desktop.ts'));
  // The hub may have said something meanwhile that has a page of its own.
  if (mine !== opening) return;
  show({ at: 'desktop' });
  if (currentLink()) await startDesk();
}

async function startDesk(): Promise<void> {
  const { startIcons } = await loaded(import('./icons.ts'));
  await startIcons();
}

/** The touch the hub itself asks for (D4). @param label what the hub's owner calls this browser */
export async function approve(label: string): Promise<void> {
  show({ at: 'approve', busy: 'passkey_waiting' });
  try {
    await assertToHub(label);
    await desktop(session()?.hub_id);
  } catch (e) {
    const notice = noticeOf(e);
    if (e instanceof IngleError && ['pairing_failed', 'forbidden'].includes(e.code))
      return stopLink(refusedAs(e));
    show({ at: 'approve', notice });
  }
}

/** Ends the link and the session, here and at root. */
export async function endSession(): Promise<void> {
  const s = session();
  opening++;
  setLink(null);
  dropSession();
  if (s?.session_jwt) await post('/v1/owner/logout', { sid: s.sid }, s.session_jwt).catch(() => {});
}
