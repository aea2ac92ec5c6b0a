// timeout: 400 s
// The insecure debug mode: it works when a person turned it on, is marked wherever it shows, and is nothing when off.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fromBase64url, toBase64url } from '../../firmware/protocol/bytes.ts';
import { decodeControl, encodeControl } from '../../firmware/protocol/noise/control.ts';
import { initiator } from '../../firmware/protocol/noise/initiator.ts';
import { insecureFeature, unseal } from '../../firmware/protocol/noise/seal.ts';
import { generate } from '../../firmware/protocol/noise/x25519.ts';
import { challengeOf } from '../../firmware/protocol/pairing/assertion.ts';
import type { Control } from '../../firmware/protocol/wire.ts';
import { run } from '../../firmware/system/exec.ts';
import { authenticator } from '../lab/authenticator.ts';
import { counters } from '../protocol/root.ts';
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
const test = suite<World>('sealed secret');

async function start(c: World, on: boolean) {
  c.hub = await startUplink({
    ...{ root: c.evil.url, apiPort: c.api.port, token: c.api.token },
    config: { insecure_sealed_secret: on },
  });
  c.hubId = (await c.hub.enrolled()).hub_id;
  c.keys = authenticator(c.root.origin);
}
test.before(async (c) => {
  c.root = await startRoot();
  c.evil = await between(c.root);
  c.api = await localApi();
  await start(c, true);
});
test.before.each((c) => c.evil.honest());
test.after(async (c) => {
  await c.hub?.stop();
  await c.evil?.stop();
  await c.root?.stop();
  await c.api?.stop();
});

async function signedIn(c: World) {
  const code = await c.hub.calls.IssueCode({ new_passkey: false });
  const tab = await signIn(c.root, code.device_code, { keys: c.keys });
  return { tab, code };
}
const marks = (c: World, words: string) => c.hub.log().split(words).length - 1;

test('with the mode on, a root that puts its own key in place of the browser is let in: the mode is insecure', async (c) => {
  // A hub without a passkey takes the first one; after that this root would need the owner's.
  const own = await generate();
  const { tab } = await signedIn(c);
  let given = '';
  c.evil.watch((event, m) => {
    if (event === 'pairing.request') m['browser_pub'] = toBase64url(own.publicKey);
    if (event === 'pairing.accept') given = String(m['sealed_secret'] ?? '');
  });
  const socket = tab.socket();
  socket.on('connect', () => void tab.offer());
  await until(() => given !== '');
  const secret = await unseal(fromBase64url(given), own, tab.sid, c.hubId);
  const channel = initiator({
    ...{ sid: tab.sid, hubId: c.hubId, key: own, access: { mode: 'sealed', ...secret } },
    counters: counters(),
    send: (frame, ctr) => c.evil.inject({ sid: tab.sid, frame, ctr }),
  });
  c.evil.set((way, m) => {
    if (way === 'to_browser') channel.receive(m.frame, m.ctr);
    return [];
  });
  const rpId = new URL(c.root.origin).hostname;
  const heard: Control[] = [];
  channel.on('message', async (m) => {
    const control = decodeControl(m);
    if (control) heard.push(control);
    if (control?.t !== 'welcome' || !control.need) return;
    const mine = authenticator(c.root.origin);
    const { cose } = mine.make('AAAA');
    const bytes = channel.current!.hash;
    const challenge = await challengeOf({ purpose: 'hub', context: c.hubId, bytes });
    const credential = mine.get({ challenge, rpId });
    const assertion = { t: 'assertion', credential, public_key: cose } as const;
    void channel.send(encodeControl(assertion));
  });
  await until(() => heard.some((h) => h.t === 'admitted'));
  const { browsers } = await c.hub.calls.ListBrowsers({});
  assert.equal(
    browsers.map((b) => b.id),
    [toBase64url(own.publicKey)],
  );
  channel.close();
  socket.close();
  await c.hub.stop();
  await start(c, true);
});

test('with the mode on a browser pairs by the first group alone, is told to sign, and stays paired', async (c) => {
  const { tab } = await signedIn(c);
  const features: unknown[] = [];
  const p = await phone(c.root, tab, c.hubId, 'sealed');
  await p.up();
  assert.is(p.channel.current!.mode, 'sealed');
  assert.is(p.greeting()!.need, 'assertion');
  assert.is((await p.read('/x')).text, 'GET /x ');
  c.evil.watch((event, m) => {
    if (event === 'hub.online') features.push((m['caps'] as { features: string[] }).features);
  });
  await c.hub.kill();
  await c.hub.again();
  await p.up();
  assert.is((await p.read('/y')).text, 'GET /y ');
  assert.equal(features.at(-1), [insecureFeature]);
  p.close();
});

test('the mode is marked insecure in the log at its start and each pairing, and in the state', async (c) => {
  const before = [marks(c, 'handed out through root'), marks(c, 'came by a sealed secret')] as const;
  await until(() => marks(c, 'INSECURE: the debug mode') >= 1);
  const { tab } = await signedIn(c);
  const p = await phone(c.root, tab, c.hubId, 'sealed');
  await p.up();
  await until(() => marks(c, 'handed out through root') > before[0]);
  await until(() => marks(c, 'came by a sealed secret') === before[1] + 1);
  assert.is((await c.hub.calls.Status({})).insecure, true);
  const said = await run(process.execPath, ['services/cli/ingle.mjs', 'status'], {
    env: { INGLE_BUS_ADDRESS: c.hub.daemon.address, INGLE_LANG: 'en' },
  });
  assert.match(`${said.stdout}`, 'INSECURE: the debug mode insecure_sealed_secret is on');
  p.close();
});

test('a sealed secret is for its session alone and for once; links work beside it', async (c) => {
  const { tab } = await signedIn(c);
  const other = await signIn(c.root, (await c.hub.calls.IssueCode({ new_passkey: false })).device_code, {
    keys: c.keys,
  });
  const link = await c.hub.calls.IssueCode({ new_passkey: false });
  let given = '';
  c.evil.watch((event, m) => {
    if (event === 'pairing.accept' && m['sid'] === tab.sid) given = String(m['sealed_secret'] ?? '');
  });
  const key = await generate();
  const socket = tab.socket();
  socket.on('connect', () => void tab.offer({ e2e_pubkey: toBase64url(key.publicKey) }));
  await until(() => given !== '');
  const secret = await unseal(fromBase64url(given), key, tab.sid, c.hubId);
  socket.close();

  const foreign = await phone(c.root, other, c.hubId, { mode: 'sealed', ...secret });
  await until(() => foreign.heard.failed.length > 0);
  assert.not(foreign.admitted);
  foreign.close();

  const byLink = await phone(c.root, other, c.hubId, accessOf(link.link).access);
  await byLink.up();
  byLink.close();

  // The window let one in; the secret is spent with it.
  const late = await phone(c.root, tab, c.hubId, { mode: 'sealed', ...secret }, { key });
  await until(() => late.heard.failed.length > 0 || late.heard.lost.includes('unknown_browser'));
  assert.not(late.admitted);
  late.close();
});

test('with the mode off nothing is sent and nothing is accepted, whatever root asks', async (c) => {
  await c.hub.stop();
  await start(c, false);
  const { tab, code } = await signedIn(c);
  const { hubStatic, psk } = accessOf(code.link).access;
  const sent: unknown[] = [];
  c.evil.watch((event, m) => {
    if (event === 'pairing.accept') sent.push(m['sealed_secret']);
  });
  const p = await phone(c.root, tab, c.hubId, 'sealed');
  await until(() => p.statuses.length > 0);
  assert.ok(sent.length > 0 && sent.every((s) => s === undefined));
  assert.ok(p.statuses.every((s) => s === undefined));
  p.close();
  // Not even the right secret of the window opens by this way.
  const q = await phone(c.root, tab, c.hubId, { mode: 'sealed', hubStatic, psk });
  await until(() => q.heard.failed.length > 0);
  assert.is(q.heard.failed[0]!.code, 'pairing_failed');
  q.close();
  assert.is(marks(c, 'INSECURE'), 0);
  assert.is((await c.hub.calls.Status({})).insecure, false);
});

test.run();
