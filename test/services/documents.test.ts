// gate: out, 4 s of a processor
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import * as Y from 'yjs';
import {
  type Caller,
  checkPrincipal,
  type Principal,
  rightsOf,
  skillAcl,
} from '../../firmware/documents/acl.ts';
import { archiveSchema, encodeAppends, writeAppends } from '../../firmware/documents/archive.ts';
import { checkCommand, pendingEntries } from '../../firmware/documents/command.ts';
import {
  acceptId,
  findId,
  finishId,
  openIds,
  trimJournal,
} from '../../firmware/documents/command-journal.ts';
import { openCommits } from '../../firmware/documents/commits.ts';
import { etagOf, type JsonObject, mergeContent, readContent } from '../../firmware/documents/content.ts';
import { parseDuration } from '../../firmware/documents/duration.ts';
import { formatKey, parseKey } from '../../firmware/documents/key.ts';
import { openLibrary } from '../../firmware/documents/library.ts';
import {
  decodeMessage,
  encodeAwareness,
  encodeStep1,
  encodeUpdate,
} from '../../firmware/documents/message.ts';
import { openSigner } from '../../firmware/documents/sign.ts';
import { copyOf, MAX_OWNER_DOCUMENT, stage } from '../../firmware/documents/staging.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { etagIn, isSigned } from '../../firmware/protocol/signed.ts';
import { contentCheck } from '../../firmware/skills/documents.ts';
import { checkManifest } from '../../firmware/skills/manifest.ts';
import { logger } from '../../firmware/system/log.ts';
import { openStore, type Store } from '../../firmware/system/store.ts';
import { ensureToken, rotateToken, tokenCheck } from '../../firmware/system/token.ts';
import manifest from '../../services/skills/hub_status/manifest.json' with { type: 'json' };
import { hubStatusView } from '../../services/skills/hub_status/view.ts';
import { cutOff } from '../lab/cutoff.ts';

const test = suite<{ dir: string }>('documents');
test.before((c) => {
  c.dir = mkdtempSync(join(tmpdir(), 'ingle-docs-'));
});
test.after((c) => rmSync(c.dir, { recursive: true, force: true }));

const codeOf = (f: () => unknown): string => {
  try {
    f();
    return 'fine';
  } catch (e) {
    return e instanceof IngleError ? e.code : `not ours: ${String(e)}`;
  }
};

const id = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,20}$/).filter((s) => s !== 'owner');
const branch = fc.oneof(
  fc.constantFrom('main', 'ab/A', 'ab/B'),
  fc.tuple(fc.constantFrom('owner', 'device', 'preview'), id).map(([k, v]) => `${k}/${v}`),
);
const keys = fc.record({
  owner_id: id,
  skill_id: fc.stringMatching(/^[a-z][a-z0-9_]{0,20}$/),
  doc_type: fc.constantFrom('view' as const, 'state' as const),
  branch,
});

test('a document key means the same in both spellings and survives the way through text', () => {
  fc.assert(
    fc.property(keys, (k) => {
      assert.equal(parseKey(formatKey(k)), { ...k });
      assert.equal(parseKey(`owner/${formatKey(k)}`), { ...k });
    }),
  );
});

test('a text that is no document key is refused in words, whatever it is', () => {
  for (const bad of [
    '',
    ':',
    'a/b/view',
    'a/b/view:',
    'a/b/other:main',
    'a/b/c/view:main',
    'owner/b/view:main',
  ])
    assert.is(
      codeOf(() => parseKey(bad)),
      'invalid_request',
      bad,
    );
  for (const bad of [
    'a/b/view:ab/C',
    'a/b/view:device/',
    'a/b/view:device/a/b',
    'a/b/view:owner/..%2f',
    'a/../b/view:main',
  ])
    assert.is(
      codeOf(() => parseKey(bad)),
      'invalid_request',
      bad,
    );
  fc.assert(
    fc.property(fc.string({ maxLength: 600 }), (text) => {
      const said = codeOf(() => assert.is(formatKey(parseKey(text)), text.replace(/^owner\//, '')));
      assert.ok(said === 'fine' || said === 'invalid_request', said);
    }),
  );
});

test('only what the table allows may be read or written', () => {
  const p = (o: Partial<Principal>): Principal => ({
    owner_id: 'o1',
    browser: 'b1',
    role: 'owner',
    elevated_until: 0,
    ...o,
  });
  const rows: [key: string, caller: Caller, read: boolean, write: boolean][] = [
    ['o1/weather/view:main', p({}), true, false],
    ['o1/weather/state:main', p({}), true, false],
    ['o1/weather/state:device/b1', p({}), true, true],
    ['o1/weather/state:device/b2', p({}), true, false],
    ['o1/weather/view:device/b1', p({}), true, true],
    ['o1/weather/view:device/b2', p({}), true, false],
    ['o1/weather/view:owner/o1', p({}), true, true],
    ['o1/weather/view:owner/o1', p({ role: 'adult' }), false, false],
    ['o1/weather/state:owner/o1', p({}), true, true],
    ['o1/weather/state:owner/o2', p({}), true, false],
    ['o1/commands/state:device/b1', p({}), true, true],
    ['o1/commands/state:device/b2', p({}), true, false],
    ['o1/commands/state:owner/o1', p({}), true, false],
    ['o1/commands/state:main', p({}), true, false],
    ['o2/weather/view:main', p({}), false, false],
    ['o2/commands/state:device/b1', p({}), false, false],
    ['o1/weather/view:main', p({ role: 'kid' }), false, false],
    ['o1/weather/state:owner/o1', p({ role: 'adult' }), false, false],
    ['o1/weather/state:device/b1', p({ role: 'guest' }), true, true],
    ['o1/weather/state:main', null, true, false],
    ['o1/commands/state:device/x', null, true, true],
  ];
  for (const [text, caller, read, write] of rows) {
    const key = parseKey(text);
    assert.equal(
      rightsOf(key, skillAcl(key.skill_id), caller),
      { read, write },
      `${text} ${caller?.role} ${caller?.owner_id}`,
    );
  }
  const role = parseKey('o1/weather/view:main');
  assert.ok(rightsOf(role, ['ROLE:KID:read'], p({ role: 'kid' })).read);
  assert.not(rightsOf(role, [], p({})).read, 'an empty list lets nobody in');
  assert.not(rightsOf(role, ['OWNER:read', 'SKILL:weather:write'], p({})).write);
});

test('a principal is taken exactly as defined or not at all', () => {
  const good = { owner_id: 'o1', browser: 'b', role: 'owner', elevated_until: 0 };
  assert.equal(checkPrincipal(good), good);
  for (const bad of [
    null,
    [],
    'x',
    {},
    { ...good, more: 1 },
    { ...good, role: 'root' },
    { ...good, owner_id: '../x' },
    { ...good, elevated_until: '9' },
    { ...good, elevated_until: Infinity },
  ])
    assert.is(
      codeOf(() => checkPrincipal(bad)),
      'invalid_request',
      JSON.stringify(bad),
    );
});

test('a state changed 100000 times stays as small as its content', () => {
  const doc = new Y.Doc();
  const state = (i: number): JsonObject => ({
    cpu: { percent: i % 101 },
    at: i,
    text: `tick ${i}`,
    samples: Array.from({ length: 10 }, (_, k) => i + k),
  });
  mergeContent(doc, state(0));
  const first = Y.encodeStateAsUpdate(doc).length;
  for (let i = 1; i <= 100_000; i++) mergeContent(doc, state(i));
  const size = Y.encodeStateAsUpdate(doc).length;
  const content = JSON.stringify(readContent(doc)).length;
  console.log(`FIGURE state_doc_bytes_after_100000_changes ${size} (content ${content}, after one ${first})`);
  assert.ok(size < content + 1024, `${size} bytes for ${content} of content`);
  assert.equal(readContent(copyOf(doc)), state(100_000));
});

test('a state written by one skill process after another stays small too', () => {
  let stored: Uint8Array = new Uint8Array();
  for (let run = 0; run < 300; run++) {
    const doc = new Y.Doc();
    if (stored.length) Y.applyUpdate(doc, stored);
    mergeContent(doc, { a: run, b: { c: run }, d: `run ${run}` });
    stored = Y.encodeStateAsUpdate(doc);
  }
  console.log(`FIGURE state_doc_bytes_after_300_restarts ${stored.length}`);
  assert.ok(stored.length < 400, `${stored.length}`);
});

test('what is written under any key names reaches a reader whole, in updates and as a state', () => {
  fc.assert(
    fc.property(
      fc.array(fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue({ maxDepth: 2 })), { maxLength: 5 }),
      (steps) => {
        const writer = new Y.Doc();
        const follower = new Y.Doc();
        writer.on('update', (u: Uint8Array) => Y.applyUpdate(follower, u));
        for (const s of steps) mergeContent(writer, s as JsonObject);
        const reader = copyOf(writer);
        for (const doc of [follower, reader]) {
          assert.is(etagOf(readContent(doc)), etagOf(readContent(writer)));
          const vector = Y.encodeStateVectorFromUpdate(Y.encodeStateAsUpdate(doc));
          assert.equal([...Y.encodeStateAsUpdate(writer, vector)].slice(0, 1), [0], 'nothing is lacking');
        }
      },
    ),
    { examples: [[[{ ' ': JSON.parse('{"__proto__":null,"a":[{"__proto__":1}]}') }]]] },
  );
});

test('equal content has an equal etag, whatever the order of its keys', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (o) => {
      const turned = Object.fromEntries(Object.entries(o).reverse());
      assert.is(etagOf(o as JsonObject), etagOf(turned as JsonObject));
    }),
  );
  assert.is.not(etagOf({ a: 1 }), etagOf({ a: 2 }));
});

test('bytes that are no sync message or no update are refused, and the document stays', () => {
  const doc = new Y.Doc();
  mergeContent(doc, { a: 1 });
  const other = copyOf(doc);
  mergeContent(other, { b: 2 });
  const good = Y.encodeStateAsUpdate(other, Y.encodeStateVector(doc));
  const bent = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    // A true update with a byte or two changed, or cut short.
    fc
      .tuple(fc.nat(good.length - 1), fc.nat(255), fc.integer({ min: 1, max: good.length }))
      .map(([at, to, cut]) => {
        const bytes = good.slice();
        bytes[at] = to;
        return bytes.subarray(0, cut);
      }),
  );
  fc.assert(
    fc.property(bent, (bytes) => {
      const before = Y.encodeStateAsUpdate(doc);
      for (const said of [codeOf(() => stage(doc, bytes, 10_000)), codeOf(() => decodeMessage(bytes))])
        assert.ok(['fine', 'invalid_request', 'too_large'].includes(said), said);
      assert.equal(Y.encodeStateAsUpdate(doc), before);
    }),
    { numRuns: 400 },
  );
  assert.is(decodeMessage(encodeStep1(new Uint8Array([0]))).type, 'step1');
  assert.is(decodeMessage(encodeUpdate(good)).type, 'update');
  assert.is(
    codeOf(() => decodeMessage(encodeAwareness(new Uint8Array(20_000)))),
    'too_large',
  );
});

test('an update that skips what came before, is too large or nests too deep is refused', () => {
  const far = new Y.Doc();
  far.getMap('content').set('a', 1);
  const vector = Y.encodeStateVector(far);
  far.getMap('content').set('a', 2);
  const empty = new Y.Doc();
  assert.is(
    codeOf(() => stage(empty, Y.encodeStateAsUpdate(far, vector), 10_000)),
    'invalid_request',
  );
  const big = new Y.Doc();
  big.getMap('content').set('a', 'x'.repeat(MAX_OWNER_DOCUMENT));
  assert.is(
    codeOf(() => stage(empty, Y.encodeStateAsUpdate(big), MAX_OWNER_DOCUMENT)),
    'too_large',
  );
  let deep: unknown = 1;
  for (let i = 0; i < 5000; i++) deep = [deep];
  const nested = new Y.Doc();
  nested.getMap('content').set('a', deep);
  assert.is(
    codeOf(() => stage(empty, Y.encodeStateAsUpdate(nested), 1e6)),
    'invalid_request',
  );
});

test('an update that would make a document nobody can read is refused, though Yjs takes it', () => {
  const doc = new Y.Doc();
  doc.clientID = 7;
  doc.getMap('content').set('a', new Y.Map([['k', 1]]));
  for (const [what, ...bytes] of [
    ['a change of no length', 1, 1, 5, 0, 0, 0, 0],
    ['a deletion of no length', 0, 1, 7, 1, 0, 0],
    // Of a text half of which is said to be there already.
    ['another past', 1, 1, 7, 0, 0x24, 1, 7, ...Buffer.from('content'), 1, 97, 4, ...Buffer.from('text'), 0],
  ] as const) {
    Y.applyUpdate(copyOf(doc), Uint8Array.from(bytes));
    assert.is(
      codeOf(() => stage(doc, Uint8Array.from(bytes), 1e6)),
      'invalid_request',
      what,
    );
  }
});

async function library(file: string, dir: string) {
  const store = await openStore(file, archiveSchema);
  const signer = openSigner(join(dir, 'key'));
  return { store, signer, docs: openLibrary({ store, signer, log: logger('test'), needed: () => false }) };
}
const rowsOf = async (store: Store, key: string) =>
  (await store.get<{ n: number }>('SELECT count(*) AS n FROM doc_updates WHERE key = ?', key))!.n;

test('a document is on disk when its write settles, is folded now and then, and comes back after a restart', async ({
  dir,
}) => {
  const file = join(dir, 'a.db');
  const key = 'o1/weather/state:device/b1';
  const a = await library(file, dir);
  const room = await a.docs.open(key);
  for (let i = 0; i < 150; i++) {
    const change = stage(room.doc, (doc) => void doc.getMap('content').set('n', i), 1e6).update!;
    await room.write(change);
  }
  const rows = await rowsOf(a.store, key);
  assert.ok(rows < 70, `${rows} rows`);
  // After a power cut all of it is there: nothing waits in memory.
  const b = await library(cutOff(file, join(dir, 'b.db')), dir);
  assert.equal(readContent((await b.docs.open(key)).doc), { n: 149 });
  await b.docs.settle('');
  const index = (await b.store.get<{ etag: string; rev: number; updated_at: number }>(
    'SELECT * FROM docs_index',
  ))!;
  assert.is(index.etag, etagOf({ n: 149 }));
  assert.is(index.rev, 150);
  await a.store.close();
  await b.store.close();
});

test('the index knows of each update when it is asked for, also of those before a kill', async ({ dir }) => {
  const file = join(dir, 'lag.db');
  const keys = ['o1/weather/state:device/b1', 'o1/weather/state:device/b2', 'o2/weather/state:device/b1'];
  const a = await library(file, dir);
  for (const key of keys) {
    const room = await a.docs.open(key);
    for (let i = 1; i <= 3; i++)
      await room.write(stage(room.doc, (doc) => void doc.getMap('content').set('n', i), 1e6).update!);
  }
  const revs = async ({ store } = a) =>
    (await store.all<{ rev: number; etag: string }>('SELECT rev, etag FROM docs_index ORDER BY key')).map(
      ({ rev, etag }) => [rev, etag === etagOf({ n: rev })],
    );
  const [before, after] = [
    [1, true],
    [3, true],
  ];
  assert.equal(await revs(), [before, before, before]);
  await a.docs.settle('o1/');
  assert.equal(await revs(), [after, after, before]);
  // Killed here: another process finds what is not in the index, without anybody who opens the document.
  const b = await library(cutOff(file, join(dir, 'b.db')), dir);
  await b.docs.sweep();
  assert.equal(await revs(b), [after, after, after]);
  // What is not there any more does not come back with its row.
  assert.ok(await b.docs.remove(keys[2]!));
  await b.docs.settle('');
  assert.equal(await revs(b), [after, after]);
  await a.store.close();
  await b.store.close();
});

test('what somebody else writes into the store is signed by nobody who brings the index up to date', async ({
  dir,
}) => {
  const file = join(dir, 'foreign.db');
  const keys = ['o1/weather/view:main', 'o1/weather/view:device/b1'];
  const a = await library(file, dir);
  for (const key of keys)
    await (await a.docs.open(key)).write((doc) => void doc.getMap('content').set('schema', 'ui/v0'));
  const signatures = async () =>
    (await a.store.all<{ signature: string }>('SELECT signature FROM docs_index ORDER BY key')).map(
      (row) => row.signature,
    );
  const before = await signatures();
  assert.ok(before.every((s) => s !== ''));
  const foreign = new Y.Doc();
  foreign.getMap('content').set('evil', true);
  for (const key of keys)
    await a.store.run(
      'INSERT INTO doc_updates (key, n, data) VALUES (?, 50, ?)',
      key,
      Y.encodeStateAsUpdate(foreign),
    );
  await a.store.close();
  const b = await library(file, dir);
  await b.docs.settle('');
  await b.docs.sweep();
  await b.docs.close();
  assert.equal(
    (await b.store.all<{ signature: string }>('SELECT signature FROM docs_index ORDER BY key')).map(
      (row) => row.signature,
    ),
    before,
  );
  await b.store.close();
});

test('what a skill says of who may read its document is in the index with it', async ({ dir }) => {
  const { docs, store } = await library(join(dir, 'acl.db'), dir);
  const room = await docs.open('o1/weather/state:main');
  for (const acl of [[], ['ROLE:GUEST:read']])
    await room.write((doc) => void doc.getMap('meta').set('acl', acl));
  const row = (await store.get<{ acl: string; rev: number }>('SELECT acl, rev FROM docs_index'))!;
  assert.equal([JSON.parse(row.acl).at(-1), row.rev], ['ROLE:GUEST:read', 2]);
  await store.close();
});

test('where somebody else has written into the store, an update gets a number that is free', async ({
  dir,
}) => {
  const { docs, store } = await library(join(dir, 'alone.db'), dir);
  const keys = ['b1', 'b2', 'b3'].map((b) => `o1/weather/state:device/${b}`);
  const rooms = await Promise.all(keys.map((key) => docs.open(key)));
  const foreign = new Y.Doc();
  foreign.getMap('content').set('b', 2);
  await store.run('INSERT INTO doc_updates VALUES (?, 1, ?)', keys[1]!, Y.encodeStateAsUpdate(foreign));
  for (const a of [1, 2])
    await Promise.all(rooms.map((room) => room.write((doc) => void doc.getMap('content').set('a', a))));
  assert.equal(await Promise.all(keys.map((key) => rowsOf(store, key))), [2, 3, 2]);
  await docs.close();
  await store.close();
  const again = await library(join(dir, 'alone.db'), dir);
  for (const key of keys)
    assert.equal(readContent((await again.docs.open(key)).doc), key === keys[1] ? { a: 2, b: 2 } : { a: 2 });
  await again.store.close();
});

test('nobody sees a change before it is on disk', async ({ dir }) => {
  const file = join(dir, 'seen.db');
  const { docs, store } = await library(file, dir);
  const key = 'o1/weather/state:device/b1';
  const room = await docs.open(key);
  /** What a power cut would leave at the moment something is sent. */
  const cuts: string[] = [];
  room.join({
    canWrite: true,
    send: () => void cuts.push(cutOff(file, join(dir, `seen${cuts.length}.db`))),
  });
  await room.write((doc) => void doc.getMap('content').set('a', 1));
  const left = [];
  for (const copy of cuts) {
    const after = await library(copy, dir);
    left.push(readContent((await after.docs.open(key)).doc));
    await after.store.close();
  }
  assert.equal(left, [{}, { a: 1 }], 'the greeting found nothing, the broadcast found the change');
  const fault = await room
    .write((doc) => void doc.getMap('content').set('a', 2), {
      also: () => Promise.reject(new IngleError('conflict', 'no')),
    })
    .catch((e) => e);
  assert.is(fault.code, 'conflict');
  assert.equal(readContent(room.doc), { a: 1 });
  assert.is(await rowsOf(store, key), 1);
  await store.close();
});

test('on a full disk what was acknowledged stays and is read, what comes is refused and undone, until there is room', async ({
  dir,
}) => {
  const file = join(dir, 'full.db');
  const { docs, store } = await library(file, dir);
  const [key, other] = ['o1/weather/state:device/b1', 'o1/weather/state:device/b2'];
  const room = await docs.open(key);
  const set = (name: string, value: string | number) =>
    room.write((doc) => void doc.getMap('content').set(name, value));
  await set('a', 1);
  const { page_count } = (await store.get<{ page_count: number }>('PRAGMA page_count'))!;
  await store.get(`PRAGMA max_page_count = ${page_count}`);
  const big = 'x'.repeat(50_000);
  await set('b', big);
  // Whoever asks is answered from the tables, which could not take it.
  assert.is(await rowsOf(store, key), 1);
  for (let i = 0; i < 2; i++) assert.match(await set('c', i).then(() => 'stored', String), /SQLITE_FULL/);
  assert.equal(readContent(room.doc), { a: 1, b: big });
  assert.equal(readContent((await docs.open(other)).doc), {}, 'another document opens');
  const after = await library(cutOff(file, join(dir, 'full2.db')), dir);
  assert.equal(readContent((await after.docs.open(key)).doc), { a: 1, b: big }, 'after a power cut');
  await after.store.close();
  await store.get('PRAGMA max_page_count = 100000');
  await set('c', 3);
  assert.equal(readContent(room.doc), { a: 1, b: big, c: 3 });
  assert.is(await rowsOf(store, key), 3);
  await docs.close();
  await store.close();
});

test('what comes again out of a log replaces nothing, and gets what numbers are free', async ({ dir }) => {
  const store = await openStore(join(dir, 'again.db'), archiveSchema);
  const [key, data] = ['o1/weather/state:device/b1', Y.encodeStateAsUpdate(new Y.Doc())];
  const row = (n: number, isWhole = false) => ({ key, n, data, isWhole, index: null });
  const numbers = async () =>
    (await store.all<{ n: number }>('SELECT n FROM doc_updates ORDER BY n')).map((r) => r.n);
  await store.transaction((tx) => writeAppends(tx, [encodeAppends([row(1)])]));
  await store.transaction((tx) => writeAppends(tx, [encodeAppends([row(2)])]));
  await store.transaction((tx) => writeAppends(tx, [encodeAppends([row(2, true)])], true));
  assert.equal(await numbers(), [1, 2, 3]);
  await store.transaction((tx) => writeAppends(tx, [encodeAppends([row(9)])], true));
  assert.equal(await numbers(), [1, 2, 3, 9]);
  await store.transaction((tx) => writeAppends(tx, [encodeAppends([row(10, true)])]));
  assert.equal(await numbers(), [10]);
  await store.close();
});

test('a document that cannot be read whole opens with the rest, says so, and is whole again where somebody has it', async ({
  dir,
}) => {
  const key = 'o1/weather/state:device/b1';
  const author = new Y.Doc();
  const updates: Uint8Array[] = [];
  author.on('update', (u: Uint8Array) => updates.push(u));
  for (const [name, value] of [
    ['a', 1],
    ['b', 1],
    ['c', 1],
  ] as const)
    author.getMap('content').set(name, value);
  // By somebody else, so it builds on nothing of theirs.
  const other = new Y.Doc();
  other.getMap('content').set('d', 1);
  updates.push(Y.encodeStateAsUpdate(other));
  const noSuch = Uint8Array.of(0, 1, 9, 1, 0, 0);
  for (const [what, bent, left] of [
    ['whole', (u: Uint8Array) => u, { a: 1, b: 1, c: 1, d: 1 }],
    ['cut off', (u: Uint8Array) => u.subarray(0, u.length >> 1), { a: 1, d: 1 }],
    ['empty', () => new Uint8Array(), { a: 1, d: 1 }],
    ['what Yjs cannot take', () => noSuch, { a: 1, d: 1 }],
    [
      'taken in part',
      (u: Uint8Array) => Buffer.concat([u.subarray(0, -1), noSuch.subarray(1)]),
      { a: 1, d: 1 },
    ],
    ['gone', () => null, { a: 1, d: 1 }],
  ] as const) {
    const { docs, store } = await library(join(dir, `${what}.db`), dir);
    const stored = updates.map((u, i) => (i === 1 ? bent(u) : u));
    for (const [i, data] of stored.entries())
      if (data) await store.run('INSERT INTO doc_updates (key, n, data) VALUES (?, ?, ?)', key, i + 1, data);
    const { write } = process.stderr;
    let warned = '';
    process.stderr.write = ((line: string) => {
      warned += line;
      return true;
    }) as typeof write;
    const room = await docs.open(key).finally(() => {
      process.stderr.write = write;
    });
    assert.equal(readContent(room.doc), left, what);
    // As a technician reads it: what the log takes for a secret would be left out.
    assert.is(warned.includes(`cannot be read whole document=${key}`), what !== 'whole', warned);
    await room.write((doc) => void doc.getMap('content').set('e', 1));
    assert.equal(readContent(room.doc), { ...left, e: 1 }, what);
    await room.write(Y.encodeStateAsUpdate(author));
    assert.equal(readContent(room.doc), { a: 1, b: 1, c: 1, d: 1, e: 1 }, what);
    await docs.close();
    await store.close();
    const again = await library(join(dir, `${what}.db`), dir);
    assert.equal(readContent((await again.docs.open(key)).doc), readContent(room.doc), what);
    await again.store.close();
  }
});

test('a document that waits for the tables is read whole, and is not deleted', async ({ dir }) => {
  const store = await openStore(join(dir, 'waits.db'), archiveSchema);
  const key = 'o1/weather/state:device/b1';
  const commits = openCommits(store);
  assert.is((await commits.load(key)).next, 1);
  const { page_count } = (await store.get<{ page_count: number }>('PRAGMA page_count'))!;
  await store.get(`PRAGMA max_page_count = ${page_count}`);
  const doc = new Y.Doc();
  doc.getMap('content').set('a', 'x'.repeat(50_000));
  await commits.append({ key, n: 1, data: Y.encodeStateAsUpdate(doc), isWhole: false, index: null });
  const { doc: read, next, rows } = await commits.load(key);
  assert.equal([readContent(read), next, rows], [readContent(doc), 2, 1]);
  assert.is(
    await commits.remove(key).then(
      () => 'gone',
      (e: IngleError) => e.code,
    ),
    'unavailable',
  );
  await store.get('PRAGMA max_page_count = 100000');
  await commits.remove(key);
  assert.is((await commits.load(key)).next, 1);
  await commits.close();
  await store.close();
});

test('view documents are signed, and a changed etag no longer verifies', async ({ dir }) => {
  const { docs, store, signer } = await library(join(dir, 'c.db'), dir);
  const key = 'o1/weather/view:main';
  const room = await docs.open(key);
  await room.write((doc) => mergeContent(doc, { schema: 'ui/v0' }));
  const row = (await store.get<{ etag: string; signature: string }>('SELECT * FROM docs_index'))!;
  assert.ok(signer.verify(key, row.etag, row.signature));
  // As a browser checks it.
  assert.is(await etagIn(readContent(room.doc)), row.etag);
  const signed = { key, etag: row.etag, signature: row.signature };
  assert.ok(await isSigned(signer.publicKey, signed));
  for (const bad of [
    { key: 'o1/other/view:main' },
    { etag: etagOf({}) },
    { signature: '' },
    { signature: '!' },
  ])
    assert.not(await isSigned(signer.publicKey, { ...signed, ...bad }), JSON.stringify(bad));
  assert.not(signer.verify(key, etagOf({ schema: 'x' }), row.signature));
  assert.not(signer.verify('o1/other/view:main', row.etag, row.signature));
  assert.is(statSync(join(dir, 'key')).mode & 0o777, 0o600);
  assert.is(openSigner(join(dir, 'key')).publicKey, signer.publicKey);
  await store.close();
});

test('a document past its time goes, unless somebody looks at it', async ({ dir }) => {
  const { docs, store } = await library(join(dir, 'd.db'), dir);
  const put = async (key: string, ttl: string) =>
    (await docs.open(key)).write((doc) => {
      mergeContent(doc, { a: 1 });
      doc.getMap('meta').set('ttl', ttl);
    });
  await put('o1/s/state:main', '1s');
  await put('o1/t/state:main', '8h');
  await put('o1/u/state:main', '1s');
  await store.run('UPDATE docs_index SET updated_at = updated_at - 60');
  (await docs.open('o1/u/state:main')).join({ canWrite: false, send() {} });
  assert.equal(await docs.sweep(), ['o1/s/state:main']);
  assert.is(await rowsOf(store, 'o1/s/state:main'), 0);
  assert.is(await rowsOf(store, 'o1/t/state:main'), 1);
  assert.is(await rowsOf(store, 'o1/u/state:main'), 1);
  await store.close();
});

test('a room that nobody is in is let go, one that somebody is in stays, and what was in it comes back', async ({
  dir,
}) => {
  const { docs, store } = await library(join(dir, 'f.db'), dir);
  const [left, full] = ['o1/s/state:main', 'o1/t/state:main'];
  for (const key of [left, full]) await (await docs.open(key)).write((doc) => mergeContent(doc, { a: 1 }));
  (await docs.open(full)).join({ canWrite: false, send() {} });
  await docs.sweep();
  assert.equal([docs.peek(left), docs.peek(full) !== undefined], [undefined, true]);
  assert.is(docs.aclNow(left), undefined);
  assert.equal(readContent((await docs.open(left)).doc), { a: 1 });
  await docs.close();
  await store.close();
});

test('durations read as written and nothing else does', () => {
  assert.equal(['30s', '5m', '8h', '7d'].map(parseDuration), [30, 300, 28_800, 604_800]);
  for (const bad of ['', '5', 'h', '-1h', '1.5h', '999999d', '0s', 5, null])
    assert.is(parseDuration(bad), undefined);
});

test('an id is taken once, and its first answer is kept', async ({ dir }) => {
  const store = await openStore(join(dir, 'e.db'), archiveSchema);
  const entry = { owner_id: 'o1', id: 'x', document: 'd', principal: null, command: { a: 1 } };
  assert.ok(await acceptId(store, entry, 1));
  assert.not(await acceptId(store, { ...entry, command: { a: 2 } }, 2));
  assert.ok(await acceptId(store, { ...entry, owner_id: 'o2' }, 2), 'owners do not share ids');
  assert.is((await openIds(store)).length, 2);
  await finishId(store, 'o1', 'x', { status: 'done', result: { status: 200, body: 1 } }, 3);
  assert.equal((await findId(store, 'o1', 'x'))?.outcome, {
    status: 'done',
    result: { status: 200, body: 1 },
  });
  assert.equal(
    (await openIds(store)).map((e) => e.owner_id),
    ['o2'],
  );
  await trimJournal(store, 3 + 31 * 86_400);
  assert.is(await findId(store, 'o1', 'x'), undefined);
  assert.ok(await findId(store, 'o2', 'x'), 'what is not done is not forgotten');
  await store.close();
});

test('a command says what it wants or is told where it is wrong', () => {
  const good = {
    id: 'c1',
    at: 1,
    skill_id: 'weather',
    action: { type: 'http.post', path: '/skills/weather/v1/x' },
  };
  assert.equal(checkCommand('c1', good).action, {
    type: 'http.post',
    path: '/skills/weather/v1/x',
    body: {},
  });
  const pointer = (v: unknown) => {
    try {
      checkCommand('c1', v);
      return 'fine';
    } catch (e) {
      return (e as IngleError).details?.['pointer'];
    }
  };
  assert.is(pointer({ ...good, id: 'c2' }), '/id');
  assert.is(pointer({ ...good, at: 'x' }), '/at');
  assert.is(pointer({ ...good, skill_id: '../x' }), '/skill_id');
  assert.is(pointer({ ...good, action: { type: 'exec' } }), '/action/type');
  assert.is(pointer({ ...good, action: { type: 'http.get', path: 'http://x' } }), '/action/path');
  assert.is(
    pointer({ ...good, action: { type: 'bus.publish', topic: 'scenario.cancel.1' } }),
    '/action/topic',
  );
  fc.assert(fc.property(fc.jsonValue(), (v) => assert.ok(['', '/id', '/at'].includes(String(pointer(v))))));
  assert.equal(
    pendingEntries({ a: { status: 'done' }, b: { status: 'pending' }, c: 1 }).map(([k]) => k),
    ['b', 'c'],
  );
});

test('a manifest is right, or its author reads what is wrong', () => {
  assert.is(checkManifest(manifest).id, 'hub_status');
  const wrong: [change: object, pointer: string][] = [
    [{ id: 'Hub-Status' }, '/id'],
    [{ version: '1.0' }, '/version'],
    [{ extra: 1 }, '/extra'],
    [{ capabilities: { visual: true } }, '/capabilities/ui'],
    [
      { capabilities: { ui: { title: 'x', modes: ['window'], schema: 'ui/v0' } } },
      '/capabilities/ui/modes/0',
    ],
    [{ capabilities: { ui: { title: 'x', modes: ['modal'] } } }, '/capabilities/ui'],
    [
      { capabilities: { ui: { title: 'x', modes: ['modal'], entrypoint: '/v1/../x' } } },
      '/capabilities/ui/entrypoint',
    ],
    [
      { capabilities: { ui: { title: 'x', modes: ['modal'], schema: 'ui/v0', icon: 'javascript:x' } } },
      '/capabilities/ui/icon',
    ],
    [{ permissions: { ownerOnly: 'yes' } }, '/permissions/ownerOnly'],
  ];
  for (const [change, pointer] of wrong) {
    const e = (() => {
      try {
        checkManifest({ ...manifest, ...change });
        return undefined;
      } catch (x) {
        return x as IngleError;
      }
    })();
    assert.is(e?.details?.['pointer'], pointer, JSON.stringify(change));
    assert.match(e!.message, /^The manifest/);
  }
  fc.assert(
    fc.property(fc.jsonValue(), (v) =>
      assert.is(
        codeOf(() => checkManifest(v)),
        'invalid_request',
      ),
    ),
  );
});

const refused = (work: () => unknown): IngleError => {
  try {
    work();
  } catch (e) {
    return e as IngleError;
  }
  throw new Error('nothing was refused');
};

test("all that is wrong with a manifest is in its author's one message, each with its pointer", () => {
  const { message, details } = refused(() =>
    checkManifest({ ...manifest, id: 'Hub', version: '1', permissions: { ownerOnly: 1, all: true } }),
  );
  const pointers = (details!['faults'] as { pointer: string }[]).map((f) => f.pointer).sort();
  assert.equal(pointers, ['/id', '/permissions/all', '/permissions/ownerOnly', '/version']);
  for (const pointer of pointers) assert.ok(message.includes(pointer), message);
  const huge = { ...manifest, modes: Array(40_000).fill('modal') };
  assert.is(refused(() => checkManifest(huge)).code, 'too_large');
});

test('a view of a skill that breaks its schema is refused with all its faults; other documents are free', () => {
  const check = contentCheck('view:main')!;
  check(hubStatusView() as unknown as JsonObject);
  const bad = { schema: 'ui/v0', layout: { type: 'stack', gap: 900, children: [{ type: 'text' }] } };
  const { message, details } = refused(() => check(bad));
  assert.match(message, /^The view at .*\/layout\/gap must be a number from 0 to 200/);
  assert.match(message, /\/layout\/children\/0\/text is missing, text needs it/);
  assert.is((details!['faults'] as object[]).length, 2);
  assert.is(contentCheck('state:main'), undefined);
});

test('the service token is made once, readable by its group, and a rotated one replaces it', async ({
  dir,
}) => {
  const file = join(dir, 'api/token');
  const first = ensureToken(file);
  assert.is(ensureToken(file), first);
  assert.is(statSync(file).mode & 0o777 & ~0o640, 0);
  const check = tokenCheck(file);
  assert.ok(check.matches(first));
  assert.not(check.matches(''));
  assert.not(check.matches(first.slice(0, -1)));
  const second = rotateToken(file);
  assert.is.not(second, first);
  assert.is(readFileSync(file, 'utf8').trim(), second);
  check.reload();
  assert.ok(check.matches(second));
  assert.not(check.matches(first));
});

test.run();
