// timeout: 300 s
// Somebody guesses the code of a hub: what that is worth, and that the owner hears of it and is first again.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { generate } from '../../firmware/protocol/noise/x25519.ts';
import { linkTicket } from '../../firmware/protocol/pairing/ticket.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import { authenticator } from '../lab/authenticator.ts';
import { newTab, until } from '../root/kit.ts';
import { accessOf, type Home, phone, signIn, withHub } from './kit.ts';

const test = suite<Home>('a stolen code');
// No puzzles, which come before the budget of wrong codes.
withHub(test, { INGLE_ROOT_SURGE: '100000' });
const digits = (secret: string) => secret.replace('-', '');
const other = (secret: string, i: number) =>
  String((Number(digits(secret)) + i) % 1_000_000).padStart(6, '0');

test('it opens no channel and reads nothing, the owner is told, and is the first all the same', async (c) => {
  const failed: number[] = [];
  await c.hub.bus.onSignal(uplink1, 'PairingFailed', (s) => failed.push(s.left));
  const code = await c.hub.calls.IssueCode({ new_passkey: false });
  assert.is(code.taken, false);
  // The thief has the first group: root takes him for the owner's browser, makes his passkey the first and lets him in.
  const thief = await signIn(c.root, code.device_code, { keys: authenticator(c.root.origin) });
  // The hub does not: he has neither psk nor second group, and three guesses close the window.
  const stranger = { mode: 'known', hubStatic: accessOf(code.link).access.hubStatic } as const;
  const tries = [
    stranger,
    ...[1, 2, 3].map((i) => ({ mode: 'typed', secret: other(code.secret, i) }) as const),
    { mode: 'typed', secret: digits(code.secret) } as const,
  ];
  for (const access of tries) {
    const p = await phone(c.root, thief, c.hubId, access, { key: await generate() });
    await until(() => p.heard.failed.length + p.heard.lost.length > 0, 'the hub to say no');
    assert.not(p.admitted);
    assert.equal(p.heard.controls, [], 'no word of the hub is readable');
    const e = await p.get('/v1/icons').catch((x) => x);
    assert.instance(e, IngleError);
    p.close();
  }
  await until(() => failed.includes(0), 'the owner to hear that the code was burned');
  assert.equal(c.api.seen, [], 'nothing reached the hub’s own API');
  assert.is((await c.hub.calls.Status({})).browsers, 0);

  // The owner's own try finds the code spent; the next one ends what the thief began.
  const owner = await newTab(c.root);
  assert.is((await owner.verify(code.device_code)).body.error, 'invalid_device_code');
  const again = await c.hub.calls.IssueCode({ new_passkey: false });
  assert.is(again.taken, true, 'and says that somebody took the one before');
  assert.match((await c.hub.calls.Status({})).last_error, /Somebody entered the last pairing code/);
  assert.is((await thief.offer()).status, 401);
  assert.is((await thief.login()).status, 401, 'his passkey is gone as well');
  const tab = await signIn(c.root, again.device_code, { keys: authenticator(c.root.origin) });
  const p = await phone(c.root, tab, c.hubId, accessOf(again.link).access);
  await p.up();
  p.close();

  const later = await c.hub.calls.IssueCode({ new_passkey: false });
  assert.is(later.taken, false, 'a browser was paired with the last one');
  const second = await newTab(c.root, { keys: tab.keys });
  assert.is((await second.verify(later.device_code)).status, 200);
  assert.is((await second.login()).status, 200, 'and the passkey the hub knows stays');
});

test('a thief who waits between code and passkey is out with the next code too', async (c) => {
  const code = await c.hub.calls.IssueCode({ new_passkey: true });
  const thief = await newTab(c.root);
  assert.is((await thief.verify(code.device_code)).status, 200);
  await c.hub.calls.IssueCode({ new_passkey: false });
  assert.is((await thief.register()).status, 401);
});

test('the link shows root its ticket, which passes when typed codes do not', async (c) => {
  const code = await c.hub.calls.IssueCode({ new_passkey: false });
  const { access } = accessOf(code.link);
  for (let i = 0; i < 12; i++) await (await newTab(c.root)).verify(other(code.device_code, i + 1));
  const typed = await (await newTab(c.root)).verify(code.device_code);
  assert.equal([typed.status, typed.body.details.near], [429, true]);
  const tab = await newTab(c.root);
  const ask = (ticket: string) =>
    tab.post('/v1/owner/login/verify', { device_code: code.device_code, sid: tab.sid, ticket });
  assert.is((await ask('A'.repeat(22))).status, 429, 'another ticket is none');
  assert.is((await ask(await linkTicket(access.psk))).status, 200);
});

test.run();
