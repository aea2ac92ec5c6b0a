// timeout: 400 s
// A browser pairs with a hub through a real root, and is let in by the hub's own judgement.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { toBase64url } from '../../firmware/protocol/bytes.ts';
import { generate } from '../../firmware/protocol/noise/x25519.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import { authenticator } from '../lab/authenticator.ts';
import { openDatabase, until } from '../root/kit.ts';
import { accessOf, type Home, phone, signIn, withHub } from './kit.ts';

interface World extends Home {
  keys: ReturnType<typeof authenticator>;
  signals: { paired: string[]; failed: { reason: string; left: number }[] };
}
const test = suite<World>('pairing');

withHub(test);
test.before(async (c) => {
  c.keys = authenticator(c.root.origin);
  c.signals = { paired: [], failed: [] };
  await c.hub.bus.onSignal(uplink1, 'Paired', (s) => c.signals.paired.push(s.browser));
  await c.hub.bus.onSignal(uplink1, 'PairingFailed', (s) => c.signals.failed.push(s));
});

/** A browser that has paired by link. */
async function paired(c: World, newPasskey = false) {
  const code = await c.hub.calls.IssueCode({ new_passkey: newPasskey });
  const { access } = accessOf(code.link);
  const tab = await signIn(c.root, code.device_code, { keys: c.keys });
  const p = await phone(c.root, tab, c.hubId, access);
  await p.up();
  return p;
}

test('a browser pairs by link, pins the hub, and its requests reach the local API as its owner', async (c) => {
  const before = c.signals.paired.length;
  const p = await paired(c);
  assert.is(p.welcome()!.hub_name, 'Test hub');
  assert.is(p.greeting()!.first, true);
  await until(() => c.signals.paired.length > before);
  assert.is(c.signals.paired.at(-1), p.id);
  const r = await p.get('/v1/icons', { 'x-ingle-principal': 'e30', cookie: 'a=b' });
  assert.is(r.text, 'GET /v1/icons ');
  const { headers } = c.api.seen.at(-1)!;
  const principal = JSON.parse(Buffer.from(String(headers['x-ingle-principal']), 'base64url').toString());
  assert.is(principal.browser, p.id);
  assert.is(principal.role, 'owner');
  assert.is(principal.owner_id, (await c.hub.calls.Status({})).owner_id);
  assert.ok(principal.elevated_until > Date.now() / 1000 + 11 * 3600);
  assert.is(headers['cookie'], undefined);

  const echo: unknown[] = [];
  const ws = await p.tunnel.websocket('/ws');
  ws.onmessage = (d) => void echo.push(typeof d === 'string' ? d : [...d]);
  await ws.send('привет');
  await ws.send(new Uint8Array([1, 2, 3]));
  await until(() => echo.length === 2);
  assert.equal(echo, ['привет', [1, 2, 3]]);

  const { browsers } = await c.hub.calls.ListBrowsers({});
  assert.equal(
    browsers.map((b) => [b.id, b.label]),
    [[p.id, 'Phone']],
  );
  const s = await c.hub.calls.Status({});
  assert.equal([s.connected, s.browsers, s.channels, s.last_error], [true, 1, 1, '']);
  p.close();
});

test('a second browser pairs by the typed code with the passkey the hub has pinned', async (c) => {
  const code = await c.hub.calls.IssueCode({ new_passkey: false });
  assert.match(`${code.device_code} ${code.secret}`, /^\d{3}-\d{3} \d{3}-\d{3}$/);
  const tab = await signIn(c.root, code.device_code, { keys: c.keys });
  const p = await phone(c.root, tab, c.hubId, { mode: 'typed', secret: code.secret.replace('-', '') });
  await p.up();
  assert.is(p.greeting()!.first, false);
  assert.is(
    toBase64url(p.hubStatic),
    accessOf(code.link).access.hubStatic && toBase64url(accessOf(code.link).access.hubStatic),
  );
  p.close();
});

test('a code that let a browser in is spent', async (c) => {
  const code = await c.hub.calls.IssueCode({ new_passkey: false });
  const { access } = accessOf(code.link);
  const tab = await signIn(c.root, code.device_code, { keys: c.keys });
  const p = await phone(c.root, tab, c.hubId, access);
  await p.up();
  p.close();
  const late = await phone(c.root, tab, c.hubId, access);
  await until(() => late.heard.failed.length > 0);
  assert.is(late.heard.failed[0]!.code, 'pairing_failed');
  late.close();
});

test('a wrong secret is told, counted, and burns the code at the third', async (c) => {
  const code = await c.hub.calls.IssueCode({ new_passkey: false });
  const right = code.secret.replace('-', '');
  const wrong = right === '000000' ? '000001' : '000000';
  const tab = await signIn(c.root, code.device_code, { keys: c.keys });
  const before = c.signals.failed.length;
  for (const left of [2, 1, 0]) {
    const p = await phone(c.root, tab, c.hubId, { mode: 'typed', secret: wrong });
    await until(() => p.heard.failed.length > 0);
    assert.is(p.heard.failed[0]!.code, 'pairing_failed');
    p.close();
    await until(() => c.signals.failed.length === before + 3 - left);
    assert.is(c.signals.failed.at(-1)!.left, left);
  }
  const p = await phone(c.root, tab, c.hubId, { mode: 'typed', secret: right });
  await until(() => p.heard.failed.length > 0);
  const q = await phone(c.root, tab, c.hubId, accessOf(code.link).access);
  await until(() => q.heard.failed.length > 0);
  assert.not(p.admitted || q.admitted);
  p.close();
  q.close();
});

test('a pairing window and its used tries survive kill -9 of the uplink', async (c) => {
  const code = await c.hub.calls.IssueCode({ new_passkey: false });
  const tab = await signIn(c.root, code.device_code, { keys: c.keys });
  const right = code.secret.replace('-', '');
  const p = await phone(c.root, tab, c.hubId, { mode: 'typed', secret: right === '000000' ? '1' : '000000' });
  await until(() => p.heard.failed.length > 0);
  p.close();
  await c.hub.kill();
  await c.hub.again();
  const before = c.signals.failed.length;
  const again = await phone(c.root, tab, c.hubId, { mode: 'typed', secret: right });
  await again.up();
  assert.is(c.signals.failed.length, before);
  again.close();
});

test('a browser with another passkey is not let in, unless the code was issued for a new one', async (c) => {
  const stranger = authenticator(c.root.origin);
  const code = await c.hub.calls.IssueCode({ new_passkey: true });
  await signIn(c.root, code.device_code, { keys: stranger });
  const db = await openDatabase(c.root);
  const id = stranger.keys[0]!.id;
  const row = await db.get<Record<string, never>>('SELECT * FROM webauthn_cred WHERE cred_id = ?', id);
  // The hub closes this window and opens one that asks for a passkey it knows; this root keeps the other as well.
  const strict = await c.hub.calls.IssueCode({ new_passkey: false });
  assert.is(
    await db.get('SELECT 1 FROM webauthn_cred WHERE cred_id = ?', id),
    undefined,
    'an honest one does not',
  );
  const values = Object.values(row!);
  await db.run(`INSERT INTO webauthn_cred VALUES (${values.map(() => '?').join(', ')})`, ...values);
  await db.close();
  const tab = await signIn(c.root, strict.device_code, { keys: stranger });
  const p = await phone(c.root, tab, c.hubId, accessOf(strict.link).access);
  const refusal = await until(() => p.heard.controls.find((m) => m.t === 'refused'));
  assert.is((refusal as { error: string }).error, 'assertion_failed');
  assert.not(p.admitted);
  const e = await p.get('/v1/icons').catch((x) => x);
  assert.ok(['assertion_required', 'unavailable'].includes(e.code), e.code);
  p.close();

  const open = await c.hub.calls.IssueCode({ new_passkey: true });
  const approved = await signIn(c.root, open.device_code, { keys: authenticator(c.root.origin) });
  const q = await phone(c.root, approved, c.hubId, accessOf(open.link).access);
  await q.up();
  assert.is(q.greeting()!.first, true);
  q.close();
});

test('an unpaired browser that root lets through opens nothing', async (c) => {
  const known = await paired(c);
  const p = await phone(
    c.root,
    known.tab,
    c.hubId,
    { mode: 'known', hubStatic: known.hubStatic },
    {
      key: await generate(),
    },
  );
  known.close();
  await until(() => p.heard.lost.includes('unknown_browser'));
  assert.not(p.admitted);
  p.close();
});

test('bogus, replayed and foreign assertions are refused and shut the browser out', async (c) => {
  const code = await c.hub.calls.IssueCode({ new_passkey: false });
  const tab = await signIn(c.root, code.device_code, { keys: c.keys });
  const p = await phone(c.root, tab, c.hubId, accessOf(code.link).access, { silent: true });
  const w = await until(() => p.welcome());
  const seen = () => p.heard.controls.filter((m) => m.t === 'refused').length;
  const unproven = await p.get('/x').catch((x) => x);
  assert.is(unproven.code, 'assertion_required');
  await p.assert(w, { bogusSignature: true });
  await until(() => seen() === 1);
  await p.assert(w, { noUserVerification: true });
  await until(() => seen() === 2);
  await p.assert(w, { origin: 'http://localhost:1' });
  await until(() => p.heard.lost.length > 0 || seen() === 3);
  await until(() => c.signals.failed.at(-1)?.left === 0);
  await p.assert(w).catch(() => {});
  await until(() => p.heard.lost.includes('unknown_browser'));
  assert.not(p.admitted);
  p.close();
});

test('a passkey elevates an admitted browser anew, each handshake once', async (c) => {
  const p = await paired(c);
  const w = p.welcome()!;
  await p.assert(w);
  await until(() => p.last()?.t === 'refused');
  p.channel.restart();
  const next = await until(() => (p.welcome() !== w ? p.welcome() : undefined));
  assert.is(next.admitted, true);
  await p.assert(w);
  await until(() => p.last()?.t === 'refused');
  await p.assert(next);
  await until(() => p.last()?.t === 'admitted');
  p.close();
});

test('a browser takes another name, of what can be shown, and stays connected', async (c) => {
  const p = await paired(c);
  await c.hub.calls.RenameBrowser({ id: p.id, label: '  Kitchen\u202e phone ' });
  const { browsers } = await c.hub.calls.ListBrowsers({});
  assert.is(browsers.find((b) => b.id === p.id)!.label, 'Kitchen phone');
  assert.ok(p.admitted);
  const nobody = await c.hub.calls.RenameBrowser({ id: 'A'.repeat(43), label: 'x' }).catch((x) => x);
  assert.is(nobody.code, 'not_found');
  const empty = await c.hub.calls.RenameBrowser({ id: p.id, label: ' \u200b ' }).catch((x) => x);
  assert.is(empty.code, 'invalid_request');
  p.close();
});

test('a forgotten browser loses its channel at once and does not come back', async (c) => {
  const p = await paired(c);
  const other = await paired(c);
  await c.hub.calls.ForgetBrowser({ id: p.id });
  await until(() => p.heard.lost.includes('unknown_browser'));
  assert.not(p.admitted);
  assert.is((await other.read('/still')).status, 200);
  const { browsers } = await c.hub.calls.ListBrowsers({});
  assert.not(browsers.some((b) => b.id === p.id));
  const e = await c.hub.calls.ForgetBrowser({ id: p.id }).catch((x) => x);
  assert.is(e.code, 'not_found');
  p.close();
  other.close();
});

test('the static key rotates under a living channel, and a browser that was away follows it', async (c) => {
  const [here, away] = [await paired(c), await paired(c)];
  const old = here.hubStatic;
  away.close();
  await c.hub.calls.RotateKey({});
  await until(() => here.heard.rotations === 1 && toBase64url(here.hubStatic) !== toBase64url(old));
  await until(() => here.admitted);
  assert.is((await here.read('/x')).status, 200);
  const back = await phone(c.root, away.tab, c.hubId, { mode: 'known', hubStatic: old }, { key: away.key });
  await until(() => toBase64url(back.hubStatic ?? old) === toBase64url(here.hubStatic) && back.admitted);
  assert.is((await back.read('/y')).status, 200);
  const s = await c.hub.calls.Status({});
  assert.is(s.hub_id, c.hubId);
  here.close();
  back.close();
});

test.run();
