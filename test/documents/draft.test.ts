// A document takes plain updates later than it says so: nobody who asks for it can tell.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import * as Y from 'yjs';
import { readContent } from '../../firmware/documents/content.ts';
import { type Draft, openDraft } from '../../firmware/documents/draft.ts';

const test = suite('drafts');

/** Authors that write keys and hear of each other now and then. */
function authors(count: number) {
  const docs = Array.from({ length: count }, (_, i) => {
    const doc = new Y.Doc();
    doc.clientID = 10 + i;
    return doc;
  });
  return {
    /** The update by which one of them writes a key, or takes it away. */
    write(who: number, key: string, value: unknown): Uint8Array {
      const doc = docs[who]!;
      const parts: Uint8Array[] = [];
      const hear = (u: Uint8Array) => parts.push(u);
      doc.on('update', hear);
      const content = doc.getMap('content');
      doc.transact(() => (value === null ? content.delete(key) : content.set(key, value)));
      doc.off('update', hear);
      return parts[0] ?? Y.encodeStateAsUpdate(new Y.Doc());
    },
    hear(who: number, all: readonly Uint8Array[]): void {
      for (const u of all) Y.applyUpdate(docs[who]!, u);
    },
  };
}
const value = fc.oneof({ weight: 9, arbitrary: fc.jsonValue({ maxDepth: 2 }) }, fc.constant(undefined));
const move = fc.record({
  who: fc.nat(2),
  key: fc.constantFrom('a', 'b', 'ж'),
  value,
  hears: fc.boolean(),
  isRead: fc.boolean(),
  withNext: fc.boolean(),
});
/** As a line does: what is plain is taken, and the rest tried. @returns what came of it */
async function takeAll(draft: Draft, changes: readonly Uint8Array[]): Promise<Uint8Array[]> {
  const all = changes.map((change) => ({ change }));
  const made: Uint8Array[] = [];
  for (let at = 0; at < all.length; ) {
    const { count, update } = draft.take(all, at);
    if (update) made.push(update);
    at += count;
    if (at >= all.length) break;
    try {
      const tried = await draft.attempt(all[at++]!);
      if (tried.update) made.push(tried.update);
    } catch {
      // Refused.
    }
  }
  return made;
}

test('whenever it is asked for, it is what its updates make of it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(move, { maxLength: 90 }), async (moves) => {
      const people = authors(3);
      const draft = openDraft(new Y.Doc(), 1e6, {});
      const told = new Y.Doc();
      const given: Uint8Array[] = [];
      let waiting: Uint8Array[] = [];
      for (const m of moves) {
        if (m.hears) people.hear(m.who, given);
        waiting.push(people.write(m.who, m.key, m.value));
        if (m.withNext) continue;
        for (const u of await takeAll(draft, waiting)) {
          given.push(u);
          Y.applyUpdate(told, u);
        }
        waiting = [];
        assert.is(told.store.pendingStructs, null);
        if (m.isRead) assert.equal(readContent(draft.doc), readContent(told));
      }
      assert.not(draft.isSpoilt);
      assert.equal(readContent(draft.doc), readContent(told));
      assert.equal(Y.encodeStateVector(draft.doc), Y.encodeStateVector(told));
    }),
    { numRuns: 150 },
  );
});

test('one after the other, and each only once', () => {
  const draft = openDraft(new Y.Doc(), 1e6, {});
  const [{ write }] = [authors(1)];
  const [first, second, third] = [write(0, 'a', 1), write(0, 'a', 2), write(0, 'a', 3)];
  const take = (change: Uint8Array) => draft.take([{ change }], 0);
  assert.is(take(first).update, first);
  assert.is(take(second).count, 1);
  // Neither again nor with a gap: both are to be tried, or change nothing.
  assert.is(take(second).update, null);
  const after = write(0, 'a', 4);
  assert.is(take(after).count, 0);
  assert.is(take(third).count, 1);
  assert.is(take(after).count, 1);
  assert.equal(readContent(draft.doc), { a: 4 });
});

test('what it put off counts for its size, and is kept apart from the bytes it came in', () => {
  const draft = openDraft(new Y.Doc(), 2000, {});
  const { write } = authors(1);
  let taken = 0;
  for (let i = 0; i < 200; i++) {
    const bytes = write(0, `k${i}`, 'x'.repeat(50));
    const { count } = draft.take([{ change: bytes }], 0);
    bytes.fill(0);
    if (count === 0) break;
    taken++;
  }
  assert.ok(taken > 10 && taken < 40, `${taken} taken`);
  assert.is(Object.keys(readContent(draft.doc)).length, taken);
  assert.ok(Y.encodeStateAsUpdate(draft.doc).length <= 2000);
});

test('spoilt, it forgets what it put off with what could not be stored', async () => {
  const stored = new Y.Doc();
  const draft = openDraft(stored, 1e6, { reload: async () => new Y.Doc() });
  const { write } = authors(1);
  const [first, second] = [write(0, 'a', 1), write(0, 'a', 2)];
  assert.is(draft.take([{ change: first }], 0).count, 1);
  draft.spoil();
  await draft.restore();
  assert.not(draft.isSpoilt);
  assert.equal(readContent(draft.doc), {});
  assert.is(draft.take([{ change: second }], 0).count, 0, 'builds on what is not there');
});

test.run();
