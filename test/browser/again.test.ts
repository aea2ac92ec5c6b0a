// timeout: 300 s
// A pairing link where a hub is known already; a pasted one; and what a browser is called.
import type { Browser } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { House } from '../../services/cli/house/house.ts';
import { home } from '../lab/browser/home.ts';
import { at, online, type Phone, phone, press } from '../lab/browser/phone.ts';

let house: House;
let browser: Browser;
let p: Phone;
const rooms = home(test);
test.before(async () => {
  [house, browser, p] = await rooms.paired();
});

const sid = () =>
  p.page.evaluate(() => JSON.parse(sessionStorage.getItem('ingle.session') ?? '{}').sid as string);
/** A link as it is opened from a message: the page loads anew. */
async function open(link: string): Promise<void> {
  // Of this place, as another one is another process, which may see an older sessionStorage for a moment.
  await p.page.goto(`${house.origin}/icon.svg`);
  await p.page.goto(link);
}
async function back(): Promise<void> {
  await press(p.page, 'Back to my hub');
  await at(p.page, 'desktop');
  await online(p.page);
}

test('a link for the hub one is signed in to says so, spends nothing, and leads back without a touch', async () => {
  const before = await sid();
  const { link } = await house.issueCode();
  await open(link);
  await at(p.page, 'link');
  await p.page.getByText('You are already connected').waitFor();
  await p.passkeys.touch(false);
  await back();
  await p.passkeys.touch(true);
  assert.is(await sid(), before);
  // The link is still good, for another phone.
  const other = await phone(browser);
  await other.page.goto(link);
  await at(other.page, 'login');
  await other.close();
});

test('a used link, an incomplete one and one for another hub each say so, and the session stays', async () => {
  const before = await sid();
  const { link } = await house.issueCode();
  const other = await phone(browser);
  await other.page.goto(link);
  await at(other.page, 'login');
  await other.close();
  await open(link);
  await press(p.page, 'Pair again with this link');
  await p.page.getByText('This link is no longer good').waitFor();
  await p.page.getByText('You are still signed in').waitFor();
  await back();
  await open(link.slice(0, -9));
  await p.page.getByText('This link is not complete').waitFor();
  await back();
  const [head, ...rest] = link.split('.');
  await open([head, rest[0], 'A'.repeat(43), rest[2]].join('.'));
  await p.page.getByText('This link is for another hub').waitFor();
  await press(p.page, 'Open the other hub');
  await p.page.getByText('This link is no longer good').waitFor();
  await back();
  assert.is(await sid(), before);
});

test('who wants to pair again does, and only then the session before ends', async () => {
  const before = await sid();
  await open((await house.issueCode()).link);
  await press(p.page, 'Pair again with this link');
  await at(p.page, 'login');
  assert.is.not(await sid(), before);
  await press(p.page, 'Sign in with passkey');
  // The hub knows this browser, so its own touch is not asked for.
  await at(p.page, 'desktop');
  await online(p.page);
});

test('a signed-out browser that knows its hub has a way back from a link that is used up', async () => {
  await press(p.page, 'Menu');
  await press(p.page, 'Sign out');
  await at(p.page, 'login');
  await open(`${house.origin}/#v1.000000.${'A'.repeat(43)}.${'A'.repeat(43)}`);
  await p.page.getByText('This code does not work').waitFor();
  await press(p.page, 'Back to my hub');
  await at(p.page, 'login');
  await press(p.page, 'Sign in with passkey');
  await at(p.page, 'desktop');
});

for (const part of ['whole', 'fragment', 'bare'] as const)
  test(`a link pasted into the code field is taken as one (${part}), and the browser gets the name its owner gives`, async () => {
    const q = await phone(browser);
    await q.page.goto(house.origin);
    const { link } = await house.issueCode({ newPasskey: true });
    const [, fragment] = link.split('#');
    const text = { whole: `Open this: ${link}\n`, fragment: `#${fragment}`, bare: fragment! }[part];
    await q.page.getByLabel('Code from the hub').fill(text);
    await at(q.page, 'register');
    await press(q.page, 'Make a passkey');
    await at(q.page, 'approve');
    const name = q.page.getByLabel('Name of this browser');
    await q.page.waitForFunction(() => document.querySelector<HTMLInputElement>('#name')!.value !== '');
    assert.match(await name.inputValue(), /^Linux computer, Chrome$/);
    await name.fill(`Kitchen ${part}`);
    await name.press('Enter');
    await at(q.page, 'desktop');
    await online(q.page);
    const { browsers } = await (await house.uplink()).ListBrowsers({});
    assert.ok(browsers.some(({ label }) => label === `Kitchen ${part}`));
    await q.close();
  });

test('a telephone is called by its model', async () => {
  const q = await phone(browser);
  await q.page.addInitScript({
    content: `Object.defineProperty(navigator, 'userAgentData', { value: { getHighEntropyValues: async () => ({ model: 'Pixel 8', platform: 'Android' }) } });`,
  });
  await q.page.goto((await house.issueCode({ newPasskey: true })).link);
  await press(q.page, 'Make a passkey');
  await at(q.page, 'approve');
  await q.page.waitForFunction(
    () => document.querySelector<HTMLInputElement>('#name')!.value === 'Pixel 8, Chrome',
  );
  await q.close();
});

test('nothing broke on the way', () => assert.equal(p.errors, []));

test.run();
