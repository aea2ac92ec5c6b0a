// What was not understood is kept for the owner, without secrets, and can be taught.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compileIntents, recognize } from '../../firmware/intent/match.ts';
import {
  forget,
  MAX_UNMATCHED,
  ruleFor,
  stillUnmatched,
  taught,
  teach,
  type Unmatched,
  withUnmatched,
} from '../../firmware/intent/teacher.ts';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { now } from './household.ts';

const test = suite('the teacher of intents');
const heard = (...texts: string[]): readonly Unmatched[] =>
  texts.reduce<readonly Unmatched[]>((all, text, i) => withUnmatched(all, text, 1000 + i), []);
const codeOf = (work: () => unknown): string => {
  try {
    work();
    return 'taken';
  } catch (e) {
    return (e as IngleError).code;
  }
};

test('what is said again is counted and is the newest', () => {
  assert.equal(heard('Make tea!', 'свари кофе', 'make tea'), [
    { phrase: 'свари кофе', count: 1, at: 1001 },
    { phrase: 'make tea', count: 2, at: 1002 },
  ]);
});

test('at most a hundred phrases are kept, the newest of them', () => {
  const all = heard(
    ...Array.from({ length: 250 }, (_, i) => `word ${'ab'.repeat(1 + (i % 50))} ${'c'.repeat(1 + i / 50)}`),
  );
  assert.is(all.length, MAX_UNMATCHED);
  assert.is(all.at(-1)?.at, 1249);
});

test('nothing that may be a code, a card or a number to call is kept', () => {
  for (const text of [
    'my pin is 1234',
    'the code is 12 34',
    'card 4111 1111 1111 1111',
    'call +7 900 123-45-67',
    'pin one two three four',
    'код один два три четыре',
    'пароль двадцать пять семьдесят',
    'abc1234',
    '',
    '?!',
    'a '.repeat(40),
  ])
    assert.equal(heard(text), [], text);
  for (const text of [
    'wake me at 19:30',
    'on 25.12.2026',
    'set the light to 100',
    'two hundred and five',
    'turn on lamp 12',
  ])
    assert.is(heard(text).length, 1, text);
});

test('a phrase that is bound becomes a rule and leaves the list', () => {
  const all = heard('Make tea, please', 'dim the lamp to twenty five');
  const { rule, unmatched } = taught(all, 'dim the lamp to twenty five', {
    intent: 'lamp.dim',
    marks: [
      { from: 2, to: 3, slot: 'which' },
      { from: 4, to: 6, slot: 'level', type: 'number' },
    ],
    slots: { fade: true },
  });
  assert.equal(rule, {
    intent: 'lamp.dim',
    pattern: 'dim the {which} to {level:number}',
    slots: { fade: { value: true } },
  });
  assert.equal(
    unmatched.map((u) => u.phrase),
    ['make tea please'],
  );
  const c = compileIntents({ rules: [rule] });
  assert.equal(recognize(c, 'Dim the big light to 40', { now })?.slots, {
    which: 'big light',
    level: 40,
    fade: true,
  });
  const again = heard('dim the shelf to five', 'make tea');
  assert.equal(
    stillUnmatched(again, (p) => recognize(c, p, { now }) !== undefined).map((u) => u.phrase),
    ['make tea'],
  );
});

test('a scenario that is taught has an intent of its own, until its last phrase is forgotten', () => {
  const all = heard('make it cosy', 'cosy please', 'good old radio');
  const none = { rules: [], bindings: {} };
  const one = teach(none, all, 'Make it cosy!', 'home/evening');
  assert.equal(one.bindings, { 'taught.evening': 'home/evening' });
  const two = teach(one, one.unmatched, 'cosy please', 'home/evening');
  assert.equal(two.bindings, one.bindings, 'the same intent');
  const three = teach(two, two.unmatched, 'good old radio', 'acme/evening');
  assert.equal(three.bindings, { 'taught.evening': 'home/evening', 'taught.evening.2': 'acme/evening' });
  assert.equal(three.unmatched, []);
  const said = (rules: typeof three.rules, text: string) =>
    recognize(compileIntents({ rules: [...rules] }), text, { now })?.intent;
  assert.is(said(three.rules, 'Good old radio'), 'taught.evening.2');
  const four = forget(three, [], 'make it cosy');
  assert.equal(
    [said(four.rules, 'make it cosy'), said(four.rules, 'cosy please')],
    [undefined, 'taught.evening'],
  );
  assert.equal(four.bindings, three.bindings, 'another phrase has it');
  assert.equal(forget(four, [], 'cosy please').bindings, { 'taught.evening.2': 'acme/evening' });
});

test('to forget leaves the rules and bindings that nobody taught', () => {
  const own = { rules: [{ intent: 'tea', pattern: 'make tea' }], bindings: { tea: 'home/tea' } };
  assert.is(
    codeOf(() => forget(own, heard('make coffee'), 'make tea')),
    'not_found',
  );
  const left = forget(own, heard('make coffee', 'make cocoa'), 'Make coffee');
  assert.equal([left.rules, left.bindings], [own.rules, own.bindings]);
  assert.equal(
    left.unmatched.map((u) => u.phrase),
    ['make cocoa'],
  );
});

test('what cannot be bound is refused', () => {
  const all = heard('make tea');
  const tea = { intent: 'tea' };
  assert.is(
    codeOf(() => taught(all, 'make coffee', tea)),
    'not_found',
  );
  assert.is(
    codeOf(() => ruleFor('', tea)),
    'invalid_request',
  );
  for (const marks of [
    [{ from: 1, to: 1, slot: 'x' }],
    [{ from: 1, to: 3, slot: 'x' }],
    [{ from: -1, to: 1, slot: 'x' }],
    [{ from: 0.5, to: 1, slot: 'x' }],
    [{ from: 0, to: 1, slot: 'X y' }],
    [
      { from: 0, to: 2, slot: 'x' },
      { from: 1, to: 2, slot: 'y' },
    ],
  ])
    assert.is(
      codeOf(() => ruleFor('make tea', { ...tea, marks })),
      'invalid_request',
    );
});

test('any phrase that is kept can be bound, and is understood then', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), (text) => {
      for (const { phrase } of heard(text)) {
        const { rule } = taught(heard(text), phrase, { intent: 'x' });
        assert.is(recognize(compileIntents({ rules: [rule] }), text, { now })?.intent, 'x');
      }
    }),
    { numRuns: 500 },
  );
});

test.run();
