// timeout: 300 s
// The hub's insecure debug mode in a real browser: it pairs without a second group, under a warning that stays.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { House } from '../../services/cli/house/house.ts';
import { approve, at, launch, online, phone, press } from '../lab/browser/phone.ts';
import { startHouse } from '../lab/house.ts';
import { started } from '../lab/started.ts';

let house: House;
let browser: Browser;
const data = mkdtempSync(join(tmpdir(), 'ingle-insecure-'));
test.before(async () => {
  writeFileSync(join(data, 'config.json'), JSON.stringify({ insecure_sealed_secret: true }));
  [house, browser] = await started(startHouse({ data }), launch());
});
test.after(async () => {
  await browser?.close();
  await house?.stop();
  rmSync(data, { recursive: true, force: true });
});

const linkOf = (code: { device_code: string }) =>
  `${house.origin}/#insecure.${code.device_code.replace(/\D/g, '')}`;

test('the insecure link pairs a phone, and a warning stands on every page from then on', async () => {
  const p = await phone(browser);
  const warning = p.page.locator('[data-insecure]');
  await p.page.goto(linkOf(await house.issueCode()));
  await at(p.page, 'register');
  assert.match(await warning.innerText(), 'INSECURE');
  await press(p.page, 'Make a passkey');
  await approve(p);
  await at(p.page, 'desktop');
  await online(p.page);
  assert.match(await warning.innerText(), 'INSECURE');
  await p.page.reload();
  await at(p.page, 'desktop');
  await online(p.page);
  assert.match(await warning.innerText(), 'INSECURE');
  assert.equal(p.errors, []);
  await p.close();
});

test('the link of a hub whose debug mode is off pairs nothing', async () => {
  await house.stop();
  house = await startHouse();
  const p = await phone(browser);
  await p.page.goto(linkOf(await house.issueCode()));
  await at(p.page, 'register');
  await press(p.page, 'Make a passkey');
  await at(p.page, 'refused');
  await p.close();
});

test.run();
