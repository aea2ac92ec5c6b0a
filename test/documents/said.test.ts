// What skills tell a person: how much is kept, and that none crowds another out.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as Y from 'yjs';
import { readContent } from '../../firmware/documents/content.ts';
import type { Library } from '../../firmware/documents/library.ts';
import { addLine, type Line } from '../../firmware/documents/said.ts';

function person() {
  const doc = new Y.Doc();
  const room = { write: async (f: (doc: Y.Doc) => void) => f(doc) };
  const library = { open: async () => room } as unknown as Pick<Library, 'open'>;
  let n = 0;
  return {
    tell: (skill_id: string, payload: Line['payload'] = {}, topic: Line['topic'] = 'ui.notify') =>
      addLine(library, 'o1', { id: `l${n++}`, at: n, skill_id, topic, payload }),
    ofHub: (tag: string) =>
      addLine(library, 'o1', {
        ...{ id: `l${n++}`, at: n, skill_id: 'settings', topic: 'ui.notify', payload: { tag }, of_hub: true },
      }),
    lines: () => (readContent(doc)['said'] ?? []) as Line[],
  };
}

test('a skill that tells too much loses its own oldest lines, and nobody else’s', async () => {
  const p = person();
  await p.tell('door', { title: 'It is open' });
  for (let i = 0; i < 100; i++) await p.tell('parrot', { title: `${i}` });
  const left = p.lines().map((l) => `${l.skill_id} ${l.payload['title']}`);
  assert.equal(left, ['door It is open', 'parrot 96', 'parrot 97', 'parrot 98', 'parrot 99']);
});

test('however many skills tell something, the newest lines are kept', async () => {
  const p = person();
  for (let i = 0; i < 40; i++) await p.tell(`s${i}`);
  assert.equal(
    p.lines().map((l) => l.skill_id),
    Array.from({ length: 16 }, (_, i) => `s${i + 24}`),
  );
});

test('what the hub itself tells is pushed out by no skill, and its newest lines are kept', async () => {
  const p = person();
  for (let i = 0; i < 9; i++) await p.ofHub(`${i}`);
  for (let i = 0; i < 40; i++) await p.tell(`s${i}`);
  for (let i = 0; i < 9; i++) await p.tell('settings', { tag: '8' });
  const tags = p.lines().flatMap((l) => (l['of_hub'] ? [l.payload['tag']] : []));
  assert.equal(tags, ['5', '6', '7', '8']);
  assert.is(p.lines().length, 20);
});

test('a notice takes the place of the one with its tag, of the same skill alone', async () => {
  const p = person();
  await p.tell('door', { title: 'Open', tag: 'x' });
  await p.tell('lamp', { title: 'On', tag: 'x' });
  await p.tell('door', { title: 'Shut', tag: 'x' });
  assert.equal(
    p.lines().map((l) => l.payload['title']),
    ['On', 'Shut'],
  );
});

test.run();
