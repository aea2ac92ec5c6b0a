// A push service for a page: Chromium without its maker's services has none. All but the subscription is real.
import type { Worker } from 'playwright-core';
import { receiver } from '../pushed.ts';

/** A script for the page, whose subscriptions are each a registration's; it counts what is `made` and `gone`. */
export const pushStandIn = (): string => `
    const subscriptions = new Map();
    window.made = 0;
    PushManager.prototype.getSubscription = async function () { return subscriptions.get(this) ?? null; };
    PushManager.prototype.subscribe = async function ({ userVisibleOnly, applicationServerKey }) {
      if (window.refuse || !userVisibleOnly || applicationServerKey[0] !== 4) throw new DOMException('no', 'AbortError');
      window.made++;
      const endpoint = 'https://push.example.org/' + window.made;
      const unsubscribe = async () => { window.gone = (window.gone ?? 0) + 1; return subscriptions.delete(this); };
      const keys = ${JSON.stringify({ p256dh: receiver().p256dh, auth: receiver().auth })};
      const made = { endpoint, options: { applicationServerKey: applicationServerKey.buffer }, toJSON: () => ({ endpoint, keys }), unsubscribe };
      subscriptions.set(this, made);
      return made;
    };
`;

/** The worker of a hub's notices. */
export async function ofHub(workers: readonly Worker[], hubId = ''): Promise<Worker> {
  for (const w of workers)
    if (((await w.evaluate('self.registration.scope')) as string).includes(`/push/${hubId}`)) return w;
  throw new Error('There is no such worker.');
}
