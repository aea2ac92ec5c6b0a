// timeout: 300 s
// What takes time: work that root asks for while codes are guessed, a code too old, a prompt nobody answers.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { House } from '../../services/cli/house/house.ts';
import { at, launch, type Phone, phone, press } from '../lab/browser/phone.ts';
import { startHouse } from '../lab/house.ts';
import { started } from '../lab/started.ts';
import { until } from '../lab/wait.ts';

let house: House;
let browser: Browser;
const folder = mkdtempSync(join(tmpdir(), 'ingle-clock-'));
const clock = join(folder, 'ahead');
test.before(async () => {
  writeFileSync(clock, '0');
  const env = {
    // Two failures a minute already are a surge here.
    INGLE_ROOT_SURGE: '2',
    INGLE_TEST_CLOCK: clock,
    NODE_OPTIONS: `--import ${resolve('test/lab/browser/clock.mjs')}`,
  };
  [house, browser] = await started(startHouse({ env }), launch());
});
test.after(async () => {
  await browser?.close();
  await house?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Puts root's clock ahead of the others by `ms`; settles when it goes so. */
async function ahead(ms: number): Promise<void> {
  rmSync(`${clock}.${ms}`, { force: true });
  writeFileSync(clock, String(ms));
  await until(() => existsSync(`${clock}.${ms}`), "root's clock to go ahead");
}

/** A surge is counted by the minute: at the begin of one it lasts for all of it. */
const untilNextMinute = () => 60_000 - (Date.now() % 60_000);

/** A stranger with a browser of their own tries a code. */
async function guess(code: string): Promise<number> {
  const post = (path: string, body: object, cookie = '') =>
    fetch(house.origin + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie },
      body: JSON.stringify(body),
    });
  const opened = await post('/v1/session', {});
  const { sid } = (await opened.json()) as { sid: string };
  const cookie = opened.headers.get('set-cookie')!.split(';')[0];
  return (await post('/v1/owner/login/verify', { device_code: code, sid }, cookie)).status;
}

async function enter(page: Page, code: string): Promise<void> {
  await page.getByLabel('Code from the hub').fill(code);
  await press(page, 'Continue');
}

/** Makes each prompt of this page one that ends by itself after some seconds, as root's own would in some minutes. */
async function shortPrompts(p: Phone): Promise<void> {
  await p.page.route('**/v1/owner/webauthn/*/challenge', async (route) => {
    const answer = await route.fetch();
    const text = (await answer.text()).replace(/"timeout":\d+/, '"timeout":6000');
    await route.fulfill({ response: answer, body: text });
  });
}

test('a passkey prompt that nobody answers ends with a plain word, and the next one works', async () => {
  const p = await phone(browser);
  await shortPrompts(p);
  await p.page.goto((await house.issueCode()).link);
  await at(p.page, 'register');
  await p.passkeys.touch(false);
  await press(p.page, 'Make a passkey');
  await p.page.getByText('Waiting for your fingerprint').waitFor();
  await p.page.getByText('The prompt was closed or took too long. Try again').waitFor();
  await p.passkeys.touch(true);
  await press(p.page, 'Make a passkey');
  await at(p.page, 'approve');
  assert.equal(p.errors, []);
  await p.close();
});

test('a code that is ten minutes old says so, and that the hub gives a new one', async () => {
  const p = await phone(browser);
  const old = await house.issueCode();
  await p.page.goto(house.origin);
  await ahead(601_000);
  await enter(p.page, old.device_code);
  await p.page.getByText('older than 10 minutes').waitFor();
  await p.page.getByText('ask the hub for a new one').waitFor();
  await ahead(0);
  await p.close();
});

test('while codes are being guessed a phone works for its try, sees so, and gets in', async () => {
  const p = await phone(browser);
  await ahead(untilNextMinute());
  for (let i = 0; (await guess(`00000${i % 10}`)) !== 429; i++) assert.ok(i < 10, 'root asks for no work');
  await p.page.goto(house.origin);
  const said = p.page.evaluate(
    () =>
      new Promise<string>((ok) => {
        new MutationObserver(() => {
          const note = document.querySelector('.note[role="status"]')?.textContent ?? '';
          if (/little work/.test(note)) ok(note);
        }).observe(document.body, { childList: true, subtree: true, characterData: true });
      }),
  );
  const asked: (string | undefined)[] = [];
  p.page.on('request', (r) => {
    if (r.url().endsWith('/login/verify')) asked.push(r.headers()['x-ingle-pow']);
  });
  const code = await house.issueCode();
  await enter(p.page, `${code.device_code} ${code.secret}`);
  assert.match(await said, 'this phone does a little work first');
  await p.page.locator('[data-page="login"], [data-page="register"]').first().waitFor();
  assert.is(asked.length, 2);
  assert.is(asked[0], undefined);
  assert.match(asked[1]!, /^[\w-]+\.[\w-]+$/);
  await ahead(0);
  await p.close();
});

test.run();
