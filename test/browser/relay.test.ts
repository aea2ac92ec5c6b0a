// timeout: 300 s
// Everything that passes through root in a session and all it keeps of it, searched for what it must not see.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { House } from '../../services/cli/house/house.ts';
import { freePort } from '../../services/cli/house/runtime.ts';
import { askHub, launch, online, openStatus, phone, press } from '../lab/browser/phone.ts';
import { type Tap, tap } from '../lab/browser/tap.ts';
import { startHouse } from '../lab/house.ts';
import { started } from '../lab/started.ts';

let house: House;
let browser: Browser;
const taps: Tap[] = [];
test.before(async () => {
  // Browser and hub each go through a tap of their own; root stands behind both.
  const [front, side, back] = [
    await freePort('127.0.0.1'),
    await freePort('127.0.0.1'),
    await freePort('127.0.0.1'),
  ];
  taps.push(await tap(front, back), await tap(side, back));
  [house, browser] = await started(
    startHouse({
      port: back,
      host: '127.0.0.1',
      origin: `http://localhost:${front}`,
      env: { INGLE_NAME: 'Marrowfat Hearth', INGLE_ROOT: `http://localhost:${side}`, INGLE_LOG: 'debug' },
    }),
    launch(),
  );
});
test.after(async () => {
  await browser?.close();
  await house?.stop();
  for (const t of taps) t.close();
});

/** The application's own files are public and the same for everybody. */
const files = new Set(
  existsSync('dist/spa')
    ? readdirSync('dist/spa', { recursive: true, withFileTypes: true })
        .filter((e) => e.isFile())
        .map((e) => readFileSync(join(e.parentPath, e.name), 'latin1'))
    : [],
);
const isPublic = (body: Buffer) => files.has(body.toString('latin1'));

/** A text in the forms it could travel in: plain, escaped, UTF-16, hex, and base64 wherever it begins. */
function forms(text: string): string[] {
  const bytes = Buffer.from(text);
  const base64 = [0, 1, 2].flatMap((shift) => {
    const coded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    // The first and last characters hold bits of the neighbours.
    const sure = coded.slice(shift === 0 ? 0 : shift + 1, Math.floor(((shift + bytes.length) * 8) / 6));
    return [sure, sure.replaceAll('+', '-').replaceAll('/', '_')];
  });
  const utf16 = Buffer.from(text, 'utf16le').toString('latin1');
  return [
    bytes.toString('latin1'),
    JSON.stringify(text).slice(1, -1),
    utf16,
    bytes.toString('hex'),
    ...base64,
  ];
}

/** Every text of a JSON value, names and values; numbers long enough to be nobody else's. */
function texts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([k, v]) => [k, ...texts(v)]);
}

test('root sees no word of the screen, of the state, of a command, and none of the secrets', async () => {
  const p = await phone(browser);
  const code = await house.issueCode();
  await p.page.goto(code.link);
  await press(p.page, 'Make a passkey');
  await p.page.locator('[data-page="approve"]').waitFor();
  await press(p.page, 'Confirm with passkey');
  await online(p.page);
  await openStatus(p.page);
  // View and state are two documents.
  await p.page.locator('.window').getByText('Marrowfat Hearth').waitFor();
  // Every text node of the window on its own.
  const shown = await p.page.locator('.window').evaluate((body) => {
    const walk = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
    const all: string[] = [];
    while (walk.nextNode()) all.push(walk.currentNode.textContent ?? '');
    return all;
  });
  const stamp = await p.page.locator('.v-row.end p').textContent();
  await press(p.page, 'Refresh');
  await p.page.waitForFunction((s) => document.querySelector('.v-row.end p')?.textContent !== s, stamp);
  const state = (await (await askHub(house, '/skills/hub_status/v1/state')).json()) as object;
  await p.close();
  // What root keeps: a clean end puts all of it into the file.
  await house.hold('root');
  const folder = join(house.data, 'root');
  const database = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'));
  const log = readFileSync(join(house.data, 'log/root.log'), 'latin1');
  const [fromBrowser, fromHub] = taps.map((t) => t.heard(isPublic)) as [string, string];

  assert.match(fromBrowser, /relay\.to_hub/);
  assert.match(fromHub, /relay\.to_browser/);
  assert.match(fromHub, /hub\.online/);
  assert.match(fromBrowser, /login\/verify/);
  assert.match(fromHub, /device-code/);
  assert.match(database.join(''), /SQLite format 3/);
  assert.match(log, /hub online/);
  assert.ok(shown.includes('Marrowfat Hearth'));

  const [, , hubStatic, psk] = new URL(code.link).hash.split('.');
  const token = readFileSync(join(house.data, 'hub/api/token'), 'utf8').trim();
  const secrets = [psk!, Buffer.from(psk!, 'base64url').toString('latin1'), code.secret, token];
  const words = [
    ...['hub_status', 'view:main', 'state:main', 'chart.line', '/v1/icons', '/v1/open', '/sync/'],
    ...['v1/refresh', 'http.post', 'skill_id', 'elevated_until', 'x-ingle-principal', 'idempotency-key'],
    ...shown,
    ...texts(state),
  ];
  // Its version a hub announces to root (hub.online); shorter texts are found in any noise.
  const announced = JSON.parse(readFileSync('package.json', 'utf8')).version as string;
  // Root's own words for its own things.
  const own = new Set(['sqlite', 'connected', 'pending', 'Service']);
  const needles = new Set([
    ...words
      .map((w) => w.trim())
      .filter((w) => w.length >= (/^[\d.]+$/.test(w) ? 8 : 6) && w !== announced && !own.has(w)),
    ...secrets,
    code.secret.replace('-', ''),
  ]);
  const places = { browser: fromBrowser, hub: fromHub, database: database.join('\n'), log };
  const found: string[] = [];
  for (const needle of needles)
    for (const form of needle === secrets[1] ? [needle] : forms(needle))
      for (const [place, text] of Object.entries(places))
        if (form.length >= 6 && text.includes(form)) found.push(`${needle} in ${place} as ${form}`);
  assert.equal(found, []);
  assert.ok(hubStatic);
  const size = Object.values(places).reduce((sum, text) => sum + text.length, 0);
  assert.ok(size > 20_000, 'the taps have seen the session');
  console.log(`FIGURE relay_bytes_searched ${size}`);
  console.log(`FIGURE relay_texts_searched ${needles.size}`);
});

test.run();
