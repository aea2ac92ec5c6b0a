// timeout: 300 s
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { toBase64url } from '../../firmware/protocol/bytes.ts';
import { makeKeys } from '../../firmware/uplink/keys.ts';
import { rootClient } from '../../firmware/uplink/root.ts';
import { digest } from '../../root/digest.ts';
import { sqlRecords } from '../../root/records/sql.ts';
import { openTokens } from '../../root/tokens.ts';
import {
  call,
  heard,
  newAddress,
  newHub,
  newTab,
  openDatabase,
  type RootProcess,
  signedIn,
  startRoot,
  until,
} from './kit.ts';

const test = suite<{ root: RootProcess }>('unused');
test.before(async (c) => {
  c.root = await startRoot({ INGLE_ROOT_SWEEP: '1' });
});
test.after((c) => c.root.stop());

async function inDatabase<T>(root: RootProcess, work: (db: Awaited<ReturnType<typeof openDatabase>>) => T) {
  const db = await openDatabase(root);
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
const has = (root: RootProcess, table: string, column: string, value: string) =>
  inDatabase(root, async (db) => Boolean(await db.get(`SELECT 1 FROM ${table} WHERE ${column} = ?`, value)));

test('a sid is no record until it is used, and none again once it is over', async ({ root }) => {
  const tabs = await Promise.all(Array.from({ length: 50 }, () => newTab(root)));
  assert.not(await has(root, 'session_web', 'stage', 'NEW'));
  for (const tab of tabs.slice(0, 3)) assert.is(await tab.stage(), 'NEW');
  assert.not(await has(root, 'session_web', 'stage', 'NEW'));
  await tabs[0]!.verify('000-000');
  assert.ok(await has(root, 'session_web', 'sid', tabs[0]!.sid));
  const { tab } = await signedIn(root);
  const out = await tab.post('/v1/owner/logout', {}, { authorization: `Bearer ${tab.token}` });
  assert.is(out.status, 200);
  assert.is((await tab.verify('000-000')).status, 401, 'a sid that is over stays over');
  assert.is.not((await tab.post('/v1/session', { sid: tab.sid })).body.sid, tab.sid);
});

test('a sid is of one browser, made by root, for an hour', async ({ root }) => {
  const [tab, other] = [await newTab(root), await newTab(root)];
  const tryIt = async (sid: string, cookie = tab.cookie) =>
    (
      await call(
        root,
        'POST',
        '/v1/owner/login/verify',
        { device_code: '000-000', sid },
        { cookie, 'x-forwarded-for': newAddress() },
      )
    ).status;
  assert.is(await tryIt(tab.sid, other.cookie), 401);
  assert.is(await tryIt(`${tab.sid.slice(0, -1)}${tab.sid.endsWith('A') ? 'B' : 'A'}`), 401);
  const made = await inDatabase(root, async (db) => {
    const tokens = await openTokens(sqlRecords(db), root.origin);
    return (secondsAgo: number) => {
      const head = Buffer.alloc(12, 7);
      head.writeUInt32BE(Math.floor(Date.now() / 1000) - secondsAgo);
      const text = toBase64url(head);
      const cookie = tab.cookie.split('=')[1]!;
      return text + tokens.mac('sid', `${text}.${digest(cookie)}`).slice(0, 16);
    };
  });
  assert.is(await tryIt(made(3605)), 401);
  assert.is(await tryIt(made(3000)), 400, 'a wrong code is all that is wrong');
});

test('hubs nobody ever used are forgotten with owner and subnet, and come back as who they were', async ({
  root,
}) => {
  const [never, seen, there, paired, rotated] = [
    await newHub(root),
    await newHub(root),
    await newHub(root),
    await newHub(root),
    await newHub(root),
  ];
  for (const h of [seen, rotated]) {
    const s = h.socket();
    await heard(s, 'connect');
    await until(() => has(root, 'hub', `hub_id = '${h.hub_id}' AND seen > 0 AND kept`, '0'));
    s.close();
  }
  const line = there.socket();
  await heard(line, 'connect');
  assert.is((await (await newTab(root)).verify(await paired.code())).status, 200);
  const before = rotated.key();
  const { generateKeyPairSync, sign } = await import('node:crypto');
  const { rotationMessage } = await import('../../firmware/protocol/noise/rotation.ts');
  const fresh = generateKeyPairSync('ed25519').privateKey;
  const e2e = rotated.e2e();
  const signature = sign(null, rotationMessage(rotated.hub_id, e2e, rotated.pub(fresh)), before);
  const body = { e2e_pub: e2e, sign_pub: rotated.pub(fresh), signature: toBase64url(signature) };
  assert.is((await call(root, 'POST', '/v1/hub/rotate', body, await rotated.headers('rotate'))).status, 200);

  const day = 86_400;
  const age = (by: number) =>
    inDatabase(root, (db) =>
      db.run(
        'UPDATE hub SET created = created - ?, seen = CASE seen WHEN 0 THEN 0 ELSE seen - ? END',
        by,
        by,
      ),
    );
  await age(day + 5);
  await until(async () => !(await has(root, 'hub', 'hub_id', never.hub_id)), 'the unused hub to go');
  assert.not(await has(root, 'owner', 'owner_id', never.owner_id));
  assert.not(await has(root, 'subnet', 'subnet_id', never.subnet_id));
  for (const h of [seen, there, paired, rotated]) assert.ok(await has(root, 'hub', 'hub_id', h.hub_id));
  await age(30 * day);
  await until(
    async () => !(await has(root, 'hub', 'hub_id', seen.hub_id)),
    'the hub that was there once to go',
  );
  for (const h of [there, paired, rotated]) assert.ok(await has(root, 'hub', 'hub_id', h.hub_id));
  line.close();

  for (const h of [never, seen]) {
    const { owner_id, subnet_id, hub_id } = h;
    const again = await h.enrol();
    assert.is(again.status, 200);
    const { owner_id: o, subnet_id: s, hub_id: i } = again.body;
    assert.equal({ owner_id: o, subnet_id: s, hub_id: i }, { owner_id, subnet_id, hub_id });
  }
  const { hub_id } = rotated;
  rotated.setKey(before);
  assert.is((await rotated.enrol()).status, 200);
  assert.is.not(rotated.hub_id, hub_id, 'a key that was given up does not lead to the hub');
});

test('very many new hubs cost work each; one that is known does not pay, and a real hub pays by itself', async () => {
  const root = await startRoot();
  const known = await newHub(root);
  let asked: { challenge: string; bits: number } | undefined;
  for (let i = 0; i < 400 && !asked; i++) {
    try {
      await newHub(root);
    } catch (e) {
      asked = JSON.parse((e as Error).message).details?.pow;
    }
  }
  assert.ok(asked && asked.bits >= 15, 'root asks for work');
  assert.is((await known.enrol()).status, 200);
  const keys = makeKeys(0);
  const client = rootClient({
    root_url: root.origin,
    keys: () => keys,
    now: () => Math.floor(Date.now() / 1000),
    text: (key) => key,
  });
  assert.match((await client.enrol()).hub_id, /^hub_/);
  await root.stop();
});

test.run();
