// Copies of all records: an archive and back, from one database to another, and what is no archive.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { IngleError } from '../../../firmware/protocol/errors.ts';
import { backup, restoreFrom } from '../../../root/records/commands.ts';
import { archived, move, restore, schemaOf, tablesOf } from '../../../root/records/copy.ts';
import { migrations } from '../../../root/records/sql/schema.ts';
import type { Store, Value } from '../../../root/records/sql/store.ts';
import { sqlRecords } from '../../../root/records/sql.ts';
import { openSqliteStore } from '../../../root/records/sqlite.ts';
import { enrol, signedIn, T } from './kit.ts';

const test = suite('copies of the records');
const nothing = () => {};
const codeOf = (e: unknown) => (e as IngleError).code;
const empty = () => openSqliteStore(':memory:', migrations);

async function linesOf(store: Store): Promise<string[]> {
  let text = '';
  await store.snapshot(async (db) => {
    for await (const piece of archived(db, migrations, new Date(0), nothing)) text += piece;
  });
  return text.trimEnd().split('\n');
}
const reading = (lines: readonly string[]) =>
  async function* () {
    yield* lines;
  };
const back = (to: Store, lines: readonly string[]) => restore(to, reading(lines), migrations, nothing);
const all = async (store: Store) =>
  Object.fromEntries(
    await Promise.all(
      tablesOf(migrations).map(async ({ name, key }) => [
        name,
        await store.all(`SELECT * FROM ${name} ORDER BY ${key}`),
      ]),
    ),
  ) as Record<string, object[]>;

/** Two hubs, an owner's passkey with its session, and a secret. */
async function household(): Promise<Store> {
  const store = await empty();
  const records = sqlRecords(store);
  await records.secret('key', 'of root');
  const hub = await enrol(records, 'a');
  await enrol(records, 'b');
  await signedIn(records, 's', hub);
  return store;
}

test('every table of the schema is among those that are copied, by its key', async () => {
  const store = await empty();
  const there = await store.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'");
  assert.equal(
    tablesOf(migrations)
      .map((t) => t.name)
      .sort(),
    there.map((t) => t.name).sort(),
  );
  for (const { name, key } of tablesOf(migrations)) {
    const columns = await store.all<{ name: string; pk: number }>(`PRAGMA table_info(${name})`);
    assert.equal(
      columns.filter((c) => c.pk > 0).map((c) => c.name),
      [key],
      name,
    );
  }
  await store.close();
});

test('an archive brings back all but sessions, and a second one into it is refused', async () => {
  const from = await household();
  const lines = await linesOf(from);
  const to = await empty();
  await back(to, lines);
  const [was, now] = [await all(from), await all(to)];
  assert.ok(was['session_web']!.length > 0 && was['webauthn_cred']!.length > 0);
  for (const name of ['session_web', 'route', 'device_code', 'pairing_challenge', 'e2e_browser_pub'])
    assert.equal(now[name], [], name);
  for (const name of ['secret', 'owner', 'subnet', 'hub', 'webauthn_cred', 'code_taken', 'ended_sid'])
    assert.equal(now[name], was[name], name);
  assert.is(await back(to, lines).catch(codeOf), 'conflict');
  assert.equal(await all(to), now);
  for (const s of [from, to]) await s.close();
});

test('cut, altered, reordered or foreign, it is no archive, and the database stays empty', async () => {
  const from = await household();
  const lines = await linesOf(from);
  const to = await empty();
  const none = await all(to);
  const row = lines.findIndex((l) => l.startsWith('['));
  const changed = (at: number, line: string) => lines.map((l, i) => (i === at ? line : l));
  const summed = (at: number, data: object) => {
    const body = changed(at, JSON.stringify(data)).slice(0, -1);
    const sha256 = createHash('sha256')
      .update(`${body.join('\n')}\n`)
      .digest('hex');
    return [...body, JSON.stringify({ rows: 1, sha256 })];
  };
  const others: string[][] = [
    [],
    ['{}'],
    ['null'],
    ...lines.map((_, i) => lines.slice(0, i)),
    ...lines.map((_, i) => lines.filter((_, n) => n !== i)),
    [...lines, lines[row]!],
    [...lines, ...lines],
    changed(row, lines[row]!.replace(/"[^"]/, '"Z')),
    changed(row, '[]'),
    changed(row, '[{"bytes":1}]'),
    changed(row - 1, JSON.stringify({ table: 'sqlite_master', columns: ['name'] })),
    // Whoever writes the digest may still not name what goes into statements.
    ...['secret; DROP TABLE hub', 'sqlite_master'].map((table) =>
      summed(row - 1, { table, columns: ['a', 'b'] }),
    ),
    ...['value) VALUES (1, 2); --', 'value"', ''].map((name) =>
      summed(row - 1, { table: 'secret', columns: ['name', name] }),
    ),
  ];
  for (const wrong of others) {
    const said = await back(to, wrong).catch(codeOf);
    assert.is(said, 'invalid_request', JSON.stringify(wrong).slice(0, 300));
    assert.equal(await all(to), none);
  }
  assert.throws(() => schemaOf('{"ingle":"root records","schema":99}', 6), /newer version/);
  for (const s of [from, to]) await s.close();
});

test('whatever a table holds comes back as it was', async () => {
  const value = fc.oneof(fc.string({ unit: 'grapheme-composite' }), fc.string());
  const rows = fc.uniqueArray(
    fc.record({
      cred_id: value,
      owner_id: value,
      browser_pubkey: fc.uint8Array(),
      sign_count: fc.maxSafeInteger(),
      browser_key_id: value,
    }),
    { maxLength: 40, selector: (r) => r.cred_id },
  );
  await fc.assert(
    fc.asyncProperty(rows, async (some) => {
      // PostgreSQL has no text with NUL in it.
      const text = (v: string) => v.replaceAll('\0', '');
      const keys = new Set<string>();
      const from = await empty();
      for (const r of some) {
        const [id, key] = [text(r.cred_id), text(r.browser_key_id)];
        if (keys.has(`c${id}`) || keys.has(`k${key}`)) continue;
        keys.add(`c${id}`).add(`k${key}`);
        const values: Value[] = [id, text(r.owner_id), r.browser_pubkey, r.sign_count, key, '[]', 1, 2, 3];
        await from.run(
          `INSERT INTO webauthn_cred (cred_id, owner_id, browser_pubkey, sign_count, browser_key_id, transports,
             backed_up, created, last_used) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          ...values,
        );
      }
      const to = await empty();
      await back(to, await linesOf(from));
      assert.equal(await all(to), await all(from));
      for (const s of [from, to]) await s.close();
    }),
    { numRuns: 60 },
  );
});

test('a backup leaves an older schema as it is, and a restore of it ends in the newest', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ingle-copy-'));
  const at = (name: string) => ({ data: join(folder, name), database: '' });
  const open = (name: string, steps: readonly string[] = migrations) =>
    openSqliteStore(join(folder, name, 'root.sqlite'), steps, { asIs: true });
  const old = await openSqliteStore(join(folder, 'old', 'root.sqlite'), migrations.slice(0, 3));
  await old.run('INSERT INTO hub VALUES (?, ?, ?, ?, ?, ?, ?, ?)', ...['h', 'o', 's', 'key', 'e2e', 1, 0, 0]);
  const file = join(folder, 'backup');
  await backup(at('old'), file, nothing);
  const left = await open('old');
  assert.is(left.schema, 3);
  await restoreFrom(at('new'), file, nothing);
  const now = await open('new');
  assert.is(now.schema, migrations.length);
  assert.is((await now.get<{ sign_pub: string }>('SELECT * FROM hub'))!.sign_pub, 'key');
  for (const s of [old, left, now]) await s.close();
  rmSync(folder, { recursive: true });
});

test('more rows than a page move whole, and the old database has no records any more', async () => {
  const from = await household();
  for (let i = 0; i < 1234; i++) await from.run('INSERT INTO ended_sid VALUES (?, ?)', `s${i}`, T + i);
  const was = await all(from);
  const to = await empty();
  const told: number[] = [];
  const count = await move(from, to, migrations, (n) => told.push(n));
  assert.equal(await all(to), was);
  assert.is(count, Object.values(was).flat().length);
  assert.is(told.at(-1), count);
  for (const work of [() => from.run('DELETE FROM hub'), () => from.all('SELECT * FROM hub')])
    assert.is(await work().catch(codeOf), 'unavailable');
  assert.is((await from.all('SELECT * FROM moved_ended_sid')).length, was['ended_sid']!.length);
  for (const s of [from, to]) await s.close();
});

test('nothing moves into a database that has records, nor when the way breaks', async () => {
  const from = await household();
  const was = await all(from);
  const full = await household();
  assert.is(await move(from, full, migrations, nothing).catch(codeOf), 'conflict');
  const to = await empty();
  const none = await all(to);
  let left = 3;
  const breaks = () => {
    if (left-- === 0) throw new Error('the disk is full');
  };
  assert.match(String(await move(from, to, migrations, breaks).catch((e) => e)), /disk is full/);
  assert.equal(await all(to), none);
  assert.equal(await all(from), was);
  for (const s of [from, to, full]) await s.close();
});

test.run();
