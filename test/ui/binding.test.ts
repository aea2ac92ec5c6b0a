import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bindingError, evaluate, evaluateAll, lookup } from '../../firmware/ui/binding.ts';
import { branchRank, overlayState, pickBranch } from '../../firmware/ui/overlay.ts';

const scope = {
  state: { cpu: { percent: 12.5 }, list: [{ n: 1 }, { n: 2, in: [{ k: 'a' }] }], name: 'hub' },
  meta: { title: 'Status' },
};

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

test("an action's body is filled in at every depth", () => {
  assert.equal(evaluateAll({ a: ['{{state.name}}', 1], b: { c: '{{state.cpu}}' } }, scope), {
    a: ['hub', 1],
    b: { c: { percent: 12.5 } },
  });
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
