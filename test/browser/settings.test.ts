// timeout: 400 s
// The desktop beside its icons: tiles that tell, what needs a person, search, settings, notifications, windows, and
// screens that can be read while the hub is away.
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { checkManifest } from '../../firmware/skills/manifest.ts';
import { windowPath } from '../../firmware/ui/app.ts';
import type { House } from '../../services/cli/house/house.ts';
import { check, checkOnPhones, faults } from '../lab/browser/check.ts';
import { home } from '../lab/browser/home.ts';
import {
  answer,
  approve,
  askHub,
  at,
  online,
  openPage,
  type Phone,
  pairByLink,
  phone,
  press,
} from '../lab/browser/phone.ts';
import { ofHub, pusher, pushStandIn } from '../lab/browser/push.ts';
import { until } from '../lab/wait.ts';

/** Says on its tile what it is told. */
const porch = {
  manifest: checkManifest({
    id: 'porch',
    version: '1.0.0',
    capabilities: {
      visual: true,
      ui: {
        title: 'Porch',
        modes: ['modal'],
        schema: 'ui/v0',
        glance: {
          value: '{{state.lux}} lx',
          line: 'The lamp is {{state.lamp}}',
          spark: '{{state.day}}',
          alert: '{{state.alert}}',
        },
      },
    },
  }),
  code: {
    text: `export const skill = { start: (ctx) => ({
      attached(owner) {
        ctx.setView(owner, { schema: 'ui/v0', layout: { type: 'stack', children: [
          { type: 'text', text: 'It is {{state.lux}} lux here' },
          { type: 'button', label: 'Switch', action: { type: 'http.post', path: '/skills/porch/v1/set', body: { lamp: 'on' } } },
        ] } });
        if (ctx.state(owner).lux === undefined) ctx.setState(owner, { lux: 12, lamp: 'off', day: [1, 5, 3], alert: '' });
      },
      endpoints: [
        { method: 'POST', path: '/v1/set', answer: ({ body }) => ({ body: { ok: true }, state: () => body }) },
        { method: 'POST', path: '/v1/tell', answer: ({ owner_id, body }) => {
          ctx.tell(owner_id, 'ui.notify', body);
          return { body: { ok: true } };
        } },
      ],
    }) };`,
  },
};

let house: House;
let browser: Browser;
let desk: Phone;
const rooms = home(test);
test.before(async () => {
  [house, browser, desk] = await rooms.paired({
    house: { installed: [porch] },
    phone: { size: { width: 1280, height: 800 }, still: true },
  });
});

const tile = (page: Page) => page.locator('.tile[data-skill="porch"]');
const tells = (page: Page, text: string | RegExp) => tile(page).locator('.told').getByText(text).waitFor();
const set = async (body: object) => {
  const r = await askHub(house, '/skills/porch/v1/set', { method: 'POST', body });
  assert.is(r.status, 200, await r.clone().text());
};
const settings = (page: Page) => page.locator('[data-window="@settings"]');
async function openSettings(page: Page): Promise<void> {
  await press(page, 'Menu');
  await page.locator('.menu').getByRole('button', { name: 'Settings' }).click();
  await settings(page).getByText('Appearance').waitFor();
}
async function close(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await page.locator('.window').waitFor({ state: 'detached' });
}

test('a tile tells what its skill knows, as it changes, in the words of the reader', async () => {
  const { page } = desk;
  await tells(page, '12 lx');
  await tells(page, 'The lamp is off');
  assert.is(await tile(page).locator('.spark path').count(), 1);
  await set({ lux: 1234.5, lamp: 'on' });
  await tells(page, '1,234.5 lx');
  await tells(page, 'The lamp is on');
  assert.is(await tile(page).locator('[data-age]').count(), 0, 'what is live has no age');
});

test('what needs a person stands first, leads there, and goes when it is done', async () => {
  const { page } = desk;
  const wants = page.locator('.wanting');
  await wants.getByText('All is well.').waitFor();
  await set({ alert: 'The door is open' });
  await wants.getByRole('button', { name: 'Porch The door is open' }).click();
  await page.locator('[data-window="porch"] [data-live="yes"]').waitFor();
  await close(page);
  await tells(page, 'The door is open');
  await check(page, 'desk-1-wants');
  await set({ alert: '' });
  await wants.getByText('All is well.').waitFor();
});

test('everything is found from the keyboard: by a slash or Ctrl K, the arrows and Enter, and Escape gives the focus back', async () => {
  const { page } = desk;
  const palette = page.locator('dialog.palette');
  const input = palette.getByRole('combobox');
  await tile(page).locator('.open').focus();
  await page.keyboard.press('/');
  await palette.waitFor();
  await check(page, 'desk-2-search');
  await page.keyboard.type('zzz');
  await palette.getByRole('status').getByText('Nothing is called so.').waitFor();
  await page.keyboard.press('Escape');
  await palette.waitFor({ state: 'detached' });
  assert.ok(
    await tile(page)
      .locator('.open')
      .evaluate((e) => e === document.activeElement),
  );
  await page.keyboard.press('Control+k');
  await input.fill('po');
  await palette
    .getByRole('status')
    .getByText(/result/)
    .waitFor();
  const active = () => input.getAttribute('aria-activedescendant');
  assert.is(await active(), 'skill-porch');
  await input.fill('se');
  const first = await active();
  await page.keyboard.press('ArrowDown');
  assert.is.not(await active(), first);
  await page.keyboard.press('ArrowUp');
  await until(async () => (await active()) === first, 'the first again');
  // A slash that is typed is a letter.
  await input.fill('');
  await page.keyboard.type('/');
  assert.is(await input.inputValue(), '/');
  await input.fill('porch');
  await page.keyboard.press('Enter');
  await page.locator('[data-window="porch"] [data-live="yes"]').waitFor();
  await close(page);
});

const ground = (page: Page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

test('colours and contrast are chosen for this browser, and are there from the first moment of the next visit', async () => {
  const { page } = desk;
  await openSettings(page);
  await check(page, 'desk-3-settings');
  const light = await ground(page);
  await press(page, 'Dark');
  await until(async () => (await ground(page)) !== light, 'the dark ground');
  const line = () => page.evaluate(() => getComputedStyle(document.querySelector('.v-card')!).borderTopColor);
  const soft = await line();
  await page.getByRole('switch', { name: 'More contrast' }).click();
  await until(async () => (await line()) !== soft, 'a stronger line');
  await check(page, 'desk-4-settings-dark-contrast');
  const dark = await ground(page);
  await page.reload();
  await at(page, 'desktop');
  assert.is(await ground(page), dark);
  await online(page);
  await openSettings(page);
  await page.getByRole('switch', { name: 'More contrast' }).click();
  await press(page, 'As the device');
  await until(async () => (await ground(page)) === light, 'the light ground');
  await close(page);
});

test('the hub gets a name that outlives its processes and is what the next browser reads', async () => {
  const { page } = desk;
  await openSettings(page);
  const name = page.getByLabel('Name of the hub');
  await name.fill('  Rosehip ');
  await settings(page).locator('form', { has: name }).getByRole('button', { name: 'Save' }).click();
  await page.getByText('The hub is called Rosehip now').waitFor();
  await close(page);
  await page.locator('.bar').getByText('Rosehip').waitFor();
  house.kill('api');
  house.kill('uplink');
  await page.reload();
  await at(page, 'desktop');
  await online(page);
  await page.locator('.bar').getByText('Rosehip').waitFor();
  await until(async () => {
    const r = await askHub(house, '/api/status').catch(() => undefined);
    return r?.ok === true && ((await r.json()) as { name: string }).name === 'Rosehip';
  }, 'the name in the status');
});

test('another phone is let in from the settings, shows the name, and is forgotten after a question', async () => {
  const { page } = desk;
  await openPage(page, 'Add a phone');
  const code = settings(page).locator('[data-invitation="browser"]');
  const link = (await code.locator('.link').textContent())!;
  await check(page, 'desk-5-invitation');
  const pocket = await phone(browser, { still: true });
  await pocket.page.goto(link);
  await press(pocket.page, 'Make a passkey');
  await approve(pocket);
  await pocket.page.locator('.bar').getByText('Rosehip').waitFor();
  await code.waitFor({ state: 'detached' });
  const forget = settings(page).getByRole('button', { name: /^Forget (?!this hub)/ });
  await forget.click();
  assert.match(await answer(page, false), /needs a new code/);
  await until(() => forget.evaluate((b) => b === document.activeElement), 'the focus back at its button');
  await forget.click();
  await answer(page, true);
  await forget.waitFor({ state: 'detached' });
  await at(pocket.page, 'unknown');
  await pocket.close();
  await close(page);
});

const access = (page: Page) => page.locator('[data-window="@account"]');

test('the page of access shows who is signed in, names a passkey, ends a sign-in at once, and tells what happened', async () => {
  const pocket = await phone(browser, { still: true });
  await pairByLink(pocket, house, { newPasskey: true });
  const own = access(pocket.page);
  await openPage(pocket.page, 'Access');
  await own.getByRole('heading', { name: 'What happened' }).waitFor();
  await check(pocket.page, 'access-1-phone');
  for (const dark of [false, true]) {
    await pocket.page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
    for (const [i, part] of ['Passkeys', 'Hubs', 'What happened'].entries()) {
      await own.getByRole('heading', { name: part }).evaluate((h) => h.scrollIntoView());
      await check(pocket.page, `access-${dark ? 'dark' : 'light'}-${i}`);
    }
  }

  const { page } = desk;
  await openPage(page, 'Access');
  const rows = access(page).locator('[data-session]');
  await until(async () => (await rows.count()) >= 2, 'both browsers');
  for (const row of await rows.all()) await row.getByText(/from network 127\.0\.0\.0\/24/).waitFor();
  await check(page, 'access-4-desk');
  const key = access(page).locator('[data-passkey]').last();
  await key.getByRole('button', { name: /^Rename/ }).click();
  await page.keyboard.press('Escape');
  await key.getByRole('textbox').waitFor({ state: 'detached' });
  assert.is(await access(page).count(), 1, 'Escape leaves the field, not the window');
  const rename = key.getByRole('button', { name: /^Rename/ });
  await until(() => rename.evaluate((b) => b === document.activeElement), 'the focus back at its button');
  await rename.click();
  // Whatever else is done on the page, an open field takes the focus only once.
  const code = access(page).getByLabel('Take over a hub that is offered to you');
  await code.fill('000-000');
  await page.keyboard.press('Enter');
  await access(page).getByRole('alert').waitFor();
  assert.ok(await code.evaluate((e) => e === document.activeElement));
  await key.getByRole('textbox').fill('Pocket phone');
  await key.getByRole('textbox').focus();
  await page.keyboard.press('Enter');
  await key.getByRole('heading', { name: 'Pocket phone' }).waitFor();
  await until(() => rename.evaluate((b) => b === document.activeElement), 'the focus back once it is named');
  await access(page)
    .locator('[data-deed="passkey_renamed"]')
    .getByText('Passkey renamed: Pocket phone')
    .waitFor();

  // A sign-in goes by its passkey's name until it has its own.
  const signIn = rows.filter({ has: page.getByText('Pocket phone', { exact: true }) });
  await signIn.getByRole('button', { name: 'Rename: Pocket phone' }).click();
  await check(page, 'access-5-rename');
  await signIn.getByRole('textbox', { name: 'New name of Pocket phone' }).fill('In the kitchen');
  await page.keyboard.press('Enter');
  await rows.getByText('In the kitchen', { exact: true }).waitFor();
  await access(page)
    .locator('[data-deed="session_renamed"]')
    .getByText('Sign-in renamed: In the kitchen')
    .waitFor();

  const out = access(page).getByRole('button', { name: 'Sign out: In the kitchen' });
  await out.click();
  assert.match(await answer(page, false), /Its passkey stays/);
  assert.is(await out.count(), 1);
  await out.click();
  await answer(page, true);
  await out.waitFor({ state: 'detached' });
  await at(pocket.page, 'login');

  const file = page.waitForEvent('download');
  await access(page).getByRole('button', { name: 'Save as a file' }).click();
  const path = await (await file).path();
  const lines = readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((l) => JSON.parse(l) as { what: string });
  assert.is(lines[0]!.what, 'code_taken');
  assert.is(lines.at(-1)!.what, 'session_ended');

  const hub = access(page).locator('[data-hub]');
  await hub.getByText(/^certificate good until /).waitFor();
  await hub.getByText('Online', { exact: true }).waitFor();
  await hub.getByRole('button', { name: /^Rename/ }).click();
  await hub.getByRole('textbox').fill('House by the lake');
  await page.keyboard.press('Enter');
  await hub.getByRole('heading', { name: 'House by the lake' }).waitFor();
  await access(page)
    .locator('[data-deed="hub_renamed"]')
    .getByText(/House by the lake/)
    .waitFor();
  await hub.getByRole('button', { name: /^Remove/ }).click();
  assert.match(await answer(page, false), /House by the lake/);
  await hub.getByRole('button', { name: /^Hand over/ }).click();
  await answer(page, true);
  await hub.getByText('Offered until').waitFor();
  await hub.getByRole('button', { name: /^Keep after all/ }).click();
  await hub.getByRole('button', { name: /^Hand over/ }).waitFor();
  await access(page).getByLabel('Take over a hub that is offered to you').fill('000-000');
  await access(page).getByRole('button', { name: 'Take over', exact: true }).click();
  await access(page).getByRole('alert').getByText('No hub that is offered has this code').waitFor();

  await key.getByRole('button', { name: /^Remove/ }).click();
  assert.match(await answer(page, true), /opens nothing any more/);
  await key.getByRole('heading', { name: 'Pocket phone' }).waitFor({ state: 'detached' });
  await pocket.close();
  await close(page);
});

test('a name that root does not take, as it stands still, is told in sight and stays to be sent again', async () => {
  const { page } = desk;
  await openPage(page, 'Access');
  const hub = access(page).locator('[data-hub]');
  await hub.getByRole('button', { name: /^Rename/ }).click();
  const field = hub.getByRole('textbox');
  await field.fill('House on the hill');
  house.kill('root', 'SIGSTOP');
  await field.press('Enter');
  const why = access(page).getByRole('alert').getByText('does not answer');
  await why.waitFor();
  const box = (await why.boundingBox())!;
  const body = (await access(page).locator('.body').boundingBox())!;
  assert.ok(box.y >= body.y && box.y + box.height <= body.y + body.height, 'the reason is in sight');
  assert.is(await field.inputValue(), 'House on the hill');
  house.kill('root', 'SIGCONT');
  await online(page);
  await hub.getByRole('button', { name: 'Save' }).click();
  await hub.getByRole('heading', { name: 'House on the hill' }).waitFor();
  await why.waitFor({ state: 'detached' });
  await close(page);
});

test('a command line is let in by its code and the passkey, after one has seen who asks, and is signed out again', async () => {
  const { page } = desk;
  const own = access(page);
  const command = async (path: string, body: object) => {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    };
    return (await fetch(`${house.origin}/v1/command-line${path}`, init)).json();
  };
  const field = own.getByLabel('Code of the command line');
  const look = async (code: string) => {
    await field.fill(code);
    await page.keyboard.press('Enter');
  };
  await openPage(page, 'Access');
  await field.waitFor();
  await look('000000');
  await own.getByRole('alert').getByText('No command line asks by this code').waitFor();
  assert.ok(await field.evaluate((e) => e === document.activeElement), 'the focus where one types on');
  const stranger = await command('', { name: 'a-stranger' });
  await look(stranger.user_code);
  const asks = own.locator('[data-asking="a-stranger"]');
  await asks.waitFor();
  await until(() => asks.evaluate((e) => e === document.activeElement), 'the focus at who asks');
  await own.getByText('Only allow what you have just started yourself').waitFor();
  await own.getByRole('button', { name: 'Not me' }).click();
  await field.waitFor();
  assert.is((await command('/token', { device_code: stranger.device_code })).error, 'forbidden');

  const mine = await command('', { name: 'attic-pc' });
  await look(mine.user_code.replace('-', ''));
  await own.locator('[data-asking="attic-pc"]').waitFor();
  await own
    .getByText(/from network 127\.0\.0\.0\/24/)
    .last()
    .waitFor();
  await checkOnPhones(page, 'access-command');
  await page.setViewportSize({ width: 1280, height: 800 });
  await own.getByRole('button', { name: 'Allow' }).click();
  await field.waitFor();
  const { token } = await command('/token', { device_code: mine.device_code });
  const hubs = () =>
    fetch(`${house.origin}/v1/owner/hubs`, { headers: { authorization: `Bearer ${token}` } });
  assert.is((await hubs()).status, 200);
  await own.locator('[data-deed="command_denied"]').getByText('Command line sent away: a-stranger').waitFor();
  await close(page);
  await openPage(page, 'Access');
  await own.getByText('a command line', { exact: false }).first().waitFor();
  await own.locator('[data-deed="signed_in"]').first().getByText('the command line attic-pc').waitFor();
  await own.getByRole('button', { name: 'Sign out: attic-pc' }).click();
  assert.match(await answer(page, true), /let in anew/);
  await own.getByRole('button', { name: 'Sign out: attic-pc' }).waitFor({ state: 'detached' });
  assert.is((await hubs()).status, 401);
  await close(page);
});

test('a window stands where it was put by hand and by key, over a reload, and never outside', async () => {
  const { page } = desk;
  const box = async () => (await page.locator('.window').boundingBox())!;
  /** A page hears of its size with the next picture. */
  const resize = async (width: number, height: number) => {
    await page.setViewportSize({ width, height });
    await page.evaluate(() => new Promise(requestAnimationFrame));
  };
  const open = async () => {
    await tile(page).locator('.open').click();
    await page.locator('[data-window="porch"] [data-live="yes"]').waitFor();
  };
  await open();
  const first = await box();
  await page.locator('.window > header h2').hover();
  await page.mouse.move(first.x + 60, first.y + 25);
  await page.waitForTimeout(500);
  await page.mouse.down();
  await page.mouse.move(first.x + 160, first.y + 65, { steps: 4 });
  await page.mouse.up();
  const moved = await box();
  assert.equal([moved.x - first.x, moved.y - first.y], [100, 40]);
  await page.getByRole('button', { name: /^Move with the arrows/ }).focus();
  await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('ArrowUp');
  const put = await box();
  assert.equal([put.width - moved.width, moved.y - put.y], [32, 32]);
  await close(page);
  await page.reload();
  await at(page, 'desktop');
  await online(page);
  await open();
  assert.equal(await box(), put);
  await resize(1030, 500);
  const small = await box();
  assert.ok(small.x >= 0 && small.y >= 0 && small.x + small.width <= 1030 && small.y + small.height <= 500);
  await resize(390, 844);
  assert.is((await box()).width, 390, 'a phone gives it the whole width');
  await resize(1280, 800);
  assert.equal(await box(), put);
  await close(page);
});

test('on the smallest phone the choice of colours breaks no word', async () => {
  const pocket = await phone(browser, { still: true });
  const { page } = pocket;
  await pairByLink(pocket, house, { newPasskey: true });
  await openSettings(page);
  for (const [language, label, name] of [
    ['РУ, Русский', 'Цвета', 'ru'],
    ['EN, English', 'Colours', 'en'],
  ] as const) {
    await press(page, language);
    const choice = page.getByRole('group', { name: label });
    await choice.evaluate((e) => e.scrollIntoView({ block: 'center' }));
    await checkOnPhones(page, `pocket-1-colours-${name}`);
    await page.setViewportSize({ width: 320, height: 844 });
    const broken = await choice.evaluate((e) =>
      [...e.querySelectorAll('button')].flatMap((b) => {
        const text = b.firstChild as Text;
        return [...text.data.matchAll(/\S+/g)].flatMap(({ 0: word, index }) => {
          const range = document.createRange();
          range.setStart(text, index);
          range.setEnd(text, index + word.length);
          return range.getClientRects().length === 1 ? [] : [word];
        });
      }),
    );
    assert.equal(broken, []);
  }
  await pocket.close();
});

test('what a skill wants known waits behind the bell, on every device, until it was read on one', async () => {
  const pocket = await phone(browser, { still: true });
  await pairByLink(pocket, house, { newPasskey: true });
  const bell = (p: Phone) => p.page.locator('.bell');
  const body = { title: { en: 'The post is here', ru: 'Почта пришла' }, body: 'A parcel' };
  assert.is((await askHub(house, '/skills/porch/v1/tell', { method: 'POST', body })).status, 200);
  for (const p of [desk, pocket])
    await p.page.getByRole('button', { name: 'Notifications, one unread' }).waitFor();
  await bell(desk).click();
  const list = desk.page.locator('[data-window="@notices"]');
  await list.getByText('The post is here').waitFor();
  await list.getByText(/Porch .* new/).waitFor();
  await check(desk.page, 'desk-6-notices');
  const day = (name: string | RegExp) => list.getByRole('heading', { name, exact: true }).waitFor();
  await day('Today');
  for (const [later, name] of [
    [1, 'Yesterday'],
    [1, /^[A-Z][a-z]+ \d+, \d{4}$/],
  ] as const) {
    await close(desk.page);
    await desk.page.evaluate(`{ const at = Date.now() + ${later} * 86400000; Date.now = () => at; }`);
    await bell(desk).click();
    await day(name);
  }
  await pocket.page.getByRole('button', { name: 'Notifications', exact: true }).waitFor();
  await list.getByRole('button', { name: 'Open Porch' }).click();
  await desk.page.locator('[data-window="porch"] [data-live="yes"]').waitFor();
  await close(desk.page);
  await desk.page.reload();
  await at(desk.page, 'desktop');
  await desk.page.getByRole('button', { name: 'Notifications', exact: true }).waitFor();
  await bell(pocket).click();
  await pocket.page.getByRole('heading', { name: 'Today' }).waitFor();
  await checkOnPhones(pocket.page, 'pocket-2-notices');
  await pocket.close();
});

test('notifications are turned on by a person alone, shown while nobody looks, and off where one signs out', async () => {
  // Chromium without its maker's services has no push service: the subscription is a stand-in's, all else is real.
  const pocket = await phone(browser, { still: true });
  const { context } = pocket;
  await context.addInitScript(pushStandIn());
  await pairByLink(pocket, house, { newPasskey: true });
  const { page } = pocket;
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await openSettings(page);
  const it = settings(page).getByRole('switch', { name: 'Show them on this device' });
  // Headless, nobody is asked: what was not allowed is denied.
  await it.click();
  await settings(page).getByText('Notifications are blocked here').waitFor();
  assert.is(await it.isChecked(), false);
  await context.grantPermissions(['notifications']);
  await close(page);
  await openSettings(page);
  await page.evaluate('window.refuse = true');
  await it.click();
  await settings(page).getByText('does not reach its notification service').waitFor();
  await page.evaluate('window.refuse = false');
  await it.click();
  await settings(page).getByText('Only your hub can write it').waitFor();
  assert.is(await it.isChecked(), true);
  await check(page, 'phone-8-push');
  await close(page);

  const deliver = await pusher(page, house.origin);
  const shown = () =>
    page.evaluate(async () => {
      const r = (await navigator.serviceWorker.getRegistrations()).find((r) => r.scope.includes('/push/'));
      return (await r!.getNotifications()).map((n) => `${n.title}: ${n.body} (${n.lang}, ${n.tag})`);
    });
  const notice = {
    title: 'Porch',
    body: 'The post',
    tag: 'porch:post',
    path: windowPath('porch'),
    language: 'en',
  };
  await deliver(JSON.stringify({ ...notice, body: 'Seen on the page', tag: 'porch:seen' }));
  await page.goto('about:blank');
  const away = await context.newPage();
  await away.goto('about:blank');
  await deliver(JSON.stringify(notice));
  await deliver('not JSON');
  await deliver(JSON.stringify({ ...notice, body: 'Another post' }));
  await page.goto(house.origin);
  await online(page);
  await until(async () => (await shown()).some((n) => n.includes('Another')), 'the last notification');
  const { hub_id } = (await house.status()).uplink;
  assert.equal(
    await shown(),
    [`Porch: Another post (en, ${hub_id} porch:post)`],
    'one a tag, none for who looked',
  );
  // A subscription that the browser has lost is made anew, as it is still wanted here.
  await until(() => page.evaluate('window.made === 1'), 'another subscription');
  // A tap on it leads to the skill, in the application that is open. Only of a real one can a worker wait for the end.
  const worker = await ofHub(context.serviceWorkers());
  await worker.evaluate(`ExtendableEvent.prototype.waitUntil = () => {}; self.registration.getNotifications().then(([notification]) =>
    self.dispatchEvent(new NotificationEvent('notificationclick', { notification })))`);
  await page.locator('[data-window="porch"] [data-live="yes"]').waitFor();
  assert.equal(await shown(), [], 'what was tapped is gone');
  // Where none is open, its address does.
  await page.goto('about:blank');
  await page.goto(`${house.origin}${windowPath('porch')}`);
  await page.locator('[data-window="porch"] [data-live="yes"]').waitFor();
  await close(page);
  await press(page, 'Menu');
  await press(page, 'Sign out');
  await until(() => page.evaluate('window.gone === 1'), 'the end of the subscription');
  await pocket.close();
});

test('while the hub is away tiles say their age, and a screen that was seen can be read and not used', async () => {
  const { page } = desk;
  const screen = page.locator('[data-window="porch"]');
  await tile(page).locator('.open').click();
  // The last of a burst is what is kept, though it closes at once.
  for (const lux of [55, 66]) {
    await set({ lux });
    await screen.locator('[data-live="yes"]').getByText(`It is ${lux} lux here`).waitFor();
  }
  await close(page);
  await house.hold('uplink');
  await page.locator('[data-link="offline"]').waitFor();
  await tile(page)
    .locator('.line')
    .getByText(/^The lamp is on · .* ago$/)
    .waitFor();
  await page.reload();
  await at(page, 'desktop');
  await tells(page, 'The lamp is on');
  await tile(page).locator('.open').click({ force: true });
  await screen.getByText('It is 66 lux here').waitFor();
  await screen.locator('.banner').getByText('What you see is from').waitFor();
  await screen.getByRole('button', { name: 'Switch' }).click();
  await page.getByText('This is what was there before').waitFor();
  await check(page, 'desk-7-kept');
  house.release('uplink');
  await screen.locator('[data-live="yes"]').waitFor();
  await screen.getByRole('button', { name: 'Switch' }).click();
  await until(
    async () => (await (await askHub(house, '/skills/porch/v1/ui/panel')).text()).includes('lux'),
    'the skill to answer',
  );
  await close(page);
});

test('axe finds nothing serious on any of it, nothing scrolls sideways, and thumbs have 44 px', () =>
  assert.equal(faults, []));

test('nothing broke on the way', () => assert.equal(desk.errors, []));

test.run();
