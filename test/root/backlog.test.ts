import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openBacklog, type Receiver } from '../../root/backlog.ts';

const test = suite('backlog');

function house() {
  const backlog = openBacklog({ owner: 100, total: 250 });
  const cut: string[] = [];
  const receiver = (owner: string, name: string): Receiver => ({
    owner,
    behind: 0,
    cut: () => void cut.push(name),
  });
  return { backlog, cut, receiver };
}

test('what waits is counted once, and gone when it was read', () => {
  const { backlog, receiver } = house();
  const a = receiver('x', 'a');
  for (const n of [10, 40, 40, 5]) assert.ok(backlog.note(a, n));
  assert.is(backlog.bytes(), 5);
  backlog.note(a, 0);
  assert.is(backlog.bytes(), 0);
});

test('over the bound of an owner the largest of its receivers is cut', () => {
  const { backlog, cut, receiver } = house();
  const [a, b] = [receiver('x', 'a'), receiver('x', 'b')];
  backlog.note(a, 60);
  assert.ok(backlog.note(b, 30));
  assert.ok(backlog.note(b, 45), 'another one went');
  assert.equal(cut, ['a']);
  assert.is(backlog.bytes(), 45);
  assert.not(backlog.note(b, 101));
  assert.equal(cut, ['a', 'b']);
});

test('over the total the owner with the most gives way, and small ones stay', () => {
  const { backlog, cut, receiver } = house();
  const small = receiver('z', 'small');
  backlog.note(small, 20);
  for (const o of ['x', 'y'])
    for (const n of ['1', '2']) backlog.note(receiver(o, o + n), n === '1' ? 60 : 39);
  assert.equal(cut, []);
  backlog.note(receiver('w', 'w1'), 33);
  assert.equal(cut, ['x1']);
  assert.is(backlog.bytes(), 20 + 39 + 99 + 33);
  assert.is(small.behind, 20);
});

test.run();
