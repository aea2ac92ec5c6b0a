// What is applied without a trial is what a trial would let through.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import * as Y from 'yjs';
import { mergeContent, readContent } from '../../firmware/documents/content.ts';
import { plainClocks } from '../../firmware/documents/plain.ts';
import { copyOf, stage } from '../../firmware/documents/staging.ts';
import { encodedParts, partsNear } from '../lab/updates.ts';

const test = suite('plain updates');
const RUNS = Number(process.env['RUNS'] ?? 2000);
const isPlain = (doc: Y.Doc, update: Uint8Array) => plainClocks(doc, update) !== null;

/** The update by which `change` leads on from a copy of `doc`. */
function made(doc: Y.Doc, change: (d: Y.Doc) => void, client?: number): Uint8Array {
  const copy = copyOf(doc);
  if (client !== undefined) copy.clientID = client;
  const parts: Uint8Array[] = [];
  copy.on('update', (u: Uint8Array) => parts.push(u));
  copy.transact(() => change(copy));
  return parts.length === 1 ? parts[0]! : Y.mergeUpdates(parts);
}
const doc = new Y.Doc();
mergeContent(doc, { a: 1, b: { c: [2] } });
doc.getMap('content').set('nested', new Y.Map([['k', 1]]));
const content = (d: Y.Doc) => d.getMap('content');

test('keys that are set, set again and taken away are plain', () => {
  assert.ok(
    isPlain(
      doc,
      made(doc, (d) => content(d).set('n', { x: [1, null, 'y'] })),
    ),
  );
  assert.ok(
    isPlain(
      doc,
      made(doc, (d) => content(d).set('a', 2)),
    ),
  );
  assert.ok(
    isPlain(
      doc,
      made(doc, (d) => content(d).delete('a')),
    ),
  );
  assert.ok(
    isPlain(
      doc,
      made(doc, (d) => d.getMap('meta').set('ttl', '8h')),
    ),
  );
  const run = made(doc, (d) => {
    for (let i = 0; i < 9; i++) content(d).set('a', i);
  });
  assert.ok(isPlain(doc, run));
});

test('a key is plain also in a document that nobody has read yet', () => {
  const [author, fresh] = [new Y.Doc(), new Y.Doc()];
  author.on('update', (u: Uint8Array) => {
    assert.ok(isPlain(fresh, u));
    Y.applyUpdate(fresh, u);
  });
  for (let i = 0; i < 3; i++) content(author).set('a', i);
});

test('what is to be tried is not plain: other types, other roots, gaps, what is no JSON, what is deep', () => {
  let deep: unknown = 1;
  for (let i = 0; i < 40; i++) deep = [deep];
  const rows: [string, Uint8Array][] = [
    ['a type', made(doc, (d) => content(d).set('t', new Y.Array()))],
    ['in a type', made(doc, (d) => (content(d).get('nested') as Y.Map<unknown>).set('k', 2))],
    ['another root', made(doc, (d) => d.getArray('other').push([1]))],
    ['another map', made(doc, (d) => d.getMap('other').set('k', 1))],
    // Any JSON under the key "k" of `content`, of which there is none: written by client 5.
    ['an item of no length', Uint8Array.of(1, 1, 5, 0, 0x28, 1, 7, ...Buffer.from('content'), 1, 107, 0, 0)],
    [
      'more than anybody changes',
      Uint8Array.of(
        1,
        1,
        5,
        0,
        0x21,
        1,
        7,
        ...Buffer.from('content'),
        1,
        107,
        ...Array(5).fill(0x80),
        0x40,
        0,
      ),
    ],
    // Of an unknown client, of which Yjs throws an internal error.
    ['a deletion of no length', Uint8Array.of(0, 1, 9, 1, 0, 0)],
    ['a list of that name', made(doc, (d) => d.getText('body').insert(0, 'x'))],
    ['bytes', made(doc, (d) => content(d).set('u', new Uint8Array(3)))],
    ['undefined', made(doc, (d) => content(d).set('u', undefined))],
    ['a document', made(doc, (d) => content(d).set('u', new Y.Doc()))],
    ['deep', made(doc, (d) => content(d).set('u', deep))],
    ['nothing', new Uint8Array()],
  ];
  const far = copyOf(doc);
  content(far).set('x', 1);
  rows.push(['a gap', made(far, (d) => content(d).set('x', 2), far.clientID)]);
  rows.push(['beside what is not here', made(far, (d) => content(d).set('x', 3))]);
  for (const [what, update] of rows) assert.not(isPlain(doc, update), what);
});

test('of two parts of one client Yjs takes the second alone, so they are to be tried', () => {
  const author = new Y.Doc();
  const parts: Uint8Array[] = [];
  author.on('update', (u: Uint8Array) => parts.push(u.subarray(1, -1)));
  for (const key of ['x', 'y']) content(author).set(key, 1);
  const both = Uint8Array.of(2, ...parts[0]!, ...parts[1]!, 0);
  const whole = Uint8Array.of(1, ...parts[0]!, 0);
  assert.ok(isPlain(new Y.Doc(), whole));
  assert.not(isPlain(new Y.Doc(), both));
  const naive = new Y.Doc();
  Y.applyUpdate(naive, both);
  assert.ok(naive.store.pendingStructs, 'what would wait for ever');
});

test('what an update leads to is told, and what is ahead of the document counts', () => {
  const author = new Y.Doc();
  author.clientID = 7;
  const parts: Uint8Array[] = [];
  author.on('update', (u: Uint8Array) => parts.push(u));
  for (const value of [1, 2]) content(author).set('x', value);
  content(author).delete('x');
  const [first, second, gone] = parts as [Uint8Array, Uint8Array, Uint8Array];
  const none = new Y.Doc();
  const ahead = plainClocks(none, first)!;
  assert.equal([...ahead], [[7, 1]]);
  assert.is(plainClocks(none, second), null);
  assert.equal([...plainClocks(none, second, ahead)!], [[7, 2]]);
  assert.is(plainClocks(none, gone, ahead), null);
  assert.equal([...plainClocks(none, gone, new Map([[7, 2]]))!], []);
});

test('a plain update makes of the document what its trial makes', () => {
  const step = fc.tuple(fc.constantFrom('a', 'b', 'nested', 'd'), fc.option(fc.jsonValue({ maxDepth: 3 })));
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), fc.nat(3), (steps, client) => {
      const update = made(
        doc,
        (d) => {
          for (const [key, value] of steps)
            if (value === null) content(d).delete(key);
            else content(d).set(key, value);
        },
        client + 100,
      );
      const { next } = stage(doc, update, 1e6);
      if (!isPlain(doc, update)) return;
      const applied = copyOf(doc);
      Y.applyUpdate(applied, update);
      assert.equal(readContent(applied), readContent(next));
      assert.is(applied.store.pendingStructs, null);
    }),
  );
});

test('whatever bytes are called plain can be applied whole, and lead as far as is said', () => {
  const good = [
    made(doc, (d) => content(d).set('a', 'b')),
    made(doc, (d) => {
      for (const value of [1, { x: [null, 0.5] }]) content(d).set('b', value);
      content(d).delete('a');
    }),
    Y.mergeUpdates([2, 3].map((client) => made(doc, (d) => d.getMap('meta').set('ttl', client), client))),
  ];
  const bent = fc.tuple(
    fc.constantFrom(...good),
    fc.array(fc.tuple(fc.nat(99), fc.nat(255)), { maxLength: 4 }),
  );
  let plain = 0;
  fc.assert(
    fc.property(bent, fc.nat(200), ([whole, changes], cut) => {
      const bytes = whole.slice(0, Math.max(1, whole.length - Math.max(0, cut - 150)));
      for (const [at, to] of changes) bytes[at % bytes.length] = to;
      const clocks = plainClocks(doc, bytes);
      if (!clocks) return;
      plain++;
      const { next } = stage(doc, bytes, 1e6);
      assert.is(next.store.pendingStructs, null);
      for (const [client, clock] of clocks) assert.is(Y.getState(next.store, client), clock);
    }),
    { numRuns: RUNS },
  );
  assert.ok(plain > RUNS / 10, `${plain} were plain`);
});

test('plain updates one after the other, near the edges of what there is, can be applied whole', () => {
  let plain = 0;
  fc.assert(
    fc.property(fc.array(partsNear(doc), { minLength: 1, maxLength: 3 }), (updates) => {
      const ahead = new Map<number, number>();
      let tried = doc;
      const applied = copyOf(doc);
      for (const one of updates) {
        const bytes = encodedParts(one, (client) => ahead.get(client) ?? Y.getState(doc.store, client));
        const clocks = plainClocks(doc, bytes, ahead);
        if (!clocks) continue;
        plain++;
        tried = stage(tried, bytes, 1e6).next;
        Y.applyUpdate(applied, bytes);
        for (const [client, clock] of clocks) ahead.set(client, clock);
      }
      assert.is(applied.store.pendingStructs, null);
      assert.is(applied.store.pendingDs, null);
      for (const [client, clock] of ahead) assert.is(Y.getState(applied.store, client), clock);
      assert.equal(readContent(applied), readContent(tried));
    }),
    { numRuns: RUNS },
  );
  assert.ok(plain > RUNS / 10, `${plain} were plain`);
});

test.run();
