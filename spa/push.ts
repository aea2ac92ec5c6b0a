// Notices of skills on this browser while nobody looks (W3C Push API). The hub seals each for this browser alone.

import { fromBase64url, toBase64url } from '../firmware/protocol/bytes.ts';
import type { Answer } from '../firmware/protocol/endpoint/endpoint.ts';
import type { pushApi } from '../firmware/push/api.ts';
import { reached } from './current.ts';
import { read, write } from './database.ts';
import { failed } from './entrance.ts';
import { hubsHere } from './hubs-here.ts';
import { toAnother } from './leave.ts';
import { session } from './sid.ts';
import { app, type Icon, set, within } from './store.ts';
import { workerUrl } from './worker.ts';

/**
 * `none`: this browser shows none. `denied`: a person has forbidden it in the browser's settings. `broken`: the browser's
 * own push service is not reached.
 */
export type Standing = 'none' | 'denied' | 'broken' | 'off' | 'on';

const path = '/api/push';
const can = 'PushManager' in window && 'Notification' in window && 'serviceWorker' in navigator;
/** Whether they are wanted here, of this hub. */
const wish = () => `push:${session()?.hub_id}`;
/**
 * Each hub has a registration of the worker to itself, as that holds one subscription, for one hub's key (sw.ts). No
 * page lies below its scope.
 */
const scope = () => `/push/${session()?.hub_id}/`;
const isIn = (path: string) => (r: ServiceWorkerRegistration) => new URL(r.scope).pathname === path;
const registrations = async () => (can ? navigator.serviceWorker.getRegistrations() : []);
const own = async () => (await registrations()).find(isIn(scope()));
/** A worker comes after the page with all that it keeps, over whatever network there is; milliseconds. */
const COMING = 30_000;
/** Where none comes there are no notifications. */
const isServed = async () =>
  can &&
  (await within(COMING, navigator.serviceWorker.ready).then(
    () => true,
    () => false,
  ));

const known = async () => (await own())?.pushManager.getSubscription();
const look = () => reached().request<Answer<typeof pushApi.look>>('GET', path);

/** The hub's key that a subscription is for. */
const keyOf = (s: PushSubscription | null | undefined) => {
  const of = s?.options.applicationServerKey;
  return of && toBase64url(new Uint8Array(of));
};

/** Nothing subscribes before its worker is active. */
async function registered(): Promise<ServiceWorkerRegistration> {
  const r = await navigator.serviceWorker.register(workerUrl(), { scope: scope(), updateViaCache: 'none' });
  const worker = r.installing ?? r.waiting;
  if (!r.active && worker)
    await within(
      COMING,
      new Promise<void>((ok) => {
        const look = () => worker.state === 'activated' && ok();
        worker.addEventListener('statechange', look);
        look();
      }),
    );
  return r;
}

/** Before each hub had its own, the page's registration held the subscription of one of them. */
async function endFormer(key: string): Promise<void> {
  const former = await (await registrations()).find(isIn('/'))?.pushManager.getSubscription();
  if (former && keyOf(former) === key) await former.unsubscribe();
}

async function subscription(key: string): Promise<PushSubscription> {
  const { pushManager } = await registered();
  const old = await pushManager.getSubscription();
  if (old && keyOf(old) === key) return old;
  await old?.unsubscribe();
  const made = await pushManager.subscribe({
    userVisibleOnly: true,
    applicationServerKey: fromBase64url(key) as Uint8Array<ArrayBuffer>,
  });
  await endFormer(key);
  return made;
}

/** How it stands at the hub and here. @throws IngleError while the hub is not reached */
export async function standing(): Promise<Standing> {
  if (!(await isServed())) return 'none';
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
  await (await known())?.unsubscribe();
  await reached().request('DELETE', path);
  return 'off';
}

/** Nothing of any hub is shown here from now on, though the hubs may not hear of it before they try. */
export async function silence(): Promise<void> {
  for (const r of await registrations()) await (await r.pushManager.getSubscription())?.unsubscribe();
}

async function showHub(hubId: string): Promise<void> {
  const hub = (await hubsHere()).find((h) => h.hub_id === hubId);
  if (hub) await (await toAnother()).switchTo(hub);
}

let isHeeded = false;
/** @param open shows a skill whose notice is tapped while the application is open (sw.ts) */
export function heedTaps(open: (icons: readonly Icon[]) => void): void {
  if (!can || isHeeded) return;
  isHeeded = true;
  navigator.serviceWorker.addEventListener('message', ({ data, source }) => {
    const { path, hub } = Object(data);
    (source as ServiceWorker | null)?.postMessage('tap heard');
    set({ linked: /^\/(?:#open\.|s\/)([a-z]\w*)/.exec(String(path))?.[1] ?? null });
    // What is another hub's opens once that one is shown.
    if (hub && hub !== session()?.hub_id) void showHub(String(hub)).catch(failed);
    else open(app().icons ?? []);
  });
  // One that came while the page was being loaded.
  void registrations().then((all) => {
    for (const { active } of all) active?.postMessage('any tap?');
  });
}

/** Puts right what a browser has changed by itself, or a new session: a subscription that was wanted here. */
export async function keep(): Promise<void> {
  if (!can || Notification.permission !== 'granted' || !(await read('prefs', wish()))) return;
  if ((await standing()) === 'off') await turnOn();
  await (await own())?.update();
}
