// What the hub hears of a skill that runs, over a bus that is played here: whatever is answered is stored.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import * as Y from 'yjs';
import { mergeContent, readContent } from '../../firmware/documents/content.ts';
import type { Library } from '../../firmware/documents/library.ts';
import { makeRoom, type Room } from '../../firmware/documents/room.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { documentKey } from '../../firmware/skills/documents.ts';
import { openLive } from '../../firmware/skills/live.ts';
import { lackedBy, servedOwners, takeStored } from '../../firmware/skills/served.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import { logger } from '../../firmware/system/log.ts';
import type { Heard, Match } from '../../firmware/system/match.ts';
import { until } from '../lab/wait.ts';

const test = suite('a skill that runs');
const owner = 'owner1';
type Given = { owner_id: string; documents: { doc: string; update: Uint8Array }[] };

/** The code a promise fails with. */
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (e: IngleError) => e.code,
  );

/** A skill that has counted to `count` while no API heard it, and that API, whose disk is held by `slow`. */
function world(count: number) {
  const on = new Set<(s: Heard) => void>();
  const isLost = new Set<number>();
  let sent = 0;
  const served = servedOwners((...body) => {
    if (isLost.has(sent++)) return;
    for (const f of on) f({ member: 'Update', body } as unknown as Heard);
  });
  served.serve(owner);
  const counted = () => Number(readContent(served.document(owner, 'state:main'))['n'] ?? 0);
  const set = (n: number) => mergeContent(served.document(owner, 'state:main'), { n });
  mergeContent(served.document(owner, 'view:main'), {
    schema: 'ui/v0',
    layout: { type: 'stack', children: [] },
  });
  for (let n = 1; n <= count; n++) set(n);

  let went: () => void = () => {};
  let thinking = Promise.resolve();
  const disk = { slow: Promise.resolve(), part: '', full: false };
  const rooms = new Map<string, Room>(
    ['view:main', 'state:main'].map((doc) => [
      documentKey(owner, 'lamp', doc),
      makeRoom(documentKey(owner, 'lamp', doc), new Y.Doc(), 1e6, async () => {
        if (doc === disk.part) await disk.slow;
        if (disk.full) throw new IngleError('unavailable', 'The disk is full.');
      }),
    ]),
  );
  const stored = () =>
    Number(readContent(rooms.get(documentKey(owner, 'lamp', 'state:main'))!.doc)['n'] ?? 0);
  let isBusy = false;
  const process = {
    async Attach({ documents }: Given) {
      if (isBusy) throw new IngleError('timeout', 'It did not answer in time.');
      const given = new Map(documents.map((d) => [d.doc, d.update]));
      takeStored(served.serve(owner), given);
      return { documents: lackedBy(served.serve(owner), given) };
    },
    async Request() {
      await thinking;
      set(counted() + 1);
      return { status: 200, headers: {}, body: new Uint8Array() };
    },
    Watch: async () => ({}),
    Told: async () => ({}),
  };
  const bus = {
    client: () => process,
    async match(_: Match, f: (s: Heard) => void) {
      on.add(f);
      return async () => void on.delete(f);
    },
  } as unknown as Bus;
  const muted = { times: 0 };
  const live = openLive({
    ...{ id: 'lamp', owner: ':1.7', bus, log: logger('test') },
    library: { open: async (key) => rooms.get(key)!, peek: (key) => rooms.get(key) } as Library,
    onMuted: () => void muted.times++,
    onHeard: () => live.attach(owner),
    onDue: async () => {},
  });
  return {
    ...{ live, set, stored, counted, muted, disk },
    /** The next update does not come. */
    lose: () => void isLost.add(sent),
    busy() {
      isBusy = true;
    },
    hold(part = 'view:main') {
      disk.part = part;
      disk.slow = new Promise((done) => {
        went = done;
      });
    },
    release: () => went(),
    /** Its answers take until what this gives is called. */
    think() {
      let thought = () => {};
      thinking = new Promise((done) => {
        thought = done;
      });
      return () => thought();
    },
    ask: (method: string) =>
      live.request({ id: 'r1', owner_id: owner, method, path: '/v1/add', body: new Uint8Array() }),
  };
}

test('what it does while its documents are being stored follows them, and is stored when it is answered', async () => {
  const w = world(3);
  await w.live.hear();
  w.hold();
  const attaching = w.live.attach(owner);
  await new Promise((done) => setTimeout(done, 20));
  // As its next measurement comes.
  w.set(4);
  const asking = until(() => w.live.isAttached(owner), 'the owner').then(() => w.ask('POST'));
  await new Promise((done) => setTimeout(done, 200));
  w.release();
  await attaching;
  await asking;
  assert.equal([w.stored(), w.muted.times], [5, 0]);
  w.live.end();
});

test('what could not be stored is not told as done', async () => {
  const w = world(0);
  await w.live.hear();
  await w.live.attach(owner);
  await w.ask('POST');
  assert.is(w.stored(), 1);
  // Without this one, those behind it are refused.
  w.lose();
  w.set(2);
  assert.is(await codeOf(w.ask('POST')), 'unavailable');
  assert.equal([w.stored(), w.muted.times], [1, 1]);
  // What changes nothing has nothing to store.
  assert.is((await w.ask('GET')).status, 200);
  // The skill has it yet: whoever is attached anew brings it.
  await w.live.attach(owner);
  assert.is(w.stored(), w.counted());
  w.live.end();
});

test('what it did while it was unheard, or is attached anew, is not told as done before it is stored', async () => {
  const w = world(0);
  await w.live.hear();
  await w.live.attach(owner);
  const thought = w.think();
  const told = codeOf(w.ask('POST')).then((code) => [code, w.stored() === w.counted()]);
  w.lose();
  w.set(1);
  w.set(2);
  await until(() => w.muted.times === 1, 'it to be unheard');
  // As after ten seconds, on a disk that takes its time.
  await w.live.hear();
  w.hold('state:main');
  const attaching = w.live.attach(owner);
  await new Promise((done) => setTimeout(done, 20));
  thought();
  await new Promise((done) => setTimeout(done, 100));
  w.release();
  await attaching;
  const [code, isStored] = await told;
  assert.ok(code === 'unavailable' || isStored, String(code));
  assert.is((await w.ask('POST')).status, 200);
  assert.is(w.stored(), w.counted());
  w.live.end();
});

test('what it did for a hub that has given it up is not told as done', async () => {
  const w = world(0);
  await w.live.hear();
  await w.live.attach(owner);
  w.live.end();
  assert.is(await codeOf(w.ask('POST')), 'unavailable');
});

test('who is being attached when it becomes unheard is not attached: what it sent meanwhile was not heard', async () => {
  const w = world(0);
  await w.live.hear();
  w.hold();
  const attaching = w.live.attach(owner);
  await new Promise((done) => setTimeout(done, 20));
  // More than one may send.
  for (let n = 1; n < 300 && w.muted.times === 0; n++) w.set(n);
  assert.is(w.muted.times, 1);
  w.release();
  await attaching;
  assert.not(w.live.isAttached(owner));
  w.live.end();
});

test('an owner it was too busy for is attached later', async () => {
  const w = world(2);
  await w.live.hear();
  w.busy();
  assert.is(await codeOf(w.live.attach(owner)), 'timeout');
  assert.equal([w.live.isAttached(owner), w.muted.times], [false, 1]);
  w.live.end();
});

test.run();
