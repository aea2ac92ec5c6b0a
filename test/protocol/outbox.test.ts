import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isCommandId } from '../../firmware/documents/command.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { openQueue } from '../../firmware/protocol/queue.ts';
import { type JournalEntry, type JournalStore, once } from '../../firmware/protocol/tunnel/once.ts';
import { type Op, type OutboxStorage, openOutbox } from '../../firmware/protocol/tunnel/outbox.ts';
import { until } from './root.ts';

const test = suite('outbox');
const tick = () => new Promise((r) => setImmediate(r));

/** What survives a killed page. */
function disk() {
  const ops = new Map<string, Op>();
  const storage = (): OutboxStorage => ({
    load: async () => structuredClone([...ops.values()]),
    async put(op) {
      await tick();
      ops.set(op.id, structuredClone(op));
    },
    async remove(id) {
      await tick();
      ops.delete(id);
    },
  });
  return { ops, storage };
}

/** A hub: a list it appends to, and a journal, durable together. */
function hub() {
  let durable = { list: [] as unknown[], journal: new Map<string, JournalEntry>() };
  const jobs = openQueue();
  /** Decides whether the hub dies before its commit. */
  let dies = () => false;
  const store: JournalStore<unknown[]> = {
    transaction(work) {
      return jobs.add(async () => {
        const copy = { list: [...durable.list], journal: new Map(durable.journal) };
        const result = await work({
          get: async (id) => copy.journal.get(id),
          put: async (e) => void copy.journal.set(e.id, e),
          tx: copy.list,
        });
        await tick();
        if (dies()) throw new IngleError('unavailable', 'killed');
        durable = copy;
        return result;
      });
    },
  };
  const apply = (op: Op) =>
    once(store, { id: op.id, digest: JSON.stringify([op.method, op.path, op.body]) }, async (list) => {
      list.push(op.body);
      return { at: list.length };
    });
  return {
    apply,
    get list() {
      return durable.list;
    },
    set dies(f: () => boolean) {
      dies = f;
    },
  };
}
const change = (body: unknown) => ({ method: 'POST', path: '/v1/icons/pin', body });

test('every change is done once and in order, whatever is lost, doubled or killed on the way', async () => {
  const fate = fc.constantFrom('ok', 'ok', 'ok', 'lost', 'answer lost', 'doubled', 'hub dies', 'page dies');
  await fc.assert(
    fc.asyncProperty(
      fc.array(fate, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 12 }),
      async (fates, count) => {
        const d = disk();
        const h = hub();
        let n = 0;
        let kill = false;
        const send = async (op: Op) => {
          const f = fates[n++];
          if (f === 'lost') throw new IngleError('unavailable', 'lost');
          h.dies = () => f === 'hub dies';
          if (f === 'doubled') void h.apply(op).catch(() => {});
          if (f === 'page dies') {
            kill = true;
            await h.apply(op);
            return new Promise(() => {});
          }
          const answer = await h.apply(op);
          if (f === 'answer lost') throw new IngleError('timeout', 'lost');
          return answer;
        };
        const start = async () => {
          const box = await openOutbox({ storage: d.storage(), send, backoff: 0.1 });
          box.online();
          return box;
        };
        let box = await start();
        const stored: number[] = [];
        for (let i = 0; i < count; i++) {
          await box.enqueue(change(i));
          stored.push(i);
          if (kill) {
            kill = false;
            box.close();
            box = await start();
          }
        }
        await until(() => {
          if (kill) {
            kill = false;
            box.close();
            void start().then((b) => {
              box = b;
            });
          }
          return d.ops.size === 0 && box.pending.length === 0;
        }, 'the outbox empties');
        assert.equal(h.list, stored);
        box.close();
      },
    ),
    { numRuns: 120 },
  );
});

test('nothing is sent while offline, and what a page left is sent by the next', async () => {
  const d = disk();
  const sent: unknown[] = [];
  const send = async (op: Op) => void sent.push(op.body);
  const one = await openOutbox({ storage: d.storage(), send });
  await one.enqueue(change('a'));
  await one.enqueue(change('b'));
  one.close();
  assert.equal(sent, []);
  const two = await openOutbox({ storage: d.storage(), send });
  assert.is(two.pending.length, 2);
  two.online();
  const { done } = await two.enqueue(change('c'));
  await done;
  assert.equal(sent, ['a', 'b', 'c']);
  assert.is(d.ops.size, 0);
});

test('a change refused for good is reported and leaves; those behind it go on', async () => {
  const d = disk();
  const failed: string[] = [];
  const box = await openOutbox({
    storage: d.storage(),
    backoff: 0.1,
    onFailed: (_op, e) => failed.push(e.code),
    async send(op) {
      if (op.body === 'bad') throw new IngleError('forbidden', 'No.');
      if (op.body === 'bug') throw new TypeError('x');
      return op.body;
    },
  });
  box.online();
  const bad = await box.enqueue(change('bad'));
  const bug = await box.enqueue(change('bug'));
  const good = await box.enqueue(change('good'));
  assert.is(await bad.done.catch((e) => e.code), 'forbidden');
  assert.is(await bug.done.catch((e) => e.code), 'internal');
  assert.is(await good.done, 'good');
  assert.equal(failed, ['forbidden', 'internal']);
});

test('an id used for another change is a conflict, and a failed change leaves nothing', async () => {
  const h = hub();
  const op = (body: unknown): Op => ({ id: 'x', seq: 1, created: 0, ...change(body) });
  h.dies = () => true;
  assert.is(await h.apply(op(1)).catch((e) => e.code), 'unavailable');
  h.dies = () => false;
  assert.equal(await h.apply(op(1)), { at: 1 });
  assert.equal(await h.apply(op(1)), { at: 1 });
  assert.is(await h.apply(op(2)).catch((e) => e.code), 'conflict');
  assert.equal(h.list, [1]);
});

test('every id is one the hub takes: it begins with a letter', async () => {
  const box = await openOutbox({ storage: disk().storage(), send: async () => {} });
  for (let i = 0; i < 500; i++) {
    const { id } = await box.enqueue(change(i));
    assert.ok(isCommandId(id) && /^[a-z]/.test(id), id);
  }
  box.close();
});

test('what an earlier page left goes in its order, in whatever order the storage gives it', async () => {
  const op = (seq: number): Op => ({ id: `o${seq}`, seq, created: 0, method: 'POST', path: '/x', body: seq });
  const sent: unknown[] = [];
  const box = await openOutbox({
    storage: { load: async () => [op(3), op(1), op(2)], put: async () => {}, remove: async () => {} },
    send: async (o) => void sent.push(o.body),
  });
  box.online();
  await until(() => box.pending.length === 0);
  assert.equal(sent, [1, 2, 3]);
  box.close();
});

test('a change is not sent before one that was asked for earlier and takes longer to store', async () => {
  const sent: unknown[] = [];
  const box = await openOutbox({
    storage: {
      load: async () => [],
      put: (o) => new Promise((done) => setTimeout(done, o.body === 'slow' ? 30 : 0)),
      remove: async () => {},
    },
    send: async (o) => void sent.push(o.body),
  });
  box.online();
  const ask = (body: string) => box.enqueue({ method: 'POST', path: '/x', body });
  await Promise.all(['slow', 'quick'].map(ask));
  await until(() => sent.length === 2);
  assert.equal(sent, ['slow', 'quick']);
  box.close();
});

test('pauses between tries double up to half a minute, a quarter more or less, and begin anew after a success', async () => {
  const own = globalThis.setTimeout;
  const pauses: number[] = [];
  let fails = 10;
  const box = await openOutbox({
    storage: disk().storage(),
    send: async () => {
      if (fails-- > 0) throw new IngleError('unavailable', 'not now');
    },
    backoff: 500,
  });
  try {
    globalThis.setTimeout = ((f: () => void, ms: number) => {
      pauses.push(ms);
      setImmediate(f);
    }) as never;
    box.online();
    const { done } = await box.enqueue({ method: 'POST', path: '/x', body: 1 });
    await done;
    const wanted = Array.from({ length: 10 }, (_, i) => Math.min(30_000, 500 * 2 ** i));
    const near = (ms: number, want: number) => ms >= 0.75 * want && ms <= 1.25 * want;
    assert.ok(pauses.length === 10 && pauses.every((ms, i) => near(ms, wanted[i]!)), pauses.join());
    fails = 3;
    const late = await box.enqueue({ method: 'POST', path: '/x', body: 2 });
    await late.done;
    assert.ok(near(pauses[10]!, 500), `after a success: ${pauses[10]}`);
  } finally {
    globalThis.setTimeout = own;
    box.close();
  }
});

test('a change that cannot be stored is not accepted', async () => {
  const d = disk();
  const storage = { ...d.storage(), put: () => Promise.reject(new Error('quota')) };
  const box = await openOutbox({ storage, send: async () => {} });
  assert.match(await box.enqueue(change(1)).catch((e) => e.message), /quota/);
  assert.is(box.pending.length, 0);
});

test.run();
