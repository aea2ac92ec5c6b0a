// timeout: 400 s
// Every page at a phone's and a desk's size: pictures into dist/screenshots, and axe-core over each.
import type { Browser, Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { House } from '../../services/cli/house/house.ts';
import { check, faults } from '../lab/browser/check.ts';
import {
  approve,
  at,
  launch,
  online,
  openStatus,
  type PhoneOptions,
  phone,
  press,
  slipper,
} from '../lab/browser/phone.ts';
import { startHouse } from '../lab/house.ts';
import { started } from '../lab/started.ts';

let house: House;
let browser: Browser;
test.before(async () => {
  [house, browser] = await started(startHouse(), launch());
});
test.after(async () => {
  await browser?.close();
  await house?.stop();
});

const looks: [string, PhoneOptions][] = [
  ['phone-light', { still: true }],
  ['phone-dark', { still: true, dark: true }],
  ['desk-light', { still: true, size: { width: 1280, height: 800 } }],
];
for (const [name, options] of looks)
  test(`every page from code to skill reads well: ${name}`, async () => {
    const p = await phone(browser, options);
    const { page } = p;
    await page.goto(house.origin);
    await at(page, 'entry');
    await check(page, `${name}-01-entry`);
    await page.getByLabel('Code from the hub').fill('000000');
    await press(page, 'Continue');
    await page.getByText('This code does not work').waitFor();
    await check(page, `${name}-02-entry-wrong`);
    const code = await house.issueCode({ newPasskey: true });
    await page.getByLabel('Code from the hub').fill(code.device_code);
    await press(page, 'Continue');
    await at(page, 'second');
    await check(page, `${name}-03-second`);
    await page.getByLabel('Second group').fill(code.secret);
    await press(page, 'Continue');
    await at(page, 'register');
    await check(page, `${name}-04-register`);
    await press(page, 'Use a passkey I already have');
    if (name === looks[0]![0]) {
      await page.getByText('There is no passkey for your hub yet').waitFor();
      await check(page, `${name}-05-register-first`);
      await press(page, 'Make a passkey');
    } else {
      await at(page, 'login');
      await check(page, `${name}-05-login`);
      await press(page, 'This phone has no passkey');
      await at(page, 'nopasskey');
      await check(page, `${name}-06-nopasskey`);
      await press(page, 'My code permits a new passkey');
    }
    await at(page, 'approve');
    await check(page, `${name}-07-approve`);
    await press(page, 'Confirm with passkey');
    await online(page);
    await page.locator('.tile').first().waitFor();
    await check(page, `${name}-08-desktop`);
    await page.getByRole('button', { name: 'Options for Hub status' }).click();
    await page.locator('.menu').waitFor();
    await check(page, `${name}-09-tile-menu`);
    await page.keyboard.press('Escape');
    await openStatus(page);
    await page.locator('.v-chart svg path').first().waitFor();
    await page.waitForFunction(() =>
      /: ([8-9]|\d\d)/.test(document.querySelector('.v-chart desc')?.textContent ?? ''),
    );
    await check(page, `${name}-10-skill`);
    await readsChart(page);
    await check(page, `${name}-10-skill-read`);
    await page.locator('.v-chart summary').click();
    await page.locator('.v-chart table').waitFor();
    await check(page, `${name}-11-chart-table`);
    await page.keyboard.press('Escape');
    await page.locator('.window').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Options for Hub status' }).click();
    await press(page, 'Open as panel');
    await page.locator('[data-live="yes"]').waitFor();
    await check(page, `${name}-12-panel`);
    await page.keyboard.press('Escape');
    await page.locator('.window').waitFor({ state: 'detached' });

    const other = await phone(browser, { ...options, context: p.context });
    await other.page.goto(house.origin);
    await at(other.page, 'elsewhere');
    await check(other.page, `${name}-13-elsewhere`);
    await other.close();

    await house.hold('uplink');
    await page.locator('[data-link="offline"]').waitFor();
    await check(page, `${name}-14-offline`);
    house.release('uplink');
    await online(page);
    await press(page, 'Menu');
    await press(page, 'Русский');
    await page.keyboard.press('Escape');
    await check(page, `${name}-15-desktop-ru`);
    // A value is read whole, however narrow the tile and long the value: it is its line that has less room.
    const cut = await page.locator('.told strong').evaluateAll((all) =>
      all.flatMap((e) => {
        const long = e.cloneNode() as HTMLElement;
        long.textContent = '123 456,78 кВт·ч';
        long.style.setProperty('--n', String(long.textContent.length));
        e.after(long);
        const are = [e, long].filter((x) => x.scrollWidth > x.clientWidth).map((x) => x.textContent);
        long.remove();
        return are;
      }),
    );
    assert.equal(cut, []);
    // Names stand at one height, also of tiles that tell nothing, and a spark line is in sight whole or not at all.
    const tiles = await page.locator('.tile .open').evaluateAll((all) =>
      all.map((e) => {
        const box = (of: Element) => of.getBoundingClientRect();
        const spark = e.querySelector('.spark');
        const [line, now] = spark ? [box(spark), box(spark.parentElement!)] : [];
        return {
          below: Math.round(box(e).bottom - box(e.querySelector('.title')!).bottom),
          isCut: !!line && line.top < now!.bottom && (line.top < now!.top || line.bottom > now!.bottom),
        };
      }),
    );
    assert.ok(tiles.length > 4);
    assert.is(new Set(tiles.map((x) => x.below)).size, 1, JSON.stringify(tiles));
    assert.not(
      tiles.some((x) => x.isCut),
      JSON.stringify(tiles),
    );
    await press(page, 'Меню');
    await press(page, 'Выйти');
    await at(page, 'login');
    await check(page, `${name}-16-signed-out-ru`);
    await p.close();
  });

/** Under the pointer and by keys, a point at a time; what a pointer has left is over. */
async function readsChart(page: Page): Promise<void> {
  const chart = page.locator('.v-chart').first();
  const tip = chart.locator('.tip');
  const slider = chart.getByRole('slider', { name: 'Values, point by point' });
  const box = (await chart.locator('svg').first().boundingBox())!;
  await page.mouse.move(box.x + 2, box.y + 20);
  const words = (await tip.locator('li').first().textContent()) ?? '';
  assert.match(words, /\d/);
  assert.equal(await chart.locator('.frame > svg').boundingBox(), box, 'nothing has moved');
  await page.mouse.move(box.x + 2, box.y - 40);
  await tip.waitFor({ state: 'detached' });
  await slider.press('Home');
  assert.match((await slider.getAttribute('aria-valuetext')) ?? '', /\d.*: .*\d/);
  assert.is(await slider.inputValue(), '0');
  await slider.press('ArrowRight');
  assert.is(await slider.inputValue(), '1');
  await tip.waitFor();
}

test('a relay that alters a pairing is answered by a plain warning over the whole page', async () => {
  const p = await phone(browser, { still: true });
  // The relay here is a hostile one: it turns a bit in the hub's answer to the first handshake.
  await p.page.routeWebSocket(/socket\.io/, (ws) => {
    const server = ws.connectToServer();
    server.onMessage((m) => {
      if (typeof m !== 'string' && m[0] === 6) m[40] = m[40]! ^ 1;
      ws.send(m);
    });
  });
  await p.page.goto((await house.issueCode({ newPasskey: true })).link);
  await press(p.page, 'Make a passkey');
  await at(p.page, 'alarm');
  await p.page.getByText('Stop: this is not your hub').waitFor();
  await check(p.page, 'phone-light-17-alarm');
  await p.close();
});

for (const [name, options] of looks)
  test(`a hub that seems to have forgotten this browser is told in words: ${name}`, async () => {
    for (const locale of ['en', 'ru']) {
      const p = await phone(browser, options);
      const slip = await slipper(p.page);
      await p.page.goto((await house.issueCode({ newPasskey: true })).link);
      await press(p.page, 'Make a passkey');
      await approve(p);
      if (locale === 'ru') {
        await press(p.page, 'Menu');
        await press(p.page, 'Русский');
        await p.page.keyboard.press('Escape');
      }
      await slip();
      await check(p.page, `${name}-18-unknown-${locale}`);
      await press(p.page, locale === 'ru' ? 'Подключить заново' : 'Pair again');
      await at(p.page, 'entry');
      await check(p.page, `${name}-19-pair-again-${locale}`);
      await p.close();
    }
  });

test('on none of them axe finds anything serious, nothing scrolls sideways, and thumbs have 44 px', () =>
  assert.equal(faults, []));

test.run();
