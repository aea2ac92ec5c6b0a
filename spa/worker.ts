// The page's side of the service worker.
import { set } from './store.ts';

let waiting: ServiceWorker | null = null;

/** The part of Trusted Types (W3C) used here; TypeScript's DOM library has none of it. */
export interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: () => string },
  ): { createScriptURL(url: string): string };
}

let url: string | undefined;
/** The worker's address as the content policy wants it: the only one the policy `ingle` gives out, and gives out once. */
export function workerUrl(): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  const plain = '/sw.js';
  url ??=
    trustedTypes?.createPolicy('ingle', { createScriptURL: () => plain }).createScriptURL(plain) ?? plain;
  return url;
}

/** Registers the worker and says when a newer build waits. */
export function registerWorker(): void {
  const { serviceWorker } = navigator;
  // A page that is not secure has none.
  if (!serviceWorker) return;
  let reloaded = false;
  const had = serviceWorker.controller !== null;
  serviceWorker.addEventListener('controllerchange', () => {
    // The first worker takes control of a page that is already right.
    if (!had || reloaded) return;
    reloaded = true;
    location.reload();
  });
  serviceWorker
    .register(workerUrl(), { updateViaCache: 'none' })
    .then((r) => {
      const ready = (w: ServiceWorker | null) => {
        if (!w || !serviceWorker.controller) return;
        waiting = w;
        set({ update: true });
      };
      ready(r.waiting);
      r.addEventListener('updatefound', () => {
        const w = r.installing;
        w?.addEventListener('statechange', () => w.state === 'installed' && ready(w));
      });
      document.addEventListener('visibilitychange', () => {
        if (!document.hidden) r.update().catch(() => {});
      });
    })
    .catch(() => {});
}

/** Lets the newer build take over; the page reloads by itself. */
export function useUpdate(): void {
  waiting?.postMessage('take over');
}
