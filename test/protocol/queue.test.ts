import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openQueue } from '../../firmware/protocol/queue.ts';

const test = suite('a queue of work');

/** A piece of work: how many turns it takes, how it ends, and how many turns after the piece before it is added. */
interface Piece {
  turns: number;
  end: 'value' | 'rejects' | 'throws' | 'plain';
  gap: number;
}
const pieces = fc.array(
  fc.record<Piece>({
    turns: fc.nat(5),
    end: fc.constantFrom('value', 'rejects', 'throws', 'plain'),
    gap: fc.nat(8),
  }),
  { maxLength: 12 },
);
const turn = () => new Promise((ok) => setImmediate(ok));

test('pieces run in the order they were added, never two at once, and each result goes to its own caller', async () => {
  await fc.assert(
    fc.asyncProperty(pieces, async (list) => {
      const q = openQueue();
      const began: number[] = [];
      const told: number[] = [];
      let running = 0;
      const work = (p: Piece, i: number) => (): number | Promise<number> => {
        began.push(i);
        assert.is(told.length, i, 'the callers before this one have heard');
        assert.is(running, 0, 'alone');
        if (p.end === 'throws') throw i;
        if (p.end === 'plain') return i;
        running++;
        return (async () => {
          for (let n = 0; n < p.turns; n++) await turn();
          running--;
          if (p.end === 'rejects') throw i;
          return i;
        })();
      };
      const results: Promise<string>[] = [];
      for (const [i, p] of list.entries()) {
        for (let n = 0; n < p.gap; n++) await turn();
        const hear = (how: string) => (v: unknown) => {
          told.push(i);
          return `${how} ${v}`;
        };
        results.push(q.add(work(p, i)).then(hear('gave'), hear('threw')));
      }
      await q.idle();
      assert.is(q.size, 0);
      const all = list.map((_, i) => i);
      assert.equal(began, all);
      assert.equal(
        await Promise.all(results),
        list.map((p, i) => `${p.end === 'rejects' || p.end === 'throws' ? 'threw' : 'gave'} ${i}`),
      );
    }),
    { numRuns: 200 },
  );
});

test('the size counts what waits and what runs; idle waits for what is added meanwhile, too', async () => {
  const q = openQueue();
  const said: string[] = [];
  await q.idle();
  const first = q.add(async () => {
    await turn();
    said.push(`first of ${q.size}`);
    // Added from inside; waiting for it there would wait for ever.
    void q.add(async () => {
      await turn();
      said.push('third');
      void q.add(() => void said.push('fourth'));
    });
  });
  const second = q.add(() => void said.push('second'));
  assert.is(q.size, 2);
  await first;
  assert.is(q.size, 2, 'who hears of its end no longer counts it');
  await second;
  assert.is(q.size, 1);
  await q.idle();
  assert.is(q.size, 0);
  assert.equal(said, ['first of 2', 'second', 'third', 'fourth']);
});

test('a failure nobody handles is not hidden', async () => {
  const seen: unknown[] = [];
  const hear = (e: unknown) => seen.push(e);
  process.on('unhandledRejection', hear);
  const q = openQueue();
  void q.add(() => Promise.reject('nobody looks'));
  q.add(() => Promise.reject('somebody looks')).catch(() => {});
  await q.idle();
  await turn();
  process.off('unhandledRejection', hear);
  assert.equal(seen, ['nobody looks']);
});

test.run();
