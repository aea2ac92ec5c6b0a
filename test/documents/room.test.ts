// How a room writes: what a skill sends after a rest at once, what comes together in one, what is refused not at all.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import * as Y from 'yjs';
import { mergeContent, readContent } from '../../firmware/documents/content.ts';
import type { Member } from '../../firmware/documents/members.ts';
import { encodeUpdate } from '../../firmware/documents/message.ts';
import { makeRoom } from '../../firmware/documents/room.ts';
import { copyOf } from '../../firmware/documents/staging.ts';
import { encodedParts, partsNear } from '../lab/updates.ts';
import { until } from '../lab/wait.ts';

const test = suite('rooms');
const RUNS = Number(process.env['RUNS'] ?? 100);

/** Updates that each set `n`, as a skill sends them. */
function sent(count: number): Uint8Array[] {
  const doc = new Y.Doc();
  const all: Uint8Array[] = [];
  doc.on('update', (u: Uint8Array) => all.push(u));
  for (let n = 1; n <= count; n++) doc.getMap('content').set('n', n);
  return all;
}

test('the first update after a rest is written before any time passes, those right behind it in one', async () => {
  const commits: number[] = [];
  const room = makeRoom(
    'o1/lamp/state:main',
    new Y.Doc(),
    1e6,
    async () => void commits.push(commits.length),
  );
  const [first, ...others] = sent(20);
  const fail = (e: unknown) => {
    throw e;
  };
  room.gather(first!, undefined, fail);
  // Timers end in the order of their times, however slow the machine is.
  await new Promise((done) => setTimeout(done, 20));
  assert.is(commits.length, 1);
  for (const u of others) room.gather(u, undefined, fail);
  await until(() => room.doc.getMap('content').get('n') === 20, 'the newest');
  assert.is(commits.length, 2);
  room.close();
});

test('who needs what was sent before does not wait for the gathering', async () => {
  let commits = 0;
  const room = makeRoom('o1/lamp/state:main', new Y.Doc(), 1e6, async () => void commits++);
  for (const u of sent(3)) room.gather(u, undefined, () => {});
  await room.flush();
  assert.equal([commits, room.doc.getMap('content').get('n')], [1, 3]);
  room.close();
});

/** A client as its provider leaves it: what is cast to it is applied, what it changes is sent. */
function client(room: ReturnType<typeof makeRoom>, canWrite = true) {
  const doc = copyOf(room.doc);
  const faults: unknown[] = [];
  let sending: Promise<unknown> = Promise.resolve();
  const member: Member = {
    canWrite,
    send(bytes) {
      // Sync step 2 and updates: kind, step, length, update.
      if (bytes[0] !== 0 || bytes[1] === 0) return;
      let at = 2;
      while (bytes[at++]! & 0x80);
      Y.applyUpdate(doc, bytes.subarray(at), 'hub');
    },
  };
  doc.on('update', (u: Uint8Array, origin: unknown) => {
    if (origin !== 'hub')
      sending = room.receive(member, encodeUpdate(u)).catch((e) => void faults.push((e as Error).message));
  });
  room.join(member);
  return { doc, member, faults, sent: () => sending, content: () => readContent(doc) };
}
const roomOf = (content: object | Y.Doc, maxBytes = 1e4) => {
  const stored = content instanceof Y.Doc ? content : new Y.Doc();
  if (stored !== content) mergeContent(stored, content as never);
  const disk: Uint8Array[] = [Y.encodeStateAsUpdate(stored)];
  const fails = { next: false };
  const room = makeRoom(
    'o1/lamp/state:main',
    stored,
    maxBytes,
    async (update) => {
      await new Promise((done) => setTimeout(done, 1));
      if (fails.next) throw new Error('the disk is full');
      if (update) disk.push(update);
    },
    async () => {
      const doc = new Y.Doc();
      for (const u of disk) Y.applyUpdate(doc, u);
      return doc;
    },
  );
  return { room, disk, fails };
};

test('what several write meanwhile is one commit, and reaches everybody', async () => {
  const { room, disk } = roomOf({});
  const all = Array.from({ length: 5 }, () => client(room));
  for (const [i, c] of all.entries()) c.doc.getMap('content').set(`k${i}`, i);
  await Promise.all(all.map((c) => c.sent()));
  assert.is(disk.length, 1 + 2, 'the first at once, the others together');
  for (const c of all) assert.equal(c.content(), { k0: 0, k1: 1, k2: 2, k3: 3, k4: 4 });
  room.close();
});

test('a refused change is told, undone at its author, and nobody else sees any of it', async () => {
  const { room, disk } = roomOf({ a: 1, gone: [2] });
  const seen: number[] = [];
  const witness = client(room, false);
  witness.doc.on('update', () => seen.push(1));
  const reader = client(room, false);
  reader.doc.transact(() => {
    reader.doc.getMap('content').set('a', 'forged');
    reader.doc.getMap('content').delete('gone');
    reader.doc.getMap('content').set('more', new Y.Map([['x', 1]]));
  });
  await reader.sent();
  assert.match(String(reader.faults), /only be read/);
  const writer = client(room);
  writer.doc.getMap('content').set('a', 'x'.repeat(20_000));
  await writer.sent();
  assert.match(String(writer.faults), /at most 10000 bytes/);
  for (const c of [reader, writer, witness]) assert.equal(c.content(), { a: 1, gone: [2] });
  assert.equal([disk.length, seen.length], [1, 0]);
  assert.equal(readContent(room.doc), { a: 1, gone: [2] });
  room.close();
});

test('of what is written together a refused change is undone at its author, and the others are one commit', async () => {
  const { room, disk } = roomOf({ a: 1 });
  const shown: Uint8Array[] = [];
  room.join({ canWrite: false, send: (bytes) => shown.push(bytes) });
  const all = Array.from({ length: 6 }, () => client(room));
  const set = (i: number, value: unknown) => all[i]!.doc.getMap('content').set(`k${i}`, value);
  // The first is being stored while the others come.
  set(0, 0);
  set(1, 1);
  // On a copy, and refused; on a copy, and right; too large.
  set(2, new Uint8Array(3));
  set(3, new Y.Map([['x', 1]]));
  set(4, 'x'.repeat(20_000));
  set(5, 5);
  await Promise.all(all.map((c) => c.sent()));
  const faults = all.map((c) => c.faults.length);
  assert.equal(faults, [0, 0, 1, 0, 1, 0]);
  const right = { a: 1, k0: 0, k1: 1, k3: { x: 1 }, k5: 5 };
  for (const c of all) assert.equal(c.content(), right);
  assert.equal(readContent(room.doc), right);
  assert.equal([disk.length, shown.length], [1 + 2, 2]);
  const stored = new Y.Doc();
  for (const update of disk) Y.applyUpdate(stored, update);
  assert.equal(readContent(stored), right);
  room.close();
});

test('what changes nothing is neither stored nor shown, alone or among others', async () => {
  const { room, disk } = roomOf({ a: 1 });
  const [author, witness] = [client(room), client(room)];
  author.doc.getMap('content').delete('a');
  await author.sent();
  const shown: number[] = [];
  witness.doc.on('update', () => shown.push(1));
  const known = encodeUpdate(Y.encodeStateAsUpdate(author.doc, Y.encodeStateVector(author.doc)));
  await room.receive(author.member, known);
  await Promise.all([1, 2, 3].map(() => room.receive(author.member, known)));
  assert.equal([disk.length, shown.length], [2, 0]);
  room.close();
});

test('a document keeps its bound, however its changes came', async () => {
  const { room } = roomOf({ a: 'x'.repeat(8000) });
  // By the hub and so on a copy first, then by a client in place.
  await room.write((doc) => mergeContent(doc, { c: 1 }));
  const author = client(room);
  author.doc.getMap('content').set('b', 'y'.repeat(5000));
  await author.sent();
  assert.match(String(author.faults), /at most 10000 bytes/);
  assert.equal(Object.keys(readContent(room.doc)).sort(), ['a', 'c']);
  room.close();
});

test('a change that cannot be stored is in nobody, not even in what the room answers', async () => {
  const { room, fails } = roomOf({ a: 1 });
  const [author, other] = [client(room), client(room)];
  fails.next = true;
  author.doc.getMap('content').set('a', 2);
  await author.sent();
  assert.match(String(author.faults), /disk is full/);
  assert.equal([readContent(room.doc), other.content()], [{ a: 1 }, { a: 1 }]);
  fails.next = false;
  other.doc.getMap('content').set('b', 3);
  await other.sent();
  assert.equal(readContent(room.doc), { a: 1, b: 3 });
  room.close();
});

test('who joins while a change is being stored is answered when it is', async () => {
  const { room, disk } = roomOf({});
  const author = client(room);
  author.doc.getMap('content').set('a', 1);
  const heard: number[] = [];
  room.join({ canWrite: true, send: () => heard.push(disk.length) });
  assert.equal(heard, []);
  await author.sent();
  await until(() => heard.length > 0, 'the greeting');
  assert.equal([...new Set(heard)], [2]);
  room.close();
});

test('where the disk fails now and then, the document is what was stored, updates that it put off included', async () => {
  const { room, disk, fails } = roomOf({});
  // Each is of an author of its own, so that none builds on one that was refused.
  const update = (n: number) => {
    const doc = new Y.Doc();
    doc.getMap('content').set(`k${n}`, n);
    return Y.encodeStateAsUpdate(doc);
  };
  const stored: Record<string, number> = {};
  for (let n = 0; n < 150; n++) {
    fails.next = n % 7 === 3 || n % 50 > 47;
    await room.write(update(n)).then(
      () => {
        assert.not(fails.next, `${n} was not stored`);
        stored[`k${n}`] = n;
      },
      (e) => assert.is(e.message, 'the disk is full'),
    );
    if (n % 40 === 39) assert.equal(readContent(room.doc), stored);
  }
  const again = new Y.Doc();
  for (const u of disk) Y.applyUpdate(again, u);
  assert.equal(readContent(again), stored);
  assert.equal(readContent(room.doc), stored);
  assert.ok(Object.keys(stored).length > 100);
  room.close();
});

test('whatever a member sends, what is stored can be read, and is what the room and the others show', async () => {
  const base = new Y.Doc();
  mergeContent(base, { a: 1, b: { c: [2] } });
  base.getMap('content').set('nested', new Y.Map([['k', 1]]));
  base.getMap('content').set('list', Y.Array.from([1, 2]));
  base.getMap('content').set('text', new Y.Text('ab'));
  const step = fc.oneof(
    { weight: 4, arbitrary: partsNear(base) },
    { weight: 1, arbitrary: fc.integer({ min: 2, max: 9 }) },
  );
  let refused = 0;
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.boolean(), async (steps, inTurn) => {
      const { room, disk } = roomOf(copyOf(base));
      const honest = client(room);
      const hostile: Member = { canWrite: true, send() {} };
      room.join(hostile);
      const all: Promise<unknown>[] = [];
      for (const one of steps) {
        if (typeof one === 'number') honest.doc.getMap('content').set('n', one);
        else {
          const update = encodedParts(one, (id) => Y.getState(room.doc.store, id));
          const sent = room.receive(hostile, encodeUpdate(update)).then(
            () => taken++,
            (e) => {
              refused++;
              assert.is(e.code ?? e.stack, 'invalid_request');
            },
          );
          all.push(sent);
        }
        if (inTurn) await Promise.all([...all, honest.sent()]);
      }
      await Promise.all([...all, honest.sent()]);
      await room.flush();
      const again = new Y.Doc();
      for (const u of disk) Y.applyUpdate(again, u);
      assert.is(again.store.pendingStructs, null);
      assert.is(again.store.pendingDs, null);
      assert.equal(readContent(again), readContent(room.doc));
      assert.equal(honest.content(), readContent(room.doc));
      const last = steps.findLast((one) => typeof one === 'number');
      if (inTurn && last !== undefined) assert.ok('n' in honest.content());
      assert.equal(honest.faults, []);
      room.close();
    }),
    { numRuns: RUNS },
  );
  assert.ok(taken > RUNS / 10 && refused > RUNS / 10, `${taken} taken, ${refused} refused`);
});

test.run();
