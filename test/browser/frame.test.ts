// timeout: 300 s
// A skill's own page in its frame, in a real browser: what it may do works, what it may not is refused, and a page that
// says nothing, too much or cannot be reached leaves the skill's words.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Frame, Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { House } from '../../services/cli/house/house.ts';
import { check, faults } from '../lab/browser/check.ts';
import { framed, ticketed } from '../lab/browser/framed.ts';
import { home } from '../lab/browser/home.ts';
import { approve, askHub, at, online, type Phone, pairByLink, phone, press } from '../lab/browser/phone.ts';
import { tried, until } from '../lab/wait.ts';

const test = suite('frame');
let house: House;
let browser: Browser;
let desk: Phone;
let pocket: Phone;
/** Elsewhere: who is asked there has heard something. */
let elsewhere: Server;
let other = '';
const leaks: string[] = [];
const rooms = home(test);
test.before(async () => {
  elsewhere = createServer((req, res) => {
    leaks.push(req.url!);
    res.end();
  });
  await new Promise<void>((ok) => elsewhere.listen(0, '127.0.0.1', ok));
  other = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
  [house, browser, desk] = await rooms.paired({
    house: { installed: [framed, ticketed] },
    phone: { size: { width: 1280, height: 800 }, still: true },
  });
  pocket = await phone(browser, { dark: true, still: true });
  await pairByLink(pocket, house, { newPasskey: true });
  for (const p of [desk, pocket])
    p.context.on('request', (r) => {
      // A request that the policy stops is told of as well, but nobody answers it.
      if (/leak-|^(?!.*\/skill-ui\/).*\/v1\/ui\//.test(r.url()))
        void r.response().then(
          (answer) => answer && leaks.push(r.url()),
          () => {},
        );
    });
});
test.after(() => void elsewhere?.close());

const frameOf = (page: Page) => page.locator('.window iframe');
const shown = (page: Page) => page.locator('.window [data-frame="shown"]').waitFor();
async function open(page: Page, skill = 'framed'): Promise<void> {
  await page.locator(`.tile[data-skill="${skill}"] .open`).click();
  await page.locator(`[data-window="${skill}"]`).waitFor();
}
async function close(page: Page): Promise<void> {
  await page
    .locator('.window')
    .getByRole('button', { name: /Close|Закрыть/ })
    .click();
  await page.locator('.window').waitFor({ state: 'detached' });
}
/** The skill shows another page of its own. */
async function show(name: string, skill = 'framed'): Promise<void> {
  const body = { page: name, root: house.origin, other };
  const r = await askHub(house, `/skills/${skill}/v1/show`, { method: 'POST', body });
  assert.is(r.status, 200);
}
/** The skill's own page, once it has that title. */
const inside = (page: Page, title: string, from = 'about:srcdoc'): Promise<Frame> =>
  until(
    tried(async () => {
      for (const f of page.frames()) if (f.url().startsWith(from) && (await f.title()) === title) return f;
      return undefined;
    }),
    `the page ${title}`,
  ) as Promise<Frame>;
/** Opens the skill with another page of its own. */
async function opened(page: Page, file: string, title: string): Promise<Frame> {
  await show(file);
  await open(page);
  return inside(page, title);
}
const height = async (page: Page) => Math.round((await frameOf(page).boundingBox())!.height);
const run = <T>(f: Frame, what: string) => f.evaluate(what) as Promise<T>;

test('a page draws with its own files, asks its skill and shows the answer, in dark and in light', async () => {
  for (const [p, theme, name] of [
    [pocket, 'dark', 'frame-1-phone-dark'],
    [desk, 'light', 'frame-2-desk-light'],
  ] as const) {
    await open(p.page);
    await shown(p.page);
    const dial = await inside(p.page, 'Dial');
    await dial.getByText(/It is at \d+ clicks/).waitFor();
    await dial.getByText(`${theme} en true 300`).waitFor();
    assert.is(await dial.locator('img').evaluate((e) => (e as HTMLImageElement).naturalWidth > 0), true);
    await dial.getByRole('button', { name: 'Turn up' }).click();
    await dial.getByText(/It is at \d+$/).waitFor();
    assert.is(await frameOf(p.page).getAttribute('title'), 'The dial');
    assert.is(await frameOf(p.page).getAttribute('sandbox'), 'allow-scripts');
    await check(p.page, name);
  }
  assert.equal(leaks, [], 'root has seen nothing of the page');
});

test('it keeps its size until the page asks for another, and hears of theme, language and size', async () => {
  const { page } = desk;
  const dial = await inside(page, 'Dial');
  assert.is(await height(page), 300);
  await dial.getByRole('button', { name: 'Grow' }).click();
  await until(async () => (await height(page)) === 420, 'a higher frame');
  await dial.getByText('light en true 420').waitFor();
  await page.emulateMedia({ colorScheme: 'dark' });
  await dial.getByText('dark en true 420').waitFor();
  await check(page, 'frame-3-desk-dark');
  await page.emulateMedia({ colorScheme: 'light' });
  await dial.getByText('light en true 420').waitFor();
});

test('keys lead into the page and out of it', async () => {
  const { page } = desk;
  const dial = await inside(page, 'Dial');
  await page.locator('[data-window="framed"]').focus();
  const focused = () => run<string>(dial, 'document.hasFocus() ? document.activeElement.id : ""');
  const tab = async (key: string, wanted: () => Promise<boolean>, what: string) => {
    for (let i = 0; !(await wanted()); i++) {
      assert.ok(i < 12, what);
      await page.keyboard.press(key);
    }
  };
  await tab('Tab', async () => (await focused()) === 'up', 'into the page');
  await tab('Tab', async () => (await focused()) === 'high', 'on within it');
  await tab('Tab', async () => (await focused()) === '', 'out of the page');
  assert.ok(
    await page.evaluate(
      () => document.activeElement?.closest('.window') !== null || document.activeElement === document.body,
    ),
  );
  await page.locator('[data-window="framed"]').focus();
  await tab('Shift+Tab', async () => (await focused()) !== '', 'into it backwards');
  await close(page);
});

test('a hostile page reaches nothing: not the application, not root, not elsewhere, not another skill', async () => {
  const { page } = desk;
  const it = await opened(page, 'hostile.html', 'Hostile');
  const pages = desk.context.pages().length;
  const got = await run<Record<string, string>>(it, 'go()');
  const {
    'other skill': skill,
    'way up': up,
    hub,
    method,
    'too large': large,
    'no such': none,
    own,
    ...rest
  } = got;
  for (const [what, became] of Object.entries(rest)) assert.is(became, 'refused', what);
  assert.ok(Object.keys(rest).length >= 20, Object.keys(rest).join());
  assert.equal([skill, up, hub], ['forbidden', 'forbidden', 'forbidden']);
  assert.equal([method, large, none, own], ['invalid_request', 'too_large', 'not_found', 'answered']);
  const reports = await run<string[]>(it, 'reports');
  for (const directive of ['connect-src', 'img-src', 'script-src-elem', 'style-src-elem', 'frame-src'])
    assert.ok(reports.includes(directive), directive);
  // What it goes to itself is stopped as well, in its own frame alone.
  for (const at of [other, house.origin]) {
    await run(await inside(page, 'Hostile'), `leave(${JSON.stringify(at)})`);
    await until(() => page.frames().every((f) => f.url() !== 'about:srcdoc'), 'the page gone');
    await close(page);
    await open(page);
    await inside(page, 'Hostile');
  }
  // Nor do its own steps in the history keep its window open.
  await run(await inside(page, 'Hostile'), "for (let i = 0; i < 5; i++) location.hash = 'x' + i");
  assert.is(desk.context.pages().length, pages, 'no window opened');
  assert.is(new URL(page.url()).origin, house.origin);
  assert.equal(leaks, []);
  await close(page);
});

test('what comes before the hello, from another frame or past the container is dropped', async () => {
  const { page } = desk;
  const it = await opened(page, 'early.html', 'Early');
  await run(it, 'before()');
  // Another frame of the same page, with the very ticket.
  const ticket = await run<string>(it, 'ticket');
  await page.evaluate(async (t) => {
    const stranger = document.createElement('iframe');
    stranger.setAttribute('sandbox', 'allow-scripts');
    stranger.src = '/frame.html';
    const said = new Promise((ok) =>
      addEventListener('message', (e) => e.data?.type === 'stranger' && ok(undefined)),
    );
    stranger.onload = () =>
      stranger.contentWindow!.postMessage(
        {
          title: 'x',
          page: `<script>for (const m of [{ type: 'hello', ticket: '${t}' }, { type: 'resize', h: 903 }, { type: 'stranger' }]) parent.postMessage(m, '*');</script>`,
        },
        '*',
      );
    document.body.append(stranger);
    await said;
    // And the application's own window, which is no frame.
    postMessage({ type: 'hello', ticket: t }, '*');
    postMessage({ type: 'resize', h: 904 }, '*');
    await new Promise((ok) => setTimeout(ok, 0));
    stranger.remove();
  }, ticket);
  assert.is(await height(page), 300);
  assert.is(await frameOf(page).getAttribute('data-frame'), 'waits');
  assert.is(await run<number>(it, 'answers'), 0);
  await run(it, 'after()');
  await until(async () => (await height(page)) === 4000, 'the size that it may have');
  assert.is(await frameOf(page).getAttribute('data-frame'), 'shown');
  assert.is(Math.round((await frameOf(page).boundingBox())!.width), 120);
  const { at } = (await (await askHub(house, '/skills/framed/v1/dial')).json()) as { at: number };
  assert.ok(at < 50, 'nothing was asked for it');
  await close(page);
});

test('a page that floods is shut, and works again when it is loaded again', async () => {
  const { page } = desk;
  await show('flood.html');
  await open(page);
  await shown(page);
  await (await inside(page, 'Flood')).getByRole('button', { name: 'Flood' }).click();
  await page.getByText('The page of this skill sent too much and was closed.').waitFor();
  await page.getByText('The dial is turned by hand.').waitFor();
  assert.is(await frameOf(page).count(), 0);
  await check(page, 'frame-4-flood-desk');
  await press(page, 'Load it again');
  await shown(page);
  await inside(page, 'Flood');
  await close(page);
});

test('a page that never says hello, or is not there, gives way to the words of its skill', async () => {
  const { page } = pocket;
  await inside(page, 'Flood');
  await show('silent.html');
  await page.getByText('The page of this skill did not start.').waitFor();
  await page.getByText('The dial is turned by hand.').waitFor();
  await check(page, 'frame-5-silent-phone-dark');
  await show('nothing.html');
  await page.getByText('The page of this skill could not be loaded.').waitFor();
  await page.getByText('The dial is turned by hand.').waitFor();
  await show('panel/good.html');
  await inside(page, 'Dial');
});

test('without the hub the words stand there with their age, after a reload too, and with it the page', async () => {
  const { page } = pocket;
  await shown(page);
  await until(async () => (await page.locator('[data-live="yes"]').count()) === 1, 'a live screen');
  await house.hold('uplink');
  await page.getByText('The dial is turned by hand.').waitFor();
  await page.locator('.window .banner [data-age]').waitFor();
  assert.is(await frameOf(page).count(), 0);
  await check(page, 'frame-6-away-phone-dark');
  house.release('uplink');
  await online(page);
  await shown(page);
  await inside(page, 'Dial');
  await pocket.context.setOffline(true);
  await page.reload();
  // A tile says that it opens only what was kept.
  await page.locator('.tile[data-skill="framed"] .open').click({ force: true });
  await page.getByText('The dial is turned by hand.').waitFor();
  await pocket.context.setOffline(false);
  await online(page);
  await shown(page);
});

test('a page that goes through root draws with its own files and an answer of its skill, once a ticket', async () => {
  const own = `${house.origin}/skill-ui/ticketed/v1/ui/`;
  await close(pocket.page);
  for (const [p, theme, name] of [
    [pocket, 'dark', 'frame-8-root-phone-dark'],
    [desk, 'light', 'frame-9-root-desk-light'],
  ] as const) {
    const asked: string[] = [];
    const note = (r: { url(): string }) => asked.push(r.url().replace(house.origin, ''));
    p.context.on('request', note);
    await open(p.page, 'ticketed');
    await shown(p.page);
    const dial = await inside(p.page, 'Dial', own);
    await dial.getByText(`${theme} en true 300`).waitFor();
    assert.is(await dial.locator('img').evaluate((e) => (e as HTMLImageElement).naturalWidth > 0), true);
    assert.is(
      await dial.locator('body').evaluate((e) => getComputedStyle(e).paddingTop),
      '8px',
      'its style sheet',
    );
    await dial.getByRole('button', { name: 'Turn up' }).click();
    await dial.getByText(/It is at \d+$/).waitFor();
    await dial.getByRole('button', { name: 'Grow' }).click();
    await until(async () => (await height(p.page)) === 420, 'a higher frame');
    assert.is(await frameOf(p.page).getAttribute('sandbox'), 'allow-scripts');
    await check(p.page, name);
    p.context.off('request', note);
    const ofPage = asked.filter((a) => a.includes('skill-ui')).map((a) => a.replace(/\?.*|[\w-]{65}/g, ''));
    assert.equal(ofPage.sort(), [
      '/skill-ui/ticketed//v1/ui/img/mark.svg',
      '/skill-ui/ticketed//v1/ui/panel/dial.js',
      '/skill-ui/ticketed//v1/ui/panel/look.css',
      '/skill-ui/ticketed/v1/ui/panel/good.html',
      '/v1/skill-ui/open',
    ]);
    const used = (await frameOf(p.page).getAttribute('src'))!;
    const again = await fetch(used);
    assert.is(again.status, 410, 'its ticket is spent');
    await close(p.page);
  }
});

test('a page that goes through root reaches nothing beside its own files, and nobody sees what is none', async () => {
  const { page } = desk;
  const below = `${house.origin}/skill-ui/ticketed/`;
  await show('open.html', 'ticketed');
  await open(page, 'ticketed');
  await shown(page);
  const it = await inside(page, 'Open', below);
  const { own, ...rest } = await run<Record<string, string>>(it, 'go()');
  assert.is(own, 'answered');
  for (const [what, became] of Object.entries(rest)) assert.is(became, 'refused', what);
  assert.ok(Object.keys(rest).length >= 10);
  const reports = await run<string[]>(it, 'reports');
  for (const directive of ['connect-src', 'img-src', 'script-src-elem'])
    assert.ok(reports.includes(directive), directive);
  await run(it, `leave(${JSON.stringify(`${other}/leak-gone`)})`);
  await until(() => page.frames().every((f) => !f.url().startsWith(below)), 'the page gone');
  assert.is(new URL(page.url()).origin, house.origin);
  await close(page);
  // What is no page is told in words of the skill.
  await show('nothing.html', 'ticketed');
  await open(page, 'ticketed');
  await page.locator('.window [data-frame="waits"]').waitFor({ state: 'attached' });
  assert.is(await frameOf(page).isVisible(), false);
  await page.getByText('The page of this skill did not start.').waitFor();
  await page.getByText('The dial is turned by hand.').waitFor();
  await show('panel/good.html', 'ticketed');
  await inside(page, 'Dial', below);
  await close(page);
  // An address that root names is opened where it is one of such a page, and nowhere else.
  for (const entryUrl of [`${other}/leak-entry`, 'javascript:alert(1)', `${house.origin}/frame.html`]) {
    await page.route('**/v1/skill-ui/open', (r) => r.fulfill({ json: { ticket: 'a.b.c', entryUrl } }));
    await open(page, 'ticketed');
    await page.getByText('The page of this skill could not be loaded.').waitFor();
    assert.is(await frameOf(page).count(), 0);
    await page.unroute('**/v1/skill-ui/open');
    await press(page, 'Load it again');
    await shown(page);
    await close(page);
  }
  // Its manifest says nothing of root, so the hub gives root nothing, whoever asks.
  const refused = await askHub(house, '/api/skill-pages/framed/panel/good.html');
  assert.is(refused.status, 403);
  assert.is((await askHub(house, '/api/skill-pages/ticketed/panel/good.html')).status, 200);
  assert.equal(leaks, []);
});

test('a guest, for whom root has no ticket, gets such a page privately', async () => {
  const body = { name: 'Ann', role: 'guest' };
  const { invitation } = (await (await askHub(house, '/api/people', { method: 'POST', body })).json()) as {
    invitation: { link: string };
  };
  const guest = await phone(browser, { still: true });
  await guest.page.goto(invitation.link);
  await at(guest.page, 'register');
  await press(guest.page, 'Make a passkey');
  await approve(guest);
  const opened = guest.page.waitForResponse((r) => r.url().endsWith('/v1/skill-ui/open'));
  await open(guest.page, 'ticketed');
  assert.is((await opened).status(), 403);
  await shown(guest.page);
  const dial = await inside(guest.page, 'Dial');
  await dial.getByText(/It is at \d+ clicks/).waitFor();
  await guest.close();
});

test('it reads in Russian too, is accessible, and nothing broke on the way', async () => {
  const { page } = pocket;
  await press(page, 'Menu');
  await press(page, 'Русский');
  await page.keyboard.press('Escape');
  await open(page);
  await (await inside(page, 'Dial')).getByText('dark ru true 300').waitFor();
  await show('nothing.html');
  await page.getByText('Страницу навыка не удалось загрузить.').waitFor();
  await check(page, 'frame-7-missing-phone-ru');
  assert.equal(faults, []);
  assert.equal(pocket.errors, []);
  // What the hostile page was refused stands in its console.
  assert.equal(
    desk.errors.filter((e) => !/Content Security Policy|sandbox|about:srcdoc|leak-|skill-ui/i.test(e)),
    [],
  );
});

test.run();
