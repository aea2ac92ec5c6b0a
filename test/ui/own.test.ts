// What a browser sets for itself, over a state that others write.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openOwn } from '../../firmware/ui/own.ts';
import type { Path } from '../../firmware/ui/tree.ts';
import { evaluate } from '../../firmware/ui/value.ts';

const test = suite('own');
const at = (...steps: (string | number | null)[]): Path => ({ path: ['state', ...steps] });

test('a value that is set is seen at once, and everything else stays', () => {
  const own = openOwn();
  const state = { filter: { text: '', all: true }, rows: [{ done: false }, { done: false }] };
  assert.ok(own.set(at('filter', 'text'), 'lamp', state));
  assert.ok(own.set(at('rows', 1, 'done'), true, state));
  assert.ok(own.set(at('made', 'anew'), 1, state));
  assert.equal(own.over(state), {
    filter: { text: 'lamp', all: true },
    rows: [{ done: false }, { done: true }],
    made: { anew: 1 },
  });
  assert.equal(state, { filter: { text: '', all: true }, rows: [{ done: false }, { done: false }] });
});

test('what was set last lies on top, whether it is a part or the whole', () => {
  const own = openOwn();
  own.set(at('a', 'b'), 1, {});
  own.set(at('a'), { b: 2, c: 3 }, {});
  assert.equal(own.over({}), { a: { b: 2, c: 3 } });
  own.set(at('a', 'b'), 4, {});
  assert.equal(own.over({}), { a: { b: 4, c: 3 } });
});

test('it stands until its document says something else than what was set here', () => {
  const own = openOwn();
  const seen = (text: string) => evaluate(at('text'), { state: own.over({ text }) });
  own.set(at('text'), 'l', { text: '' });
  own.set(at('text'), 'la', { text: '' });
  own.set(at('text'), 'lam', { text: '' });
  assert.is(seen(''), 'lam');
  // The skill has heard of the first key only.
  assert.is(seen('l'), 'lam');
  assert.is(seen('lam'), 'lam');
  assert.is(seen('Lamp 1'), 'Lamp 1');
  assert.is(seen('la'), 'la', 'and it is gone for good');
  own.set(at('text'), 'x', { text: '' });
  assert.is(seen('x'), 'x');
  assert.is(seen(''), '', 'also when the skill takes it back to what was there before');
});

test('nothing is set outside of the state, in every item at once, beyond an array, or in a prototype', () => {
  const own = openOwn();
  const state = { rows: [1] };
  const bad: Path[] = [
    { path: ['row', 'x'] },
    { path: ['state'] },
    at('rows', null),
    at('rows', 1),
    at('rows', 'length'),
    at('__proto__', 'x'),
    at('a', '__proto__'),
    at(...Array.from({ length: 40 }, () => 'a')),
  ];
  for (const path of bad) assert.is(own.set(path, 9, state), false, JSON.stringify(path));
  assert.ok(own.set(at('constructor', 'prototype', 'x'), 9, state));
  assert.is(own.over(state) === state, false);
  assert.is(Object.hasOwn(Object.prototype, 'x'), false);
  // An item that has gone since takes its value with it.
  own.set(at('rows', 0), 7, state);
  assert.equal((own.over({ rows: [] }) as typeof state).rows, []);
});

test('places are bounded: of very many the first go', () => {
  const own = openOwn();
  for (let i = 0; i < 300; i++) own.set(at(`k${i}`), i, {});
  const keys = Object.keys(own.over({}) as object);
  assert.equal([keys.length, keys[0], keys.at(-1)], [200, 'k100', 'k299']);
});

test('of any state, only the place that is set changes', () => {
  const key = fc.constantFrom('a', 'b', 'constructor', 'toString', 'x y');
  fc.assert(
    fc.property(
      fc.dictionary(key, fc.jsonValue()),
      fc.array(key, { minLength: 1, maxLength: 4 }),
      (state, steps) => {
        const own = openOwn();
        const before = JSON.stringify(state);
        const set = own.set(at(...steps), 'mine', state);
        const made = own.over(state);
        assert.is(JSON.stringify(state), before);
        const parents = steps.slice(0, -1).map((_, i) => evaluate(at(...steps.slice(0, i + 1)), { state }));
        if (!set || parents.some(Array.isArray)) return;
        assert.is(evaluate(at(...steps), { state: made }), 'mine');
        for (const k of Object.keys(state))
          if (k !== steps[0]) assert.is((made as typeof state)[k], state[k]);
      },
    ),
  );
});

test.run();
