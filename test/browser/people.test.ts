// timeout: 300 s
// Two phones with passkeys of their own: the owner invites, a guest comes in, each has what is theirs, and the owner ends
// it. Then a hub is invited and let go.
import type { Browser, Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { House } from '../../services/cli/house/house.ts';
import { check, faults } from '../lab/browser/check.ts';
import { home } from '../lab/browser/home.ts';
import { lantern } from '../lab/browser/lantern.ts';
import {
  answer,
  approve,
  at,
  online,
  openPage,
  type Phone,
  phone,
  press,
  shot,
} from '../lab/browser/phone.ts';
import { startHouse } from '../lab/house.ts';
import { until } from '../lab/wait.ts';

let house: House;
let browser: Browser;
let owner: Phone;
let guest: Phone;
let attic: House | undefined;
const rooms = home(test);
test.before(async () => {
  [house, browser, owner] = await rooms.paired({
    house: { installed: [lantern], env: { INGLE_SUBNET_HEARTBEAT: '1' } },
    phone: { still: true },
  });
  guest = await phone(browser, { still: true });
});
test.after(async () => {
  await attic?.stop();
});

const win = (page: Page) => page.locator('[data-window="@people"]');
const card = (name: string) => win(owner.page).locator('[data-person]', { hasText: name });
const tiles = (page: Page) =>
  page.locator('.tile').evaluateAll((all) => all.map((x) => (x as HTMLElement).dataset['skill']!));

async function openPeople(): Promise<void> {
  await openPage(owner.page, 'People');
  await win(owner.page).locator('form#invite').waitFor();
}
/** What the page shows of a new invitation. */
async function invited(): Promise<string> {
  const shown = win(owner.page).locator('[data-invitation]');
  await shown.waitFor();
  assert.match((await shown.locator('[data-code]').textContent())!, /^\d{3}-\d{3} \d{3}-\d{3}$/);
  return (await shown.locator('a').getAttribute('href'))!;
}

test('the owner invites somebody from the page of people, by keyboard alone', async () => {
  await openPeople();
  await shot(owner.page, 'people-1-empty');
  const { page } = owner;
  await page.locator('#invite-name').focus();
  await page.keyboard.type('Ann');
  await page.locator('#invite-role').selectOption('guest');
  await page.keyboard.press('Tab');
  await page.locator('#invite-name').press('Enter');
  const link = await invited();
  await shot(page, 'people-2-invitation');
  await card('Ann').getByText('has not come in yet').waitFor();
  await guest.page.goto(link);
  await at(guest.page, 'register');
  await press(guest.page, 'Make a passkey');
  await approve(guest);
  await card('Ann')
    .getByText(/last seen/)
    .waitFor();
  assert.is(
    await win(page).locator('[data-invitation]').count(),
    0,
    'the code is spent and gone from the page',
  );
  await shot(page, 'people-3-came');
});

test('a guest’s desktop has what is for them, an order of their own, and offers nothing of the owner’s', async () => {
  const { page } = guest;
  await page.locator('.tile[data-skill="weather"]').waitFor();
  const theirs = await tiles(page);
  assert.not(
    theirs.some((id) => ['hub_status', 'updates'].includes(id)),
    theirs.join(),
  );
  await press(page, 'Menu');
  await page.locator('.menu').getByRole('button', { name: 'Settings' }).click();
  const settings = page.locator('[data-window="@settings"]');
  await settings.getByText('Appearance').waitFor();
  for (const name of [/^Manage skills/, /^People/, /^Add a phone/])
    assert.is(await settings.getByRole('button', { name }).count(), 0, String(name));
  await page.keyboard.press('Escape');
  await settings.waitFor({ state: 'detached' });
  const last = theirs.at(-1)!;
  await page.locator(`.tile[data-skill="${last}"] .more button`).first().click();
  await press(page, /^Pin/);
  await page.locator(`.tile[data-skill="${last}"] .pin`).waitFor();
  assert.is((await tiles(page))[0], last);
  await owner.page.keyboard.press('Escape');
  // A window closes by a step back in history, which a reload in the middle of it would end.
  await win(owner.page).waitFor({ state: 'detached' });
  await owner.page.reload();
  await online(owner.page);
  assert.is(await owner.page.locator('.tile .pin').count(), 0, 'the owner has pinned nothing');
  assert.ok((await tiles(owner.page)).includes('hub_status'));
  await page.reload();
  await online(page);
  await page.locator(`.tile[data-skill="${last}"] .pin`).waitFor();
  await shot(page, 'people-4-guest');
});

test('after kill -9 of the uplink both are who they were', async () => {
  await house.kill('uplink');
  await Promise.all([online(owner.page), online(guest.page)]);
  assert.not((await tiles(guest.page)).includes('hub_status'));
  assert.ok((await tiles(owner.page)).includes('hub_status'));
});

test('an invitation for somebody else changes nothing in the owner’s browser, which says so', async () => {
  await openPeople();
  await card('Ann').getByRole('button', { name: 'Ann: new code' }).click();
  const link = await invited();
  await owner.page.goto('about:blank');
  await owner.page.goto(link);
  await at(owner.page, 'link');
  await press(owner.page, 'Pair again with this link');
  await at(owner.page, 'register');
  await press(owner.page, 'Use a passkey I already have');
  await press(owner.page, 'Sign in with passkey');
  await at(owner.page, 'taken');
  await shot(owner.page, 'people-5-taken');
  await press(owner.page, 'Back to my hub');
  await at(owner.page, 'desktop');
  await online(owner.page);
  assert.ok((await tiles(owner.page)).includes('hub_status'), 'it is the owner’s as before');
});

test('the owner ends the guest at once, and the guest reads what happened and what to do', async () => {
  await openPeople();
  await card('Ann').getByRole('button', { name: 'Ann: end now' }).click();
  assert.match(await answer(owner.page, true), /What they kept stays/);
  await at(guest.page, 'ended');
  await guest.page.getByText('Your time on this hub is over').waitFor();
  await card('Ann').getByText('time is over').waitFor();
  await shot(guest.page, 'people-6-ended');
  await press(guest.page, 'Try again');
  await at(guest.page, 'ended');
  await card('Ann').getByRole('button', { name: 'Change Ann' }).click();
  await card('Ann').getByLabel('Last day').fill('');
  await card('Ann').getByRole('button', { name: 'Save' }).click();
  await card('Ann').getByText('no end').waitFor();
  await press(guest.page, 'Try again');
  await at(guest.page, 'desktop');
  await online(guest.page);
});

test('who is removed is told to ask for a new invitation', async () => {
  await card('Ann').getByRole('button', { name: 'Remove Ann' }).click();
  assert.match(await answer(owner.page, true), /cannot be undone/);
  await win(owner.page).getByText('You have not invited anybody yet.').waitFor();
  await at(guest.page, 'unknown');
  await guest.page.getByText(/ask the owner of the hub for a new one/).waitFor();
  await guest.page.getByRole('button', { name: 'I have a new invitation' }).waitFor();
  await shot(guest.page, 'people-7-removed');
});

test('a hub is invited by keyboard, comes in under the owner’s eyes, is seen gone, and is let go after a question', async () => {
  const { page } = owner;
  await page.keyboard.press('Escape');
  await openPage(page, 'Hubs');
  const hubs = page.locator('[data-window="@hubs"]');
  await hubs.getByText('There is no other hub yet.').waitFor();
  await check(page, 'hubs-1-alone');
  await hubs.getByRole('button', { name: 'Make a code' }).press('Enter');
  const code = hubs.locator('[data-invitation] [data-code]');
  const command = (await code.textContent())!;
  assert.match(command, /^ingle subnet join \d{3}(-\d{3}){3}$/);
  assert.is(await page.evaluate(() => document.activeElement?.id), 'code-title', 'it is heard');
  await check(page, 'hubs-2-code');
  attic = await startHouse({ root: house.origin, env: { INGLE_NAME: 'Attic' } });
  const uplink = await attic.uplink();
  await uplink.Enrol({});
  await until(async () => (await attic!.status()).uplink.connected, 'the other hub to be connected');
  await uplink.JoinSubnet({ invite: command.split(' ').at(-1)!, confirmed: false });
  const node = (state: string) => hubs.locator(`[data-node][data-state="${state}"]`, { hasText: 'Attic' });
  await node('here').waitFor();
  await code.waitFor({ state: 'detached' });
  await check(page, 'hubs-3-came');
  await attic.stop();
  attic = undefined;
  await node('gone').waitFor();
  await check(page, 'hubs-4-gone');
  const letGo = hubs.getByRole('button', { name: 'Let go: Attic' });
  await letGo.press('Enter');
  const question = hubs.getByRole('alertdialog');
  await question.getByText('it is alone again').waitFor();
  await check(page, 'hubs-5-question');
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });
  await until(() => letGo.evaluate((b) => b === document.activeElement), 'the focus back at its button');
  await letGo.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await node('left').waitFor();
  assert.is(await letGo.count(), 0);
  assert.equal(faults, [], 'axe, thumbs and sideways');
});

test('nothing broke on the way', () => assert.equal([owner.errors, guest.errors], [[], []]));

test.run();
