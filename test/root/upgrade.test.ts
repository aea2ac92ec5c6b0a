// A root of this version goes on while a newer one brings the PostgreSQL they share to its schema: migrations only add.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openPostgresStore } from '../../root/records/postgres.ts';
import { migrations } from '../../root/records/sql/schema.ts';
import { type Postgres, startPostgres } from '../lab/postgres.ts';
import { call, type RootProcess, signedIn, startRoot, until } from './kit.ts';

const test = suite<{ database: Postgres; root: RootProcess }>('upgrading root');
test.before(async (c) => {
  c.database = await startPostgres({ flush: false });
  c.root = await startRoot({
    INGLE_ROOT_DATABASE: c.database.url('postgres'),
    INGLE_ROOT_SURGE: '1000',
    INGLE_ROOT_SWEEP: '1',
  });
});
test.after(async (c) => {
  await c.root?.stop();
  await c.database?.stop();
});

/** A statement under which a root that does not know of it goes on. */
const adds = [
  /^CREATE TABLE \w+ \(/,
  /^CREATE INDEX \w+ ON \w+ \([\w, ]+\)$/,
  // A default that is a constant: PostgreSQL then rewrites no row, and whoever does not name the column gets it.
  /^ALTER TABLE \w+ ADD COLUMN \w+ (TEXT|INTEGER|BLOB) NOT NULL DEFAULT ('\w*'|\d+)$/,
  /^ALTER TABLE \w+ ADD COLUMN \w+ (TEXT|INTEGER|BLOB)$/,
];
/** Ran before there was a version to go on. */
const past = ['UPDATE hub SET kept = 1'];
const isAddition = (sql: string) => past.includes(sql) || adds.some((a) => a.test(sql));
const statements = (migration: string) =>
  migration
    .split(/;\s*(?:\n|$)/)
    .map((s) => s.replace(/\s+/g, ' ').trim())
    .filter(Boolean);

test('every migration only adds', () => {
  for (const migration of migrations.map(statements)) {
    // No root that goes on writes to a table that is made here.
    const made = migration.flatMap((sql) => /^CREATE TABLE (\w+) /.exec(sql)?.[1] ?? []);
    const isOfNew = (sql: string) =>
      made.includes(/^CREATE UNIQUE INDEX \w+ ON (\w+) \([\w, ]+\)$/.exec(sql)?.[1] ?? '');
    for (const sql of migration) assert.ok(isAddition(sql) || isOfNew(sql), sql);
  }
  for (const sql of [
    'ALTER TABLE hub DROP COLUMN seen',
    'ALTER TABLE hub RENAME TO h',
    'ALTER TABLE hub RENAME COLUMN seen TO s',
    'ALTER TABLE hub ADD COLUMN x TEXT NOT NULL',
    'CREATE UNIQUE INDEX x ON hub (owner_id)',
    'DROP TABLE hub',
    'UPDATE hub SET kept = 0',
    'DELETE FROM hub',
  ])
    assert.not.ok(isAddition(sql), sql);
});

test('a root that runs goes on while and after a newer one adds to every table', async ({
  root,
  database,
}) => {
  const url = database.url('postgres');
  const before = await signedIn(root);
  const tables = migrations.flatMap((m) => [...m.matchAll(/CREATE TABLE (\w+)/g)].map((t) => t[1]!));
  const next = [
    ...tables.map((t) => `ALTER TABLE ${t} ADD COLUMN of_next_version TEXT NOT NULL DEFAULT 'x'`),
    'CREATE TABLE next_version (id TEXT PRIMARY KEY) STRICT',
    'CREATE INDEX next_hub ON hub (of_next_version)',
  ];
  assert.ok(next.every(isAddition));
  let isOver = false;
  let count = 0;
  const busy = Array.from({ length: 3 }, async () => {
    // At least one sign-in after the migration as well.
    for (let last = false; !last; count++) {
      last = isOver;
      await signedIn(root);
    }
  });
  await until(() => count >= 3, 'sign-ins before the migration');
  const store = await openPostgresStore(url, [...migrations, next.join(';\n')]);
  assert.is(store.schema, migrations.length + 1);
  isOver = true;
  await Promise.all(busy);
  console.log(`\nFIGURE sign-ins while a newer version migrated ${count}`);
  assert.is(await before.tab.stage(), 'AUTH');
  const line = before.hub.socket();
  const owner = before.tab.socket();
  await before.tab.offer();
  await until(() => owner.last?.route === 'bound', 'the route');
  for (const s of [line, owner]) s.close();
  const listed = await call(root, 'GET', '/v1/owner/credentials', undefined, before.tab.bearer());
  assert.is(listed.body.credentials.length, 1);
  const logout = await call(root, 'POST', '/v1/owner/logout', {}, before.tab.bearer());
  assert.is(logout.status, 200);
  assert.not.match(root.log(), / error /);
  await store.close();
});

test('a root that starts on a newer schema refuses, and says so', async ({ root }) => {
  await root.kill();
  const e = await root.again().then(
    () => '',
    (refused) => String(refused),
  );
  assert.match(e, /written by a newer version \(schema \d+, known \d+\)/);
});

test.run();
