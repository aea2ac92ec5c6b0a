// Whose presence a room believes.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Awareness, applyAwarenessUpdate, encodeAwarenessUpdate } from 'y-protocols/awareness';
import * as Y from 'yjs';
import { decodeStates, encodeStates, openPresence, type State } from '../../firmware/documents/presence.ts';

const test = suite('presence');
const said = (...states: [client: number, clock: number, state: unknown][]) =>
  encodeStates(states.map(([client, clock, s]): State => ({ client, clock, json: JSON.stringify(s) })));
const told = (bytes: Uint8Array | null) =>
  bytes && decodeStates(bytes).map((s) => [s.client, s.clock, s.json]);

test('what is told is what y-protocols writes and reads', () => {
  const doc = new Y.Doc();
  const a = new Awareness(doc);
  a.setLocalState({ name: 'Ана' });
  const bytes = encodeAwarenessUpdate(a, [doc.clientID]);
  assert.equal(encodeStates(decodeStates(bytes)), bytes);
  const other = new Awareness(new Y.Doc());
  applyAwarenessUpdate(other, encodeStates(decodeStates(bytes)), null);
  assert.equal(other.getStates().get(doc.clientID), { name: 'Ана' });
  for (const one of [a, other]) one.destroy();
});

test('a socket speaks for the first client it names alone, and for no other one', () => {
  const p = openPresence<string>();
  assert.equal(told(p.hear('a', 'phone1', said([1, 1, 'a']))), [[1, 1, '"a"']]);
  assert.equal(told(p.hear('b', 'phone2', said([2, 1, 'b']))), [[2, 1, '"b"']]);
  // Alone, beside its own, newer, or as gone: it is passed over.
  for (const [n, forged] of [said([1, 9, 'b']), said([1, 9, null]), said([3, 1, 'b'])].entries())
    assert.is(p.hear('b', 'phone2', forged), null, `${n}`);
  assert.equal(told(p.hear('b', 'phone2', said([1, 9, 'b'], [2, 2, 'c']))), [[2, 2, '"c"']]);
  assert.equal(told(p.all()), [
    [1, 1, '"a"'],
    [2, 2, '"c"'],
  ]);
});

test('who repeats what others said before saying anything is not taken for them', () => {
  const p = openPresence<string>();
  p.hear('a', 'phone1', said([1, 1, 'a']));
  assert.is(p.hear('b', 'phone2', said([1, 1, 'a'])), null);
  assert.is(p.hear('b', 'phone2', said([4, 1, 'x'], [5, 1, 'y'])), null, 'two at once are nobody');
  p.leave('a');
  // The echo of one that has left comes late.
  assert.is(p.hear('b', 'phone2', said([1, 1, 'a'])), null);
  assert.equal(told(p.hear('b', 'phone2', said([2, 1, 'b']))), [[2, 1, '"b"']]);
});

test('presence ends with its socket, and comes back with the person it was of', () => {
  const p = openPresence<string>();
  p.hear('a', 'phone1', said([1, 7, 'a']));
  assert.equal(told(p.leave('a')), [[1, 7, 'null']]);
  assert.is(p.all(), null);
  assert.is(p.leave('a'), null);
  assert.is(p.hear('thief', 'phone2', said([1, 8, 'mine'])), null);
  assert.equal(told(p.hear('again', 'phone1', said([1, 7, 'a']))), [[1, 7, '"a"']]);
  assert.is(p.hear('again', 'phone1', said([1, 6, 'old'])), null, 'an older word does not count');
});

test('bytes that are no presence are refused', () => {
  for (const bad of [[], [1], [1, 1, 1, 2, 65, 66], [0, 0], [1, 1, 1, 1, 0xff]])
    assert.throws(
      () => decodeStates(new Uint8Array(bad)),
      (e: { code?: string }) => e.code === 'invalid_request',
    );
});

test.run();
