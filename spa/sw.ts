// The service worker: keeps the shell of one build, so that the application opens without a network.
declare const INGLE_PRECACHE: string[];
declare const INGLE_BUILD: string;

// The DOM's types and a worker's cannot be in one program; this is what is used of the latter.
interface Extendable extends Event {
  waitUntil(p: Promise<unknown>): void;
}
interface FetchLike extends Extendable {
  request: Request;
  respondWith(r: Promise<Response>): void;
}
/** What the hub has sealed for this browser (firmware/push/message.ts). */
interface Pushed extends Extendable {
  data: { json(): unknown } | null;
}
interface Clicked extends Extendable {
  notification: { close(): void; data: unknown };
}
interface Client {
  visibilityState: 'visible' | 'hidden';
  postMessage(m: unknown): void;
  focus(): Promise<unknown>;
}
const worker = globalThis as unknown as {
  addEventListener(type: 'install' | 'activate', f: (e: Extendable) => void): void;
  addEventListener(type: 'fetch', f: (e: FetchLike) => void): void;
  addEventListener(type: 'message', f: (e: MessageEvent) => void): void;
  skipWaiting(): Promise<void>;
  addEventListener(type: 'push', f: (e: Pushed) => void): void;
  addEventListener(type: 'notificationclick', f: (e: Clicked) => void): void;
  clients: {
    claim(): Promise<void>;
    matchAll(of: { type: 'window'; includeUncontrolled: true }): Promise<Client[]>;
    openWindow(path: string): Promise<unknown>;
  };
  registration: { scope: string; showNotification(title: string, options: object): Promise<void> };
};
const cacheName = `ingle-${INGLE_BUILD}`;
/** The hub whose notices this worker shows, if that is all it is there for (push.ts). */
const hubId = /^\/push\/([\w-]+)\/$/.exec(new URL(worker.registration.scope).pathname)?.[1];

worker.addEventListener('install', (e) => {
  if (hubId) return e.waitUntil(worker.skipWaiting());
  e.waitUntil(
    caches
      .open(cacheName)
      .then((c) => c.addAll(INGLE_PRECACHE.map((path) => new Request(path, { cache: 'reload' })))),
  );
});

worker.addEventListener('activate', (e) => {
  // The shell is the page's worker's to keep and to let go.
  if (hubId) return;
  e.waitUntil(
    (async () => {
      for (const name of await caches.keys())
        if (name.startsWith('ingle-') && name !== cacheName) await caches.delete(name);
      await worker.clients.claim();
    })(),
  );
});

/** A tap that the page has not heard yet: one that is still being loaded hears nothing (push.ts). */
let tap: { path: string; hub: string | undefined } | undefined;

worker.addEventListener('message', (e) => {
  if (e.data === 'take over') void worker.skipWaiting();
  if (e.data === 'tap heard') tap = undefined;
  if (e.data === 'any tap?' && tap) e.source?.postMessage(tap);
});

worker.addEventListener('fetch', (e) => {
  const url = new URL(e.request.url);
  if (e.request.method !== 'GET' || url.origin !== location.origin) return;
  const path = e.request.mode === 'navigate' ? '/' : url.pathname;
  // Addresses of scenario apps are the application's as well.
  if (e.request.mode === 'navigate' && !/^\/(s\/.*)?$/.test(url.pathname)) return;
  // What has a hash in its name and was not brought at first is kept from its first use on.
  const isLate = path.startsWith('/assets/');
  if (!isLate && !INGLE_PRECACHE.includes(path)) return;
  e.respondWith(
    caches.open(cacheName).then(async (c) => {
      const hit = await c.match(path);
      if (hit) return hit;
      const r = await fetch(e.request);
      if (isLate && r.ok) e.waitUntil(c.put(path, r.clone()).catch(() => {}));
      return r;
    }),
  );
});

const windows = () => worker.clients.matchAll({ type: 'window', includeUncontrolled: true });

/** What the hub is called, where this browser knows more than one; '' else. */
function hubName(): Promise<string> {
  return new Promise((ok) => {
    const r = indexedDB.open('ingle');
    // A database that is not there is not this worker's to make.
    r.onupgradeneeded = () => r.transaction?.abort();
    r.onerror = () => ok('');
    r.onsuccess = () => {
      const db = r.result;
      const all = db.transaction('hubs').objectStore('hubs').getAll();
      all.onerror = () => ok('');
      all.onsuccess = () => {
        db.close();
        const hubs = all.result as { hub_id: string; name: string }[];
        ok((hubs.length > 1 && hubs.find((h) => h.hub_id === hubId)?.name) || '');
      };
    };
  });
}

worker.addEventListener('push', (e) => {
  e.waitUntil(
    (async () => {
      const { title, body, tag, path, language } = (e.data?.json() ?? {}) as Record<string, string>;
      // Who looks at the application sees it there.
      if (!title || (await windows()).some((w) => w.visibilityState === 'visible')) return;
      const name = hubId ? await hubName() : '';
      await worker.registration.showNotification(name ? `${title} · ${name}` : title, {
        // Tags are one list for all hubs of an origin.
        ...{ body, tag: tag && hubId ? `${hubId} ${tag}` : tag, lang: language },
        ...{ icon: '/icon-192.png', data: path },
        ...(tag ? { renotify: true } : {}),
      });
    })(),
  );
});

worker.addEventListener('notificationclick', (e) => {
  e.notification.close();
  const path = String(e.notification.data ?? '/');
  e.waitUntil(
    (async () => {
      const [open] = await windows();
      if (!open) return worker.clients.openWindow(path);
      // A second window would only say that the application is open elsewhere; this one goes there (push.ts).
      tap = { path, hub: hubId };
      open.postMessage(tap);
      return open.focus();
    })(),
  );
});
