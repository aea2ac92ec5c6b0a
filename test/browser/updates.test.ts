// timeout: 240 s
// Updates on the owner's phone: what a checkout says, and an update from the check to its result, beside a stand-in of
// RAUC.
import type { Browser, Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { House } from '../../services/cli/house/house.ts';
import { launch, type Phone, pairByLink, phone, press, shot } from '../lab/browser/phone.ts';
import { startHouse } from '../lab/house.ts';
import { started } from '../lab/started.ts';
import { startUpdate, type UpdateHub } from '../update/hub.ts';

let house: House;
let browser: Browser;
let box: UpdateHub;
let p: Phone;
test.before(async () => {
  [house, browser] = await started(startHouse(), launch());
  p = await phone(browser, { still: true });
  await pairByLink(p, house);
  // The same hub, as it would be from an image.
  box = await startUpdate({ address: house.bus, raucName: 'io.ingle.TestRauc', serve: false });
});
test.after(async () => {
  await browser?.close();
  await box?.stop();
  await house?.stop();
});

const win = (page: Page) => page.locator('[data-window="updates"]');
const says = (text: string | RegExp) =>
  win(p.page)
    .getByText(text)
    .first()
    .waitFor()
    .catch(async (e) => {
      console.error(`the window says: ${await win(p.page).innerText()}\n${house.log('skill updates')}`);
      throw e;
    });

test('a hub that runs from a checkout says on its desktop that updates come with git', async () => {
  await p.page.locator('.tile[data-skill="updates"] .open').click();
  await win(p.page).locator('[data-live="yes"]').waitFor();
  await says('This hub runs from a checkout; updates come with git.');
  assert.is(await win(p.page).locator('.button.second').count(), 0, 'and offers nothing to press');
  await shot(p.page, 'updates-checkout');
});

test('the owner checks, installs, restarts, and reads what came of it', async () => {
  const { page } = p;
  box.server.offer({ version: '1.1.0' }, { more: { notes: 'Quieter at night' } });
  box.machine.faults = ['hang'];
  await box.begin();
  await says('Up to date');
  await press(page, 'Check for updates');
  await says('Version 1.1.0 is available');
  await says('Quieter at night');
  await shot(page, 'updates-available');
  await press(page, /^Install$/);
  await says('Installing version 1.1.0');
  await says('20 %');
  await shot(page, 'updates-installing');
  box.rauc.finish();
  await says('Version 1.1.0 is installed and starts with the next restart');
  await shot(page, 'updates-installed');
  await press(page, 'Restart now');
  await box.restartAsked();
  await box.reboot();
  await says(/^Updated from 1\.0\.0 to 1\.1\.0/);
  await says('Up to date');
  await shot(page, 'updates-result');
});

test('a version that did not work is told with its reason', async () => {
  const { page } = p;
  box.server.offer({ version: '1.2.0' });
  await press(page, 'Check for updates');
  await says('Version 1.2.0 is available');
  await press(page, /^Install$/);
  await says('Version 1.2.0 is installed and starts with the next restart');
  await press(page, 'Restart now');
  await box.restartAsked();
  await box.reboot({ broken: true });
  await says(/The new version did not work here/);
  await shot(page, 'updates-went-back');
});

test('nothing broke on the way', () => assert.equal(p.errors, []));

test.run();
