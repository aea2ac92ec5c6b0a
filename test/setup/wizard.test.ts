// timeout: 240 s
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { audio1 } from '../../firmware/audio/contract.ts';
import { answer, probes } from '../../firmware/setup/portal.ts';
import { deviceJson, findDevice, readDevice } from '../../image/device.ts';
import { freePort } from '../../services/cli/house/runtime.ts';
import { programOf } from '../lab/program.ts';
import { until } from '../lab/wait.ts';
import { fakeHub } from './fake-hub.ts';

const shots = 'dist/screenshots';
mkdirSync(shots, { recursive: true });

/** The wizard's own process before a hub whose radios are made up. */
async function wizard(hub: { address: string }, env: Record<string, string> = {}) {
  const [port, tls] = [await freePort('127.0.0.1'), await freePort('127.0.0.1')];
  const child = spawn(process.execPath, programOf('services/wizard/main.ts'), {
    env: {
      ...process.env,
      INGLE_BUS_ADDRESS: hub.address,
      INGLE_CONFIG: '/nonexistent',
      INGLE_RUNTIME: mkdtempSync(join(tmpdir(), 'ingle-run-')),
      INGLE_WIZARD_HOST: '127.0.0.1',
      INGLE_WIZARD_PORT: String(port),
      INGLE_WIZARD_TLS_PORT: String(tls),
      INGLE_WIZARD_PAGES: 'dist/web-wizard',
      ...env,
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const get = (path: string, o: { host?: string; method?: string; body?: string; type?: string } = {}) =>
    new Promise<{ status: number; headers: Record<string, unknown>; text: string }>((resolve, reject) => {
      const r = request(
        {
          host: '127.0.0.1',
          port,
          path,
          method: o.method ?? 'GET',
          headers: {
            host: o.host ?? '127.0.0.1',
            ...(o.body === undefined ? {} : { 'content-type': o.type ?? 'application/json' }),
          },
        },
        async (response) => {
          let text = '';
          for await (const part of response) text += part;
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        },
      );
      r.on('error', reject);
      r.end(o.body);
    });
  await until(
    () =>
      get('/').then(
        () => true,
        () => false,
      ),
    'the wizard answers',
  );
  return { url: `http://localhost:${port}/`, tls, get, stop: () => child.kill('SIGKILL') };
}

async function phone(browser: Browser, o: { dark?: boolean; locale?: string } = {}): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 2,
    locale: o.locale ?? 'en-GB',
    colorScheme: o.dark ? 'dark' : 'light',
  });
  return context.newPage();
}

/** Nothing that axe-core calls serious or critical. */
async function clean(page: Page): Promise<void> {
  // By the protocol, past the page's own content security policy.
  await page.evaluate(axe.source);
  const found = await page.evaluate(async () => {
    const r = await (window as unknown as { axe: typeof axe }).axe.run(document);
    return r.violations
      .filter((v) => v.impact === 'serious' || v.impact === 'critical')
      .map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(' | ')}`);
  });
  assert.equal(found, []);
}

const test = suite('wizard');
const noBrowser = existsSync('/usr/bin/chromium') ? '' : 'Chromium is not installed';
if (noBrowser) console.log(`SKIP ${noBrowser}`);
const inBrowser = noBrowser ? test.skip : test;

test('the probe of every system is answered with the way to the wizard', async () => {
  const hub = await fakeHub();
  await hub.setup.begin();
  const w = await wizard(hub);
  const paths = [
    '/hotspot-detect.html',
    '/generate_204',
    '/connecttest.txt',
    '/ncsi.txt',
    '/canonical.html',
    '/success.txt',
    '/check_network_status.txt',
    '/nm',
  ];
  for (const host of Object.keys(probes))
    for (const path of paths) {
      const r = await w.get(path, { host });
      assert.is(r.status, 302, `${host}${path}`);
      assert.is(r.headers['location'], 'http://127.0.0.1/');
    }
  const page = await w.get('/');
  assert.is(page.status, 200);
  assert.match(String(page.headers['content-security-policy']), /default-src 'none'/);
  const foreign = await w.get('/api/status', { host: 'evil.example' });
  assert.is(foreign.status, 403);
  assert.equal(answer(undefined, '/', ['10.0.0.1']), { kind: 'redirect', to: 'http://10.0.0.1/' });
  w.stop();
  await hub.stop();
});

test('bad requests get one clear error each, and setup is not disturbed', async () => {
  const hub = await fakeHub();
  await hub.setup.begin();
  const w = await wizard(hub);
  const post = (path: string, body: string, type?: string) => w.get(path, { method: 'POST', body, type });
  const rows: [string, string, string | undefined, number, string][] = [
    ['/api/wifi/connect', '{"ssid":1}', undefined, 400, 'invalid_request'],
    ['/api/wifi/connect', '{', undefined, 400, 'invalid_request'],
    ['/api/wifi/connect', '[]', undefined, 400, 'invalid_request'],
    ['/api/wifi/connect', '{"ssid":"x","psk":"short"}', undefined, 400, 'invalid_request'],
    ['/api/wifi/connect', '{"ssid":"x","more":1}', undefined, 400, 'invalid_request'],
    ['/api/wifi/connect', 'ssid=x', 'text/plain', 400, 'invalid_request'],
    ['/api/wifi/connect', `{"ssid":"${'x'.repeat(70_000)}"}`, undefined, 413, 'too_large'],
    ['/api/wifi/connect', '{"a":'.repeat(40) + '1' + '}'.repeat(40), undefined, 400, 'invalid_request'],
    ['/api/wifi/scan', '{}', undefined, 405, 'method_not_allowed'],
    ['/api/nothing', '{}', undefined, 404, 'not_found'],
    ['/api/constructor', '{}', undefined, 404, 'not_found'],
  ];
  for (const [path, body, type, status, code] of rows) {
    const r = await post(path, body, type);
    assert.is(r.status, status, `${path} ${body.slice(0, 40)}: ${r.text}`);
    assert.is(JSON.parse(r.text).error, code);
    assert.type(JSON.parse(r.text).message, 'string');
  }
  const head = await w.get('/api/status', { method: 'HEAD' });
  assert.equal([head.status, head.text], [200, '']);
  assert.is((await w.get('/api/wifi/connect', { method: 'HEAD' })).status, 405);
  assert.is(hub.setup.state, 'CHANNELS');
  assert.equal(hub.world.joined, []);
  w.stop();
  await hub.stop();
});

test('the pages weigh at most 14 KiB, gzip, in all', () => {
  let total = 0;
  for (const name of readdirSync('dist/web-wizard', { recursive: true }) as string[])
    if (/\.(html|js|css|svg)$/.test(name))
      total += gzipSync(readFileSync(join('dist/web-wizard', name)), { level: 9 }).length;
  console.log(`FIGURE web-wizard gzip ${total} bytes`);
  assert.ok(total <= 14 * 1024, `${total} bytes`);
});

inBrowser('a person sets up the hub from a phone, from the network to the pairing link', async () => {
  const hub = await fakeHub({ wifi: { ok: false, reason: 'wrong_password' } });
  await hub.setup.begin();
  const w = await wizard(hub);
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  const page = await phone(browser);
  const errors: string[] = [];
  page.on('pageerror', (e) => errors.push(e.message));
  page.on('console', (m) => m.type() === 'error' && !/favicon/.test(m.text()) && errors.push(m.text()));
  await page.goto(w.url);
  await page.getByRole('button', { name: /Home/ }).waitFor();
  await page.screenshot({ path: `${shots}/wizard-networks.png` });
  await clean(page);
  await page.getByRole('button', { name: /Home/ }).click();
  await page.getByLabel('Password', { exact: true }).fill('12345678');
  await page.screenshot({ path: `${shots}/wizard-password.png` });
  await clean(page);
  await page.getByRole('button', { name: 'Join' }).click();
  // Told what was wrong, and back at the list.
  await page.getByText('the password is wrong. Check it and try again.').waitFor();
  await page.screenshot({ path: `${shots}/wizard-wrong-password.png` });
  await clean(page);
  hub.world.wifi = { ok: true, reason: '' };
  // By keyboard alone.
  await page.getByRole('button', { name: /Home/ }).focus();
  await page.keyboard.press('Enter');
  await page.getByLabel('Password', { exact: true }).focus();
  await page.keyboard.type('correct horse');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Sound' }).waitFor();
  await page.getByLabel('Speaker').waitFor();
  // Half way from a silent room to full scale; then nothing is heard any more.
  const audio = await hub.bus.serve(audio1, {} as never);
  const meter = page.getByRole('meter');
  const shown = () => meter.evaluate((m) => (m as HTMLMeterElement).value);
  assert.is(await shown(), 0);
  await until(async () => {
    audio.emit('Level', { source_id: 'mic', rms_db: -30, peak_db: -12 });
    return (await shown()) === 0.5;
  }, 'the level is shown');
  await until(async () => (await shown()) === 0, 'the level is gone');
  await page.getByRole('button', { name: 'Play the test sound' }).click();
  await page.getByText('They hear each other (83 ms).').waitFor();
  await page.screenshot({ path: `${shots}/wizard-sound.png` });
  await clean(page);
  await page.getByRole('button', { name: 'Use these' }).click();
  const link = page.getByRole('link', { name: 'Open the hub' });
  await link.waitFor();
  assert.is(await link.getAttribute('href'), hub.world.link);
  await page.getByText('482-913 507-226').waitFor();
  await page.screenshot({ path: `${shots}/wizard-pair.png`, fullPage: true });
  await clean(page);
  assert.equal(hub.world.joined, ['Home "5G" <b>/12345678/false', 'Home "5G" <b>/correct horse/false']);
  assert.equal(errors, []);

  const russian = await phone(browser, { dark: true, locale: 'ru-RU' });
  await russian.goto(w.url);
  await russian.getByText('Выберите сеть, к которой подключить хаб.').waitFor();
  await russian.getByRole('button', { name: /Home/ }).waitFor();
  await russian.screenshot({ path: `${shots}/wizard-networks-dark-ru.png` });
  await clean(russian);
  await browser.close();
  w.stop();
  await hub.stop();
});

inBrowser("the pages wear the maker's name, colours and words, and stay readable", async () => {
  const device = join(mkdtempSync(join(tmpdir(), 'ingle-brand-')), 'device.json');
  writeFileSync(device, deviceJson(readDevice(findDevice('.', 'example')).device));
  const hub = await fakeHub();
  await hub.setup.begin();
  const w = await wizard(hub, { INGLE_DEVICE: device });
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  for (const dark of [false, true]) {
    const page = await phone(browser, { dark, locale: dark ? 'ru-RU' : 'en-GB' });
    await page.goto(w.url);
    await page.getByText('hearth.example/help').waitFor();
    assert.is(await page.title(), dark ? 'Настройка Hearth' : 'Set up your Hearth');
    const accent = await page.evaluate(() =>
      getComputedStyle(document.documentElement).getPropertyValue('--ember'),
    );
    assert.is(accent, dark ? '#7fd3b2' : '#1f5f4a');
    await clean(page);
  }
  await browser.close();
  w.stop();
  await hub.stop();
});

test.run();
