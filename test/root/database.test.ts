// timeout: 240 s
// Root as a process on PostgreSQL: nothing that it acknowledged is lost, and while the database is away it says so and
// passes on what is connected.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readConfig } from '../../root/config.ts';
import { type Postgres, startPostgres } from '../lab/postgres.ts';
import { bound, call, heard, newHub, type RootProcess, signedIn, startRoot, until } from './kit.ts';

const test = suite<{ database: Postgres; root: RootProcess }>('root on PostgreSQL');
test.before(async (c) => {
  c.database = await startPostgres({ flush: false });
  c.root = await startRoot({ INGLE_ROOT_DATABASE: c.database.url('postgres') });
});
test.after(async (c) => {
  await c.root?.stop();
  await c.database?.stop();
});

test('a database that is none is refused by name, and its password is not said', () => {
  for (const address of ['mysql://u:hunter2@h/x', 'hunter2', 'postgres//u:hunter2@h'])
    assert.throws(
      () => readConfig([], { INGLE_ROOT_DATABASE: address }),
      (e: Error) => /--database \(INGLE_ROOT_DATABASE\) takes/.test(e.message) && !/hunter2/.test(e.message),
    );
  const address = 'postgresql://u:p@h/x';
  assert.is(readConfig([`--database=${address}`], {}).database, address);
});

test('pairing and sign-in work, and all is there after kill -9 of root', async ({ root }) => {
  const { hub, tab } = await signedIn(root);
  await root.kill();
  await root.again();
  assert.is(await tab.stage(), 'AUTH');
  const r = await call(root, 'GET', '/v1/owner/credentials', undefined, tab.bearer());
  assert.is(r.status, 200);
  assert.is((r.body as { credentials: object[] }).credentials.length, 1);
  const line = hub.socket();
  const owner = tab.socket();
  await tab.offer();
  await until(() => owner.last?.route === 'bound', 'the route');
  for (const s of [line, owner]) s.close();
});

test('while the database is away frames pass, all else is told so, and it goes on by itself', async ({
  root,
  database,
}) => {
  const { hub, tab, line, owner } = await bound(root);
  const ready = () => call(root, 'GET', '/health/ready');
  assert.is((await ready()).status, 200);
  await database.signal('SIGKILL');
  const away = await ready();
  assert.equal([away.status, (away.body as { error: string }).error], [503, 'unavailable']);
  assert.is((await call(root, 'GET', '/health/live')).status, 200);
  const up = heard(line, 'relay.to_hub');
  owner.emit('relay.to_hub', { sid: tab.sid, frame: Buffer.from([7]), ctr: 1 });
  assert.is(((await up)[0] as { ctr: number }).ctr, 1);
  const asked = await call(root, 'GET', '/v1/owner/credentials', undefined, tab.bearer());
  assert.is(asked.status, 503);
  assert.not.match(JSON.stringify(asked.body), /127\.0\.0\.1|5432|postgres/i);
  assert.match(String(await newHub(root).catch((e) => e)), /"unavailable"/);
  await database.start();
  await until(async () => (await ready()).status === 200, 'root to be ready');
  await newHub(root);
  assert.is((await call(root, 'GET', '/v1/owner/credentials', undefined, tab.bearer())).status, 200);
  const down = heard(owner, 'relay.to_browser');
  line.emit('relay.to_browser', { sid: tab.sid, frame: Buffer.from([8]), ctr: 1 });
  await down;
  for (const s of [line, owner]) s.close();
});

test.run();
