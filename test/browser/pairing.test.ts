// timeout: 300 s
import type { Browser } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { House } from '../../services/cli/house/house.ts';
import { home } from '../lab/browser/home.ts';
import {
  answer,
  approve,
  at,
  online,
  openPage,
  type Phone,
  pairByLink,
  phone,
  press,
  slipper,
  withoutX25519,
} from '../lab/browser/phone.ts';

let house: House;
let browser: Browser;
const rooms = home(test);
test.before(async () => {
  [house, browser] = await rooms.open();
});

test('a scanned link leads a new phone to the desktop, and is gone from its history', async () => {
  const p = await phone(browser);
  const code = await house.issueCode();
  await p.page.goto(code.link);
  await at(p.page, 'register');
  assert.is(await p.page.evaluate(() => location.hash), '');
  await press(p.page, 'Make a passkey');
  await approve(p);
  assert.equal((await p.passkeys.credentials()).length, 1);
  assert.equal(p.errors, []);

  // Later visits, same browser: a reload needs nothing, a new tab of it a touch.
  await p.page.reload();
  await at(p.page, 'desktop');
  await online(p.page);
  await press(p.page, 'Menu');
  await press(p.page, 'Sign out');
  await at(p.page, 'login');
  assert.is(await p.page.evaluate(() => sessionStorage.length), 0);
  await press(p.page, 'Sign in with passkey');
  await at(p.page, 'desktop');
  await online(p.page);
  const key = await p.page.evaluate(async () => {
    const db = await new Promise<IDBDatabase>((ok) => {
      const r = indexedDB.open('ingle');
      r.onsuccess = () => ok(r.result);
    });
    const kept = await new Promise<{ privateKey: CryptoKey }>((ok) => {
      const r = db.transaction('keys').objectStore('keys').get('browser');
      r.onsuccess = () => ok(r.result);
    });
    return kept.privateKey.extractable;
  });
  assert.is(key, false, "the browser's key can be taken out of it");
  await p.close();
});

test('a person with a synced passkey pairs another phone by typing both groups', async () => {
  const first = await phone(browser);
  await first.page.goto(house.origin);
  await at(first.page, 'entry');
  const code = await house.issueCode({ newPasskey: true });
  // Pasted with words around it, in one go.
  await first.page.getByLabel('Code from the hub').fill(`code: ${code.device_code} ${code.secret}`);
  await first.page.keyboard.press('Enter');
  // Straight to what the code is for.
  await at(first.page, 'register');
  await press(first.page, 'Make a passkey');
  await approve(first);
  const [synced] = await first.passkeys.credentials();
  assert.ok(synced);
  await first.close();

  const second = await phone(browser, { locale: 'ru' });
  await second.passkeys.add(synced!);
  const next = await house.issueCode();
  await second.page.goto(house.origin);
  await second.page.getByLabel('Код с хаба').fill(next.device_code);
  await press(second.page, 'Продолжить');
  await at(second.page, 'second');
  await second.page.getByLabel('Вторая группа').fill('000-000');
  await press(second.page, 'Продолжить');
  await at(second.page, 'login');
  await press(second.page, 'Войти с ключом доступа');
  // The wrong second group: nothing is shared, and it may be typed again.
  await second.page.getByText('Вторая группа не подошла').waitFor();
  await second.page.getByLabel('Вторая группа').fill(next.secret);
  await press(second.page, 'Продолжить');
  await at(second.page, 'approve');
  await press(second.page, 'Подтвердить ключом доступа');
  await at(second.page, 'desktop');
  await online(second.page);
  await second.close();
});

test('a phone without a passkey is told its two ways, and gets in by neither root nor luck', async () => {
  const p = await phone(browser);
  const code = await house.issueCode();
  await p.page.goto(code.link);
  await at(p.page, 'login');
  await press(p.page, 'Sign in with passkey');
  await p.page.getByText('No passkey was used').waitFor();
  await press(p.page, 'This phone has no passkey');
  await at(p.page, 'nopasskey');
  await p.page.getByText('npx ingle login --new-passkey').waitFor();
  await press(p.page, 'My code permits a new passkey');
  await p.page.getByText('This is not permitted').waitFor();
  assert.equal(await p.passkeys.credentials(), []);
  await p.close();
});

test('wrong, spent and malformed codes each say what to do next', async () => {
  const p = await phone(browser);
  await p.page.goto(house.origin);
  const field = p.page.getByLabel('Code from the hub');
  await field.fill('12 34');
  await press(p.page, 'Continue');
  await p.page.getByText('A group has six digits').waitFor();
  const spent = await house.issueCode();
  const other = await phone(browser);
  await other.page.goto(spent.link);
  await at(other.page, 'login');
  await other.close();
  for (const code of ['000000', spent.device_code]) {
    await field.fill(code);
    await press(p.page, 'Continue');
    await p.page.getByText('This code does not work').waitFor();
    await p.page.getByText('ask the hub for a new one').waitFor();
  }
  await p.page.goto('about:blank');
  await p.page.goto(`${house.origin}/#v1.123456.short.psk`);
  await p.page.getByText('This link is not complete').waitFor();
  await p.close();
});

test('a closed prompt, a false signature and a stranger get a plain word, and the right touch works after', async () => {
  const p = await phone(browser);
  const code = await house.issueCode({ newPasskey: true });
  await p.page.goto(code.link);
  await at(p.page, 'register');
  await p.passkeys.recognise(false);
  await press(p.page, 'Make a passkey');
  await p.page.getByText('No passkey was used').waitFor();
  await p.passkeys.recognise(true);
  await press(p.page, 'Make a passkey');
  await at(p.page, 'approve');
  await p.passkeys.bogus(true);
  await press(p.page, 'Confirm with passkey');
  await p.page.getByText('The passkey was not accepted').waitFor();
  await p.passkeys.bogus(false);
  await press(p.page, 'Confirm with passkey');
  await at(p.page, 'desktop');
  await online(p.page);

  await press(p.page, 'Menu');
  await press(p.page, 'Sign out');
  await at(p.page, 'login');
  await p.passkeys.bogus(true);
  await press(p.page, 'Sign in with passkey');
  await p.page.getByText('The passkey was not accepted').waitFor();
  await p.passkeys.bogus(false);
  await press(p.page, 'Sign in with passkey');
  await at(p.page, 'desktop');
  await p.close();
});

test('a browser whose WebCrypto has no X25519 pairs and comes back all the same', async () => {
  const p = await phone(browser);
  await withoutX25519(p.page);
  await pairByLink(p, house, { newPasskey: true });
  await p.page.reload();
  await at(p.page, 'desktop');
  await online(p.page);
  assert.equal(p.errors, []);
  await p.close();
});

/** The hub this browser has pinned, as its database has it. */
const pinOf = (p: Phone) =>
  p.page.evaluate(
    () =>
      new Promise<{ hubStatic: string; signPub: string; paired: number; owner_id: string }[]>((ok) => {
        const r = indexedDB.open('ingle');
        r.onsuccess = () => {
          const all = r.result.transaction('hubs').objectStore('hubs').getAll();
          all.onsuccess = () =>
            ok(all.result.map((p) => ({ ...p, hubStatic: [...(p.hubStatic as Uint8Array)].join() })));
        };
      }),
  );

test('two bytes somebody on the way slips in are told, change nothing, and lead back or to a new pairing', async () => {
  const p = await phone(browser);
  const unknownBrowser = await slipper(p.page);
  await pairByLink(p, house, { newPasskey: true });
  const before = await pinOf(p);
  assert.is(before.length, 1);
  await unknownBrowser();
  await p.page.getByText('somebody on the way says so').waitFor();
  assert.equal(await pinOf(p), before);
  await press(p.page, 'Try again');
  await at(p.page, 'desktop');
  await online(p.page);

  await unknownBrowser();
  await press(p.page, 'Pair again');
  await at(p.page, 'entry');
  await press(p.page, 'Back to my hub');
  await at(p.page, 'login');
  await press(p.page, 'Sign in with passkey');
  await at(p.page, 'desktop');
  await online(p.page);
  assert.equal(await pinOf(p), before);

  await unknownBrowser();
  await press(p.page, 'Pair again');
  const code = await house.issueCode();
  await p.page.getByLabel('Code from the hub').fill(`${code.device_code} ${code.secret}`);
  await p.page.keyboard.press('Enter');
  await press(p.page, 'Sign in with passkey');
  await at(p.page, 'desktop');
  await online(p.page);
  const [after, ...others] = await pinOf(p);
  assert.equal([others, after!.signPub, after!.owner_id], [[], before[0]!.signPub, before[0]!.owner_id]);
  assert.ok(after!.paired > before[0]!.paired);
  await p.close();
});

test('forgetting the hub leaves nothing of it in the browser', async () => {
  const p = await phone(browser);
  await pairByLink(p, house, { newPasskey: true });
  await openPage(p.page, 'Forget this hub');
  await answer(p.page, true);
  await at(p.page, 'entry');
  const left = await p.page.evaluate(
    () =>
      new Promise<number>((ok) => {
        const r = indexedDB.open('ingle');
        r.onsuccess = () => {
          const names = [...r.result.objectStoreNames];
          const t = r.result.transaction(names);
          let n = 0;
          for (const name of names)
            t.objectStore(name).count().onsuccess = (e) => {
              n += (e.target as IDBRequest<number>).result;
            };
          t.oncomplete = () => ok(n);
        };
      }),
  );
  assert.is(left, 0);
  await p.close();
});

test.run();
