// timeout: 300 s
// A real browser and the hub's own service straight with each other: what the screen says of it, and what survives what.
import type { Browser } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { House } from '../../services/cli/house/house.ts';
import { home } from '../lab/browser/home.ts';
import { openStatus, type Phone, press } from '../lab/browser/phone.ts';

const at = home(test);
let house: House;
let browser: Browser;
let p: Phone;
test.before(async () => {
  [house, browser, p] = await at.paired({ house: { env: { INGLE_DIRECT: 'on' } } });
});

const pill = (word: RegExp) => p.page.locator('.bar .pill', { hasText: word }).waitFor();

test('the page goes straight to its hub by itself, and the status bar says so', async () => {
  await pill(/^Direct/);
});

test('while root is away the page is there as before, and a press is done at once', async () => {
  const { page } = p;
  await openStatus(page);
  // Root is where the application's parts come from, until the browser keeps them.
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  house.kill('root', 'SIGSTOP');
  try {
    // Nor is the way lost that root could not replace, as long as the hub is only slow.
    house.kill('uplink', 'SIGSTOP');
    await page.locator('[data-link="silent"]').waitFor();
    await press(page, 'Refresh');
    await page.waitForTimeout(2000);
    house.kill('uplink', 'SIGCONT');
    await page.getByText(/Refreshed .*, once/).waitFor();
    await pill(/^Direct/);
  } finally {
    house.kill('root', 'SIGCONT');
  }
});

test('switched off, it goes through root; switched on again, straight', async () => {
  const { page } = p;
  const shut = async () => {
    await page.keyboard.press('Escape');
    await page.locator('.window').waitFor({ state: 'detached' });
  };
  const turn = async (on: boolean) => {
    await shut();
    await press(page, 'Menu');
    await page.locator('.menu').getByRole('button', { name: 'Settings' }).click();
    await page.getByRole('switch', { name: 'Direct where possible' }).setChecked(on);
    await shut();
    await openStatus(page);
  };
  await turn(false);
  await pill(/^Online/);
  await press(page, 'Refresh');
  await page.getByText(/Refreshed .*, 2 times/).waitFor();
  await turn(true);
  await pill(/^Direct/);
});

test('a hub that stands still shows, and is there again when it goes on', async () => {
  const { page } = p;
  house.kill('uplink', 'SIGSTOP');
  await page.locator('[data-link="silent"], [data-link="down"]').waitFor();
  house.kill('uplink', 'SIGCONT');
  await page.locator('[data-link="up"]').waitFor();
  await press(page, 'Refresh');
  await page.getByText(/Refreshed .*, 3 times/).waitFor();
});

test('a hub whose service is killed is found again, through root and then straight', async () => {
  house.kill('uplink');
  await press(p.page, 'Refresh');
  await p.page.getByText(/Refreshed .*, 4 times/).waitFor();
  // The new process alone can have done that, so this is said of its own channel.
  await pill(/^Direct/);
  assert.equal(p.errors, []);
  assert.ok(browser.isConnected());
});

test.run();
