// timeout: 400 s
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { House } from '../../services/cli/house/house.ts';
import { home } from '../lab/browser/home.ts';
import { at, online, openStatus, type Phone, phone, press } from '../lab/browser/phone.ts';
import { until } from '../lab/wait.ts';

let house: House;
let browser: Browser;
let p: Phone;
const rooms = home(test);
test.before(async () => {
  [house, browser, p] = await rooms.paired();
});

/** The chart's words, which hold its newest values. */
const chart = (page: Page) => page.locator('.v-chart desc').first().textContent();
const refreshed = (page: Page) => page.locator('.v-row.end p').textContent();
/** How often the skill has refreshed, by its own words. */
async function timesRefreshed(page: Page): Promise<number> {
  const says = (await refreshed(page)) ?? '';
  if (says === 'Not refreshed yet') return 0;
  const [, once, times] = /, (?:(once)|(\d+) times)$/.exec(says) ?? [];
  assert.ok(once ?? times, says);
  return once ? 1 : Number(times);
}
/** Changes the browser keeps until the hub has done them. */
const waiting = (page: Page) =>
  page.evaluate(
    () =>
      new Promise<number>((ok) => {
        const r = indexedDB.open('ingle');
        r.onsuccess = () => {
          const c = r.result.transaction('ops_outbox').objectStore('ops_outbox').count();
          c.onsuccess = () => ok(c.result);
        };
      }),
  );

async function changes(
  page: Page,
  read: (p: Page) => Promise<string | null>,
  from: string | null,
): Promise<void> {
  for (let i = 0; i < 600; i++) {
    if ((await read(page)) !== from) return;
    await page.waitForTimeout(100);
  }
  assert.unreachable(`still ${from}`);
}

test('opening the hub status shows its numbers and a chart that move, and refresh changes the state', async () => {
  await openStatus(p.page);
  await p.page.getByText('Uptime').waitFor();
  await p.page.locator('.v-chart svg path').first().waitFor();
  await changes(p.page, chart, await chart(p.page));
  const before = await refreshed(p.page);
  await press(p.page, 'Refresh');
  await changes(p.page, refreshed, before);
});

test('the back button closes the window and the focus is where it was', async () => {
  await p.page.goBack();
  await p.page.locator('.window').waitFor({ state: 'detached' });
  await p.page.waitForFunction(() => document.activeElement?.closest('.tile') !== null);
});

/** No person touches the page: it is back by itself, and the clock runs from the death of the process. */
async function survives(name: string): Promise<void> {
  await openStatus(p.page);
  const restarts = (await house.status()).processes.find((x) => x.name === name)!.restarts;
  const was = await chart(p.page);
  house.kill(name);
  const began = Date.now();
  while (
    (await house.status().catch(() => null))?.processes.find((x) => x.name === name)?.restarts === restarts
  )
    await p.page.waitForTimeout(50);
  await online(p.page);
  await p.page.locator('[data-live="yes"]').waitFor();
  await changes(p.page, chart, was);
  console.log(`FIGURE back_after_kill_${name.replace(/\W/g, '_')}_ms ${Date.now() - began}`);
  await p.page.keyboard.press('Escape');
  await p.page.locator('.window').waitFor({ state: 'detached' });
}
for (const name of ['root', 'uplink', 'api', 'skill hub_status'])
  test(`kill -9 of ${name} while a skill is open heals by itself`, () => survives(name));

test('while the hub is away icons stay, opening says why not, and a change is kept and sent later', async () => {
  await house.hold('uplink');
  await p.page.locator('[data-link="offline"]').waitFor();
  await p.page.getByText('What you see is from').waitFor();
  await p.page.locator('.tile[data-skill="hub_status"] .open').click({ force: true });
  await p.page.getByText('cannot open while the hub is not reached').waitFor();
  await p.page
    .getByRole('button', { name: /Options for/ })
    .first()
    .click();
  await press(p.page, /^Pin$/);
  await p.page.getByText('One change waits to be sent').waitFor();
  // A reload loses neither the icons nor the change.
  await p.page.reload();
  await at(p.page, 'desktop');
  await p.page.getByText('One change waits to be sent').waitFor();
  house.release('uplink');
  await online(p.page);
  const token = readFileSync(`${house.data}/hub/api/token`, 'utf8').trim();
  for (let i = 0; ; i++) {
    const answer = await fetch(`${house.api}/v1/icons`, { headers: { 'x-service-token': token } });
    const left = await waiting(p.page);
    if (answer.ok && left === 0) break;
    assert.ok(i < 600, `the change never arrived: ${answer.status}, ${left} wait`);
    await p.page.waitForTimeout(100);
  }
  await p.page.locator('.tile .pin').first().waitFor();
  await p.page.reload();
  await at(p.page, 'desktop');
  await online(p.page);
  await p.page.locator('.tile .pin').first().waitFor();
});

test('a tap that the hub has not answered when it is killed is done, and done once', async () => {
  await openStatus(p.page);
  const { page } = p;
  const before = await timesRefreshed(page);
  await press(page, 'Refresh');
  house.kill('api');
  const counts = async (n: number) => {
    await until(async () => (await timesRefreshed(page)) >= n, `${n} refreshs`);
    await until(async () => (await waiting(page)) === 0, 'an empty outbox');
    assert.is(await timesRefreshed(page), n);
  };
  await counts(before + 1);
  await online(page);
  // A tap after it is done after whatever the first one left behind.
  await press(page, 'Refresh');
  await counts(before + 2);
  await page.keyboard.press('Escape');
});

test('a second tab says the first one is there, takes over without a passkey, and the first says so', async () => {
  const second = await phone(browser, { context: p.context });
  await second.page.goto(house.origin);
  await at(second.page, 'elsewhere');
  await press(second.page, 'Use here');
  await at(second.page, 'desktop');
  await online(second.page);
  await at(p.page, 'elsewhere');
  await press(p.page, 'Use here');
  await at(p.page, 'desktop');
  await online(p.page);
  await at(second.page, 'elsewhere');
  await second.close();
});

/** Notes each WebSocket of a page: whether the application had drawn anything by then, and what told root whose it is. */
const noteSockets = `window.sockets = [];
  window.WebSocket = class extends WebSocket {
    constructor(...of) {
      super(...of);
      this.note = { early: !document.getElementById('app')?.firstChild, said: 0 };
      window.sockets.push(this);
    }
    send(data) {
      if (String(data).startsWith('40')) this.note.said++;
      super.send(data);
    }
  };`;
interface Noted extends WebSocket {
  note: { early: boolean; said: number };
}
const sockets = (page: Page) =>
  page.evaluate(() => (window as unknown as { sockets: Noted[] }).sockets.map((s) => s.note));

test('a visit asks for its socket before the application is there, and a copy of its tab takes nothing away', async () => {
  await p.context.addInitScript(noteSockets);
  await p.page.reload();
  await at(p.page, 'desktop');
  await online(p.page);
  const one = [{ early: true, said: 1 }];
  assert.equal(await sockets(p.page), one);
  const [copy] = await Promise.all([
    p.context.waitForEvent('page'),
    p.page.evaluate(() => void window.open(location.href)),
  ]);
  await at(copy, 'elsewhere');
  assert.equal(await sockets(copy), [{ early: true, said: 0 }], 'root is not told whose it is');
  await until(
    () => copy.evaluate(() => (window as unknown as { sockets: Noted[] }).sockets[0]!.readyState === 3),
    'the end of a socket that nobody has taken up',
  );
  await online(p.page);
  assert.equal(await sockets(p.page), one, 'the tab that was copied has kept its own');
  await copy.close();
});

/**
 * Notes what a page says to root of its handshake: a first message (kind 1) in the greeting, or by itself. A root that is
 * older refuses a greeting with one; one that lies says that the route is bound and passes nothing on.
 */
const meddle = `{
  const is = sessionStorage.getItem('meddle');
  window.begun = { greeted: 0, alone: 0, asked: 0 };
  const Real = WebSocket;
  window.WebSocket = class extends Real {
    send(data) {
      if (typeof data !== 'string' && new Uint8Array(data.buffer ?? data)[0] === 1) window.begun.alone++;
      if (String(data).includes('owner.online')) window.begun.asked++;
      const has = String(data).startsWith('40/owner') && data.includes('"first"');
      if (has) window.begun.greeted++;
      if (has && is === 'older') {
        const no = '44/owner,{"message":"invalid_request","data":{"error":"invalid_request","message":"No."}}';
        setTimeout(() => this.dispatchEvent(new MessageEvent('message', { data: no })));
      } else if (has && is === 'lying') super.send(data.replace(/,"first":\\{[^}]*\\}/, ''));
      else super.send(data);
    }
  };
}`;
type Begun = { greeted: number; alone: number; asked: number };

test('a handshake begins with the greeting, and by itself where root does not pass that on', async () => {
  const { page } = p;
  await page.addInitScript(meddle);
  const visit = async (how: string): Promise<Begun> => {
    await page.evaluate((is) => sessionStorage.setItem('meddle', is), how);
    await page.reload();
    await at(page, 'desktop');
    await online(page);
    await page.locator('.tile .told').first().waitFor();
    return page.evaluate(() => (window as unknown as { begun: Begun }).begun);
  };
  assert.equal(await visit(''), { greeted: 1, alone: 0, asked: 0 });
  const older = await visit('older');
  assert.equal([older.greeted, older.alone], [1, 1]);
  const lying = await visit('lying');
  assert.is(lying.greeted, 1);
  assert.ok(lying.alone > 0);
  await page.evaluate(() => sessionStorage.removeItem('meddle'));
});

test('without a network the shell opens and says how old it is', async () => {
  await p.page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await p.page.reload();
  await at(p.page, 'desktop');
  await online(p.page);
  // What moves under a finger is tapped in the wrong place, or not at all.
  await p.page.addInitScript(`
    window.shifts = [];
    new PerformanceObserver((list) => {
      for (const { sources } of list.getEntries())
        for (const { node } of sources) if (node?.matches?.('.tile, button, a')) window.shifts.push(node.outerHTML);
    }).observe({ type: 'layout-shift', buffered: true });
  `);
  await p.context.setOffline(true);
  await p.page.reload();
  await at(p.page, 'desktop');
  // After a reload Chromium's emulation says of navigator.onLine that there is a network (truth.test.ts has the rest).
  await p.page.locator('[data-link="cut"], [data-link="down"]').waitFor();
  await p.page.getByText('What you see is from').waitFor();
  assert.ok(await p.page.locator('.tile[data-skill="hub_status"]').isVisible());
  await p.context.setOffline(false);
  await online(p.page);
  assert.equal(await p.page.evaluate('window.shifts'), []);
});

test('everything can be reached by keyboard alone', async () => {
  const { page } = p;
  await page.reload();
  await at(page, 'desktop');
  await online(page);
  const focus = async (wanted: string) => {
    for (let i = 0; i < 30; i++) {
      if (await page.evaluate((s) => document.activeElement?.matches(s), wanted)) return;
      await page.keyboard.press('Tab');
    }
    assert.unreachable(`Tab does not reach ${wanted}`);
  };
  await focus('.tile[data-skill="hub_status"] .open');
  await page.keyboard.press('Enter');
  await page.locator('[data-live="yes"]').waitFor();
  // Tab stays inside the window.
  for (let i = 0; i < 12; i++) {
    await page.keyboard.press('Tab');
    assert.ok(await page.evaluate(() => document.activeElement?.closest('.window') !== null));
  }
  await page.keyboard.press('Escape');
  await page.locator('.window').waitFor({ state: 'detached' });
  await focus('.tile .more button');
  // Without a link the entries rest, and the focus stays on their button.
  await online(page);
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement?.closest('.menu') !== null);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Escape');
  await page.locator('.menu').waitFor({ state: 'detached' });
});

test('signing out leaves the hub known and nothing of the session', async () => {
  const { page } = p;
  await press(page, 'Menu');
  await press(page, 'Sign out');
  await at(page, 'login');
  assert.is(await page.evaluate(() => sessionStorage.length), 0);
  await press(page, 'Sign in with passkey');
  await at(page, 'desktop');
});

test('nothing broke on the way', () => assert.equal(p.errors, []));

test.run();
