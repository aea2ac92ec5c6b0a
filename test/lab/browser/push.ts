// A push service for a page: Chromium without its maker's services has none. All but the subscription is real.
import type { Page, Worker } from 'playwright-core';
import { receiver } from '../pushed.ts';
import { until } from '../wait.ts';

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

/** What pushes to the worker of a hub's notices, wherever the page is by then, and waits until the worker is done. */
export async function pusher(
  page: Page,
  origin: string,
  hubId = '',
): Promise<(data: string) => Promise<void>> {
  const cdp = await page.context().newCDPSession(page);
  const registrationId = await new Promise<string>((ok) => {
    cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const r = registrations.find((r) => r.scopeURL.includes(`/push/${hubId}`));
      if (r) ok(r.registrationId);
    });
    void cdp.send('ServiceWorker.enable');
  });
  const worker = await ofHub(page.context().serviceWorkers(), hubId);
  // A worker asks which windows are seen while it handles a message: one that is slow would see those of later steps.
  await worker.evaluate(`self.handled = 0;
    const { waitUntil } = ExtendableEvent.prototype;
    ExtendableEvent.prototype.waitUntil = function (work) {
      const done = () => { if (this.type === 'push') self.handled++; };
      work.then(done, done);
      return waitUntil.call(this, work);
    };`);
  return async (data) => {
    const before = (await worker.evaluate('self.handled')) as number;
    await cdp.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data });
    await until(
      async () => ((await worker.evaluate('self.handled')) as number) > before,
      'the message handled',
    );
  };
}
