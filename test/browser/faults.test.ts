// timeout: 400 s
// A browser that keeps nothing, throws or hangs: each step of signing in ends with a sentence and a way on.
import type { Browser } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { House } from '../../services/cli/house/house.ts';
import {
  approve,
  at,
  launch,
  online,
  openStatus,
  type Phone,
  pairByLink,
  phone,
  press,
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

const says = (p: Phone, text: string | RegExp) => p.page.getByText(text).first().waitFor();
const inject = (p: Phone, content: string) => p.page.addInitScript({ content });

/** `on` decides in the page whether the fault is there: a person repairs it and goes on. */
const indexedDb = (fault: string) => `{
  const own = IDBFactory.prototype.open;
  IDBFactory.prototype.open = function (...a) { if (!window.mended && !sessionStorage.getItem('mended')) { ${fault} } return own.apply(this, a); };
}`;
const faults: Record<string, string> = {
  throws: `throw new DOMException('denied', 'SecurityError');`,
  'says nothing': `return {};`,
  'is blocked': `const r = {}; setTimeout(() => r.onblocked?.({}), 50); return r;`,
  fails: `const r = { error: new DOMException('full', 'QuotaExceededError') }; setTimeout(() => r.onerror?.({}), 50); return r;`,
};
for (const [how, fault] of Object.entries(faults))
  test(`storage that ${how} is told before the code is spent, and the same code works when it is mended`, async () => {
    const p = await phone(browser);
    await inject(p, indexedDb(fault));
    await p.page.goto((await house.issueCode({ newPasskey: true })).link);
    await at(p.page, 'entry');
    await says(p, 'This browser keeps nothing for this page');
    await p.page.evaluate(() => Object.assign(window, { mended: true }));
    const code = await house.issueCode({ newPasskey: true });
    await p.page.getByLabel('Code from the hub').fill(`${code.device_code} ${code.secret}`);
    await press(p.page, 'Continue');
    await at(p.page, 'register');
    await press(p.page, 'Make a passkey');
    await approve(p);
    await p.close();
  });

test('storage that stops in the middle of signing in does not leave the page waiting for a fingerprint', async () => {
  const p = await phone(browser);
  await inject(p, indexedDb(`if (window.broken) return {};`));
  await p.page.goto((await house.issueCode({ newPasskey: true })).link);
  await at(p.page, 'register');
  // What was open is let go, as by a browser that clears a site's data.
  await p.page.evaluate(() => {
    Object.assign(window, { broken: true });
    IDBDatabase.prototype.transaction = () => {
      throw new DOMException('closing', 'InvalidStateError');
    };
  });
  await press(p.page, 'Make a passkey');
  await at(p.page, 'trouble');
  await says(p, 'This browser keeps nothing for this page');
  // A reload is a browser that works again; the code is not asked for anew.
  await p.page.evaluate(() => sessionStorage.setItem('mended', '1'));
  await p.page.reload();
  await p.page.locator('[data-page="login"], [data-page="approve"]').first().waitFor();
  if (await p.page.locator('[data-page="login"]').isVisible()) await press(p.page, 'Sign in with passkey');
  await approve(p);
  await p.close();
});

test('a tab whose own storage throws pairs and works all the same', async () => {
  const p = await phone(browser);
  await inject(
    p,
    `for (const name of ['setItem', 'getItem', 'removeItem']) Storage.prototype[name] = () => { throw new DOMException('full', 'QuotaExceededError'); };`,
  );
  await pairByLink(p, house, { newPasskey: true });
  await p.page.locator('.tile').first().waitFor();
  assert.equal(p.errors, []);
  await p.close();
});

test('a prompt that never says how it went can be left, and the next one works', async () => {
  const p = await phone(browser);
  await inject(
    p,
    `{ const own = CredentialsContainer.prototype.create;
       CredentialsContainer.prototype.create = function (o) { return window.mended ? own.call(this, o) : new Promise(() => {}); }; }`,
  );
  await p.page.goto((await house.issueCode({ newPasskey: true })).link);
  await press(p.page, 'Make a passkey');
  await says(p, 'Waiting for your fingerprint');
  await press(p.page, 'Cancel');
  await says(p, 'No passkey was used. The prompt was closed');
  await p.page.evaluate(() => Object.assign(window, { mended: true }));
  await press(p.page, 'Make a passkey');
  await approve(p);
  await p.close();
});

test('a wait that is left before the prompt is there opens none', async () => {
  const p = await phone(browser);
  await inject(
    p,
    `{ const own = CredentialsContainer.prototype.create;
       CredentialsContainer.prototype.create = function (o) { window.prompts = (window.prompts ?? 0) + 1; return own.call(this, o); }; }`,
  );
  await p.page.goto((await house.issueCode({ newPasskey: true })).link);
  let go = () => {};
  const held = new Promise<void>((ok) => (go = ok));
  await p.page.route('**/registration/challenge', async (route) => {
    await held;
    await route.continue();
  });
  await press(p.page, 'Make a passkey');
  await says(p, 'Waiting for your fingerprint');
  await press(p.page, 'Cancel');
  go();
  await says(p, 'No passkey was used. The prompt was closed');
  assert.is(await p.page.evaluate(() => (window as unknown as { prompts?: number }).prompts), undefined);
  await press(p.page, 'Make a passkey');
  await approve(p);
  await p.close();
});

test('a service that never answers ends the wait in 20 seconds, with a way to try again', async () => {
  const paired = await phone(browser);
  // The application's parts come from the service until the browser keeps them.
  await inject(paired, 'ServiceWorkerContainer.prototype.register = () => new Promise(() => {})');
  await pairByLink(paired, house, { newPasskey: true });
  await openStatus(paired.page);
  await Promise.all([typed(), pressed(paired)]);

  async function typed() {
    const p = await phone(browser);
    await p.page.goto(house.origin);
    await at(p.page, 'entry');
    let hangs = true;
    await p.page.route('**/v1/**', (route) => (hangs ? undefined : route.continue()));
    const code = await house.issueCode({ newPasskey: true });
    const field = p.page.getByLabel('Code from the hub');
    await field.fill(`${code.device_code} ${code.secret}`);
    await press(p.page, 'Continue');
    await says(p, 'Checking…');
    await says(p, 'No answer. Try again in a moment');
    hangs = false;
    await press(p.page, 'Continue');
    await at(p.page, 'register');
    await p.close();
  }
  async function pressed(p: Phone) {
    const held: (() => Promise<void>)[] = [];
    await p.page.route('**/assets/doing-*', (route) => void held.push(() => route.continue()));
    await press(p.page, 'Refresh');
    await says(p, 'That took too long. Try again');
    for (const go of held.splice(0)) await go();
    await press(p.page, 'Refresh');
    await says(p, /Refreshed .*, once/);
    await p.close();
  }
});

test('while codes are guessed everywhere, a person is told to type theirs near the hub, in their language', async () => {
  const p = await phone(browser);
  await p.page.route('**/v1/owner/login/verify', (route) =>
    route.fulfill({
      status: 429,
      json: { error: 'rate_limited', message: '', details: { retry_after: 600, near: true } },
    }),
  );
  await p.page.goto(house.origin);
  await at(p.page, 'entry');
  await p.page.getByLabel('Code from the hub').fill('482-913 507-226');
  await press(p.page, 'Continue');
  await says(p, 'codes count only near the hub for now');
  await press(p.page, 'РУ, Русский');
  await says(p, 'сейчас они действуют только рядом с хабом');
  assert.equal(p.errors, []);
  await p.close();
});

test('a device without a screen lock hears that it needs one', async () => {
  const p = await phone(browser, { bare: true });
  await p.cdp.send('WebAuthn.disable');
  await p.cdp.send('WebAuthn.enable', { enableUI: false });
  await p.cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'usb', hasResidentKey: true, hasUserVerification: false },
      automaticPresenceSimulation: true,
    },
  });
  await p.page.goto((await house.issueCode({ newPasskey: true })).link);
  await press(p.page, 'Make a passkey');
  await says(p, 'This device has no screen lock that a passkey can use');
  assert.equal(p.errors, []);
  await p.close();
});

test('storage that fails under the desktop is told at a press, and the page stays', async () => {
  const p = await phone(browser);
  await pairByLink(p, house, { newPasskey: true });
  await p.page.locator('.tile').first().waitFor();
  await p.page.evaluate(() => {
    IDBObjectStore.prototype.put = () => {
      throw new DOMException('full', 'QuotaExceededError');
    };
  });
  await p.page
    .getByRole('button', { name: /Options for/ })
    .first()
    .click();
  await press(p.page, /^Pin$|^Unpin$/);
  await says(p, 'This browser keeps nothing for this page');
  await online(p.page);
  assert.equal(p.errors, []);
  await p.close();
});

test.run();
