// Guests' passkeys at root: they lead to the hub, and have no say about the owner's account.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { passkeyName } from '../../firmware/protocol/pairing/ticket.ts';
import { call, type Hub, heard, newTab, type RootProcess, signedIn, startRoot, until } from './kit.ts';

const test = suite<{ root: RootProcess }>('guests at root');
test.before(async (c) => {
  c.root = await startRoot();
});
test.after((c) => c.root.stop());

const forGuest = { scope: 'new_passkey', guest: true };
type Tab = Awaited<ReturnType<typeof newTab>>;

/** A tab signed in with a passkey that came by a code of these claims. */
async function comes(root: RootProcess, hub: Hub, claims: object): Promise<Tab> {
  const tab = await newTab(root);
  for (const r of [await tab.verify(await hub.code({ ...claims })), await tab.register(), await tab.login()])
    if (r.status !== 200) throw new Error(JSON.stringify(r.body));
  return tab;
}
const list = (root: RootProcess, tab: Tab) =>
  call(root, 'GET', '/v1/owner/credentials', undefined, tab.bearer());
const revoke = (root: RootProcess, tab: Tab, id: string) =>
  call(root, 'DELETE', `/v1/owner/credentials/${id}`, undefined, tab.bearer());
const logout = (tab: Tab, sid: string) =>
  tab.post('/v1/owner/logout', { sid }, { authorization: `Bearer ${tab.token}` });
const idOf = async (root: RootProcess, owner: Tab, of: Tab): Promise<string> =>
  (await list(root, owner)).body.credentials.find(
    (c: { browser_key_id: string }) => c.browser_key_id === of.browser_key_id,
  ).id;

test('a guest is led to the hub and signs out, and may do nothing else that takes a session', async ({
  root,
}) => {
  const { hub, tab: owner } = await signedIn(root);
  const guest = await comes(root, hub, forGuest);
  const ids = { owner: await idOf(root, owner, owner), guest: await idOf(root, owner, guest) };
  for (const [what, asked] of Object.entries({
    list: () => list(root, guest),
    owners: () => revoke(root, guest, ids.owner),
    own: () => revoke(root, guest, ids.guest),
    unknown: () => revoke(root, guest, 'x'),
    more: () => guest.register(),
    elsewhere: () => logout(guest, owner.sid),
  })) {
    const r = await asked();
    assert.equal([r.status, r.body.error], [403, 'forbidden'], what);
  }
  const online = hub.socket();
  const page = guest.socket();
  await heard(page, 'connect');
  await guest.offer();
  await until(() => page.last?.route === 'bound', 'the guest to be led to the hub');
  page.disconnect();
  assert.is((await owner.login()).status, 200, 'the owner is untouched');
  const over: unknown[] = [];
  online.on('session.over', (m: { sid: string }) => over.push(m.sid));
  assert.is((await logout(guest, guest.sid)).status, 200);
  assert.is((await revoke(root, owner, ids.guest)).status, 200, 'the owner may remove a guest');
  assert.is((await owner.login()).status, 200);
  assert.is((await revoke(root, owner, ids.owner)).status, 200, 'the owner may remove a passkey');
  await until(() => over.length === 2, 'the hub to hear of both ends');
  assert.equal(over, [guest.sid, owner.sid]);
  online.disconnect();
});

test('a guest who comes first is no owner, also after the code and without it', async ({ root }) => {
  const { hub, tab: gone } = await signedIn(root);
  await revoke(root, gone, await idOf(root, gone, gone));
  const guest = await newTab(root);
  await guest.verify(await hub.code(forGuest));
  assert.is((await guest.register()).status, 200);
  assert.is((await guest.register()).body.error, 'forbidden', 'not one more by the same code');
  await guest.login();
  assert.is((await list(root, guest)).status, 403);
  assert.is((await guest.register()).body.error, 'forbidden');
  const owner = await comes(root, hub, { scope: 'new_passkey' });
  assert.is((await list(root, owner)).body.credentials.length, 2);
});

test('a code for a guest takes nothing from the owner’s phone, whose passkey still speaks for the account', async ({
  root,
}) => {
  const { hub, tab } = await signedIn(root);
  const again = await newTab(root, { keys: tab.keys });
  await again.verify(await hub.code(forGuest));
  assert.is((await again.login()).status, 200);
  assert.is((await list(root, again)).status, 200);
});

test('a passkey that came when codes did not say so is a guest’s once its hub says it, and no sooner', async ({
  root,
}) => {
  const { hub, tab: owner } = await signedIn(root);
  const guest = await comes(root, hub, { scope: 'new_passkey' });
  assert.is((await list(root, guest)).status, 200, 'as before');
  const names = await Promise.all(
    [owner, guest].map(async (tab) => passkeyName(await idOf(root, owner, tab))),
  );
  const other = await signedIn(root);
  await other.hub.code({ passkeys: [], guests: names });
  await hub.code({ passkeys: names });
  assert.is((await list(root, guest)).status, 200, 'neither by another hub nor by one that does not say');
  await hub.code({ passkeys: names, guests: names.slice(1) });
  assert.is((await list(root, guest)).status, 403);
  assert.is((await list(root, owner)).status, 200);
  await hub.code({ passkeys: names });
  assert.is((await list(root, guest)).status, 403, 'it stays one');
});

test.run();
