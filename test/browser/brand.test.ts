// timeout: 180 s
// A maker's name and colours in the application: told by the hub, kept for the next start, gone when it is forgotten.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { deviceJson, findDevice, readDevice } from '../../image/device.ts';
import type { House } from '../../services/cli/house/house.ts';
import {
  answer,
  at,
  launch,
  online,
  openPage,
  type Phone,
  pairByLink,
  phone,
  press,
} from '../lab/browser/phone.ts';
import { startHouse } from '../lab/house.ts';
import { started } from '../lab/started.ts';
import { until } from '../lab/wait.ts';

const dir = mkdtempSync(join(tmpdir(), 'ingle-brand-'));
let house: House;
let browser: Browser;
let p: Phone;
test.before(async () => {
  const device = join(dir, 'device.json');
  // The maker's application is elsewhere; here it is root's own.
  const made = { ...readDevice(findDevice('.', 'example')).device, app_url: '' };
  writeFileSync(device, deviceJson(made));
  [house, browser] = await started(startHouse({ env: { INGLE_DEVICE: device } }), launch());
  p = await phone(browser);
});
test.after(async () => {
  await browser?.close();
  await house?.stop();
  rmSync(dir, { recursive: true, force: true });
});

const accent = () =>
  p.page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--accent').trim());
/** Until the application is in that colour; by the protocol, past its content security policy. */
async function wears(colour: string): Promise<void> {
  await until(async () => (await accent()) === colour, `the colour ${colour}`);
}

test('once the hub is reached the application wears its name and colours', async () => {
  await pairByLink(p, house);
  await wears('#1f5f4a');
  await p.page.emulateMedia({ colorScheme: 'dark' });
  await wears('#7fd3b2');
  await p.page.emulateMedia({ colorScheme: 'light' });
  await press(p.page, /menu/i);
  await p.page.getByText('hearth.example/help').waitFor();
});

test('a new start wears them before the hub is reached', async () => {
  await house.hold('api');
  await p.page.reload();
  await wears('#1f5f4a');
  house.release('api');
  await online(p.page);
  assert.equal(p.errors, []);
});

test('a forgotten hub leaves neither name nor colours behind', async () => {
  await openPage(p.page, 'Forget this hub');
  await answer(p.page, true);
  await at(p.page, 'entry');
  await wears('#a8431a');
  // The title follows what is drawn.
  await until(async () => / · Ingle$/.test(await p.page.title()), 'the title of Ingle');
  assert.is(await p.page.evaluate(() => localStorage.getItem('ingle.brand')), null);
});

test.run();
