// A database over the versions of its program: forward, and back with an update that did not stay.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Migration, openStore } from '../../firmware/system/store.ts';

const test = suite<{ file: string }>('store');
test.before.each((c) => {
  c.file = join(mkdtempSync(join(tmpdir(), 'ingle-store-')), 's.db');
});
test.after.each((c) => rmSync(join(c.file, '..'), { recursive: true, force: true }));

const lamps = 'CREATE TABLE lamps (name TEXT PRIMARY KEY)';
const added: Migration = { adds: 'CREATE TABLE rooms (name TEXT PRIMARY KEY)' };
const changed = 'ALTER TABLE lamps ADD COLUMN colour TEXT';

/** Opens as a program that knows these steps would, and leaves a lamp. */
async function as(file: string, steps: Migration[], lamp: string) {
  const store = await openStore(file, steps);
  await store.run('INSERT INTO lamps (name) VALUES (?)', lamp);
  const rows = await store.all<{ name: string }>('SELECT name FROM lamps ORDER BY name');
  await store.close();
  return rows.map((r) => r.name);
}
const refused = (file: string, steps: Migration[]) =>
  openStore(file, steps).then(
    () => assert.unreachable('an older program opened it'),
    (e: Error) => assert.match(e.message, /newer version \(schema/),
  );

test('a program that does not know a table which was added goes on, and the newer one after it', async ({
  file,
}) => {
  await as(file, [lamps], 'a');
  await as(file, [lamps, added], 'b');
  assert.equal(await as(file, [lamps], 'c'), ['a', 'b', 'c']);
  assert.equal(await as(file, [lamps, added], 'd'), ['a', 'b', 'c', 'd']);
  assert.equal(await as(file, [lamps, added, changed], 'e'), ['a', 'b', 'c', 'd', 'e']);
});

test('a program that does not know a table which was changed leaves the file alone', async ({ file }) => {
  await as(file, [lamps, added, changed], 'a');
  await refused(file, [lamps]);
  await refused(file, [lamps, added]);
  await as(file, [lamps, added, changed, { adds: 'CREATE TABLE more (n INTEGER)' }], 'b');
  await refused(file, [lamps, added]);
  assert.equal(await as(file, [lamps, added, changed], 'c'), ['a', 'b', 'c']);
});

test('a file of before there were such steps is as strict as it was', async ({ file }) => {
  await as(file, [lamps, changed], 'a');
  const raw = await openStore(file, [lamps, changed]);
  await raw.run('PRAGMA application_id = 0');
  await raw.close();
  await refused(file, [lamps]);
  assert.equal(await as(file, [lamps, changed, added], 'b'), ['a', 'b']);
  await refused(file, [lamps]);
  assert.equal(await as(file, [lamps, changed], 'c'), ['a', 'b', 'c']);
});

test('a step that fails leaves nothing of itself', async ({ file }) => {
  await as(file, [lamps], 'a');
  await openStore(file, [
    lamps,
    { adds: 'CREATE TABLE x (n INTEGER);\nCREATE TABLE lamps (n INTEGER)' },
  ]).then(
    () => assert.unreachable(),
    () => {},
  );
  const store = await openStore(file, [lamps]);
  assert.equal(await store.all("SELECT name FROM sqlite_master WHERE name = 'x'"), []);
  await store.close();
  assert.equal(await as(file, [lamps, added], 'b'), ['a', 'b']);
});

test('a prepared statement goes on after one that failed, is on the disk alone, and lets the file be closed', async ({
  file,
}) => {
  const store = await openStore(file, [lamps]);
  const add = store.prepare('INSERT INTO lamps (name) VALUES (?)');
  await add('a');
  await add('a').then(
    () => assert.unreachable('twice'),
    (e: Error) => assert.match(e.message, /UNIQUE/),
  );
  await Promise.all([add('b'), add('c')]);
  const wrong = store.prepare('INSERT INTO nowhere VALUES (?)');
  for (let i = 0; i < 2; i++)
    await wrong('a').then(
      () => assert.unreachable('no such table'),
      (e: Error) => assert.match(e.message, /no such table/),
    );
  await store.close();
  assert.equal(await as(file, [lamps], 'd'), ['a', 'b', 'c', 'd']);
});

test.run();
