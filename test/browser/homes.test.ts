// timeout: 300 s
// A hub of an owner's joins another home by its code, typed in its own application, and leaves that home there again.
import type { Browser } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { House } from '../../services/cli/house/house.ts';
import { checkOnPhones, faults } from '../lab/browser/check.ts';
import { home } from '../lab/browser/home.ts';
import { answer, at, countKept, openPage, type Phone, pairByLink, phone } from '../lab/browser/phone.ts';
import { startHouse } from '../lab/house.ts';
import { until } from '../lab/wait.ts';

const env = { INGLE_SUBNET_HEARTBEAT: '1' };
let hall: House;
let attic: House | undefined;
let browser: Browser;
let owner: Phone;
const rooms = home(test);
test.before(async () => {
  [hall, browser] = await rooms.open({ env: { ...env, INGLE_NAME: 'Hall' } });
  attic = await startHouse({ root: hall.origin, env: { ...env, INGLE_NAME: 'Attic' } });
  for (const h of [hall, attic]) {
    await (await h.uplink()).Enrol({});
    await until(async () => (await h.status()).uplink.connected, 'a hub to be connected');
  }
  owner = await phone(browser, { still: true });
  await pairByLink(owner, attic);
  await knowsAnother(owner);
});
test.after(async () => {
  await attic?.stop();
});

/** The browser has been paired with Hall before, too. */
const knowsAnother = ({ page }: Phone, id = 'hub_hall'): Promise<void> =>
  page.evaluate(
    (id) =>
      new Promise<void>((ok) => {
        const r = indexedDB.open('ingle');
        r.onsuccess = () => {
          const t = r.result.transaction('hubs', 'readwrite');
          const hubs = t.objectStore('hubs');
          hubs.getAll().onsuccess = (e) => {
            const [pin] = (e.target as IDBRequest<{ paired: number }[]>).result;
            hubs.put({ ...pin!, hub_id: id, name: 'Hall', paired: pin!.paired - 1 }, id);
          };
          t.oncomplete = () => {
            r.result.close();
            ok();
          };
        };
      }),
    id,
  );

const hubs = () => owner.page.locator('[data-window="@hubs"]');
const field = () => hubs().getByLabel('Code of the other home');
/** Enter, once what was asked before is over. */
async function send(): Promise<void> {
  await hubs().locator('form:has(#join) button:enabled').waitFor();
  await field().press('Enter');
}
const trouble = (text: string) => hubs().getByRole('alert').getByText(text).waitFor();
const members = async () => (await (await hall.uplink()).Subnet({})).nodes.map((n) => [n.name, n.state]);

test('what is no code, and a code that is not good, are told with what to do, and nothing has changed', async () => {
  await openPage(owner.page, 'Hubs');
  await field().fill('12');
  await send();
  await trouble('It has twelve digits');
  await field().evaluate((e) => e.scrollIntoView());
  await checkOnPhones(owner.page, 'homes-1-join');
  // So low that field and alert do not fit at once.
  await owner.page.setViewportSize({ width: 390, height: 480 });
  await field().fill('000-000 000-000');
  await field().evaluate((e) => e.scrollIntoView());
  await send();
  assert.match(await answer(owner.page, true), /browsers that were let in here \(1, with this one\)/);
  await trouble('Make a new one in the other home');
  const box = (await hubs().getByRole('alert').boundingBox())!;
  assert.ok(box.y > 0 && box.y + box.height <= 480, 'it comes into sight');
  assert.equal(await members(), []);
});

test('by the command that the other hub shows it joins after a question, and this browser, out before the answer, says what to do and forgets nothing', async () => {
  const { page } = owner;
  const { device_code, secret } = await (await hall.uplink()).InviteHub({});
  await field().fill(`ingle subnet join ${device_code}-${secret}`);
  await send();
  assert.match(await answer(page, false), /cannot be undone/);
  // Also where its button was pressed, which is out of order while the question stands, and where the page was drawn
  // anew before the hub answered: the focus, which is nowhere then, is the window's.
  const button = hubs().locator('form:has(#join) button');
  await button.and(page.locator(':enabled')).waitFor();
  attic!.kill('api', 'SIGSTOP');
  await button.click();
  await button.and(page.locator(':disabled')).waitFor();
  await hubs().evaluate((w) => w.focus());
  attic!.kill('api', 'SIGCONT');
  await answer(page, false);
  await until(() => field().evaluate((f) => f === document.activeElement), 'the focus back at the field');
  assert.equal(await members(), []);
  await send();
  await page.locator('dialog.question').waitFor();
  await checkOnPhones(owner.page, 'homes-2-question');
  await answer(page, true);
  await at(page, 'login');
  await page.getByText('The hub has probably joined the other home').waitFor();
  await until(async () => (await members())[0]?.[1] === 'here', 'the member to be here');
  assert.is(
    await page.evaluate(() => JSON.parse(sessionStorage.getItem('ingle.session') ?? '{}').hub_id),
    undefined,
  );
  assert.equal([await countKept(page, 'hubs'), await countKept(page, 'keys')], [2, 1]);
});

test('let in anew at the member, the owner reads who leads, and leaves after a question', async () => {
  await owner.close();
  owner = await phone(browser, { still: true });
  const { page } = owner;
  await pairByLink(owner, attic!, { newPasskey: true });
  await openPage(page, 'Hubs');
  await hubs().getByText('This hub is a member.').waitFor();
  assert.is(await hubs().locator('[data-node]').count(), 2);
  assert.is(await field().count(), 0);
  const leader = hubs().locator('[data-node]').nth(1);
  await leader.getByRole('heading', { name: 'The leading hub' }).waitFor();
  await checkOnPhones(owner.page, 'homes-3-member');
  await knowsAnother(owner, (await hall.status()).uplink.hub_id);
  await page.keyboard.press('Escape');
  await openPage(page, 'Hubs');
  await leader.getByRole('heading', { name: 'Hall' }).waitFor();
  const leave = hubs().getByRole('button', { name: 'Leave', exact: true });
  await leave.press('Enter');
  assert.match(await answer(page, false), /is alone again/);
  await until(() => leave.evaluate((b) => b === document.activeElement), 'the focus back at its button');
  await leave.press('Enter');
  await answer(page, true);
  await at(page, 'login');
  await page.getByText('The hub has probably left').waitFor();
  await checkOnPhones(owner.page, 'homes-4-perhaps');
  assert.equal(await members(), [['Attic', 'left']]);
  assert.is((await (await attic!.uplink()).Subnet({})).stage, 'left');
  assert.equal(faults, [], 'axe, thumbs and sideways');
});

test('a browser that forgets this hub keeps the other one and the key it is known by there', async () => {
  await owner.close();
  owner = await phone(browser, { still: true });
  const { page } = owner;
  await pairByLink(owner, attic!, { newPasskey: true });
  await knowsAnother(owner);
  await openPage(page, 'Forget this hub');
  await answer(page, true);
  await at(page, 'login');
  await page.getByText('Hall').first().waitFor();
  assert.equal([await countKept(page, 'hubs'), await countKept(page, 'keys')], [1, 1]);
  assert.is(await countKept(page, 'icons'), 0);
});

test('nothing broke on the way', () => assert.equal(owner.errors, []));

test.run();
