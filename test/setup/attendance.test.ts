import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { attendance } from '../../firmware/setup/attendance.ts';

const IDLE = 100;
function at() {
  let now = 5;
  const person = attendance(IDLE, () => now);
  return { person, pass: (ms: number) => (now += ms) };
}

test('a console nobody is at goes after its time, and stays while setup is open', () => {
  const { person, pass } = at();
  pass(IDLE - 1);
  assert.is(person.look(false), 'stay');
  assert.is(person.look(true), 'stay');
  pass(IDLE - 1);
  assert.is(person.look(false), 'stay', 'the time begins when setup closes');
  pass(1);
  assert.is(person.look(false), 'leave');
});

test('a conversation without a key is broken off first', () => {
  const { person, pass } = at();
  person.begin();
  pass(IDLE - 1);
  person.key();
  pass(IDLE - 1);
  assert.is(person.look(false), 'stay', 'a key begins the time again');
  pass(1);
  assert.is(person.look(false), 'break_off');
  person.over();
  assert.is(person.look(false), 'leave');
});

test('an unlocked line is locked again for want of a key, setup open or not', () => {
  const { person, pass } = at();
  person.begin();
  person.enter();
  assert.ok(person.inside);
  pass(IDLE / 2);
  assert.is(person.look(true), 'stay');
  pass(IDLE / 2);
  assert.is(person.look(true), 'break_off');
  person.over();
  assert.not.ok(person.inside);
  assert.is(person.look(true), 'stay', 'the console stays, locked');
});

test('a line nobody has unlocked is not broken off while setup is open', () => {
  const { person, pass } = at();
  person.begin();
  for (let i = 0; i < 5; i++) {
    pass(IDLE);
    assert.is(person.look(true), 'stay');
  }
});

test.run();
