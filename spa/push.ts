// Notices of skills on this browser while nobody looks (W3C Push API). The hub seals each for this browser alone.

import { fromBase64url, toBase64url } from '../firmware/protocol/bytes.ts';
import type { Answer } from '../firmware/protocol/endpoint/endpoint.ts';
import type { pushApi } from '../firmware/push/api.ts';
import { reached } from './current.ts';
import { read, write } from './database.ts';
import { session } from './sid.ts';
import { app, type Icon, set, within } from './store.ts';

/**
 * `none`: this browser shows none. `denied`: a person has forbidden it in the browser's settings. `broken`: the browser's
 * own push service is not reached.
 */
export type Standing = 'none' | 'denied' | 'broken' | 'off' | 'on';

const path = '/api/push';
const can = 'PushManager' in window && 'Notification' in window && 'serviceWorker' in navigator;
/** Whether they are wanted here, of this hub. */
const wish = () => `push:${session()?.hub_id}`;
/** The worker comes a moment after the page; where it does not, there are none. */
const registration = () =>
  can ? within(8000, navigator.serviceWorker.ready).catch(() => undefined) : undefined;

const known = async () => (await registration())?.pushManager.getSubscription();
const look = () => reached().request<Answer<typeof pushApi.look>>('GET', path);

/** The hub's key that a subscription is for. */
const keyOf = (s: PushSubscription | null | undefined) => {
  const of = s?.options.applicationServerKey;
  return of && toBase64url(new Uint8Array(of));
};

/** A browser has one subscription, for one hub's key. */
async function subscription(key: string): Promise<PushSubscription | undefined> {
  const r = await registration();
  const old = await r?.pushManager.getSubscription();
  if (old && keyOf(old) === key) return old;
  await old?.unsubscribe();
  return r?.pushManager.subscribe({
    userVisibleOnly: true,
    applicationServerKey: fromBase64url(key) as Uint8Array<ArrayBuffer>,
  });
}

/** How it stands at the hub and here. @throws IngleError while the hub is not reached */
export async function standing(): Promise<Standing> {
  if (!(await registration())) return 'none';
  if (Notification.permission === 'denied') return 'denied';
  const [{ endpoint, key }, here] = await Promise.all([look(), known()]);
  return endpoint !== null && endpoint === here?.endpoint && keyOf(here) === key ? 'on' : 'off';
}

/** Asks the person, then the browser, and tells the hub. @throws IngleError */
export async function turnOn(): Promise<Standing> {
  if ((await Notification.requestPermission()) !== 'granted') return 'denied';
  const { key } = await look();
  const made = await subscription(key).catch(() => undefined);
  if (!made) return 'broken';
  const { endpoint, keys } = made.toJSON();
  await reached().request('PUT', path, { endpoint, keys, language: app().language });
  await write('prefs', wish(), true);
  return 'on';
}

/** @throws IngleError */
export async function turnOff(): Promise<Standing> {
  await write('prefs', wish(), false);
  await silence();
  await reached().request('DELETE', path);
  return 'off';
}

/** Nothing is shown here from now on, though the hub may not hear of it before it tries. */
export async function silence(): Promise<void> {
  await (await known())?.unsubscribe();
}

let isHeeded = false;
/** @param open shows a skill whose notice is tapped while the application is open (sw.ts) */
export function heedTaps(open: (icons: readonly Icon[]) => void): void {
  if (!can || isHeeded) return;
  isHeeded = true;
  navigator.serviceWorker.addEventListener('message', ({ data }) => {
    set({ linked: /^\/(?:#open\.|s\/)([a-z]\w*)/.exec(String(Object(data).path))?.[1] ?? null });
    open(app().icons ?? []);
  });
}

/** Puts right what a browser has changed by itself, or a new session: a subscription that was wanted here. */
export async function keep(): Promise<void> {
  if (!can || Notification.permission !== 'granted' || !(await read('prefs', wish()))) return;
  if ((await standing()) === 'off') await turnOn();
}
