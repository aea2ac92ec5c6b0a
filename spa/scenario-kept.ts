// The copy of an app that this browser keeps between visits, so that it opens without the hub. It is believed only where
// the hub has signed the app, and given only to whose it is.
import type { Answer } from '../firmware/protocol/endpoint/endpoint.ts';
import type { appsApi } from '../firmware/scenario-app/api.ts';
import { APP_VERSION, type App } from '../firmware/ui/app.ts';
import { erase, read, write } from './database.ts';
import type { Page } from './scenario-rows.ts';
import { isHubs } from './signed.ts';
import { app } from './store.ts';

export type AppAnswer = Omit<Answer<typeof appsApi.read>, 'app'> & { app: App };

/** What is kept of an app between visits. */
export interface Kept {
  answer: AppAnswer;
  /** State by skill. */
  contents: Record<string, unknown>;
  rows: [string, Page][];
  /** When it was last true, milliseconds. */
  at: number;
}

const SAVE = 500;

/** Whether the hub has signed this app, as the one of this id. @param isNew it has just come from the hub */
export const isOurs = async (hub: string, id: string, answer: AppAnswer, isNew: boolean): Promise<boolean> =>
  answer.key === `apps/${id}` &&
  answer.app.id === id &&
  (await isHubs(hub, answer, answer.app as unknown as Record<string, unknown>, isNew));

/** Whether what is kept is of who is here now, as far as that is known. */
const isMine = ({ documents }: AppAnswer) => {
  const { mine } = app();
  return mine === null || Object.values(documents).every((key) => key.startsWith(`${mine}/`));
};

/** @param now what is to be kept; undefined while there is nothing */
export function openCopy(hub: string, id: string, now: () => Kept | undefined) {
  const name = `app ${hub} ${id}`;
  let saving: ReturnType<typeof setTimeout> | undefined;
  let closed = false;
  return {
    /** The copy of an earlier visit; undefined where there is none to be believed. */
    async read(): Promise<Kept | undefined> {
      const found = (await read('prefs', name).catch(() => undefined)) as Kept | undefined;
      if (!found || !isMine(found.answer) || found.answer.app.app !== APP_VERSION) return undefined;
      return (await isOurs(hub, id, found.answer, false)) ? found : undefined;
    },
    /** Changes come in bursts; what they come to is written once. */
    saveSoon(): void {
      if (closed) return;
      saving ??= setTimeout(() => {
        saving = undefined;
        const kept = now();
        // What is kept only helps the next visit.
        if (kept) write('prefs', name, kept).catch(() => {});
      }, SAVE);
    },
    erase: (): void => void erase('prefs', name).catch(() => {}),
    close(): void {
      closed = true;
      clearTimeout(saving);
    },
  };
}
