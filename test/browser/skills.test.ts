// timeout: 300 s
// The page of installed skills on the owner's phone: a package by the file picker, its publisher trusted, an update that
// does not start, a step back, and the end of it.
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { packSkill } from '../../firmware/skills/package.ts';
import type { House } from '../../services/cli/house/house.ts';
import { check, faults } from '../lab/browser/check.ts';
import {
  answer,
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
import { file, idOfKey, manifest, signerOfSeed } from '../skills/archive.ts';

const acme = signerOfSeed(1);
const codeOf = (version: string) => `export const skill = { start: (ctx) => ({
  attached: (owner) => ctx.setView(owner, { schema: 'ui/v0', layout: { type: 'text', text: 'Lamp of ${version}' } }),
  endpoints: [],
}) };`;

let house: House;
let browser: Browser;
let p: Phone;
test.before(async () => {
  [house, browser] = await started(startHouse(), launch());
  p = await phone(browser, { still: true });
  await pairByLink(p, house);
});
test.after(async () => {
  await browser?.close();
  await house?.stop();
});

const win = (page: Page) => page.locator('[data-window="@skills"]');
const lamp = (page: Page) => win(page).locator('[data-installed="lamp"]');
const says = (page: Page, text: string | RegExp) => win(page).getByText(text).first().waitFor();

/** Chooses a package as the file picker does. */
async function choose(
  page: Page,
  version: string,
  o: { code?: string; unsigned?: boolean; id?: string } = {},
) {
  const files = [
    file('manifest.json', JSON.stringify(manifest(o.id ?? 'lamp', version))),
    file('skill.js', o.code ?? codeOf(version)),
  ];
  const [picker] = await Promise.all([
    page.waitForEvent('filechooser'),
    win(page)
      .getByRole('button', { name: /Choose a package|Выбрать пакет/ })
      .click(),
  ]);
  await picker.setFiles({
    name: `lamp-${version}.ingle-skill`,
    mimeType: 'application/octet-stream',
    buffer: Buffer.from(packSkill(files, o.unsigned ? undefined : acme).bytes),
  });
}

test('the owner trusts a publisher by the id of its key and installs, opens and sees a skill', async () => {
  const { page } = p;
  await openPage(page, 'Manage skills');
  await says(page, 'Nothing is installed from packages yet.');
  await check(page, 'skills-1-empty');
  await choose(page, '1.0.0');
  await says(page, 'Install Lamp?');
  assert.is(await win(page).locator('[data-key-id]').textContent(), idOfKey(acme.key));
  await says(page, /no network, no files of others/);
  assert.is(await win(page).getByRole('button', { name: 'Install', exact: true }).count(), 0, 'not yet');
  await check(page, 'skills-2-unknown');
  await page.getByLabel('What you call this publisher').fill('Acme');
  await press(page, 'The id is the same: trust it');
  await says(page, /Acme\. You trust this publisher/);
  await check(page, 'skills-3-trusted');
  await win(page).getByRole('button', { name: 'Install', exact: true }).click();
  await page.locator('[data-installed="lamp"][data-state="active"]').waitFor();
  await page.getByText('Lamp 1.0.0 is in use').waitFor();
  await check(page, 'skills-4-installed');
  await press(page, 'Close');
  await page.locator('.tile[data-skill="lamp"] .open').click();
  await page.locator('[data-window="lamp"]').getByText('Lamp of 1.0.0').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.window').waitFor({ state: 'detached' });
});

test('what a skill said is read on the page, by keyboard too, and put away', async () => {
  const { page } = p;
  await openPage(page, 'Manage skills');
  const said = lamp(page).getByRole('button', { name: 'Lamp: What it said' });
  await said.focus();
  await page.keyboard.press('Enter');
  await lamp(page)
    .getByText(/serving skill=lamp version=1\.0\.0/)
    .first()
    .waitFor();
  await check(page, 'skills-11-said');
  await page.emulateMedia({ colorScheme: 'dark' });
  await check(page, 'skills-12-said-dark');
  await page.emulateMedia({ colorScheme: 'light' });
  assert.is(await said.getAttribute('aria-expanded'), 'true');
  await page.keyboard.press('Enter');
  await lamp(page).locator('.log').waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await page.locator('.window').waitFor({ state: 'detached' });
});

test('an update that does not start goes back and says so, and one that starts can be taken back', async () => {
  const { page } = p;
  await openPage(page, 'Manage skills');
  await lamp(page).waitFor();
  await choose(page, '2.0.0', { code: "throw new Error('no lamp here');" });
  await says(page, 'Version 2.0.0 instead of 1.0.0. What it has stored stays.');
  await win(page).getByRole('button', { name: 'Update', exact: true }).click();
  await says(page, /Version 2\.0\.0 is not used: it does not start\.\s+The hub has gone back to 1\.0\.0/);
  await check(page, 'skills-5-went-back');
  await choose(page, '2.1.0');
  await win(page).getByRole('button', { name: 'Update', exact: true }).click();
  await press(page, 'Lamp: back to 1.0.0');
  await lamp(page).getByText('Version 1.0.0 · in use').waitFor();
});

test('a package that nobody signed is refused, and the page says where developer mode is', async () => {
  const { page } = p;
  await choose(page, '1.0.0', { id: 'bare', unsigned: true });
  await says(page, /Nobody signed this package.*ingle skill developer on/);
  await check(page, 'skills-6-unsigned');
});

test('a package that was chosen while the hub is away is kept and can be sent again', async () => {
  const { page } = p;
  await house.hold('uplink');
  await page.locator('[data-link="offline"]').waitFor({ state: 'attached' });
  await says(page, 'The hub is not reached. This is how it was last; nothing can be changed now.');
  await choose(page, '2.2.0');
  await says(page, /lamp-2\.2\.0\.ingle-skill is kept here/);
  await check(page, 'skills-7-offline');
  assert.ok(await win(page).getByRole('button', { name: 'Remove Lamp' }).isDisabled());
  house.release('uplink');
  await online(page);
  await press(page, 'Send again');
  await says(page, 'Update Lamp?');
  await win(page).getByRole('button', { name: 'Take away' }).click();
  await win(page).locator('[data-review]').waitFor({ state: 'detached' });
});

test('a skill is removed only after a yes, and its icon goes', async () => {
  const { page } = p;
  await press(page, 'Remove Lamp');
  await answer(page, false);
  assert.ok(await lamp(page).isVisible());
  await until(
    () =>
      win(page).evaluate(
        (w) =>
          document.activeElement?.getAttribute('aria-label') === 'Remove Lamp' &&
          w.contains(document.activeElement),
      ),
    'the focus back at its button',
  );
  await press(page, 'Remove Lamp');
  const asked = await answer(page, true);
  await says(page, 'Nothing is installed from packages yet.');
  assert.match(asked, /what it has stored, its documents/);
  await page.keyboard.press('Escape');
  await page.locator('.tile[data-skill="lamp"]').waitFor({ state: 'detached' });
});

test('the page reads well in the dark, on a desk and in Russian', async () => {
  const { page } = p;
  await page.emulateMedia({ colorScheme: 'dark' });
  await press(page, 'Menu');
  await press(page, 'Русский');
  await page.keyboard.press('Escape');
  await openPage(page, 'Управление навыками', 'Меню', 'Настройки');
  await choose(page, '3.0.0');
  await says(page, 'Установить Lamp?');
  await check(page, 'skills-8-dark-ru');
  await page.setViewportSize({ width: 1280, height: 800 });
  await check(page, 'skills-9-desk-dark-ru');
  assert.equal(faults, []);
  assert.equal(p.errors, []);
});

test('where nothing shuts a skill in the page says so, and what to do', async () => {
  const bin = mkdtempSync(join(tmpdir(), 'ingle-path-'));
  for (const program of ['/bin/sh', '/usr/bin/dbus-daemon'])
    symlinkSync(program, join(bin, basename(program)));
  const open = await startHouse({ env: { PATH: bin } });
  try {
    const q = await phone(browser, { still: true });
    await pairByLink(q, open);
    await openPage(q.page, 'Manage skills');
    const note = win(q.page).locator('[data-sandbox="missing"]');
    await note.waitFor();
    assert.match((await note.textContent())!, /bubblewrap.* is missing.*apt-get install bubblewrap/);
    await check(q.page, 'skills-10-open');
    await q.close();
  } finally {
    await open.stop();
    rmSync(bin, { recursive: true });
  }
});

test.run();
