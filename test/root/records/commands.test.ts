// timeout: 400 s
// What an operator does with the records of a root that runs: a backup, a restore, and the move to PostgreSQL.
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { run } from '../../../firmware/system/exec.ts';
import { readConfig } from '../../../root/config.ts';
import { child, ended } from '../../lab/child.ts';
import { type Postgres, startPostgres } from '../../lab/postgres.ts';
import { programOf } from '../../lab/program.ts';
import { call, newHub, newTab, openDatabase, type RootProcess, signedIn, startRoot, until } from '../kit.ts';

const test = suite<{ database: Postgres; folder: string }>("an operator's commands");
test.before(async (c) => {
  c.database = await startPostgres({ flush: false });
  c.folder = mkdtempSync(join(tmpdir(), 'ingle-backup-'));
});
test.after(async (c) => {
  await c.database?.stop();
  rmSync(c.folder, { recursive: true, force: true });
});

const words = (data: string, ...args: string[]) => [...programOf('root/main.ts'), ...args, '--data', data];
const command = (data: string, ...args: string[]) =>
  run(process.execPath, words(data, ...args), { timeoutMs: 60_000 }).then(({ code, stdout, stderr }) => ({
    code,
    said: stdout.toString() + stderr,
  }));

/** Has another root stand where one was. */
const at = (root: RootProcess) => ({
  INGLE_ROOT_PORT: String(root.port),
  INGLE_ROOT_ORIGIN: root.origin,
});

/** Hubs that root acknowledged while something else went on. */
function enrolling(root: RootProcess) {
  const acknowledged: string[] = [];
  let over = false;
  const done = (async () => {
    while (!over)
      await newHub(root).then(
        (hub) => acknowledged.push(hub.hub_id),
        () => {},
      );
  })();
  return {
    acknowledged,
    async stop() {
      over = true;
      await done;
      return acknowledged;
    },
  };
}

/** Ids of the hubs on record, in root's own file or in a database. */
async function hubsOf(root: RootProcess, url?: string): Promise<Set<string>> {
  if (url) {
    const { stdout } = await run('psql', ['-qtA', url, '-c', 'SELECT hub_id FROM hub']);
    return new Set(stdout.toString().trim().split('\n'));
  }
  const db = await openDatabase(root);
  const rows = await db.all<{ hub_id: string }>('SELECT hub_id FROM hub');
  await db.close();
  return new Set(rows.map((r) => r.hub_id));
}

test('a word that is no command, and one without what it takes, are refused by name', () => {
  const commandIn = (...args: string[]) => readConfig(args, {}).command;
  assert.is(commandIn('--port', '1'), undefined);
  for (const args of [
    ['backup', 'x', '--data', 'd'],
    ['--data=d', 'backup', 'x'],
  ]) {
    assert.equal(commandIn(...args), { name: 'backup', file: 'x' });
    assert.is(readConfig(args, {}).data, 'd');
  }
  const to = 'postgresql://u:p@h/x';
  assert.equal(commandIn('migrate', '--to', to), { name: 'migrate', to });
  for (const [args, says] of [
    [['restor', 'x'], /no command "restor"/],
    [['backup'], /name of one file/],
    [['backup', 'x', 'y'], /name of one file/],
    [['restore', '--data', 'x'], /name of one file/],
    [['migrate'], /takes --to/],
    [['migrate', 'x', '--to', to], /takes --to/],
    [['--to', to], /command migrate/],
    [['migrate', '--to', 'mysql://u:hunter2@h'], /^(?!.*hunter2).*--to takes/],
  ] as const)
    assert.throws(
      () => commandIn(...args),
      (e: Error) => says.test(e.message),
    );
});

test('a backup of a root that runs is restored: the passkey signs in, whoever was signed in signs in anew', async (c) => {
  const root = await startRoot();
  const { tab } = await signedIn(root);
  const file = join(c.folder, 'root.backup');
  const hubs = enrolling(root);
  await until(() => hubs.acknowledged.length > 0, 'a hub');
  const before = [...hubs.acknowledged];
  const said = await command(root.data, 'backup', file);
  assert.is(said.code, 0, said.said);
  assert.ok((await hubs.stop()).length >= before.length);
  assert.is(statSync(file).mode & 0o777, 0o600);
  assert.is((await command(root.data, 'backup', file)).code, 1, 'it writes over nothing');

  const refused = await command(root.data, 'restore', file);
  assert.match(refused.said, /holds records already/);
  await root.stop();
  const url = c.database.url('postgres');
  for (const database of [{ INGLE_ROOT_DATABASE: url }, undefined]) {
    const data = mkdtempSync(join(c.folder, 'data-'));
    const restored = await command(data, 'restore', file, ...(database ? ['--database', url] : []));
    assert.is(restored.code, 0, restored.said);
    assert.match(restored.said, /signs in again/);
    const again = await startRoot({ ...database, ...at(root), INGLE_ROOT_DATA: data });
    const there = await hubsOf(again, database && url);
    for (const id of before) assert.ok(there.has(id), id);
    const credentials = (headers: Record<string, string>) =>
      call(again, 'GET', '/v1/owner/credentials', undefined, headers);
    assert.is((await credentials(tab.bearer())).status, 401);
    const fresh = await newTab(again, { keys: tab.keys });
    assert.is((await fresh.login()).status, 200);
    assert.is((await credentials(fresh.bearer())).body.credentials.length, 1);
    await again.stop();
  }
  await c.database.ask('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
});

test('an archive that is cut or altered restores nothing', async (c) => {
  const root = await startRoot();
  await newHub(root);
  const file = join(c.folder, 'whole.backup');
  assert.is((await command(root.data, 'backup', file)).code, 0);
  const bytes = readFileSync(file);
  const bad = join(c.folder, 'bad.backup');
  const data = mkdtempSync(join(c.folder, 'data-'));
  for (const at of [0, 1, 10, bytes.length >> 1, bytes.length - 9, bytes.length - 1]) {
    writeFileSync(bad, bytes);
    truncateSync(bad, at);
    const cut = await command(data, 'restore', bad);
    assert.is(cut.code, 1, `${at}: ${cut.said}`);
    assert.match(cut.said, /no archive of root, or it is damaged/);
  }
  const flipped = Buffer.from(bytes);
  flipped[bytes.length >> 1]! ^= 1;
  writeFileSync(bad, flipped);
  assert.match((await command(data, 'restore', bad)).said, /damaged/);
  assert.match((await command(data, 'restore', join(c.folder, 'nowhere'))).said, /ENOENT/);
  assert.is((await command(data, 'restore', file)).code, 0, 'and then the whole one does');
  await root.stop();
});

test('the records move to PostgreSQL while root runs: nothing that it acknowledged is lost, and root ends', async (c) => {
  const root = await startRoot({ INGLE_ROOT_SWEEP: '1' });
  const { tab } = await signedIn(root);
  const hubs = enrolling(root);
  await until(() => hubs.acknowledged.length > 3, 'some hubs');
  const url = c.database.url('postgres');
  const moved = await command(root.data, 'migrate', '--to', url);
  assert.is(moved.code, 0, moved.said);
  await until(() => !root.alive(), 'root to end');
  const acknowledged = await hubs.stop();
  assert.match(root.log(), /have moved/);
  // Started on its file again it says where to look.
  const old = await root.again().catch((e: Error) => e.message);
  assert.match(String(old), /--database/);
  const again = await startRoot({ INGLE_ROOT_DATABASE: url, ...at(root) });
  const r = await call(again, 'GET', '/v1/owner/credentials', undefined, tab.bearer());
  assert.is(r.status, 200, 'who was signed in still is');
  const there = await hubsOf(again, url);
  for (const id of acknowledged) assert.ok(there.has(id), id);
  assert.match((await command(root.data, 'migrate', '--to', url)).said, /have moved/);
  await again.stop();
  await root.stop();
  await c.database.ask('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
});

test('while something else holds the file, who would write is told to try again, and others are served', async () => {
  const root = await startRoot();
  const other = await openDatabase(root);
  let release = () => {};
  const held = other.transaction(() => new Promise<void>((done) => (release = done)));
  // It waits five seconds for its turn.
  const busy = String(await newHub(root).catch((e) => e));
  // Others do not, or twenty of them would keep what is read waiting for longer than this test does.
  const others = await Promise.all(Array.from({ length: 20 }, () => newHub(root).catch((e) => String(e))));
  const ready = (await call(root, 'GET', '/health/ready')).status;
  release();
  await held;
  for (const said of [busy, ...others]) assert.match(String(said), /"unavailable"/);
  assert.is(ready, 200);
  await newHub(root);
  await other.close();
  await root.stop();
});

test('a database that stands still is given up, and root has its records as before', async (c) => {
  const root = await startRoot();
  await newHub(root);
  await c.database.signal('SIGSTOP');
  const moved = await command(root.data, 'migrate', '--to', c.database.url('postgres'));
  await c.database.signal('SIGCONT');
  assert.is(moved.code, 1);
  assert.match(moved.said, /does not answer/);
  await newHub(root);
  await root.stop();
});

test('killed at any moment, a move or a backup leaves the records where they are', async (c) => {
  const root = await startRoot();
  const url = c.database.url('postgres');
  const hubs: string[] = [];
  for (let i = 0; i < 5; i++) hubs.push((await newHub(root)).hub_id);
  for (let ms = 150; ms < 700; ms += 180) {
    const file = join(c.folder, `killed-${ms}`);
    for (const args of [
      ['migrate', '--to', url],
      ['backup', file],
    ]) {
      const p = child(process.execPath, words(root.data, ...args), { stdio: 'ignore' });
      await new Promise((resolve) => setTimeout(resolve, ms));
      await ended(p, 'SIGKILL', args[0]!).catch(() => {});
    }
    if (existsSync(file))
      assert.is((await command(mkdtempSync(join(c.folder, 'data-')), 'restore', file)).code, 0);
    const isHere = root.alive() && (await call(root, 'GET', '/health/ready')).status === 200;
    const { stdout } = await run('psql', ['-qtA', url, '-c', 'SELECT hub_id FROM hub']).catch(() => ({
      stdout: '',
    }));
    const isThere = hubs.every((id) => stdout.toString().includes(id));
    assert.ok(isHere || isThere, `${ms} ms`);
    if (!isHere) break;
    await newHub(root);
    await c.database.ask('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  }
  await root.stop();
});

test.run();
