// One tab at a time speaks with the hub: a lock of the browser's, which a tab may take from another.
import { keepSession, type Session, session } from './sid.ts';

const name = 'ingle';
const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel(name);
let holds = false;

type Note =
  | { t: 'ask'; to: string }
  | { t: 'give'; to: string; session: Session }
  | { t: 'who'; to: string }
  | { t: 'here'; to: string };
const me = Math.random().toString(36).slice(2);

/** The page before this one, in this very tab, may take this long to let go, milliseconds. */
const UNLOAD = 3000;

channel?.addEventListener('message', (e: MessageEvent<Note>) => {
  const s = session();
  if (e.data.t === 'who' && holds) channel.postMessage({ t: 'here', to: e.data.to } satisfies Note);
  if (e.data.t === 'ask' && holds && s?.session_jwt)
    channel.postMessage({ t: 'give', to: e.data.to, session: s } satisfies Note);
});

/**
 * Takes the lock; `lost` is called when another tab takes it from us.
 * @param steal take it from whoever has it.
 * @returns false when another tab has it.
 */
export function takeTab(steal: boolean, lost: () => void): Promise<boolean> {
  if (!navigator.locks) return Promise.resolve(true);
  return new Promise((resolve) => {
    // A tab that holds the lock says so at once; a page on its way out says nothing, and its lock comes free.
    const stop = new AbortController();
    const waited = (here: boolean) => {
      clearTimeout(timer);
      channel?.removeEventListener('message', hear);
      resolve(here);
    };
    const hear = (e: MessageEvent<Note>) => {
      if (e.data.t === 'here' && e.data.to === me) stop.abort();
    };
    const timer = setTimeout(() => stop.abort(), UNLOAD);
    stop.signal.addEventListener('abort', () => waited(false));
    if (!steal) {
      channel?.addEventListener('message', hear);
      channel?.postMessage({ t: 'who', to: me } satisfies Note);
    }
    navigator.locks
      .request(name, steal ? { steal: true } : { signal: stop.signal }, () => {
        if (stop.signal.aborted) return undefined;
        waited(true);
        holds = true;
        // Held until the page goes or another tab takes it.
        return new Promise<void>(() => {});
      })
      .catch(() => {
        // A browser that gives no locks here has no way to tell; the hub itself does everything once.
        if (!holds) return stop.signal.aborted || waited(true);
        lost();
        holds = false;
      });
  });
}

/** Asks the tab that has a session for it, so that taking over needs no passkey; false when none answers. */
export function askSession(): Promise<boolean> {
  if (!channel) return Promise.resolve(false);
  return new Promise((resolve) => {
    const end = (got: boolean) => {
      clearTimeout(timer);
      channel.removeEventListener('message', hear);
      resolve(got);
    };
    const timer = setTimeout(() => end(false), 400);
    const hear = (e: MessageEvent<Note>) => {
      if (e.data.t !== 'give' || e.data.to !== me) return;
      keepSession(e.data.session);
      end(true);
    };
    channel.addEventListener('message', hear);
    channel.postMessage({ t: 'ask', to: me } satisfies Note);
  });
}
