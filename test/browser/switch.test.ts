// timeout: 300 s
// An owner of several hubs goes from one to another in the application, and what stands in the way says what to do.
import type { Browser } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { windowPath } from '../../firmware/ui/app.ts';
import type { House } from '../../services/cli/house/house.ts';
import { checkOnPhones, faults } from '../lab/browser/check.ts';
import { home } from '../lab/browser/home.ts';
import { approve, at, online, type Phone, pairByLink, phone, press } from '../lab/browser/phone.ts';
import { ofHub, pusher, pushStandIn } from '../lab/browser/push.ts';
import { startHouse } from '../lab/house.ts';
import { until } from '../lab/wait.ts';

let hall: House;
let attic: House;
let browser: Browser;
let owner: Phone;
const rooms = home(test);

/** What the page's session asks of root. */
const askRoot = ({ page }: Phone, method: string, path: string, body?: object): Promise<unknown> =>
  page.evaluate(
    async ([method, path, body]) => {
      const { session_jwt } = JSON.parse(sessionStorage.getItem('ingle.session')!);
      const r = await fetch(path as string, {
        method: method as string,
        headers: { authorization: `Bearer ${session_jwt}`, 'content-type': 'application/json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      if (!r.ok) throw new Error(await r.text());
      return r.json();
    },
    [method, path, body] as const,
  );
const hubId = async (h: House) => (await h.status()).uplink.hub_id;
const sid = () =>
  owner.page.evaluate(() => JSON.parse(sessionStorage.getItem('ingle.session') ?? '{}').sid as string);

test.before(async () => {
  [hall, browser, owner] = await rooms.paired({
    house: { env: { INGLE_NAME: 'Hall' } },
    phone: { still: true },
  });
  await owner.context.addInitScript(pushStandIn());
  await owner.context.grantPermissions(['notifications']);
  attic = await startHouse({ root: hall.origin, env: { INGLE_NAME: 'Attic' } });
  const uplink = await attic.uplink();
  await uplink.Enrol({});
  const seller = await phone(browser);
  await pairByLink(seller, attic);
  await askRoot(seller, 'POST', `/v1/owner/hubs/${await hubId(attic)}/handover`, {});
  const { device_code } = await attic.issueCode();
  await askRoot(owner, 'POST', '/v1/owner/hubs/take', { device_code });
  await seller.close();
  const { changes, ...place } = await until(async () => {
    const offered = await uplink.Offered({});
    return offered.changes.length > 0 && offered;
  }, 'the place to be offered');
  await uplink.Adopt(place);
  await until(async () => (await attic.status()).uplink.connected, 'the hub to be back');
});
test.after(async () => {
  await attic?.stop();
});

const list = () => owner.page.getByRole('region', { name: 'Your hubs' });
const to = (name: string) => list().getByRole('button', { name });
async function settings(): Promise<void> {
  await press(owner.page, 'Menu');
  await owner.page.locator('.menu').getByRole('button', { name: 'Settings' }).click();
  await list().waitFor();
}
const shows = async (name: string) => {
  await at(owner.page, 'desktop');
  await online(owner.page);
  await owner.page.locator('.bar').getByText(name).waitFor();
};

test('a hub of the owner that this browser is not paired with says how it is', async () => {
  await settings();
  await list()
    .locator(`[data-hub="${await hubId(attic)}"]`)
    .getByText('npx ingle login')
    .waitFor();
  assert.is(await list().getByRole('button').count(), 0);
  await checkOnPhones(owner.page, 'switch-1-unpaired');
});

test('who signs in again comes to the hub this browser knows, though root leads to the newest one', async () => {
  const { page } = owner;
  await page.keyboard.press('Escape');
  await press(page, 'Menu');
  await press(page, 'Sign out');
  await at(page, 'login');
  await press(page, 'Sign in with passkey');
  await shows('Hall');
});

/** Root answers nothing more from its next order to lead to a hub on, until what is given back is called. */
async function silence({ page }: Phone): Promise<() => Promise<void>> {
  await page.route('**/pairing/offer', (r) => {
    if (r.request().postDataJSON().hub_id) hall.kill('root', 'SIGSTOP');
    return r.continue();
  });
  return async () => {
    hall.kill('root', 'SIGCONT');
    await page.unroute('**/pairing/offer');
  };
}

test('where root falls silent on that way, the sign-in says so and the next one comes home', async () => {
  const { page } = owner;
  await press(page, 'Menu');
  await press(page, 'Sign out');
  await at(page, 'login');
  const end = await silence(owner);
  await press(page, 'Sign in with passkey');
  await page.getByRole('alert').getByText('No answer. Try again').waitFor();
  await at(page, 'login');
  await checkOnPhones(page, 'switch-0-silent');
  await end();
  await press(page, 'Sign in with passkey');
  await shows('Hall');
});

test('once paired with both, a tap shows the other hub and a key the first again, without a touch and in one session', async () => {
  const { page } = owner;
  await page.goto(`${hall.origin}/icon.svg`);
  await page.goto((await attic.issueCode()).link);
  await at(page, 'link');
  await press(page, 'Open the other hub');
  await at(page, 'login');
  await press(page, 'Sign in with passkey');
  await approve(owner);
  const before = await sid();
  await owner.passkeys.touch(false);
  await settings();
  await list()
    .getByRole('button', { name: /Hall.*Online/ })
    .waitFor();
  assert.match(await list().locator('[aria-current]').innerText(), /Attic[\s\S]*shown here/);
  await checkOnPhones(owner.page, 'switch-2-both');
  await to('Hall').click();
  await shows('Hall');
  assert.is(await page.locator('[data-window]').count(), 0);
  assert.is(await page.getByText('did not do that').count(), 0);
  await page.reload();
  await shows('Hall');
  await settings();
  await to('Attic').press('Enter');
  await shows('Attic');
  assert.is(await sid(), before);
});

test('each of both hubs notifies this browser and is named, and a tap shows the hub that has spoken', async () => {
  const { page, context } = owner;
  const hubs = { Attic: await hubId(attic), Hall: await hubId(hall) };
  for (const name of ['Attic', 'Hall'] as const) {
    await settings();
    if (name === 'Hall') {
      await to(name).click();
      await shows(name);
      await settings();
    }
    const it = owner.page.getByRole('switch', { name: 'Show them on this device' });
    await it.click();
    await page.getByText('Only your hub can write it').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('[data-window]').waitFor({ state: 'detached' });
  }
  assert.equal(await page.evaluate('[window.made, window.gone ?? 0]'), [2, 0], 'the first is not given up');
  const deliver = [await pusher(page, hall.origin, hubs.Attic), await pusher(page, hall.origin, hubs.Hall)];
  await page.goto('about:blank');
  const data = JSON.stringify({
    ...{ title: 'Weather', body: 'Frost', tag: 'weather:frost' },
    ...{ path: windowPath('weather'), language: 'en' },
  });
  for (const push of deliver) await push(data);
  await page.goto(hall.origin);
  await shows('Hall');
  const shown = () =>
    page.evaluate(async () => {
      const all = await navigator.serviceWorker.getRegistrations();
      const told = await Promise.all(all.map((r) => r.getNotifications()));
      return told.flatMap((some) => some.map((n) => n.title)).sort();
    });
  await until(async () => (await shown()).length === 2, 'a notification of each');
  assert.equal(await shown(), ['Weather · Attic', 'Weather · Hall']);
  const worker = await ofHub(context.serviceWorkers(), hubs.Attic);
  await worker.evaluate(`ExtendableEvent.prototype.waitUntil = () => {}; self.registration.getNotifications().then(([notification]) =>
    self.dispatchEvent(new NotificationEvent('notificationclick', { notification })))`);
  await shows('Attic');
  await page.locator('[data-window="weather"]').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('[data-window]').waitFor({ state: 'detached' });
  assert.equal(await shown(), ['Weather · Hall']);
});

test('a hub that is away is told as away, shows what is kept, and the way back is the same', async () => {
  const { page } = owner;
  await settings();
  await to('Hall').click();
  await shows('Hall');
  await attic.hold('uplink');
  await settings();
  await until(
    () =>
      to('Attic')
        .innerText()
        .then((said) => said.includes('Away')),
    'it to be told as away',
  );
  await checkOnPhones(owner.page, 'switch-3-away');
  await to('Attic').click();
  await page.locator('[data-link="offline"]').waitFor();
  await page.locator('.bar').getByText('Attic').waitFor();
  await settings();
  await to('Hall').click();
  await shows('Hall');
  attic.release('uplink');
});

test('where root leads no more to a hub, that is told and the one before is shown again', async () => {
  const { page } = owner;
  await page.route('**/pairing/offer', async (r) => {
    if (!r.request().postDataJSON().hub_id) return r.continue();
    await r.fulfill({ status: 404, json: { error: 'not_found', message: 'gone' } });
  });
  await settings();
  await to('Attic').click();
  await page.getByText('not reached on its own any more').waitFor();
  await shows('Hall');
  await page.unroute('**/pairing/offer');
});

test('an answer of root that is lost leaves nobody between two hubs', async () => {
  const { page } = owner;
  let lost = 0;
  await page.route('**/pairing/offer', async (r) => {
    if (!r.request().postDataJSON().hub_id || lost++ > 0) return r.continue();
    await r.fetch();
    await r.abort();
  });
  await settings();
  await to('Attic').click();
  await shows('Attic');
  assert.ok(lost > 1);
  await page.unroute('**/pairing/offer');
});

test('where root falls silent on the way to a hub, that is told, and leaving it waits for nothing', async () => {
  const { page } = owner;
  await settings();
  const end = await silence(owner);
  await to('Hall').click();
  await page.getByText('The service between this device and your hub does not answer').waitFor();
  await checkOnPhones(page, 'switch-5-silent');
  const over: string[] = [];
  for (const how of ['requestfinished', 'requestfailed'] as const)
    page.on(how as 'requestfinished', (r) => over.push(new URL(r.url()).pathname));
  await press(page, 'Cancel');
  await at(page, 'login');
  assert.not(over.includes('/v1/owner/logout'), 'root is not waited for');
  await end();
  await owner.passkeys.touch(true);
  await press(page, 'Sign in with passkey');
  await at(page, 'desktop');
  await online(page);
});

test('a hub of another account is shown after its passkey, at the sign-in that names it', async () => {
  const { page } = owner;
  await page.evaluate(
    () =>
      new Promise<void>((ok) => {
        const r = indexedDB.open('ingle');
        r.onsuccess = () => {
          const hubs = r.result.transaction('hubs', 'readwrite').objectStore('hubs');
          hubs.getAll().onsuccess = (e) => {
            const [pin] = (e.target as IDBRequest<object[]>).result;
            const put = hubs.put({ ...pin, hub_id: 'hub_shed', name: 'Shed', paired: 1 }, 'hub_shed');
            put.onsuccess = () => ok();
          };
        };
      }),
  );
  await settings();
  await to('Shed').getByText('asks for its passkey').waitFor();
  await checkOnPhones(owner.page, 'switch-4-other');
  await to('Shed').click();
  await at(page, 'login');
  await page.getByText('Shed').first().waitFor();
});

test('nothing broke on the way', () => {
  assert.equal(faults, [], 'axe, thumbs and sideways');
  assert.equal(owner.errors, []);
});

test.run();
