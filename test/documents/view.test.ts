// View documents: the hub keeps the tree beside its source, whoever wrote the source and whatever stands there.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import * as Y from 'yjs';
import { archiveSchema, type IndexRow } from '../../firmware/documents/archive.ts';
import { etagOf, type JsonObject, mergeContent, readContent } from '../../firmware/documents/content.ts';
import { openLibrary } from '../../firmware/documents/library.ts';
import type { Member } from '../../firmware/documents/members.ts';
import { decodeMessage, encodeUpdate } from '../../firmware/documents/message.ts';
import { MAX_PREVIEWS, makePreview } from '../../firmware/documents/preview.ts';
import { openSigner } from '../../firmware/documents/sign.ts';
import { copyOf } from '../../firmware/documents/staging.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { contentCheck } from '../../firmware/skills/documents.ts';
import { logger } from '../../firmware/system/log.ts';
import { openStore, type Store } from '../../firmware/system/store.ts';
import { compileV0 } from '../../firmware/ui/v0/compile.ts';

const test = suite<{ dir: string }>('view documents');
test.before.each((c) => {
  c.dir = mkdtempSync(join(tmpdir(), 'ingle-views-'));
});
test.after.each((c) => rmSync(c.dir, { recursive: true, force: true }));

const key = 'o1/lamp/view:main';
const view = (text: string): JsonObject => ({ schema: 'ui/v0', layout: { type: 'title', text } });
const treeOf = (source: JsonObject) => compileV0(source).tree as unknown;

async function library(dir: string) {
  const store = await openStore(join(dir, 'a.db'), archiveSchema);
  const signer = openSigner(join(dir, 'key'));
  return { store, signer, docs: openLibrary({ store, signer, log: logger('test'), needed: () => false }) };
}
/** An update that writes `content` over `doc`, as its own writer sends it. */
function update(doc: Y.Doc, content: JsonObject, clientID = 77): Uint8Array {
  const copy = copyOf(doc);
  copy.clientID = clientID;
  const before = Y.encodeStateVector(copy);
  copy.transact(() => {
    for (const [k, v] of Object.entries(content)) copy.getMap('content').set(k, v);
  });
  return Y.encodeStateAsUpdate(copy, before);
}
const stored = async (store: Store, of = key) => {
  const doc = new Y.Doc();
  const rows = await store.all<{ data: Buffer }>('SELECT data FROM doc_updates WHERE key = ? ORDER BY n', of);
  for (const row of rows) Y.applyUpdate(doc, row.data);
  const index = await store.get<IndexRow>('SELECT * FROM docs_index WHERE key = ?', of);
  return { content: readContent(doc), index };
};

test('a view is stored with its tree in the same commit, and the signature covers both', async ({ dir }) => {
  const { docs, store, signer } = await library(dir);
  const room = await docs.open(key);
  await room.write(update(room.doc, view('one')));
  const { content, index } = await stored(store);
  assert.equal(content, { ...view('one'), tree: treeOf(view('one')) });
  assert.is(index!.rev, 1);
  assert.is(index!.etag, etagOf(content));
  assert.ok(signer.verify(key, index!.etag, index!.signature));
  await room.write(update(room.doc, view('two')));
  assert.equal((await stored(store)).content['tree'], treeOf(view('two')));
  await store.close();
});

test('whoever wrote a view gets its tree, and others get both at once', async ({ dir }) => {
  const { docs, store } = await library(dir);
  const room = await docs.open('o1/lamp/view:device/b1');
  const heard: [Y.Doc, unknown[]][] = [];
  const member = (): Member => {
    const [doc, seen]: [Y.Doc, unknown[]] = [new Y.Doc(), []];
    heard.push([doc, seen]);
    return {
      canWrite: true,
      send(bytes) {
        const m = decodeMessage(bytes);
        if (m.type !== 'update') return;
        Y.applyUpdate(doc, m.update);
        seen.push(readContent(doc));
      },
    };
  };
  const [author, other] = [member(), member()];
  room.join(author);
  room.join(other);
  const written = update(room.doc, view('mine'));
  Y.applyUpdate(heard[0]![0], written);
  await room.receive(author, encodeUpdate(written));
  const whole = { ...view('mine'), tree: treeOf(view('mine')) };
  for (const [doc] of heard) assert.equal(readContent(doc), whole);
  assert.equal(heard[1]![1], [whole], 'no moment with a view and no tree');
  await store.close();
});

test('a refused change of a view is undone at its author; two that write at once have one view with its tree', async ({
  dir,
}) => {
  const { docs, store } = await library(dir);
  const room = await docs.open('o1/lamp/view:owner/o1');
  await room.write(update(room.doc, view('true')));
  const whole = { ...view('true'), tree: treeOf(view('true')) };
  const seen: JsonObject[] = [];
  const join = () => {
    const doc = copyOf(room.doc);
    const member: Member = {
      canWrite: true,
      send(bytes) {
        const m = decodeMessage(bytes);
        if (m.type === 'update') Y.applyUpdate(doc, m.update);
      },
    };
    room.join(member);
    const write = (content: JsonObject, clientID: number) => {
      const u = update(doc, content, clientID);
      Y.applyUpdate(doc, u);
      return room.receive(member, encodeUpdate(u));
    };
    return { doc, write };
  };
  const [a, b, c] = [join(), join(), join()];
  b.doc.on('update', () => seen.push(readContent(b.doc)));
  const e = await a.write({ ...view('x'.repeat(300_000)), tree: 'forged' }, 88).catch((e) => e);
  assert.is(e.code, 'too_large');
  assert.equal([readContent(a.doc), seen], [whole, []]);
  await Promise.all([c.write({ layout: { type: 'title', text: 'c' } }, 89), b.write({ tree: 'forged' }, 90)]);
  const both = { ...view('c'), tree: treeOf(view('c')) };
  for (const doc of [a.doc, b.doc, c.doc, room.doc]) assert.equal(readContent(doc), both);
  await store.close();
});

test('what anybody writes under the key of the tree does not stay', async ({ dir }) => {
  const { docs, store } = await library(dir);
  const room = await docs.open(key);
  await room.write(update(room.doc, view('true')));
  let deep: unknown = 1;
  for (let i = 0; i < 100; i++) deep = [deep];
  const forged: unknown[] = [
    { tree: 1, from: 'ui/v0', main: [{ is: 'title', text: 'forged' }], needs: [] },
    null,
    deep,
    new Uint8Array([1, 2]),
    10n,
    new Y.Map([['a', 1]]),
    new Y.Text('x'),
  ];
  for (const [i, tree] of forged.entries()) {
    await room.write(update(room.doc, { tree } as JsonObject, 2 ** 31 + i));
    assert.equal((await stored(store)).content, { ...view('true'), tree: treeOf(view('true')) }, String(i));
  }
  const gone = copyOf(room.doc);
  const before = Y.encodeStateVector(gone);
  gone.getMap('content').delete('tree');
  await room.write(Y.encodeStateAsUpdate(gone, before));
  assert.equal(readContent(room.doc)['tree'], treeOf(view('true')));
  await store.close();
});

/** A view without a tree, as a build from before there were trees left it. */
async function storeOld(store: Store, content: JsonObject, signature: string): Promise<void> {
  const old = new Y.Doc();
  mergeContent(old, content);
  await store.run('INSERT INTO doc_updates (key, n, data) VALUES (?, 1, ?)', key, Y.encodeStateAsUpdate(old));
  await store.run(
    "INSERT INTO docs_index VALUES (?, '[\"OWNER:read\"]', 'ui/v0', 0, 0, ?, 7, ?)",
    ...[key, etagOf(content), signature],
  );
}

test('a view from before there were trees gets its own when it is loaded, once', async ({ dir }) => {
  const a = await library(dir);
  await storeOld(a.store, view('old'), a.signer.sign(key, etagOf(view('old'))));
  assert.equal(readContent((await a.docs.open(key)).doc)['tree'], treeOf(view('old')));
  assert.is((await stored(a.store)).index!.rev, 8);
  await a.store.close();
  const b = await library(dir);
  await b.docs.open(key);
  assert.is((await stored(b.store)).index!.rev, 8);
  await b.store.close();
});

test('what somebody else wrote into the store gets neither tree nor signature, until its skill writes again', async ({
  dir,
}) => {
  const { docs, store, signer } = await library(dir);
  await storeOld(store, view('forged'), signer.sign(key, etagOf(view('true'))));
  const room = await docs.open(key);
  // As a skill that has nothing new answers when it is attached.
  await room.write(Y.encodeStateAsUpdate(room.doc));
  const { content, index } = await stored(store);
  assert.equal([content, index!.rev], [view('forged'), 7]);
  assert.not(signer.verify(key, etagOf(content), index!.signature));
  await room.write(update(room.doc, view('true')));
  const again = await stored(store);
  assert.equal(again.content, { ...view('true'), tree: treeOf(view('true')) });
  assert.ok(signer.verify(key, again.index!.etag, again.index!.signature));
  await store.close();
});

test('a document without a source has no tree, and a state may call a key of its own so', async ({ dir }) => {
  const { docs, store } = await library(dir);
  const room = await docs.open('o1/lamp/view:owner/o1');
  await room.write(update(room.doc, view('x')));
  await room.write((doc) => mergeContent(doc, { schema: undefined, layout: undefined }));
  assert.equal(readContent(room.doc), {});
  const state = await docs.open('o1/lamp/state:main');
  await state.write(update(state.doc, { tree: 'oak' }));
  assert.equal(readContent(state.doc), { tree: 'oak' });
  await store.close();
});

test('what a browser lays over a view is marked where it is wrong; a skill that breaks its schema is refused', async ({
  dir,
}) => {
  const { docs, store } = await library(dir);
  const bad = { schema: 'ui/v0', layout: { type: 'tabel' } };
  const mine = await docs.open('o1/lamp/view:device/b1');
  const told: unknown[] = [];
  await mine.write(update(mine.doc, bad), { told: (problems) => told.push(...problems) });
  assert.match(JSON.stringify(readContent(mine.doc)['tree']), /"is":"note","code":"unknown_type"/);
  assert.is(told.length, 1);
  const room = await docs.open(key);
  const e = await room.write(update(room.doc, bad), { check: contentCheck('view:main') }).catch((e) => e);
  assert.is(e.code, 'invalid_request');
  assert.equal(readContent(room.doc), {});
  await store.close();
});

test('a view as large as a document may be is refused by its own size alone', async ({ dir }) => {
  const { docs, store } = await library(dir);
  const room = await docs.open('o1/lamp/view:device/b1');
  const of = (n: number): JsonObject => ({
    schema: 'ui/v0',
    layout: {
      type: 'stack',
      children: Array.from({ length: n }, () => ({ type: 'text', text: 'x'.repeat(1000) })),
    },
  });
  await room.write(update(room.doc, of(240)));
  await room.write(update(room.doc, of(241)));
  const e = await room.write(update(room.doc, of(300))).catch((e) => e);
  assert.is(e.code, 'too_large');
  await store.close();
});

test('a preview is the view it was made of, ends when it was said, and later writes prolong nothing', async ({
  dir,
}) => {
  const { docs, store } = await library(dir);
  const bad = { ...view('soon'), layout: { type: 'tabel' } };
  const made = { owner_id: 'o1', skill_id: 'lamp', seconds: 600, there: [] };
  const { token, expires_at, problems } = await makePreview(docs, { ...made, view: bad, state: { a: 1 } });
  assert.match(token, /^lamp\.[\w-]{22}$/);
  assert.is(problems[0]!.code, 'unknown_type');
  const of = (type: string) => `o1/lamp/${type}:preview/${token}`;
  const { content, index } = await stored(store, of('view'));
  assert.equal(content['tree'], treeOf(bad));
  assert.is(index!.updated_at + index!.ttl_sec, expires_at);
  assert.equal((await stored(store, of('state'))).content, { a: 1 });
  await (await docs.open(of('view'))).write((doc) => mergeContent(doc, view('later')));
  const again = (await stored(store, of('view'))).index!;
  assert.is(again.updated_at + again.ttl_sec, expires_at);

  await store.run('UPDATE docs_index SET updated_at = 1000');
  assert.equal((await docs.sweep()).sort(), [of('state'), of('view')]);
  assert.equal((await stored(store, of('view'))).content, {});
  const there = Array.from({ length: MAX_PREVIEWS }, (_, i) => `o1/lamp/view:preview/lamp.${i}`);
  const e = await makePreview(docs, { ...made, view: view('x'), there }).catch((e) => e);
  assert.ok(e instanceof IngleError && e.code === 'rate_limited');
  await store.close();
});

test.run();
