// timeout: 300 s
// Scenario apps in real browsers: addresses, history, titles, a page that is not there; edits of two phones without a
// network that come together; an app that wants more than it may.
import type { Browser, Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { House } from '../../services/cli/house/house.ts';
import { dayOf } from '../../services/skills/energy/simulate.ts';
import { check, faults } from '../lab/browser/check.ts';
import { home } from '../lab/browser/home.ts';
import { askHub, at, countKept, online, type Phone, pairByLink, phone, press } from '../lab/browser/phone.ts';
import { until } from '../lab/wait.ts';
import { intruder } from '../scenario-app/intruder.ts';

const test = suite('scenario');
let house: House;
let browser: Browser;
let desk: Phone;
let pocket: Phone;
const rooms = home(test);
test.before(async () => {
  [house, browser, desk] = await rooms.paired({
    house: { installed: [intruder] },
    phone: { size: { width: 1280, height: 800 }, still: true },
  });
  pocket = await phone(browser, { dark: true, still: true });
  await pairByLink(pocket, house, { newPasskey: true });
});

const path = (page: Page) => new URL(page.url()).pathname;
const heading = (page: Page, name: string) =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
const live = (page: Page) => page.locator('[data-page="app"] [data-live="yes"]').waitFor();
async function visit(p: Phone, to: string): Promise<void> {
  await p.page.goto(house.origin + to);
  await at(p.page, 'app');
  await online(p.page);
}
/** Once nothing moves any more: half faded in, a word has half its contrast. */
async function look(page: Page, name: string): Promise<void> {
  await settled(page);
  await page.evaluate(() =>
    Promise.allSettled(document.getAnimations().map((a) => a.finished)).then(() => {}),
  );
  await check(page, name);
}
/** Nothing stands in for what is still to come. */
const settled = (page: Page) => page.waitForFunction(() => !document.querySelector('.bone'));

test('a tap on its icon opens an app at an address of its own, with chart, table and aside, and says what is simulated', async () => {
  const { page } = desk;
  await page.locator('.tile[data-skill="energy"] .open').click();
  await heading(page, 'Today');
  await live(page);
  assert.is(path(page), '/s/energy/');
  assert.is(await page.title(), 'Today · Home energy');
  await page.getByText('Simulated: no meter is connected').waitFor();
  await page.locator('.v-chart').first().waitFor();
  await page.locator('aside').getByText('Share of an average day used today').waitFor();
  await page.getByRole('region', { name: 'Days' }).locator('tbody tr').nth(6).waitFor();
  await look(page, 'scenario-1-energy-desk');
});

test('what draws its chart is kept from its first use on; without it a plain one stands there until the network is back', async () => {
  await visit(desk, '/s/energy/');
  const { page, context } = desk;
  const drawn = page.locator('.v-vega .role-mark path').first();
  await drawn.waitFor();
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
  await page.reload();
  await drawn.waitFor();
  const kept = (forget = false) =>
    page.evaluate(async (away) => {
      let count = 0;
      for (const name of await caches.keys()) {
        const cache = await caches.open(name);
        for (const r of await cache.keys())
          if (r.url.includes('/assets/vega-worker-')) {
            count++;
            if (away) await cache.delete(r);
          }
      }
      return count;
    }, forget);
  await until(async () => (await kept()) === 1, 'what draws charts in the cache');
  await context.setOffline(true);
  await page.reload();
  await heading(page, 'Today');
  await drawn.waitFor();
  await kept(true);
  const devtools = await context.newCDPSession(page);
  await devtools.send('Network.clearBrowserCache');
  await page.reload();
  await page.locator('.v-chart.bars').waitFor();
  assert.is(await page.locator('.v-vega').count(), 0);
  await context.setOffline(false);
  await online(page);
  await drawn.waitFor();
});

test('each page has its address and its title; back, forward and a link lead to it', async () => {
  const { page } = desk;
  const yesterday = dayOf(new Date(Date.now() - 86_400_000));
  await page.getByRole('button', { name: yesterday }).click();
  await heading(page, 'A day');
  assert.is(path(page), `/s/energy/day/${yesterday}`);
  assert.is(await page.title(), 'A day · Home energy');
  await page.getByRole('heading', { name: yesterday }).waitFor();
  await page.getByText('23:00').waitFor();
  assert.ok(await page.evaluate(() => document.activeElement?.tagName === 'H1'), 'the heading has the focus');
  await page.goBack();
  await heading(page, 'Today');
  await page.goForward();
  await heading(page, 'A day');
  await page.reload();
  await heading(page, 'A day');
  await page.getByText('23:00').waitFor();
  await press(page, 'All days');
  await heading(page, 'Today');
  await page.getByRole('link', { name: 'To the desktop' }).click();
  await at(page, 'desktop');
  assert.is(path(page), '/');
  await page.goBack();
  await heading(page, 'Today');
});

test('what is not there says so within the app, with a way on', async () => {
  await visit(desk, '/s/energy/nowhere');
  const { page } = desk;
  await page.getByText('Home energy has no page at this address').waitFor();
  await look(page, 'scenario-2-none-desk');
  await page.getByRole('link', { name: 'To the first page of Home energy' }).click();
  await heading(page, 'Today');
  await visit(desk, '/s/nobody/x');
  await page.getByText('This hub has no app "nobody"').waitFor();
  await page.getByRole('link', { name: 'To the desktop' }).last().click();
  await at(page, 'desktop');
  // A guard that sends nowhere is a page that is not there; one that sends somewhere shows that.
  await visit(desk, '/s/intruder/door');
  await page.getByText('Intruder has no page at this address').waitFor();
  await visit(desk, '/s/intruder/gate');
  await heading(page, 'Home');
  await visit(desk, '/s/intruder/door?id=7');
  await page.getByText('At 7').waitFor();
});

type Named = { name: string; open?: true };
/** What is to buy once the edits of both phones have come together. */
let together: string[] = [];

const put = async (page: Page, name: string) => {
  await page.getByLabel('What is needed').fill(name);
  await press(page, 'Put on the list');
};
const listed = (page: Page) => page.locator('tbody .v-link').allInnerTexts();
const shows = (page: Page, wanted: string[]) =>
  until(async () => (await listed(page)).sort().join() === wanted.join(), `the list: ${wanted.join(', ')}`);
const sent = (page: Page) =>
  until(async () => (await countKept(page, 'ops_outbox')) === 0, 'an empty outbox');

test('an empty list says what to do, and everybody sees what one writes', async () => {
  await visit(pocket, '/s/shopping/');
  await pocket.page.getByText('Everybody at home sees the same list').waitFor();
  await look(pocket.page, 'scenario-3-empty-phone-dark');
  await visit(desk, '/s/shopping/');
  await put(pocket.page, 'Milk');
  await shows(desk.page, ['Milk']);
  await put(pocket.page, 'Eggs');
  await shows(desk.page, ['Eggs', 'Milk']);
  await sent(pocket.page);
});

test('without a network an app opens after a reload, edits show at once, and those of two phones come together', async () => {
  for (const p of [desk, pocket]) {
    await live(p.page);
    await p.page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
    // What it keeps is written a moment after the last change.
    await until(
      () =>
        p.page.evaluate(
          () =>
            new Promise<boolean>((ok) => {
              const r = indexedDB.open('ingle');
              r.onsuccess = () => {
                const all = r.result.transaction('prefs').objectStore('prefs').getAll();
                all.onsuccess = () => {
                  r.result.close();
                  ok(JSON.stringify(all.result).includes('"Eggs"'));
                };
              };
            }),
        ),
      'a list that is kept',
    );
    await p.context.setOffline(true);
    await p.page.locator('[data-link="cut"]').waitFor();
  }
  await pocket.page.getByRole('button', { name: 'Milk', exact: true }).click();
  await shows(pocket.page, ['Eggs']);
  await put(pocket.page, 'Bread');
  await shows(pocket.page, ['Bread', 'Eggs']);
  await put(desk.page, 'bread');
  await put(desk.page, 'Salt');
  await desk.page.getByRole('button', { name: 'Eggs', exact: true }).click();
  await shows(desk.page, ['Milk', 'Salt', 'bread']);
  await pocket.page.reload();
  await heading(pocket.page, 'To buy');
  await shows(pocket.page, ['Bread', 'Eggs']);
  await pocket.page.getByText('changes wait to be sent').waitFor();
  await look(pocket.page, 'scenario-4-offline-phone-dark');
  await pocket.page.getByRole('link', { name: 'In the basket' }).click();
  await shows(pocket.page, ['Milk']);
  await pocket.page.getByRole('link', { name: 'To buy' }).click();

  for (const p of [pocket, desk]) {
    await p.context.setOffline(false);
    await online(p.page);
  }
  await Promise.all([sent(pocket.page), sent(desk.page)]);
  // It is written as the first of the two to arrive has it, and once, whichever that is.
  const { items } = (await (await askHub(house, '/skills/shopping/v1/items')).json()) as { items: Named[] };
  together = items.flatMap(({ name, open }) => (open ? [name] : [])).sort();
  assert.equal(together.map((name) => name.toLowerCase()).sort(), ['bread', 'salt']);
  await shows(pocket.page, together);
  await shows(desk.page, together);
  await look(desk.page, 'scenario-5-list-desk');
  await desk.page.getByRole('link', { name: 'In the basket' }).click();
  await shows(desk.page, ['Eggs', 'Milk']);
  await press(desk.page, 'Empty the basket');
  await desk.page.getByText('The basket is empty').waitFor();
});

test('an app that was never opened here says what it needs, and opens by itself once the hub is there', async () => {
  await pocket.context.setOffline(true);
  await pocket.page.goto(`${house.origin}/s/energy/`);
  await pocket.page.getByText('Not on this device yet').waitFor();
  await look(pocket.page, 'scenario-6-away-phone-dark');
  await pocket.context.setOffline(false);
  await heading(pocket.page, 'Today');
  await live(pocket.page);
  await look(pocket.page, 'scenario-7-energy-phone-dark');
});

test('an app writes in its own part of the view model alone, and a skill leads nowhere but within it', async () => {
  await visit(desk, '/s/intruder/?where=shopping');
  const { page } = desk;
  await heading(page, 'Home');
  await live(page);
  assert.is(await page.locator('.v-note').count(), 3);
  assert.is(await page.getByLabel('Their list').count(), 0);
  for (const name of ['Clear theirs', 'Write by address'])
    assert.is(await page.getByRole('button', { name }).count(), 0, name);
  await page.getByRole('heading', { name: 'Seen: –' }).waitFor();
  await page.getByLabel('Mine').fill('hello');
  await page.getByRole('heading', { name: 'Note: hello' }).waitFor();

  await press(page, 'Show beside');
  const aside = page.getByRole('complementary', { name: 'Place' });
  await aside.getByText('At ../../shopping').waitFor();
  await press(page, 'Show over');
  const dialog = page.getByRole('dialog', { name: 'Place' });
  await dialog.getByText('At ../../shopping').waitFor();
  await look(page, 'scenario-8-areas-desk');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await aside.getByRole('button', { name: 'Close' }).click();
  await aside.waitFor({ state: 'detached' });
  await press(page, 'Move me');
  await heading(page, 'Place');
  assert.is(path(page), '/s/intruder/place/..%2F..%2Fshopping');

  // Elsewhere it takes nobody away.
  await visit(desk, '/s/shopping/');
  await shows(page, together);
  // As early as a person can, and before the page has read what was told earlier.
  await visit(pocket, '/s/intruder/');
  await press(pocket.page, 'Move me');
  await heading(pocket.page, 'Place');
  await page.getByRole('button', { name: 'Open', exact: true }).waitFor();
  assert.is(path(page), '/s/shopping/');
  assert.equal([...desk.errors, ...pocket.errors], []);
});

test('every page reads in Russian too, and is accessible', async () => {
  const { page } = pocket;
  for (const [to, title] of [
    ['/s/shopping/', 'Купить'],
    ['/s/energy/', 'Сегодня'],
  ] as const) {
    await page.evaluate(() => localStorage.setItem('ingle.language', 'ru'));
    await visit(pocket, to);
    await heading(page, title);
    await live(page);
    await look(page, `scenario-9-${to.split('/')[2]}-phone-ru`);
    assert.not.match(await page.locator('main').innerText(), /[A-Za-z]{6,}/);
  }
  assert.equal(faults, []);
});

test.run();
