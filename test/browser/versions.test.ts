// timeout: 240 s
// The versions on the page of a scenario: another one is used once it is told what it would set aside, the way back gives
// that back, and what was installed is removed.
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { House } from '../../services/cli/house/house.ts';
import { check, faults, violations } from '../lab/browser/check.ts';
import { home } from '../lab/browser/home.ts';
import { askHub, type Phone, press } from '../lab/browser/phone.ts';
import { until } from '../lab/wait.ts';

let house: House;
let owner: Phone;
const rooms = home(test);
test.before(async () => {
  [house, , owner] = await rooms.paired({ house: {}, phone: { still: true } });
  await askHub(house, '/api/skills/developer', { method: 'POST', body: { on: true } });
  await push('1.0.0', { who: 'world', times: 2 });
  const body = { params: { who: 'Ann', times: 3 } };
  await askHub(house, '/api/scenarios/impl/me/acme.greet', { method: 'PATCH', body });
  await push('2.0.0', { who: 5, times: 2 });
});

async function push(version: string, params: object): Promise<void> {
  const steps = [{ id: 'hello', call: 'io.console.print', args: { text: 'Hello' } }];
  const prototype = { id: 'acme/greet', version, dslVersion: '1', name: 'Greeting', params, steps };
  const r = await askHub(house, '/api/scenarios/push', { method: 'POST', body: { prototype } });
  assert.is(r.status, 200, await r.clone().text());
}
const win = (page: Page) => page.locator('[data-window="@scenarios"]');
const row = (page: Page, version: string) => win(page).locator(`[data-version="${version}"]`);
const isUsed = (page: Page, version: string) => row(page, version).getByText('in use').waitFor();
/** The section in both themes, as axe and a ruler find it. */
async function both(page: Page, name: string, part: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await win(page)
      .locator(part)
      .evaluate((e) => e.scrollIntoView({ block: 'center' }));
    await check(page, `versions-${name}-${colorScheme}`);
    assert.equal(await violations(page), [], name);
  }
}

test('the version before is used by a tap, and its settings are as they were', async () => {
  const { page } = owner;
  await press(page, 'Menu');
  await page.locator('.menu').getByRole('button', { name: 'Scenarios', exact: true }).click();
  await win(page)
    .locator('[data-scenario="acme/greet"]')
    .getByRole('button', { name: /settings/i })
    .first()
    .click();
  await isUsed(page, '2.0.0');
  await row(page, '1.0.0').getByRole('button', { name: 'Use version 1.0.0' }).click();
  await win(page).getByText('Version 1.0.0 is used now.').waitFor();
  await isUsed(page, '1.0.0');
  await until(async () => (await win(page).locator('#params-who').inputValue()) === 'Ann', 'the name');
  await both(page, '1-back', '#versions');
});

test('what a version would set aside is told first, and may be left or taken back', async () => {
  const { page } = owner;
  const use = row(page, '2.0.0').getByRole('button', { name: 'Use version 2.0.0' });
  await use.click();
  const would = win(page).locator('[data-would]');
  await would.getByText('does not fit any more').waitFor();
  assert.match((await would.textContent())!, /everybody: who /);
  await both(page, '2-would', '[data-would]');
  await would.getByRole('button', { name: 'Leave it' }).click();
  await would.waitFor({ state: 'detached' });
  await isUsed(page, '1.0.0');
  await use.focus();
  await page.keyboard.press('Enter');
  await would.getByRole('button', { name: 'Use it even so' }).click();
  await isUsed(page, '2.0.0');
  await win(page).getByRole('button', { name: 'Back to 1.0.0' }).click();
  await isUsed(page, '1.0.0');
  await until(async () => (await win(page).locator('#params-who').inputValue()) === 'Ann', 'the name again');
});

test('what was installed is removed after a question', async () => {
  const { page } = owner;
  await win(page).getByRole('button', { name: 'Remove what was installed' }).click();
  const question = page.getByRole('alertdialog');
  await question.getByText('The scenario goes from the hub').waitFor();
  await question.getByRole('button', { name: 'Remove' }).click();
  await win(page).getByText('This scenario is gone').waitFor();
  const { prototypes } = (await (await askHub(house, '/api/scenarios/prototypes')).json()) as {
    prototypes: { id: string }[];
  };
  assert.not(prototypes.some((p) => p.id === 'acme/greet'));
});

test('nothing broke on the way', () => {
  assert.equal(faults, [], 'axe, thumbs and sideways');
  assert.equal(owner.errors, []);
});

test.run();
