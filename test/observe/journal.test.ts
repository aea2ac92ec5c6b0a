// The journal of events against a model that keeps everything.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { idForm, openJournal, type Page } from '../../firmware/observe/journal.ts';

const test = suite('journal of events');
const texts = (p: Page) => p.events.map((e) => e.text);

test('events come in order, those of a prefix alone, a page at a time', () => {
  const j = openJournal('t');
  const start = j.last();
  for (let i = 0; i < 5; i++) j.add(i % 2 ? 'a.x' : 'b.x', `${i}`);
  assert.equal(texts(j.after(start).read(500)), ['0', '1', '2', '3', '4']);
  const r = j.after(start, 'b.');
  const first = r.read(2);
  assert.equal([texts(first), first.from, first.gap], [['0', '2'], start, null]);
  assert.equal(texts(r.read(2)), ['4']);
  assert.equal(texts(r.read(2)), []);
  j.add('b.y', '5');
  assert.equal(texts(r.read(2)), ['5']);
  assert.equal(texts(j.after(first.next, 'b.').read(9)), ['4', '5'], 'by its id, as by the reader');
  assert.equal(texts(j.tail(2)), ['4', '5']);
  assert.equal(texts(j.tail(2, 'a.')), ['1', '3']);
  assert.is(j.tail(1).next, j.last());
});

test('its bounds are so many events and so many bytes, and one that is too large is gone at once', () => {
  const j = openJournal('t', { events: 3, bytes: 10 });
  const ids = ['0', '1', '2', '3'].map((t) => j.add('x', t));
  assert.equal(texts(j.tail(9)), ['1', '2', '3']);
  assert.equal([j.after(ids[0]!).read(9).gap, j.after('t-0').read(9).gap], [null, 'dropped']);
  j.add('x', 'жжжж');
  assert.equal(texts(j.tail(9)), ['2', '3', 'жжжж'], 'bytes are those of UTF-8');
  j.add('x', '4');
  assert.equal(texts(j.tail(9)), ['3', 'жжжж', '4']);
  j.add('x', 'ж'.repeat(6));
  const page = j.after(ids[3]!).read(9);
  assert.equal([texts(page), page.gap, page.next], [[], 'dropped', j.last()]);
  assert.is(j.after(page.next).read(9).gap, null);
});

test('the bounds of the hub are 2000 events and 1 MiB', () => {
  const many = openJournal('t');
  for (let i = 0; i < 2001; i++) many.add('x', '');
  assert.equal([many.tail(5000).events.length, many.after('t-0').read(1).gap], [2000, 'dropped']);
  const large = openJournal('t');
  for (let i = 0; i < 65; i++) large.add('x', 'x'.repeat(16_384));
  assert.is(large.tail(5000).events.length, 64);
});

test('an id that is none of this journal is told, whatever it is', () => {
  const j = openJournal('tag');
  j.add('x', '0');
  const strange = [
    'tag-2',
    'tag-999999999999999',
    'other-1',
    'tag-',
    'tag',
    '',
    'tag-1x',
    'tag--1',
    'ta-1',
    '\0',
    'tag-1\n',
  ];
  for (const id of [...strange, 'tag-1e3', 'tag-9'.repeat(9999)]) {
    const r = j.after(id);
    const page = r.read(9);
    assert.equal([page.gap, texts(page), page.from], ['unknown', ['0'], 'tag-0'], JSON.stringify(id));
    assert.is(r.read(9).gap, null, 'once');
  }
  assert.is(j.after('tag-1').read(9).gap, null);
  assert.match(j.last(), new RegExp(idForm));
});

test('what nobody heard is told to who was there before, and not to who came after', () => {
  const j = openJournal('t');
  const early = j.add('x', '0');
  const live = j.after(early);
  j.miss();
  const late = j.last();
  j.add('x', '1');
  const page = j.after(early).read(9);
  assert.equal([page.gap, texts(page)], ['unheard', ['1']]);
  assert.equal([j.after(late).read(9).gap, live.read(9).gap, live.read(9).gap], [null, 'unheard', null]);
});

type Step =
  | { do: 'add'; topic: string; size: number }
  | { do: 'miss' }
  | { do: 'read'; limit: number }
  | { do: 'again' };
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('add' as const),
      topic: fc.constantFrom('a.x', 'a.y', 'b.x'),
      size: fc.nat(8),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'miss' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('read' as const), limit: fc.integer({ min: 1, max: 5 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'again' as const }) },
);

test('in any order of adding and reading each event comes once and in order, or a gap is told first', () => {
  const prefixes = fc.constantFrom('', 'a.', 'a.x', 'c.');
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), prefixes, (steps, prefix) => {
      const max = { events: 6, bytes: 30 };
      const j = openJournal('t', max);
      // What the model knows: everything that ever was, with what is held of it.
      const all: { n: number; topic: string; size: number }[] = [];
      let n = 0;
      let missed = 0;
      const held = () => {
        let from = Math.max(0, all.length - max.events);
        while (all.slice(from).reduce((sum, e) => sum + e.size, 0) > max.bytes) from++;
        return from;
      };
      /** Where the reader stands, and up to where it was told of a loss. */
      let at = 0;
      let told = 0;
      let reader = j.after(j.last(), prefix);
      let id = j.last();
      for (const s of steps) {
        if (s.do === 'add') {
          all.push({ n: ++n, topic: s.topic, size: s.size });
          assert.is(j.add(s.topic, `${n}`.padEnd(s.size, ' ').slice(0, s.size)), `t-${n}`);
        } else if (s.do === 'miss') {
          j.miss();
          missed = ++n;
        } else if (s.do === 'again') {
          reader = j.after(id, prefix);
          told = 0;
        } else {
          const first = held();
          const floor = Math.max(missed, first > 0 ? all[first - 1]!.n : 0);
          const page = reader.read(s.limit);
          assert.is(
            page.gap !== null,
            at < floor && told < floor,
            'a gap is told where there is one, and only there',
          );
          if (page.gap) told = floor;
          const due = all.slice(first).filter((e) => e.n > at && e.topic.startsWith(prefix));
          assert.equal(
            page.events.map((e) => e.id),
            due.slice(0, s.limit).map((e) => `t-${e.n}`),
          );
          assert.is(page.from, `t-${at}`);
          at = due.length >= s.limit ? due[s.limit - 1]!.n : n;
          id = page.next;
          assert.is(id, `t-${at}`);
        }
      }
    }),
    { numRuns: 1000 },
  );
});

test.run();
