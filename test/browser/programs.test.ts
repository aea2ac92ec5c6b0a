// timeout: 200 s
// Other programs: the owner sees what they could use, lets them, is told how one is set up, and ends it again.
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { House } from '../../services/cli/house/house.ts';
import { check, faults } from '../lab/browser/check.ts';
import { home } from '../lab/browser/home.ts';
import { type Phone, press } from '../lab/browser/phone.ts';

let house: House;
let owner: Phone;
const rooms = home(test);
test.before(async () => {
  [house, , owner] = await rooms.paired({ phone: { still: true } });
});

const part = () => owner.page.getByRole('region', { name: 'Other programs' });
const it = () => part().getByRole('switch', { name: 'Programs may use your skills' });

/** Asks as a program does. */
const call = (url: string, method: string): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'x-service-token': readFileSync(`${house.data}/hub/api/token`, 'utf8').trim() },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method }),
  });
/** What the page says to give a program. */
let url = '';

test('while it is off the owner reads what programs could use, and no address', async () => {
  const { page } = owner;
  await press(page, 'Menu');
  await page.locator('.menu').getByRole('button', { name: 'Settings' }).click();
  await part().locator('[data-action="weather.now"]').getByText('Weather: Tell the weather').waitFor();
  await part()
    .locator('[data-action="shopping.put"]')
    .getByText('Puts a thing on the shopping list')
    .waitFor();
  assert.is(await it().isChecked(), false);
  assert.is(await part().locator('[data-set-up]').count(), 0);
  await part().scrollIntoViewIfNeeded();
  await check(page, 'programs-1-off');
});

test('turned on by keyboard, a program that is set up as the page says lists what the page does', async () => {
  const { page } = owner;
  await it().press('Space');
  await page.getByText('Programs may use your skills now').waitFor();
  url = (await part().locator('[data-url]').textContent())!;
  assert.ok(await it().evaluate((e) => e === document.activeElement), 'the focus stays');
  assert.is(await it().isChecked(), true);
  const { result } = (await (await call(url, 'tools/list')).json()) as {
    result: { tools: { name: string }[] };
  };
  const shown = await part()
    .locator('[data-action]')
    .evaluateAll((all) => all.map((x) => (x as HTMLElement).dataset['action']!));
  assert.equal(
    result.tools.map((t) => t.name),
    shown,
  );
  for (const dark of [false, true]) {
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
    for (const width of [390, 320]) {
      await page.setViewportSize({ width, height: 844 });
      await part()
        .getByRole('heading', { name: 'Other programs' })
        .evaluate((h) => h.scrollIntoView());
      await check(page, `programs-2-on-${dark ? 'dark' : 'light'}-${width}`);
      await part()
        .getByRole('heading', { name: 'Set up' })
        .evaluate((h) => h.scrollIntoView());
      await check(page, `programs-3-set-up-${dark ? 'dark' : 'light'}-${width}`);
    }
  }
});

test('turned off, the next call is refused, and the page shows no address', async () => {
  const { page } = owner;
  await it().press('Space');
  await page.getByText('No program may use your skills any more').waitFor();
  assert.is((await call(url, 'ping')).status, 403);
  await part().locator('[data-set-up]').waitFor({ state: 'detached' });
  assert.equal(faults, [], 'axe, thumbs and sideways');
});

test('what is not known is not told', async () => {
  const { page, context } = owner;
  await page.getByRole('button', { name: 'Close' }).first().click();
  await part().waitFor({ state: 'detached' });
  await context.setOffline(true);
  await page.locator('[data-link="cut"]').waitFor();
  await press(page, 'Menu');
  await page.locator('.menu').getByRole('button', { name: 'Settings' }).click();
  await it().waitFor();
  assert.is(await it().isDisabled(), true);
  assert.is(await part().locator('#programs-hint').innerText(), '');
});

test('nothing broke on the way', () => assert.equal(owner.errors, []));

test.run();
