// timeout: 600 s, patient
// A root that swaps keys, alters, replays or drops what passes through it: both ends notice, nobody is let in by it.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { generate } from '../../firmware/protocol/noise/x25519.ts';
import { frameKind } from '../../firmware/protocol/wire.ts';
import { authenticator } from '../lab/authenticator.ts';
import { type RootProcess, startRoot, until } from '../root/kit.ts';
import { between } from './between.ts';
import { accessOf, localApi, phone, signIn, startUplink, type UplinkProcess } from './kit.ts';

interface World {
  root: RootProcess;
  evil: Awaited<ReturnType<typeof between>>;
  api: Awaited<ReturnType<typeof localApi>>;
  hub: UplinkProcess;
  hubId: string;
  keys: ReturnType<typeof authenticator>;
}
const test = suite<World>('hostile root');
test.before(async (c) => {
  c.root = await startRoot();
  c.evil = await between(c.root);
  c.api = await localApi();
  c.hub = await startUplink({ root: c.evil.url, apiPort: c.api.port, token: c.api.token });
  c.hubId = (await c.hub.enrolled()).hub_id;
  c.keys = authenticator(c.root.origin);
});
test.before.each((c) => {
  c.evil.honest();
  c.evil.seen.length = 0;
});
test.after(async (c) => {
  await c.hub?.stop();
  await c.evil?.stop();
  await c.root?.stop();
  await c.api?.stop();
});

async function window(c: World) {
  const code = await c.hub.calls.IssueCode({ new_passkey: false });
  const tab = await signIn(c.root, code.device_code, { keys: c.keys });
  return { code, tab, access: accessOf(code.link).access };
}
async function paired(c: World, o: { handshake?: number } = {}) {
  const { tab, access } = await window(c);
  const p = await phone(c.root, tab, c.hubId, access, o);
  await p.up();
  return p;
}
const status = (c: World) => c.hub.calls.Status({});

test('an honest relay in between changes nothing, and no plaintext passes through it', async (c) => {
  const p = await paired(c);
  const r = await p.post('/echo', 'the-owner-s-secret-words');
  assert.is(r.text, 'POST /echo the-owner-s-secret-words');
  const everything = Buffer.concat(c.evil.seen.map((s) => Buffer.from(s.m.frame)));
  for (const word of ['the-owner-s-secret-words', '/echo', 'welcome', 'Test hub', c.api.token, 'POST'])
    assert.not(everything.includes(word), word);
  assert.is((await status(c)).last_error, '');
  p.close();
});

test("a root that swaps the keys of a typed pairing is found out, and the code's tries go", async (c) => {
  const { code, tab } = await window(c);
  const swapped = (await generate()).publicKey;
  c.evil.set((way, m) => {
    if (way === 'to_browser' && m.frame[0] === frameKind.cpace2) m.frame.set(swapped, m.frame.length - 32);
    return [m];
  });
  const p = await phone(c.root, tab, c.hubId, { mode: 'typed', secret: code.secret.replace('-', '') });
  await until(() => p.heard.failed.length > 0);
  assert.is(p.heard.failed[0]!.code, 'pairing_failed');
  await until(async () => /wrong pairing code/.test((await status(c)).last_error));
  assert.not(p.admitted);
  await until(() => /pairing failed/.test(c.hub.log()), 'the log to say so');
  p.close();
});

test('a root that puts its own key into a pairing by link gets nowhere', async (c) => {
  const { tab, access } = await window(c);
  const before = (await status(c)).browsers;
  const p = await phone(c.root, tab, c.hubId, { ...access, psk: new Uint8Array(32).fill(9) });
  await until(() => p.heard.failed.length > 0);
  assert.ok(p.heard.alarms.includes('altered') || p.heard.alarms.includes('wrong_code'));
  assert.is((await status(c)).browsers, before);
  p.close();
  const q = await phone(c.root, tab, c.hubId, { ...access, hubStatic: (await generate()).publicKey });
  await until(async () => /changed a message/.test((await status(c)).last_error));
  assert.not(q.admitted);
  q.close();
});

test('altered frames are noticed at the end they reach, and the channel comes back by itself', async (c) => {
  const p = await paired(c);
  for (const way of ['to_hub', 'to_browser'] as const) {
    let left = 1;
    c.evil.set((w, m) => {
      if (w === way && m.frame[0] === frameKind.transport && left-- > 0) m.frame[m.frame.length - 1]! ^= 1;
      return [m];
    });
    const lost = p.heard.lost.length;
    await p.get('/x').catch((e) => assert.is(e.code, 'unavailable'));
    await until(() => p.heard.lost.length > lost);
    await p.up();
    assert.is((await p.read('/y')).text, 'GET /y ');
  }
  assert.ok(p.heard.alarms.includes('altered'));
  assert.match((await status(c)).last_error, /changed a message/);
  p.close();
});

test('replayed frames are dropped at the hub and do nothing twice', async (c) => {
  const p = await paired(c);
  c.evil.seen.length = 0;
  await p.post('/echo', 'once');
  const before = c.api.seen.length;
  const captured = c.evil.seen.filter((s) => s.way === 'to_hub').map((s) => s.m);
  assert.ok(captured.length > 0);
  for (const m of captured) c.evil.inject(m);
  for (const m of captured) c.evil.inject({ ...m, ctr: m.ctr + 1000 });
  await until(async () => /old messages again|changed a message/.test((await status(c)).last_error));
  await p.up();
  assert.is((await p.read('/after')).status, 200);
  assert.is(c.api.seen.filter((s) => s.body === 'once').length, 1);
  assert.is(c.api.seen.filter((s) => s.url !== '/after').length, before);
  p.close();
});

test('a handshake captured on the way opens nothing when it is played again, even to a hub that restarted', async (c) => {
  const p = await paired(c);
  p.channel.restart();
  await until(() => c.evil.seen.some((s) => s.m.frame[0] === frameKind.ik1));
  await p.up();
  const start = c.evil.seen.filter((s) => s.m.frame[0] === frameKind.ik1).at(-1)!.m;
  const all = c.evil.seen.filter((s) => s.way === 'to_hub' && s.m.ctr >= start.ctr).map((s) => s.m);
  await c.hub.kill();
  await c.hub.again();
  assert.is((await p.read('/back')).status, 200);
  const before = c.api.seen.length;
  for (const m of all) c.evil.inject(m);
  assert.is((await p.read('/still')).status, 200);
  assert.ok(c.api.seen.slice(before).every((s) => s.url === '/still'));
  p.close();
});

test('a root that cannot tell just now is asked again, and no enrolment is made for it', async (c) => {
  const p = await paired(c);
  const asked: string[] = [];
  let refusals = 0;
  c.evil.answer((path, body) => {
    asked.push(path);
    return body;
  });
  c.evil.refuse({
    get error() {
      refusals++;
      return 'unavailable';
    },
    message: 'The database does not answer.',
  });
  await until(() => refusals >= 2, 'the hub to ask twice');
  c.evil.honest();
  await until(async () => (await status(c)).connected, 'the hub to be back');
  assert.not(asked.includes('/v1/hub/enrol'), asked.join());
  p.close();
});

test('a root that refuses the hub and offers it another owner or application gets neither, nor a code, nor one pin', async (c) => {
  const p = await paired(c);
  const before = await status(c);
  const stolen = { owner_id: 'own_evil', app_url: 'https://evil.example' };
  for (const change of [stolen, { owner_id: 'own_evil' }, { app_url: 'https://evil.example' }]) {
    c.evil.answer((path, body) => (path === '/v1/hub/enrol' ? { ...body, ...change } : body));
    c.evil.refuse({ error: 'unauthenticated', message: 'Open https://evil.example' });
    const told = await until(async () => {
      const s = await status(c);
      return /refused the hub|another place/.test(s.last_error) ? s : undefined;
    });
    assert.not.match(told.last_error, /Open https/);
    for (const call of [
      () => c.hub.calls.IssueCode({ new_passkey: false }),
      () => c.hub.calls.Enrol({}),
      () => c.hub.calls.IssueCode({ new_passkey: true }),
    ]) {
      const e = await call().catch((x) => x);
      assert.is(e.code, 'conflict', e.message);
      assert.match(e.message, /Nothing was changed.*ingle init/);
    }
    const after = await status(c);
    assert.match(after.last_error, /offers this hub another place/);
    assert.equal(
      [after.owner_id, after.subnet_id, after.hub_id, after.browsers],
      [before.owner_id, before.subnet_id, before.hub_id, before.browsers],
    );
    c.evil.honest();
    await until(async () => (await status(c)).connected, 'the hub to be back with an honest root');
    assert.is((await status(c)).last_error, '');
    assert.is((await p.read('/still')).status, 200);
  }
  const code = await c.hub.calls.IssueCode({ new_passkey: false });
  assert.ok(code.link.startsWith(`${c.root.origin}/#`));
  assert.is(code.verify_uri, `${c.root.origin}/`);
  p.close();
});

test('the page a code is typed at is the pinned application’s, whatever root says', async (c) => {
  c.evil.answer((_, body) => ({
    ...body,
    verify_uri: 'https://evil.example/',
    app_url: 'https://evil.example',
  }));
  const code = await c.hub.calls.IssueCode({ new_passkey: false });
  assert.is(code.verify_uri, `${c.root.origin}/`);
  assert.ok(code.link.startsWith(`${c.root.origin}/#`));
});

test('dropped frames end the channel, which comes back; no request is answered by half', async (c) => {
  const p = await paired(c, { handshake: 2000 });
  let n = 0;
  c.evil.set((_, m) => (m.frame[0] === frameKind.transport && ++n % 7 === 0 ? [] : [m]));
  let ok = 0;
  for (let i = 0; i < 8; i++) {
    await p.up();
    await p.get(`/n${i}`).then(
      (r) => {
        assert.is(r.text, `GET /n${i} `);
        ok++;
      },
      (e) => assert.ok(['unavailable', 'timeout', 'assertion_required'].includes(e.code), e.code),
    );
  }
  c.evil.honest();
  assert.is((await p.read('/end')).status, 200);
  assert.ok(ok > 0);
  p.close();
});

test.run();
