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

test('what is to run before anything else does so at each call, in its order, and at the end', async ({
  file,
}) => {
  const store = await openStore(file, [lamps]);
  const waiting: string[] = [];
  const ask = store.before(async (transaction) => {
    for (const name of waiting.splice(0))
      await transaction((tx) => tx.run('INSERT INTO lamps (name) VALUES (?)', name));
  });
  const names = async () => (await store.all('SELECT name FROM lamps ORDER BY name')).map((r) => r['name']);
  waiting.push('a');
  assert.equal(await names(), ['a']);
  waiting.push('b');
  assert.equal(await store.transaction(async (tx) => (await tx.all('SELECT name FROM lamps')).length), 2);
  waiting.push('c');
  const asked = ask();
  await Promise.all([asked, store.run('DELETE FROM lamps WHERE name = ?', 'c')]);
  assert.equal(await names(), ['a', 'b']);
  waiting.push('d');
  await store.close();
  assert.equal(await as(file, [lamps], 'e'), ['a', 'b', 'd', 'e']);
});

test.run();
