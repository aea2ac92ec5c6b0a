// timeout: 300 s
// Groups of icons by hand, key and touch, seen on a second phone at once; and what a desktop document does to a screen.
import type { Browser, Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { defaultScenario } from '../../firmware/desktop/default.ts';
import type { House } from '../../services/cli/house/house.ts';
import { home } from '../lab/browser/home.ts';
import {
  askHub,
  at,
  countKept,
  online,
  openStatus,
  type Phone,
  pairByLink,
  phone,
  press,
  shot,
} from '../lab/browser/phone.ts';
import { until } from '../lab/wait.ts';
import { readDescription, sizes, styles } from '../size.ts';

let house: House;
let browser: Browser;
let desk: Phone;
let pocket: Phone;
const rooms = home(test);
test.before(async () => {
  [house, browser, desk] = await rooms.paired({ phone: { size: { width: 1280, height: 800 }, still: true } });
  pocket = await phone(browser, { dark: true, still: true });
  await pairByLink(pocket, house, { newPasskey: true });
});

const tile = (page: Page, id: string) => page.locator(`.tile[data-skill="${id}"]`);
const group = (page: Page, name: string) => page.locator(`.group[data-group="${name}"]`);
const isOpen = (page: Page, name: string) => group(page, name).locator('> .open[aria-expanded="true"]');
/** The members of a group that is open. */
const members = (page: Page, name: string) =>
  group(page, name)
    .locator('[data-skill]')
    .evaluateAll((all) => all.map((e) => (e as HTMLElement).dataset['skill']!));
async function choose(page: Page, id: string, word: string): Promise<void> {
  await tile(page, id).locator('.more button').first().click();
  await tile(page, id).getByRole('button', { name: word, exact: true }).click();
}
const sent = (page: Page) =>
  until(async () => (await countKept(page, 'ops_outbox')) === 0, 'an empty outbox');
const set = async (change: object) => {
  const { etag } = (await (await askHub(house, '/api/desktop')).json()) as { etag: string };
  const r = await askHub(house, '/api/desktop', {
    method: 'PUT',
    body: { document: { ...defaultScenario, ...change }, etag },
  });
  assert.is(r.status, 200);
};

test('until a skill is live nothing is loaded that the budget does not count', async () => {
  const d = readDescription();
  const counted = sizes(d).counted;
  const { page } = desk;
  await openStatus(page);
  const loaded = await page.evaluate(() =>
    performance.getEntriesByType('resource').map((e) => new URL(e.name).pathname.slice(1)),
  );
  const scripts = loaded.filter((path) => d.chunks[path]);
  const sheets = loaded.filter((path) => path.endsWith('.css'));
  assert.ok(scripts.length > 5 && sheets.length > 0, loaded.join(' '));
  assert.equal(
    scripts.filter((path) => !counted.includes(path)),
    [],
  );
  assert.equal(
    sheets.filter((path) => !styles(d, counted).includes(path)),
    [],
  );
  await page.keyboard.press('Escape');
  await page.locator('.window').waitFor({ state: 'detached' });
});

test('a group is made by touch, named, and stands on another phone at once', async () => {
  const { page } = pocket;
  await choose(page, 'weather', 'New group');
  await isOpen(page, 'New group').waitFor();
  await page.getByText('Weather is now in New group.').waitFor();
  await page.getByLabel('Name of the group').fill('Home');
  await page.keyboard.press('Enter');
  await isOpen(page, 'Home').waitFor();
  await choose(page, 'updates', 'Into Home');
  await tile(page, 'updates').and(page.locator('.group [data-skill]')).waitFor();
  await group(desk.page, 'Home').waitFor();
  await group(desk.page, 'Home').getByText('group with 2 skills').waitFor({ state: 'attached' });
  await shot(page, 'group-open-dark');
});

test('it is opened, filled and left by keys alone, and the focus is never lost', async () => {
  const { page } = desk;
  await group(page, 'Home').locator('> .open').focus();
  await page.keyboard.press('Enter');
  await isOpen(page, 'Home').waitFor();
  assert.equal(await members(page, 'Home'), ['weather', 'updates']);
  const byKeys = async (id: string, words: string) => {
    await tile(page, id).locator('.more button').first().focus();
    await page.keyboard.press('Enter');
    await tile(page, id).getByRole('button', { name: words, exact: true }).waitFor();
    for (let i = 0; (await page.evaluate(() => document.activeElement?.textContent)) !== words; i++) {
      assert.ok(i < 20, `no entry ${words}`);
      await page.keyboard.press('ArrowDown');
    }
    await page.keyboard.press('Enter');
  };
  const focusOn = (id: string) =>
    page.waitForFunction((s) => document.activeElement?.closest(`[data-skill="${s}"]`) !== null, id);
  await byKeys('updates', 'Move forward');
  await page.getByText('is now number 1 of 2').waitFor();
  await focusOn('updates');
  assert.equal(await members(page, 'Home'), ['updates', 'weather']);
  await byKeys('hub_status', 'Into Home');
  await until(async () => (await members(page, 'Home')).length === 3, 'three in the group');
  await focusOn('hub_status');
  await byKeys('hub_status', 'Take out of the group');
  await until(async () => (await members(page, 'Home')).length === 2, 'two in the group');
  await focusOn('hub_status');
  await tile(page, 'updates').locator('.open').focus();
  await page.keyboard.press('Escape');
  await isOpen(page, 'Home').waitFor({ state: 'detached' });
  await page.waitForFunction(() => document.activeElement?.closest('[data-group="Home"]') !== null);
  await shot(page, 'group-closed-light');
});

test('an icon is dragged into it and out of it, and the other phone follows over kill -9 of the API', async () => {
  const { page } = desk;
  await tile(page, 'hub_status').dragTo(group(page, 'Home'));
  await page.getByText('is now in Home').waitFor();
  await group(pocket.page, 'Home').getByText('group with 3 skills').waitFor({ state: 'attached' });
  house.kill('api');
  await group(page, 'Home').locator('> .open').click();
  await isOpen(page, 'Home').waitFor();
  /** How many are in the group, whenever that may have changed. */
  const counts = await page.evaluateHandle(() => {
    const all: number[] = [];
    new MutationObserver(
      () => void all.push(document.querySelectorAll('[data-group="Home"] [data-skill]').length),
    ).observe(document.body, { childList: true, subtree: true });
    return all;
  });
  await choose(page, 'hub_status', 'Take out of the group');
  await online(page);
  await sent(page);
  await group(pocket.page, 'Home').getByText('group with 2 skills').waitFor({ state: 'attached' });
  await shot(page, 'group-open-light');
  const seen = await counts.jsonValue();
  const taken = seen.indexOf(2);
  assert.ok(taken >= 0);
  assert.not(seen.slice(taken).includes(3), 'what was taken out does not come back for a moment');
});

test('the last change is taken back, by the word that told it and by the menu', async () => {
  const { page } = desk;
  await group(page, 'Home').locator('> .more button').first().click();
  await press(page, 'Ungroup');
  await group(page, 'Home').waitFor({ state: 'detached' });
  await group(pocket.page, 'Home').waitFor({ state: 'detached' });
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
  await group(page, 'Home').waitFor();
  await group(pocket.page, 'Home').waitFor();
  await press(page, 'Menu');
  await page.locator('.menu').getByRole('button', { name: 'Undo' }).click();
  await group(page, 'Home').waitFor({ state: 'detached' });
  await press(page, 'Menu');
  await page.locator('.menu').getByRole('button', { name: 'Undo' }).click();
  await group(page, 'Home').waitFor();
  await sent(page);
});

test('a group that is made while the hub is away is kept over a reload, and sent', async () => {
  const { page } = pocket;
  await house.hold('uplink');
  await page.locator('[data-link="offline"]').waitFor();
  await choose(page, 'hub_status', 'New group');
  await isOpen(page, 'New group').waitFor();
  await page.reload();
  await at(page, 'desktop');
  await group(page, 'New group').waitFor();
  house.release('uplink');
  await online(page);
  await sent(page);
  await group(desk.page, 'New group').waitFor();
  assert.ok(await group(page, 'New group').isVisible(), 'what the hub tells is what was made');
});

const columns = (page: Page) =>
  page
    .locator('.desk main > .grid')
    .evaluate((e) => getComputedStyle(e).gridTemplateColumns.split(' ').length);

test('another desktop document shows at once: columns, gaps, no bar, fewer skills', async () => {
  const [wide, narrow] = [await columns(desk.page), await columns(pocket.page)];
  // Two rows on a desk, and two tiles in each row of a phone.
  assert.equal([wide, narrow], [3, 2]);
  await set({
    layout: { grid: { cols: 2, gap: 30, padding: 40 }, statusBar: false },
    policy: { allowSkills: ['hub_status', 'weather'], ownerOnlySkills: [] },
  });
  for (const { page } of [desk, pocket]) {
    await tile(page, 'updates').waitFor({ state: 'detached' });
    await page.locator('.bar').waitFor({ state: 'detached' });
    assert.is(await columns(page), 2);
    await page.getByRole('button', { name: 'Menu', exact: true }).waitFor();
  }
  await shot(pocket.page, 'barless-dark');
  // Twelve columns are as many as fit on a phone.
  await set({ layout: { grid: { cols: 12, gap: 0, padding: 0 }, statusBar: true } });
  await pocket.page.locator('.bar').waitFor();
  assert.is(await columns(pocket.page), 2);
  assert.is(
    await pocket.page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
    0,
    'nothing sticks out',
  );
});

test('without the bar it is still told that the hub is away, and the look is kept', async () => {
  const { page } = pocket;
  await set({ layout: { grid: { cols: 2, gap: 8, padding: 20 }, statusBar: false } });
  await page.locator('.bar').waitFor({ state: 'detached' });
  await house.hold('uplink');
  await page.getByText('The hub is not connected').waitFor();
  await page.reload();
  await at(page, 'desktop');
  await page.getByText('What you see is from').waitFor();
  assert.equal([await columns(page), await page.locator('.bar').count()], [2, 0]);
  house.release('uplink');
  await page.locator('.banner').waitFor({ state: 'detached' });
  await askHub(house, '/api/desktop', { method: 'DELETE' });
  await page.locator('.bar').waitFor();
});

test('nothing broke on the way', () => assert.equal([...desk.errors, ...pocket.errors], []));

test.run();
