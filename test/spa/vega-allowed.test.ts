// What a page takes of a drawing: shapes and how they look, and nothing that leads out, runs or passes for the page.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { allowed, attributes } from '../../spa/vega-allowed.ts';

const test = suite('what a drawing may hold');
const own = 'vega1-';
const shown = (tag: string, of: unknown, text: unknown = '') => allowed([1, tag, of, text], own);
const kept = (name: string, value: unknown) => shown('path', { [name]: value })![2][name];

test('shapes and texts stay as they are drawn', () => {
  const path = {
    class: 'background',
    d: 'M0,0h10v5Z',
    fill: '#a8431a',
    'stroke-dasharray': '4,2',
    opacity: '0.5',
  };
  assert.equal(shown('path', path), [1, 'path', path, '']);
  const text = {
    ...{ 'text-anchor': 'middle', transform: 'translate(1,2) rotate(-90)', 'font-weight': '500' },
    ...{ 'font-family': 'system-ui, "Segoe UI", sans-serif', fill: 'rgb(1, 2, 3)' },
  };
  assert.equal(shown('text', text, '<b>4,000</b>'), [1, 'text', text, '<b>4,000</b>']);
  assert.equal(allowed([0, 'svg', { width: '390', viewBox: '0 0 390 240' }, ''], own), [
    ...[0, 'svg', { width: '390', viewBox: '0 0 390 240' }, ''],
  ]);
  assert.is(kept('style', 'mix-blend-mode: multiply;'), 'mix-blend-mode: multiply;');
});

test('a part that another refers to has a name that no other drawing of the page has', () => {
  assert.equal(shown('linearGradient', { id: 'gradient_0', x1: '0' })![2], {
    id: 'vega1-gradient_0',
    x1: '0',
  });
  assert.is(kept('fill', 'url(#gradient_0)'), 'url(#vega1-gradient_0)');
  assert.is(kept('clip-path', 'url(#clip1)'), 'url(#vega1-clip1)');
});

test('an element that could do more than be seen is not there', () => {
  for (const tag of 'script a image use foreignObject style iframe animate set SVG Path svg filter object html'.split(
    ' ',
  ))
    assert.is(shown(tag, {}), undefined, tag);
  assert.is(allowed([0, 'g', {}, ''], own), undefined);
  for (const depth of [-1, 0.5, Number.NaN, '1', null, undefined])
    assert.is(allowed([depth, 'g', {}, ''], own), undefined, String(depth));
});

test('an attribute that could lead out, run or look like the page is left out', () => {
  for (const name of 'href xlink:href onclick onload src filter mask cursor target begin to xmlns data-x role tabindex'.split(
    ' ',
  ))
    assert.is(kept(name, 'x'), undefined, name);
  for (const value of [
    ...[
      'url(https://a.example/x)',
      'url(#a) url(//b.example)',
      'url("#x")',
      'URL(x)',
      'u\\72l(x)',
      "url('x')",
    ],
    ...[
      'image-set("x" 1x)',
      'src("x")',
      'attr(x)',
      'url (x)',
      'url/**/(x)',
      'rgb(1,2,3) url(x)',
      '-webkit-image-set(url(x) 1x)',
      'url(#a-b)',
    ],
    ...[7, null, undefined, {}, ['a']],
  ])
    assert.is(kept('fill', value), undefined, String(value));
  for (const style of [
    'color: red',
    'mix-blend-mode: multiply; color: red;',
    'background: url(x)',
    'position: fixed;',
  ])
    assert.is(kept('style', style), undefined, style);
  assert.is(kept('class', 'mark-rect role-mark marks v-modal button'), 'mark-rect role-mark marks');
  assert.is(kept('id', 'app root'), undefined);
});

test('whatever a worker says, what is taken of it is an element with attributes of the list', () => {
  const tag = fc.oneof(fc.constantFrom('svg', 'path', 'text', 'script', 'a', '__proto__'), fc.string());
  const key = fc.oneof(
    fc.constantFrom(...attributes, 'href', 'onclick', 'constructor', '__proto__'),
    fc.string(),
  );
  const value = fc.oneof(fc.constantFrom('url(#x)', 'url(x)', 'a\\b', 'mark-x'), fc.string(), fc.anything());
  const garbage = fc.oneof(
    fc.anything(),
    fc.tuple(
      fc.oneof(fc.nat(3), fc.anything()),
      tag,
      fc.oneof(fc.dictionary(key, value), fc.anything()),
      value,
    ),
  );
  fc.assert(
    fc.property(garbage, (given) => {
      const got = allowed(given, own);
      if (got === undefined) return;
      const [depth, is, of, text] = got;
      assert.ok(Number.isInteger(depth) && depth >= 0);
      assert.match(
        is,
        /^(svg|g|path|rect|line|text|tspan|defs|clipPath|linearGradient|radialGradient|stop|pattern)$/,
      );
      assert.type(text, 'string');
      for (const [name, v] of Object.entries(of)) {
        assert.ok(attributes.has(name), name);
        assert.type(v, 'string');
        assert.ok(/^url\(#vega1-\w+\)$/.test(v) || !/\\|url\s*\(/i.test(v), v);
        assert.ok(name !== 'id' || v.startsWith(own), v);
      }
    }),
    { numRuns: 20_000 },
  );
});

test.run();
