// Where a visit stands without a way to the hub: the code, or the login of a hub this browser knows; what went wrong.
import { IngleError, toIngleError } from '../firmware/protocol/errors.ts';
import { pinnedHub } from './database.ts';
import { type Notice, type Page, set, show, Trouble, toast, within } from './store.ts';
import { errorText, noticeText, t } from './text.ts';

/** The command that prints a code, as pages name it. */
export const loginCommand = 'npx ingle login';

/** The error behind a caught value; one that is not ours is a fault and goes to the console. */
export function errorOf(e: unknown): IngleError {
  if (!(e instanceof IngleError)) console.error(e);
  return toIngleError(e);
}

export function noticeOf(e: unknown): Notice {
  return e instanceof Trouble ? e.notice : { error: errorOf(e).code };
}

/** Tells of an action that did not succeed. */
export function failed(e: unknown): void {
  const notice = noticeOf(e);
  toast('error' in notice ? t('action_failed', { message: errorText(notice.error) }) : noticeText(notice));
}

/** Part of the application that comes when it is needed; a network that says nothing ends the wait. */
export const loaded = <T>(part: Promise<T>): Promise<T> => within(20_000, part);

async function known() {
  const pin = await pinnedHub().catch(() => undefined);
  set({ paired: Boolean(pin) });
  return pin;
}

/** The code page; where a hub is known it offers the way back. */
export async function showEntry(notice?: Notice): Promise<void> {
  await known();
  show({ at: 'entry', ...(notice ? { notice } : {}) });
}

/** Login where a hub is known, else the code. */
export async function showLogin(page: Partial<Extract<Page, { at: 'login' }>> = {}): Promise<void> {
  const pin = await known();
  if (!pin) return showEntry(page.notice);
  set({ hubName: pin.name || null });
  show({ ...page, at: 'login' });
}
