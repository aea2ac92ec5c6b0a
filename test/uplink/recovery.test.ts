// timeout: 200 s
// An owner who lost every passkey comes back by a code of the hub, a hub gets another owner by a person at it, and a root
// that would rather do either by itself does not.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { generate } from '../../firmware/protocol/noise/x25519.ts';
import { setup1 } from '../../firmware/setup/contract.ts';
import { hubPorts } from '../../firmware/setup/hub.ts';
import { followHub } from '../../firmware/setup/reactions.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import { logger } from '../../firmware/system/log.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import { authenticator } from '../lab/authenticator.ts';
import { call, openDatabase, type RootProcess, signedIn, until } from '../root/kit.ts';
import { fakeHub } from '../setup/fake-hub.ts';
import { accessOf, type Home, phone, signIn, type UplinkProcess, withHub } from './kit.ts';

const test = suite<Home>('recovery');
withHub(test, { INGLE_ROOT_SURGE: '100000', INGLE_ROOT_GUESSES: '1000' });
type Context = { root: RootProcess; hub: UplinkProcess; hubId: string };

/** A browser that comes in by a code of the hub, with a passkey of its own or one that is there. */
async function comesIn(c: Context, new_passkey: boolean, keys = authenticator(c.root.origin)) {
  const code = await c.hub.calls.IssueCode({ new_passkey });
  const tab = await signIn(c.root, code.device_code, { keys });
  const p = await phone(c.root, tab, c.hubId, accessOf(code.link).access);
  await p.up();
  return p;
}
type Tab = Awaited<ReturnType<typeof signIn>>;
const owner = (c: Context, tab: Tab, method: string, path: string, body?: unknown) =>
  call(c.root, method, `/v1/owner/${path}`, body, tab.bearer());
const browsers = async (c: Context) => (await c.hub.calls.ListBrowsers({})).browsers.map((b) => b.id);

test('who lost every passkey makes a new one by a code of the hub, and takes the old ones away', async (c) => {
  const lost = await comesIn(c, false);
  lost.close();
  const p = await comesIn(c, true);
  assert.is((await p.get('/v1/icons')).status, 200);
  assert.equal((await browsers(c)).sort(), [lost.id, p.id].sort());
  const { credentials } = (await owner(c, p.tab, 'GET', 'credentials')).body;
  const old = credentials.find((k: { current: boolean }) => !k.current);
  assert.is((await owner(c, p.tab, 'DELETE', `credentials/${old.id}`)).status, 200);
  await c.hub.calls.ForgetBrowser({ id: lost.id });
  assert.is((await lost.tab.login()).status, 401, 'at root');
  assert.equal(await browsers(c), [p.id], 'at the hub');
  const { entries } = (await owner(c, p.tab, 'GET', 'audit')).body;
  assert.equal(
    entries.slice(0, 4).map((e: { what: string }) => e.what),
    ['passkey_removed', 'signed_in', 'passkey_added', 'code_taken'],
  );
  p.close();
});

test('a root that forgets the owner’s passkeys and makes one of its own opens nothing at the hub', async (c) => {
  const before = await browsers(c);
  const db = await openDatabase(c.root);
  const { owner_id } = await c.hub.calls.Status({});
  // It knows every code it gives out, and writes into its records whatever it likes.
  const mine = await c.hub.calls.IssueCode({ new_passkey: false });
  await db.run('DELETE FROM webauthn_cred WHERE owner_id = ?', owner_id);
  const thief = await signIn(c.root, mine.device_code, { keys: authenticator(c.root.origin) });
  assert.is((await owner(c, thief, 'GET', 'hubs')).body.hubs[0].hub_id, c.hubId, 'at root it is the owner');
  await db.close();
  const hubStatic = accessOf(mine.link).access.hubStatic;
  for (const access of [
    { mode: 'known', hubStatic },
    { mode: 'link', hubStatic, psk: new Uint8Array(32) },
    { mode: 'typed', secret: '000000' },
  ] as const) {
    const p = await phone(c.root, thief, c.hubId, access, { key: await generate() });
    await until(() => p.heard.failed.length + p.heard.lost.length > 0, 'the hub to say no');
    assert.not(p.admitted);
    assert.equal(p.heard.controls, [], 'no word of the hub is readable');
    p.close();
  }
  assert.equal(await browsers(c), before);
  // By the next code of the hub the owner is first again, and the one root made is gone.
  const p = await comesIn(c, true);
  assert.is((await thief.offer()).status, 401);
  const { credentials } = (await owner(c, p.tab, 'GET', 'credentials')).body;
  assert.equal(
    credentials.map((k: { current: boolean }) => k.current),
    [true],
  );
  p.close();
});

test('a hub that changes hands at root stays with its owner until a person at it agrees, and then knows nobody', async (c) => {
  const mine = await comesIn(c, true);
  const before = await c.hub.calls.Status({});
  const heir = (await signedIn(c.root)).tab;
  assert.is((await owner(c, mine.tab, 'POST', `hubs/${c.hubId}/handover`, {})).status, 200);
  const code = await c.hub.calls.IssueCode({ new_passkey: false });
  const taken = await owner(c, heir, 'POST', 'hubs/take', { device_code: code.device_code });
  assert.equal(taken.body, { hub_id: c.hubId });
  mine.close();
  await until(
    async () => /another place/.test((await c.hub.calls.Status({})).last_error),
    'the hub to say so',
  );
  for (const order of [() => c.hub.calls.Enrol({}), () => c.hub.calls.IssueCode({ new_passkey: true })]) {
    const e = await order().catch((x) => x);
    assert.is(e.code, 'conflict');
    assert.match(e.message, /ingle init/);
  }
  const still = await c.hub.calls.Status({});
  assert.equal([still.owner_id, still.browsers], [before.owner_id, before.browsers]);

  const { changes, ...offered } = await c.hub.calls.Offered({});
  assert.equal(
    changes.map((x) => x.field),
    ['owner_id', 'subnet_id'],
  );
  await c.hub.calls.Adopt(offered);
  assert.equal(await browsers(c), []);
  await until(async () => (await c.hub.calls.Status({})).connected, 'the hub to be connected');
  const p = await comesIn(c, false, heir.keys);
  assert.is((await p.get('/v1/icons')).status, 200);
  assert.equal(await browsers(c), [p.id]);
  assert.is((await owner(c, heir, 'GET', 'hubs')).body.hubs.length, 2);
  p.close();
});

/** Setup as at a hub's console, over this hub's link and in a made-up world otherwise. */
async function withSetup(c: Context, work: (setup: Awaited<ReturnType<typeof fakeHub>>) => Promise<void>) {
  const real = (bus: Bus) => {
    const { pairing, offered, adopt, owned } = hubPorts({
      ...{ audio: undefined as never, wifi: undefined as never, signs: undefined as never, channels: [] },
      ...{ uplink: bus.client(uplink1), cable: () => true, rootUrl: c.root.url, log: logger('setup') },
    });
    return { pairing, offered, adopt, owned };
  };
  const setup = await fakeHub({ online: true }, { address: c.hub.daemon.address, real });
  try {
    await followHub(setup.bus, [], setup.setup);
    await work(setup);
  } finally {
    await setup.stop();
  }
}

test('at the console of the hub both go the same way, by setup', (c) =>
  withSetup(c, async (setup) => {
    const console = setup.bus.client(setup1);
    // Whoever has an owner is told no code unasked, which would end those made here.
    const mine = await comesIn(c, true);
    await setup.setup.begin();
    await until(async () => (await console.Stage({})).stage === 'owned', 'setup to know of the owner');
    const paired = (p: Awaited<ReturnType<typeof comesIn>>) =>
      until(async () => (await browsers(c)).includes(p.id), 'the browser to be paired');

    const told: string[] = [];
    await setup.bus.onSignal(uplink1, 'Recovering', ({ owner_id }) => void told.push(owner_id));
    const shared = await console.PairingLink({});
    const { link, device_code } = await console.RecoveryLink({});
    assert.is.not(link, shared.link);
    const { owner_id } = await c.hub.calls.Status({});
    await until(async () => told.length > 0, 'the word to the owner');
    assert.equal(told, [owner_id], 'of this code, and not of the one for a browser');
    const tab = await signIn(c.root, device_code, { keys: authenticator(c.root.origin) });
    const p = await phone(c.root, tab, c.hubId, accessOf(link).access);
    await p.up();
    await paired(p);
    mine.close();

    const heir = (await signedIn(c.root)).tab;
    assert.equal((await console.Offered({})).changes, []);
    assert.is((await owner(c, tab, 'POST', `hubs/${c.hubId}/handover`, {})).status, 200);
    const code = await console.PairingLink({});
    assert.is((await owner(c, heir, 'POST', 'hubs/take', { device_code: code.device_code })).status, 200);
    p.close();
    const { changes, ...offered } = await console.Offered({});
    assert.equal(
      changes.map((x) => x.field),
      ['owner_id', 'subnet_id'],
    );
    // Nobody is let go before somebody agrees to exactly this.
    const before = await browsers(c);
    const other = await console.Adopt({ ...offered, owner_id: 'own_x' }).catch((e) => e);
    assert.is(other.code, 'conflict');
    assert.equal(await browsers(c), before);
    await console.Adopt(offered);
    assert.equal(await browsers(c), []);
    assert.is((await console.Stage({})).stage, 'ownerless');
    const next = await console.PairingLink({});
    assert.is.not(next.link, code.link);
    const theirs = await signIn(c.root, next.device_code, { keys: heir.keys });
    const q = await phone(c.root, theirs, c.hubId, accessOf(next.link).access);
    await q.up();
    await until(async () => (await console.Stage({})).stage === 'owned', 'setup to hear of the owner');
    assert.equal(await browsers(c), [q.id]);
    q.close();
  }));

test.run();
