// A hub that joins another's subnet, at root: it gets a way to that hub by a code, and everything else by that hub's word.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { memberSid } from '../../firmware/protocol/subnet.ts';
import { ask, newHub, newTab, type RootProcess, refusal, signedIn, startRoot, until } from './kit.ts';

const test = suite<{ root: RootProcess }>('members');
test.before(async (c) => {
  c.root = await startRoot({ INGLE_ROOT_GUESSES: '1000', INGLE_ROOT_SURGE: '1000' });
});
test.after((c) => c.root.stop());

const member = { scope: 'member' };

/** A hub that leads, one that took its code, and whether it was let in. */
async function pair(root: RootProcess, admitted: boolean) {
  const [a, b] = [await newHub(root), await newHub(root)];
  const asked = await b.subnet('join', { device_code: await a.code(member) });
  assert.is(asked.status, 200, JSON.stringify(asked.body));
  assert.equal(asked.body, { hub_id: a.hub_id, owner_id: a.owner_id, subnet_id: a.subnet_id });
  if (admitted) assert.is((await a.subnet('admit', { hub_id: b.hub_id, sign_pub: b.pub() })).status, 200);
  return { a, b };
}

test('a hub takes a code for hubs, and a browser does not; a code for browsers is none for hubs', async ({
  root,
}) => {
  const [a, b] = [await newHub(root), await newHub(root)];
  const tab = await newTab(root);
  const code = await a.code(member);
  assert.is((await tab.verify(code)).body.error, 'invalid_device_code');
  assert.is((await a.subnet('join', { device_code: code })).body.error, 'invalid_device_code', 'its own');
  assert.is((await b.subnet('join', { device_code: code })).status, 200);
  assert.is((await b.subnet('join', { device_code: code })).body.error, 'invalid_device_code', 'spent');
  assert.is((await b.subnet('join', { device_code: await a.code() })).body.error, 'invalid_device_code');
});

test('a hub may be wrong as often as a browser', async ({ root }) => {
  const [a, b] = [await newHub(root), await newHub(root)];
  const code = await a.code();
  for (let i = 0; i < 5; i++)
    assert.is((await b.subnet('join', { device_code: code })).body.error, 'invalid_device_code');
  assert.is((await b.subnet('join', { device_code: await a.code(member) })).body.error, 'rate_limited');
});

test('who only took a code has its own place still, a way to that hub, and nobody else has', async ({
  root,
}) => {
  const { a, b } = await pair(root, false);
  const before = { owner_id: b.owner_id, subnet_id: b.subnet_id };
  await b.enrol();
  assert.equal({ owner_id: b.owner_id, subnet_id: b.subnet_id }, before);
  const other = await newHub(root);
  assert.is((await refusal(other.way()))?.data?.error, 'not_found');
  assert.is(
    (await other.subnet('admit', { hub_id: b.hub_id, sign_pub: b.pub() })).status,
    404,
    'not its code',
  );
  const line = a.socket();
  const way = b.way();
  await until(() => way.last?.route === 'bound', 'a bound route');
  const heard: [string, number][] = [];
  line.on('relay.to_hub', (m: { sid: string; ctr: number }) => heard.push([m.sid, m.ctr]));
  const back: number[] = [];
  way.on('relay.to_browser', (m: { ctr: number }) => back.push(m.ctr));
  const sid = memberSid(b.hub_id);
  assert.ok((await ask(way, 'relay.to_hub', { sid, frame: Buffer.alloc(3, 3), ctr: 1 })).ok);
  line.emit('relay.to_browser', { sid, frame: Buffer.alloc(3, 3), ctr: 7 });
  await until(() => heard.length > 0 && back.length > 0, 'frames both ways');
  assert.equal([heard, back], [[[sid, 1]], [7]]);
  assert.not(
    (await ask(way, 'owner.online', { sid, session_jwt: 'x', browser_key_id: 'y' })).ok,
    'no browser',
  );
  way.close();
  line.close();
});

test('a way lasts as long as its socket, and waits for the hub', async ({ root }) => {
  const { a, b } = await pair(root, true);
  await b.enrol();
  const way = b.way();
  await until(() => way.last !== undefined, 'a status');
  assert.is(way.last!.route, 'waiting');
  const line = a.socket();
  await until(() => way.last?.route === 'bound', 'a bound route');
  const again = b.way();
  await until(() => again.last?.route === 'bound', 'the newer one');
  await until(() => !way.connected, 'the older one to give way');
  again.close();
  line.close();
});

test('once let in, a hub has the owner and subnet of the one that leads it; let go, its own again and why', async ({
  root,
}) => {
  const { a, b } = await pair(root, true);
  const mine = { owner_id: b.owner_id, subnet_id: b.subnet_id };
  await b.enrol();
  assert.equal([b.owner_id, b.subnet_id], [a.owner_id, a.subnet_id]);
  const way = b.way();
  await until(() => way.connected, 'the way');
  const refusedLong = await a.subnet('part', { hub_id: b.hub_id, note: 'n'.repeat(513) });
  assert.is(refusedLong.status, 413);
  assert.is((await a.subnet('part', { hub_id: b.hub_id, note: 'why' })).status, 200);
  await until(() => !way.connected, 'its way to end');
  const offered = await b.enrol();
  assert.equal([b.owner_id, b.subnet_id], [mine.owner_id, mine.subnet_id]);
  assert.is(offered.body.parted, 'why');
  assert.is((await refusal(b.way()))?.data?.error, 'not_found');
  assert.is((await a.subnet('part', { hub_id: b.hub_id, note: 'why' })).status, 404);
});

test('a member leaves by itself, and invites nobody', async ({ root }) => {
  const { a, b } = await pair(root, true);
  await b.enrol();
  assert.is((await b.code(member).catch((e: Error) => JSON.parse(e.message).error)) as string, 'conflict');
  assert.is((await b.subnet('part', { hub_id: a.hub_id })).status, 404, 'it lets nobody go');
  assert.is((await b.subnet('part', {})).status, 200);
  assert.is((await b.enrol()).body.parted, undefined);
  assert.is.not(b.owner_id, a.owner_id);
});

test('a member that names no passkeys takes none of the owner away', async ({ root }) => {
  const { hub: a, tab } = await signedIn(root);
  const b = await newHub(root);
  await b.subnet('join', { device_code: await a.code(member) });
  await a.subnet('admit', { hub_id: b.hub_id, sign_pub: b.pub() });
  await b.enrol();
  await b.code({ passkeys: [] });
  assert.is((await tab.login()).status, 200);
  await a.code({ passkeys: [] });
  assert.is.not((await tab.login()).status, 200, 'the hub it came by may');
});

test.run();
