// What documents leave on the disk: written together it is what it would be one by one.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Append,
  archiveSchema,
  decodeAppends,
  encodeAppends,
  isAppends,
  writeAppends,
} from '../../firmware/documents/archive.ts';
import { openStore, type Store } from '../../firmware/system/store.ts';

const test = suite<{ one: Store; all: Store }>('documents on the disk');
test.before(async (c) => {
  c.one = await openStore(':memory:', archiveSchema);
  c.all = await openStore(':memory:', archiveSchema);
});
test.after(async (c) => {
  await c.one.close();
  await c.all.close();
});

const index = (key: string, rev: number): Append['index'] => ({
  ...{ key, acl: '["OWNER:read"]', schema: 'ui/v0', ttl_sec: rev, updated_at: 5 },
  ...{ etag: `e"${rev}\\`, rev, signature: 'ё' },
});
/** What rooms commit: of each document its numbers go up, and only a word of the index has no update. */
const kinds = fc.constantFrom('update', 'update', 'update', 'indexed', 'index', 'whole', 'whole indexed');
const moves = fc.array(
  fc.record({
    of: fc.constantFrom('a/b', 'a', 'ж"\\'),
    kind: kinds,
    data: fc.uint8Array({ minLength: 1, maxLength: 9 }),
  }),
  { maxLength: 40 },
);
function appends(of: readonly { of: string; kind: string; data: Uint8Array }[]): Append[] {
  const last = new Map<string, number>();
  return of.map(({ of: key, kind, data }) => {
    const n = (last.get(key) ?? 0) + (kind === 'index' ? 0 : 1);
    last.set(key, n);
    return {
      ...{ key, n, data: kind === 'index' ? null : data, isWhole: kind.startsWith('whole') },
      index: kind.includes('index') ? index(key, n) : null,
    };
  });
}
const tables = async (s: Store) => ({
  rows: await s.all('SELECT key, n, hex(data) AS data FROM doc_updates ORDER BY key, n'),
  index: await s.all('SELECT * FROM docs_index ORDER BY key'),
});
/** In groups of so many. */
const grouped = <T>(all: readonly T[], n: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / n) }, (_, i) => all.slice(i * n, (i + 1) * n));

test('any order of updates, folds and words of the index, in groups of any size', async ({ one, all }) => {
  await fc.assert(
    fc.asyncProperty(moves, fc.integer({ min: 1, max: 9 }), fc.boolean(), async (of, n, again) => {
      for (const s of [one, all])
        for (const table of ['doc_updates', 'docs_index']) await s.run(`DELETE FROM ${table}`);
      const given = appends(of);
      const entries = grouped(given, n).map(encodeAppends);
      assert.equal(
        entries.flatMap(decodeAppends).map((a) => ({ ...a, data: a.data && [...a.data] })),
        given.map((a) => ({ ...a, data: a.data && [...a.data] })),
      );
      assert.ok(entries.every(isAppends));
      for (const a of given) await one.transaction((tx) => writeAppends(tx, [encodeAppends([a])], again));
      await all.transaction((tx) => writeAppends(tx, entries, again));
      assert.equal(await tables(all), await tables(one));
    }),
    { numRuns: 150 },
  );
});

test('what this build has not made is known, whatever it is', () => {
  const of = (rows: unknown, data = '', first = 0) => {
    const text = Buffer.from(JSON.stringify(rows));
    const head = Buffer.alloc(5, first);
    head.writeUInt32LE(text.length, 1);
    return Buffer.concat([head, text, Buffer.from(data)]);
  };
  assert.ok(isAppends(of([['k', 1, 3, 0]], 'abc')));
  for (const [what, bytes] of [
    ['another form', of([['k', 1, 3, 0]], 'abc', 2)],
    ['more fields', of([['k', 1, 1, 3, 0]], 'a')],
    ['fewer', of([['k', 1, 3]], 'abc')],
    ['fields of other kinds', of([['k', '1', 3, 0]], 'abc')],
    ['less data', of([['k', 1, 3, 0]], 'ab')],
    ['more data', of([['k', 1, 3, 0]], 'abcd')],
    ['a row that is none', of([null])],
    ['no rows', of({ k: 1 })],
    ['nothing', Buffer.alloc(0)],
  ] as const)
    assert.not(isAppends(bytes), what);
  fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), (some) => !isAppends(Buffer.from(some))));
});

test('a number that is taken is refused, and nothing of the group stays', async ({ all }) => {
  await all.run('DELETE FROM doc_updates');
  const a = (n: number): Append => ({ key: 'k', n, data: Uint8Array.of(n), isWhole: false, index: null });
  await all.transaction((tx) => writeAppends(tx, [encodeAppends([a(2)])]));
  const refused = all.transaction((tx) => writeAppends(tx, [encodeAppends([a(1)]), encodeAppends([a(2)])]));
  await refused.then(
    () => assert.unreachable('taken twice'),
    (e) => assert.match(String(e), /UNIQUE/),
  );
  assert.equal((await tables(all)).rows, [{ key: 'k', n: 2, data: '02' }]);
});

test.run();
