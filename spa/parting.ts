// The end of what this browser was let in for, as its hub goes to another home or leaves one.
import type { Localized } from '../firmware/text/i18n.ts';
import { leave } from './leave.ts';
import { session } from './sid.ts';
import { app, follow, show, toast } from './store.ts';

/** Says it at the way in, once that is shown. */
function tellAtTheWayIn(words: Localized): void {
  let stop = () => {};
  const tell = () => {
    const { page } = app();
    if (page.at !== 'login' && page.at !== 'entry') return;
    stop();
    show({ ...page, notice: { words } });
  };
  stop = follow(tell);
  tell();
}

/**
 * Done, the hub no longer knows this browser, and nothing of it stays here. Where the session ends before the answer,
 * anything may have ended it: nothing is forgotten.
 * @throws IngleError why it was not done
 */
export async function parting(
  work: () => Promise<unknown>,
  says: { done: string; perhaps: Localized },
): Promise<void> {
  const at = session();
  try {
    await work();
  } catch (e) {
    if (session()?.sid === at?.sid) throw e;
    return tellAtTheWayIn(says.perhaps);
  }
  await leave(at?.hub_id);
  toast(says.done);
}
