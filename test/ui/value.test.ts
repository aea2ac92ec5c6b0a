import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bindingError, compileText } from '../../firmware/ui/binding.ts';
import { branchRank, overlayState, pickBranch } from '../../firmware/ui/overlay.ts';
import type { Condition, Value } from '../../firmware/ui/tree.ts';
import { evaluate as evaluated, holds, plainText, type Scope } from '../../firmware/ui/value.ts';

const scope = {
  state: { cpu: { percent: 12.5 }, list: [{ n: 1 }, { n: 2, in: [{ k: 'a' }] }], name: 'hub' },
  meta: { title: 'Status' },
};
const evaluate = (text: string, of: Scope) => evaluated(compileText(text), of);
const lookup = (path: string, of: Scope) => evaluate(`{{${path}}}`, of);

test('a binding alone gives the value as it is, among words it gives text', () => {
  assert.is(evaluate('{{state.cpu.percent}}', scope), 12.5);
  assert.is(evaluate('{{ meta.title }}: {{state.cpu.percent}} %', scope), 'Status: 12.5 %');
  assert.is(evaluate('no binding', scope), 'no binding');
});

test('[*] walks arrays and an index picks from them', () => {
  assert.equal(lookup('state.list[*].n', scope), [1, 2]);
  assert.is(lookup('state.list[1].n', scope), 2);
  assert.equal(lookup('state.list[*].in[*].k', scope), [undefined, ['a']]);
  assert.is(lookup('state.name[*]', scope), undefined);
});

test('what is not there is undefined, and prototypes are never there', () => {
  for (const path of [
    'state.nope.x',
    'state.constructor',
    'state.__proto__',
    'state.list.length.constructor',
    'state.cpu.toString',
    'meta.hasOwnProperty',
  ])
    assert.is(lookup(path, scope), undefined, path);
});

test('data that looks like a value is data', () => {
  const state = { x: { path: ['state', 'y'] }, y: 'secret' };
  assert.equal(evaluate('{{state.x}}', { state }), state.x);
});

test('rows are put together from columns as long as the longest', () => {
  const zip = { a: { path: ['state', 'a'] }, b: { path: ['state', 'b'] }, c: 1 } as const;
  assert.equal(evaluated({ zip }, { state: { a: [1, 2], b: [3] } }), [
    { a: 1, b: 3, c: undefined },
    { a: 2, b: undefined, c: undefined },
  ]);
});

test('objects and arrays are filled in at every depth, and nothing in them is null', () => {
  const value: Value = {
    object: { a: { array: [{ path: ['state', 'name'] }, 1] }, b: { path: ['state', 'no'] } },
  };
  assert.equal(evaluated(value, scope), { a: ['hub', 1], b: null });
});

test('a query is asked of the library where there is one, else it is nothing', () => {
  const value: Value = { query: '$..n', of: { path: ['state', 'list'] } };
  assert.is(evaluated(value, scope), undefined);
  const query = (text: string, data: unknown) => [text, data];
  assert.equal(evaluated(value, { ...scope, query }), ['$..n', scope.state.list]);
});

const truths: [string, Condition, boolean][] = [
  ['nothing', { is: { path: ['state', 'no'] } }, false],
  ['zero', { is: 0 }, false],
  ['no text', { is: '' }, false],
  ['an empty array', { is: { array: [] } }, false],
  ['an array', { is: { path: ['state', 'list'] } }, true],
  ['an object', { is: { path: ['state', 'cpu'] } }, true],
  ['not', { not: { is: 0 } }, true],
  ['all of none', { all: [] }, true],
  ['all', { all: [{ is: 1 }, { is: 0 }] }, false],
  ['any of none', { any: [] }, false],
  ['any', { any: [{ is: 0 }, { is: 1 }] }, true],
  ['numbers by size', { compare: '<', left: 9, right: 10 }, true],
  ['numbers of fields by size', { compare: '<', left: '9', right: 10 }, true],
  ['texts by letters', { compare: '>', left: 'b', right: 'a' }, true],
  ['equal', { compare: '=', left: { path: ['state', 'cpu', 'percent'] }, right: 12.5 }, true],
  ['at most', { compare: '<=', left: 2, right: 2 }, true],
  ['at least', { compare: '>=', left: 1, right: 2 }, false],
  ['nothing is nothing', { compare: '=', left: null, right: { path: ['state', 'no'] } }, true],
  ['nothing is not zero', { compare: '=', left: null, right: 0 }, false],
  ['nothing differs from zero', { compare: '!=', left: null, right: 0 }, true],
  ['nothing is not less', { compare: '<', left: null, right: 1 }, false],
];
for (const [name, condition, is] of truths)
  test(`a condition: ${name}`, () => assert.is(holds(condition, scope), is));

test('a structure is shown as the beginning of its JSON, and no more of it is read', () => {
  assert.is(plainText({ a: [1, 'x', null], b: true }), '{"a":[1,"x",null],"b":true}');
  const large = Array.from({ length: 100_000 }, (_, i) => ({ name: `item ${i}` }));
  assert.ok(plainText(large).length < 2100);
  const budget = { steps: 10 };
  assert.is(plainText(large, { budget }), '[…]');
});

test('a drawing has so many steps, and what is beyond them is nothing', () => {
  const state = { rows: Array.from({ length: 1000 }, (_, i) => ({ i })) };
  const budget = { steps: 500 };
  const value: Value = { path: ['state', 'rows', null, 'i'] };
  const first = evaluated(value, { state, budget }) as unknown[];
  assert.is(first.filter((v) => v !== undefined).length, 497);
  assert.is(evaluated(value, { state, budget }), undefined);
});

test('anything but a path of state or meta is refused', () => {
  for (const t of [
    '{{window.x}}',
    '{{state.a+1}}',
    "{{state['a']}}",
    '{{state..a}}',
    '{{}}',
    '{{state.a',
    'a}}',
  ])
    assert.ok(bindingError(t), t);
  for (const t of ['', 'plain { } text', '{{state.a}} {{meta.b-c[0]}}']) assert.is(bindingError(t), null, t);
});

test('no text makes evaluation throw or reach out of its scope', () =>
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'{}[]*.state meta_a0()\'"'), maxLength: 40 }), (t) => {
      evaluate(t, scope);
      bindingError(t);
      return true;
    }),
    { numRuns: 2000 },
  ));

test('device goes over owner, owner over ab, ab over main', () => {
  const all = ['main', 'ab/B', 'ab/A', 'owner/o1', 'device/d1', 'preview/t'];
  assert.is(pickBranch(all), 'device/d1');
  assert.is(pickBranch(all.filter((b) => !b.startsWith('device'))), 'owner/o1');
  assert.is(pickBranch(['main', 'ab/B', 'ab/A']), 'ab/A');
  assert.is(pickBranch(['preview/t', 'main']), 'main');
  assert.is(pickBranch(['preview/t', 'main'], 't'), 'preview/t');
  assert.is(pickBranch([]), null);
  assert.is(branchRank('other/x'), -1);
});

test('of two sides of a trial each device sees one, and always that one', () => {
  const sides = new Set<string | null>();
  for (let i = 0; i < 20; i++) {
    const shown = pickBranch(['main', 'ab/B', 'ab/A'], undefined, `device${i}`);
    assert.is(shown, pickBranch(['ab/A', 'ab/B', 'main'], undefined, `device${i}`));
    sides.add(shown);
  }
  assert.equal([...sides].sort(), ['ab/A', 'ab/B']);
  assert.is(pickBranch(['main', 'ab/B'], undefined, 'device1'), 'ab/B');
  assert.is(pickBranch(['main', 'ab/B'], undefined, 'device2'), 'ab/B');
  assert.is(pickBranch(['owner/o', 'ab/A', 'ab/B'], undefined, 'device1'), 'owner/o');
});

test('a state laid over another keeps what the upper one does not say', () => {
  assert.equal(overlayState({ a: 1, b: { c: 2, d: [1] } }, { b: { d: [2] }, e: 3 }), {
    a: 1,
    b: { c: 2, d: [2] },
    e: 3,
  });
  overlayState({}, JSON.parse('{"__proto__": {"polluted": true}}'));
  assert.is(({} as Record<string, unknown>)['polluted'], undefined);
});

test.run();
