// timeout: 400 s
// The screens of what goes wrong, in both languages, at a phone's and a desk's size: pictures, and axe over each.
import type { Browser } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { translator } from '../../firmware/text/i18n.ts';
import { spaTexts } from '../../firmware/text/spa.ts';
import { spaAsideTexts } from '../../firmware/text/spa-aside.ts';
import { spaDoingTexts } from '../../firmware/text/spa-doing.ts';
import type { House } from '../../services/cli/house/house.ts';
import { check, faults } from '../lab/browser/check.ts';
import { at, launch, online, type PhoneOptions, phone } from '../lab/browser/phone.ts';
import { startHouse } from '../lab/house.ts';
import { started } from '../lab/started.ts';

let house: House;
let browser: Browser;
test.before(async () => {
  [house, browser] = await started(startHouse(), launch());
});
test.after.each(() => {
  for (const name of ['uplink', 'api', 'root']) house.kill(name, 'SIGCONT');
});
test.after(async () => {
  await browser?.close();
  await house?.stop();
});

const desk = { width: 1280, height: 800 };
const looks: [string, 'en' | 'ru', PhoneOptions][] = [
  ['phone-en', 'en', {}],
  ['phone-ru', 'ru', { dark: true }],
  ['desk-en', 'en', { size: desk, dark: true }],
  ['desk-ru', 'ru', { size: desk }],
];
for (const [name, language, options] of looks)
  test(`what goes wrong reads well: ${name}`, async () => {
    const p = await phone(browser, { ...options, still: true, locale: language });
    const { page } = p;
    const t = translator(spaTexts, language);
    const aside = translator(spaAsideTexts, language);
    const press = (text: string) => page.getByRole('button', { name: text }).first().click();
    const state = (s: string) => page.locator(`[data-link="${s}"]`).waitFor();
    await page.goto((await house.issueCode({ newPasskey: true })).link);
    await at(page, 'register');
    await check(page, `state-${name}-01-register`);
    await press(t('register_do'));
    await at(page, 'approve');
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#name')!.value !== '');
    await check(page, `state-${name}-02-approve`);
    await press(t('approve_do'));
    await at(page, 'desktop');
    await online(page);
    await page.locator('.tile').first().waitFor();
    await page.locator('.pill').getByText(/\d/).waitFor();
    await check(page, `state-${name}-03-online`);
    house.kill('uplink', 'SIGSTOP');
    await state('silent');
    await check(page, `state-${name}-04-silent`);
    house.kill('uplink', 'SIGCONT');
    await online(page);
    house.kill('root', 'SIGSTOP');
    await state('down');
    await check(page, `state-${name}-05-down`);
    house.kill('root', 'SIGCONT');
    await online(page);
    await p.context.setOffline(true);
    await state('cut');
    await check(page, `state-${name}-06-cut`);
    await p.context.setOffline(false);
    await online(page);
    await page.locator('.tile[data-skill="hub_status"] .open').click();
    await page.locator('[data-live="yes"]').waitFor();
    await page.locator('.v-chart svg path').first().waitFor();
    house.kill('api', 'SIGSTOP');
    await state('unserved');
    await page.locator('.v-row.end button').click();
    await page.getByText(translator(spaDoingTexts, language)('queued')).waitFor();
    await check(page, `state-${name}-07-skill-unserved`);
    house.kill('api', 'SIGCONT');
    await page.locator('[data-live="yes"]').waitFor();
    await page.keyboard.press('Escape');

    const { link } = await house.issueCode();
    const open = async (to: string) => {
      await page.goto('about:blank');
      await page.goto(to);
      await at(page, 'link');
    };
    await open(link);
    await check(page, `state-${name}-08-link-same`);
    await open(link.slice(0, -5));
    await check(page, `state-${name}-09-link-bad`);
    const [head, ...rest] = link.split('.');
    await open([`${head}.000000`, 'A'.repeat(43), rest[2]].join('.'));
    await check(page, `state-${name}-10-link-other`);
    await press(aside('link_other_do'));
    await page.getByText(aside('link_spent_title')).waitFor();
    await check(page, `state-${name}-11-link-spent`);
    await page.evaluate(() => {
      IDBDatabase.prototype.transaction = () => {
        throw new DOMException('closing', 'InvalidStateError');
      };
    });
    await press(t('back_to_hub'));
    await at(page, 'trouble');
    await check(page, `state-${name}-12-trouble`);
    await p.close();

    const q = await phone(browser, { ...options, still: true, locale: language });
    await q.page.addInitScript({ content: 'IDBFactory.prototype.open = () => { throw new Error("no"); };' });
    await q.page.goto(link);
    await at(q.page, 'entry');
    await q.page.getByText(t('storage_failed')).waitFor();
    await check(q.page, `state-${name}-13-no-storage`);
    await q.close();
  });

test('on none of them axe finds anything serious, nothing scrolls sideways, and thumbs have 44 px', () =>
  assert.equal(faults, []));

test.run();
