// timeout: 300 s
// What the hub sends, on a desk: actions, sizes, the owner's order, new keys, a new build.
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as Y from 'yjs';
import { archiveSchema, loadDocument } from '../../firmware/documents/archive.ts';
import { etagOf, mergeContent, readContent } from '../../firmware/documents/content.ts';
import { openSigner } from '../../firmware/documents/sign.ts';
import { run } from '../../firmware/system/exec.ts';
import { openStore } from '../../firmware/system/store.ts';
import type { House } from '../../services/cli/house/house.ts';
import { freePort } from '../../services/cli/house/runtime.ts';
import { lantern as installedLantern } from '../lab/browser/lantern.ts';
import {
  askHub,
  at,
  countKept,
  launch,
  online,
  openStatus,
  type Phone,
  pairByLink,
  phone,
  press,
  shot,
} from '../lab/browser/phone.ts';
import { startHouse } from '../lab/house.ts';
import { started } from '../lab/started.ts';
import { until } from '../lab/wait.ts';

let house: House;
let browser: Browser;
let front: Server;
let p: Phone;
/** What stands in front of root says of the service worker, when a newer build lies there. */
let newer = '';
test.before(async () => {
  const [port, back] = [await freePort('127.0.0.1'), await freePort('127.0.0.1')];
  front = createServer(
    (req, res) =>
      void pass(req, back).then(([status, headers, body]) => res.writeHead(status, headers).end(body)),
  );
  front.on('upgrade', (req: IncomingMessage, socket) => {
    const to = connect(back, '127.0.0.1', () => {
      const lines = req.rawHeaders.flatMap((v, i, all) => (i % 2 ? [] : [`${v}: ${all[i + 1]}`]));
      to.write(`GET ${req.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
      socket.pipe(to).pipe(socket);
    });
    to.on('error', () => socket.destroy());
    socket.on('error', () => to.destroy());
  });
  await new Promise<void>((ok) => front.listen(port, '127.0.0.1', ok));
  [house, browser] = await started(
    startHouse({
      port: back,
      host: '127.0.0.1',
      origin: `http://localhost:${port}`,
      installed: [installedLantern],
    }),
    launch(),
  );
  p = await phone(browser, { size: { width: 1280, height: 800 } });
  await pairByLink(p, house);
});
test.after(async () => {
  await browser?.close();
  front?.closeAllConnections();
  front?.close();
  await house?.stop();
});

type Passed = [number, Record<string, string | string[] | undefined>, Buffer];
/** One request to root and its answer; the service worker's is that of a newer build once there is one. */
function pass(req: IncomingMessage, port: number): Promise<Passed> {
  return new Promise((resolve) => {
    const worker = req.url === '/sw.js';
    const headers = worker ? { ...req.headers, 'accept-encoding': 'identity' } : req.headers;
    const on = request({ host: '127.0.0.1', port, path: req.url, method: req.method, headers }, (res) => {
      const parts: Buffer[] = [];
      res.on('data', (d: Buffer) => parts.push(d));
      res.on('end', () => {
        const body = Buffer.concat(parts);
        const given =
          worker && newer ? Buffer.from(body.toString().replace(/\b[0-9a-f]{64}\b/g, newer)) : body;
        const { etag, ...others } = res.headers;
        const kept = etag === undefined || worker ? others : { ...others, etag };
        resolve([res.statusCode!, { ...kept, 'content-length': String(given.length) }, given]);
      });
    });
    on.on('error', () => resolve([502, {}, Buffer.alloc(0)]));
    req.pipe(on);
  });
}

const lantern = (page: Page) => page.locator('.tile[data-skill="lantern"]');
async function openLantern(page: Page): Promise<void> {
  await lantern(page).locator('.open').click();
  await page.locator('[data-window="lantern"] [data-live="yes"]').waitFor();
}
async function closeWindow(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await page.locator('.window').waitFor({ state: 'detached' });
}

test('a window has the size its skill wishes for, and a phone gives it the whole width', async () => {
  await openLantern(p.page);
  const size = async () =>
    p.page
      .locator('.window')
      .evaluate((w) => [(w as HTMLElement).offsetWidth, (w as HTMLElement).offsetHeight]);
  assert.equal(await size(), [560, 420]);
  await p.page.setViewportSize({ width: 390, height: 844 });
  assert.is((await size())[0], 390);
  await p.page.setViewportSize({ width: 1280, height: 800 });
  await closeWindow(p.page);
});

test('tiles, screens and numbers of skills are in the language of the reader, whatever the hub speaks', async () => {
  const words = {
    ru: [
      'Состояние хаба',
      'Корневой сервис: подключён',
      'Время работы',
      'Службы',
      'Служба',
      'работает',
      'Обновлено .* раз',
    ],
    en: [
      'Hub status',
      'Root service: connected',
      'Uptime',
      'Services',
      'Service',
      'running',
      'Refreshed .* (once|times)',
    ],
  };
  for (const [language, refresh] of [
    ['ru', 'Обновить'],
    ['en', 'Refresh'],
  ] as const) {
    await p.page.evaluate((l) => localStorage.setItem('ingle.language', l), language);
    await p.page.reload();
    await online(p.page);
    await p.page.locator('.tile[data-skill="hub_status"] .open', { hasText: words[language][0] }).click();
    const window = p.page.locator('[data-window="hub_status"]');
    await window.getByRole('heading', { name: words[language][0] }).waitFor();
    await window.getByRole('button', { name: refresh }).click();
    const says = (word: string) =>
      window
        .getByText(new RegExp(`^${word}$`))
        .first()
        .waitFor();
    const [, overview, uptime, services, service, running, refreshed] = words[language];
    for (const word of [overview, uptime, refreshed]) await says(word!);
    await window.getByRole('tab', { name: services! }).click();
    for (const word of [service, running]) await says(word!);
    assert.not.match(await window.innerText(), /\{\{|i18n|\{"|\[object/);
    await shot(p.page, `skill-${language}`);
    await closeWindow(p.page);
  }
});

test('a choice is done by the hub, and a button leads to another skill', async () => {
  await openLantern(p.page);
  await p.page.getByText('It glows softly').waitFor();
  await p.page.getByLabel('Glow').selectOption('brightly');
  await p.page.getByText('It glows brightly').waitFor();
  await press(p.page, 'Look at the hub');
  await p.page.locator('[data-window="hub_status"]').waitFor();
  assert.ok(await p.page.locator('.veil.panel').isVisible());
  assert.is(await p.page.locator('[data-window="lantern"]').count(), 0);
  await closeWindow(p.page);
  await p.page.waitForFunction(() => document.activeElement?.closest('[data-skill="lantern"]') !== null);
});

test('what is typed into a form reaches the skill, and a secret lies in nothing on its way', async () => {
  const { page } = p;
  await openLantern(page);
  await page.getByLabel('Words', { exact: true }).fill('like a comet');
  await page.getByRole('button', { name: 'Name it' }).click();
  await page.getByText('It glows like a comet').waitFor();
  // What the skill says of a field stands at the field, and is said aloud.
  await page.getByLabel('Words', { exact: true }).fill('thunder');
  await page.getByRole('button', { name: 'Name it' }).click();
  const wrong = page.locator('.v-form [role="alert"]', { hasText: 'A lantern is not loud.' });
  await wrong.waitFor();
  const words = page.getByLabel(/^Words/);
  assert.is(await words.getAttribute('aria-describedby'), await wrong.getAttribute('id'));
  assert.is(await words.inputValue(), 'thunder', 'what was typed stays');
  await words.fill('like a comet');
  assert.is(await words.getAttribute('aria-invalid'), null);
  const secret = page.getByLabel('Secret word');
  assert.is(await secret.getAttribute('type'), 'password');
  await secret.fill('zwieback-7');
  await page.getByRole('button', { name: 'Whisper' }).click();
  await page.getByText('It heard a secret of 10 letters').waitFor();
  assert.is(await secret.inputValue(), '', 'it is not left standing');
  const folder = join(house.data, 'hub/api');
  const files = readdirSync(folder).filter((file) => file.startsWith('api.db'));
  const stored = Buffer.concat(files.map((file) => readFileSync(join(folder, file))));
  assert.not.ok(stored.includes('zwieback-7'));
  assert.ok(stored.includes('like a comet'), 'where the other one is');
  await shot(page, 'form');
  // What is written while the hub is at work stays, and is sent when that is done if one asks for it.
  const field = page.getByLabel('Words', { exact: true });
  for (const [words, asked] of [
    ['dimly', false],
    ['steadily', true],
  ] as const) {
    await field.fill('slowly');
    await page.keyboard.press('Enter');
    await page.locator('.v-form button[aria-busy]').waitFor();
    await field.fill(words);
    if (asked) await page.keyboard.press('Enter');
    else await page.getByText('It glows slowly').waitFor();
    if (!asked) assert.is(await field.inputValue(), words);
  }
  await page.getByText('It glows steadily').waitFor();
  await page.getByLabel('Words', { exact: true }).fill('brightly');
  await page.keyboard.press('Enter');
  await page.getByText('It glows brightly').waitFor();
  await closeWindow(page);
});

const shown = (page: Page) =>
  page.locator('.tile').evaluateAll((all) => all.map((e) => (e as HTMLElement).dataset['skill']!));
const kept = async () =>
  ((await (await askHub(house, '/v1/icons')).json()) as { skill_id: string }[]).map((i) => i.skill_id);
/** Until the hub has the order, and nothing of it waits in the page. */
async function settled(order: string[]): Promise<void> {
  for (
    let i = 0;
    (await kept()).join() !== order.join() || (await countKept(p.page, 'ops_outbox')) > 0;
    i++
  ) {
    assert.ok(i < 600, `the order was never taken: ${await kept()}`);
    await p.page.waitForTimeout(100);
  }
}

async function moveByKeyboard(page: Page, words: RegExp): Promise<void> {
  await lantern(page).locator('.more button').focus();
  await page.keyboard.press('Enter');
  await page.locator('.menu').waitFor();
  while (!words.test(await page.evaluate(() => document.activeElement?.textContent ?? '')))
    await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
}

test('what a skill tells is shown once, under its name; a notice waits for who was away, and leads to the skill', async () => {
  const { page } = p;
  const tell = async (topic: string, payload: object) => {
    const body = { topic, payload };
    const r = await askHub(house, '/skills/lantern/v1/tell', { method: 'POST', body });
    assert.is(r.status, 200, await r.text());
  };
  const toast = page.locator('.toast');
  const shows = (text: string) => toast.filter({ hasText: text }).waitFor();
  await tell('ui.toast', { text: { en: 'It is dark.', ru: 'Темно.' } });
  await shows('Lantern: It is dark.');
  await toast.waitFor({ state: 'detached' });
  await page.goto('about:blank');
  await tell('ui.toast', { text: 'For nobody.' });
  await tell('ui.notify', { title: '<b>Oil</b>', body: 'It is running low.', tag: 'oil' });
  await tell('ui.notify', { title: 'Oil', body: 'It is out.', tag: 'oil' });
  await page.goBack();
  await at(page, 'desktop');
  await shows('Lantern: Oil. It is out.');
  await shot(page, 'desktop-notice');
  await toast.getByRole('button', { name: 'Open' }).click();
  await page.locator('[data-window="lantern"] [data-live="yes"]').waitFor();
  await closeWindow(page);
  await page.reload();
  await at(page, 'desktop');
  await online(page);
  await tell('ui.notify', { title: 'It is light.' });
  const before: string[] = [];
  await until(async () => {
    const said = await toast
      .locator('span')
      .textContent({ timeout: 100 })
      .catch(() => null);
    if (said && said !== before.at(-1)) before.push(said);
    return said?.includes('It is light.') ?? false;
  }, 'the next line');
  assert.equal(before, ['Lantern: It is light.']);
});

test('icons are moved by keyboard and by hand, and the order is the same after a reload', async () => {
  const { page } = p;
  const first = await shown(page);
  const at0 = first.indexOf('lantern');
  const said = (place: number) => page.getByText(`Lantern is now number ${place} of ${first.length}`);
  const focusKept = () =>
    page.waitForFunction(() => document.activeElement?.closest('[data-skill="lantern"]') !== null);
  const moved = first.toSpliced(at0, 1).toSpliced(at0 - 1, 0, 'lantern');
  await moveByKeyboard(page, /Move forward/);
  await said(at0).waitFor();
  await focusKept();
  // Both ways, as one of them moves the tile with the focus, where a browser lacks moveBefore().
  await page.evaluate(() => Reflect.deleteProperty(Element.prototype, 'moveBefore'));
  await moveByKeyboard(page, /Move back/);
  await said(at0 + 1).waitFor();
  await focusKept();
  // Quicker than the browser paints.
  await page.evaluate(async () => {
    const more = document.querySelector<HTMLElement>('[data-skill="lantern"] .more')!;
    more.querySelector('button')!.click();
    while (!more.querySelector('.menu')) await Promise.resolve();
    [...more.querySelectorAll<HTMLElement>('.item')].find((e) => e.innerText === 'Move forward')!.click();
  });
  await said(at0).waitFor();
  await focusKept();
  await settled(moved);
  await page.reload();
  await at(page, 'desktop');
  await online(page);
  assert.equal(await shown(page), moved);
  await lantern(page).dragTo(page.locator(`.tile[data-skill="${first[at0 - 1]}"]`));
  await said(at0 + 1).waitFor();
  await settled(first);
});

test('a view without the signature of the hub is not shown, and of one with it what this build cannot draw is named', async () => {
  // A newer hub stored it: this one refuses such a view at its door.
  await house.hold('api');
  const { owner_id } = (await house.status()).uplink;
  const key = `${owner_id}/lantern/view:main`;
  const store = await openStore(join(house.data, 'hub/api/api.db'), archiveSchema);
  const { doc, next } = await loadDocument(store, key);
  const before = Y.encodeStateVector(doc);
  const layout = structuredClone(readContent(doc)['layout']) as { children: object[] };
  layout.children.splice(1, 0, { type: 'dial', label: 'Warmth' });
  mergeContent(doc, { layout: layout as never });
  await store.run(
    'INSERT INTO doc_updates (key, n, data) VALUES (?, ?, ?)',
    key,
    next,
    Y.encodeStateAsUpdate(doc, before),
  );
  await store.close();
  house.release('api');
  await lantern(p.page).locator('.open').click();
  // Whoever wrote it there had not the hub's key.
  await p.page.getByText('is not shown').waitFor();
  assert.is(await p.page.getByText('It glows brightly').count(), 0);
  await house.hold('api');
  const again = await openStore(join(house.data, 'hub/api/api.db'), archiveSchema);
  const signer = openSigner(join(house.data, 'hub/api/document.key'));
  const etag = etagOf(readContent(doc));
  await again.run(
    'UPDATE docs_index SET etag = ?, signature = ? WHERE key = ?',
    etag,
    signer.sign(key, etag),
    key,
  );
  await again.close();
  house.release('api');
  await p.page.getByText('"dial" is not known').waitFor();
  await p.page.getByText('/layout/children/1/type').waitFor();
  await p.page.getByText('It glows brightly').waitFor();
  // The skill itself serves on.
  await p.page.getByLabel('Glow').selectOption('softly');
  await p.page.getByText('It glows softly').waitFor();
  await press(p.page, 'Look at the hub');
  await p.page.locator('[data-window="hub_status"] [data-live="yes"]').waitFor();
  await closeWindow(p.page);
});

test('after the hub rotates its key the open page goes on without a person, and so does the next one', async () => {
  const { page } = p;
  const pinned = () =>
    page.evaluate(
      () =>
        new Promise<string>((ok) => {
          const r = indexedDB.open('ingle');
          r.onsuccess = () => {
            const all = r.result.transaction('hubs').objectStore('hubs').getAll();
            all.onsuccess = () => ok([...(all.result[0] as { hubStatic: Uint8Array }).hubStatic].join());
          };
        }),
    );
  const before = await pinned();
  await openStatus(page);
  const said = await run(process.execPath, ['services/cli/ingle.mjs', 'key', 'rotate'], {
    env: { INGLE_BUS_ADDRESS: house.bus },
  });
  assert.is(said.code, 0, said.stderr);
  await until(async () => (await pinned()) !== before, 'the page to follow');
  const text = page.locator('.v-row.end p');
  const was = await text.textContent();
  await press(page, 'Refresh');
  await page.waitForFunction((w) => document.querySelector('.v-row.end p')?.textContent !== w, was);
  await page.reload();
  await at(page, 'desktop');
  await online(page);
});

test('a newer build says so on the desktop, and one press brings it', async () => {
  const { page } = p;
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.reload();
  await at(page, 'desktop');
  await online(page);
  assert.is(await page.getByText('A new version is ready').count(), 0);
  newer = 'f'.repeat(64);
  await page.evaluate(() =>
    navigator.serviceWorker
      .getRegistration()
      .then((r) => r?.update())
      .then(() => undefined),
  );
  await page.getByText('A new version is ready').waitFor();
  await page.evaluate(() => Object.assign(window, { old: true }));
  await press(page, 'Reload');
  await page.waitForFunction(() => !('old' in window));
  await at(page, 'desktop');
  await online(page);
  await page.waitForFunction(async (name) => (await caches.keys()).join() === name, `ingle-${newer}`);
  assert.is(await page.getByText('A new version is ready').count(), 0);
});

test('nothing broke on the way', () => assert.equal(p.errors, []));

test.run();
