// `ingle ui preview`: a document drawn four times, what is wrong with it in words, and all of it anew at each save.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { check, faults } from '../lab/browser/check.ts';
import { launch } from '../lab/browser/phone.ts';
import { child } from '../lab/child.ts';
import { until } from '../lab/wait.ts';

const test = suite('ingle ui preview');
const dir = mkdtempSync(join(tmpdir(), 'ingle-preview-'));
const file = join(dir, 'orders.json');
const write = (content: unknown, to = file) =>
  writeFileSync(to, typeof content === 'string' ? content : JSON.stringify(content));
const orders = (title: string, ...more: object[]) => ({
  version: 'usdl/0.2',
  meta: { title: 'Orders' },
  viewModel: { note: '' },
  actions: { pay: { emit: 'ui.action', payload: { sum: 3 } } },
  components: [
    { type: 'Card', title, body: 'It says "{{$.note}}"' },
    { type: 'Input', id: 'note', label: 'Note', bind: '$.note' },
    { type: 'Button', label: 'Pay', action: 'pay' },
    ...more,
  ],
});

let browser: Browser;
let page: Page;
let url = '';
let said = '';
let program: ReturnType<typeof child>;
const wrong: string[] = [];
test.before(async () => {
  write(orders('Bolts'));
  program = child(process.execPath, ['services/cli/ingle.mjs', 'ui', 'preview', file], {
    env: { ...process.env, INGLE_LANG: 'en' },
  });
  for (const s of [program.stdout!, program.stderr!]) s.on('data', (d) => (said += d));
  browser = await launch();
  url = await until(() => /http:\/\/\S+\//.exec(said)?.[0], 'its address', 60);
  page = await browser.newPage({ viewport: { width: 1600, height: 1200 } });
  page.on('pageerror', (e) => wrong.push(e.message));
  page.on('console', (m) => m.type() === 'error' && wrong.push(m.text()));
  await page.goto(url);
});
test.after(async () => {
  program.kill('SIGINT');
  await browser.close();
  rmSync(dir, { recursive: true });
});

const frames = ['Phone, light', 'Phone, dark', 'Desk, light', 'Desk, dark'];
const frame = (name: string) => page.frameLocator(`iframe[title="${name}"]`);
const drawn = (text: string) => Promise.all(frames.map((f) => frame(f).getByText(text).first().waitFor()));

test('a phone and a desk, in light and dark, each as wide as it is', async () => {
  await drawn('Bolts');
  await page.getByText('Nothing to put right.').waitFor();
  const widths: number[] = [];
  const grounds: string[] = [];
  for (const f of frames) {
    const body = frame(f).locator('body');
    widths.push(await body.evaluate(() => innerWidth));
    grounds.push(await body.evaluate(() => getComputedStyle(document.documentElement).backgroundColor));
  }
  assert.equal(widths, [390, 390, 1280, 1280]);
  assert.equal([grounds[0], grounds[1]], [grounds[2], grounds[3]]);
  assert.is.not(grounds[0], grounds[1]);
  await check(page, 'preview');
  assert.equal(faults, []);
});

test('what is typed shows at once, and a tap says what it asks for', async () => {
  const phone = frame('Phone, light');
  await phone.getByLabel('Note').fill('two of them');
  await phone.getByText('It says "two of them"').waitFor();
  await phone.getByRole('button', { name: 'Pay' }).click();
  const asks = page.locator('pre');
  await asks.getByText('"action_id": "pay"').waitFor();
  assert.match((await asks.textContent())!, /"sum": 3/);
});

test('a save draws anew, with a hint for what is no component and the rest as it is', async () => {
  write(orders('Nuts', { type: 'Buton', label: 'Later' }));
  await drawn('Nuts');
  await page.getByText('/components/3/type').waitFor();
  await page.getByText('To put right: 1').waitFor();
  await until(() => said.includes('/components/3/type'), 'the terminal to say it, too');
});

test('a file that is cut short says where, and the last drawing stays until it is whole', async () => {
  write('{"version": "usdl/0.2", "components": [');
  await page.getByText('The file cannot be read').waitFor();
  await drawn('Nuts');
  write(' '.repeat(2_000_000));
  await page.getByText('which no hub takes').waitFor();
  await drawn('Nuts');
  write(orders('Screws'));
  await drawn('Screws');
  assert.is(await page.getByText('The last drawing stays').count(), 0);
});

test('the state beside it is what the skill would have stored', async () => {
  write({ viewModel: { note: 'from the hub' } }, join(dir, 'orders.state.json'));
  await frame('Desk, dark').getByText('It says "from the hub"').waitFor();
  write('{', join(dir, 'orders.state.json'));
  await page.getByText('orders.state.json is left out').waitFor();
  write('5', join(dir, 'orders.state.json'));
  await page.getByText('a state is an object').waitFor();
  await drawn('Screws');
});

test('no other site of the web reaches it by a name of its own', async () => {
  const status = (host: string) =>
    new Promise<number>((done) =>
      get(`${url}document`, { headers: { host } }, (r) => {
        r.resume();
        done(r.statusCode!);
      }),
    );
  const { host } = new URL(url);
  assert.equal([await status(host), await status('evil.example')], [200, 403]);
});

test('nothing broke on the way, and it says when it has ended', async () => {
  assert.equal(wrong, []);
  program.kill('SIGINT');
  await page.getByText('The preview has ended').waitFor();
});

test('what cannot be shown is said, with a status of its own', async () => {
  const gives = async (...words: string[]) => {
    const c = child(process.execPath, ['services/cli/ingle.mjs', 'ui', 'preview', ...words], {
      env: { ...process.env, INGLE_LANG: 'en' },
    });
    let out = '';
    for (const s of [c.stdout!, c.stderr!]) s.on('data', (d) => (out += d));
    const code = await new Promise<number | null>((done) => c.once('close', done));
    return [code, out.split('\n')[0]];
  };
  const none = await gives(join(dir, 'none.json'));
  assert.is(none[0], 66);
  assert.match(String(none[1]), /is not there\. Name a document/);
  assert.equal(await gives(file, '--port', '99999999'), [64, 'A port is a whole number from 1 to 65535.']);
});

test.run();
