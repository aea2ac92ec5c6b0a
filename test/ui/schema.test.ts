import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { condemns, type View, validateView } from '../../firmware/ui/schema.ts';

const good: View = {
  schema: 'ui/v0',
  meta: { title: 'Hub' },
  layout: {
    type: 'stack',
    gap: 8,
    children: [
      { type: 'title', text: 'Hub {{meta.title}}' },
      {
        type: 'row',
        justify: 'end',
        children: [
          { type: 'metric', label: 'CPU', value: '{{state.cpu.percent}} %' },
          { type: 'badge', text: '{{state.version}}' },
        ],
      },
      { type: 'card', title: 'Load', child: { type: 'text', text: 'x' } },
      { type: 'table', columns: [{ key: 'name', label: 'Name' }], rows: '{{state.sockets}}' },
      {
        type: 'chart.line',
        series: [{ label: 'CPU', x: '{{state.samples[*].at}}', y: '{{state.samples[*].cpu}}' }],
      },
      {
        type: 'button',
        label: 'Refresh',
        action: { type: 'http.post', path: '/v1/refresh', body: { a: 1 } },
      },
      { type: 'select', options: [{ label: 'A', value: 'a' }], bind: '{{state.mode}}' },
      { type: 'empty', text: 'Nothing' },
    ],
  },
};

test('a view with every kind of node is good', () => assert.equal(validateView(good), []));

const bad: [string, unknown, string, RegExp][] = [
  ['no object', [], '', /object/],
  ['another schema', { ...good, schema: 'ui/v9' }, '/schema', /ui\/v0/],
  ['no layout', { schema: 'ui/v0' }, '/layout', /missing/],
  ['an unknown field', { ...good, script: 'x' }, '/script', /not known/],
  ['an unknown node type', { ...good, layout: { type: 'iframe' } }, '/layout/type', /must be one of title/],
  [
    'an unknown property deep inside',
    { ...good, layout: { type: 'stack', children: [{ type: 'text', text: 'a', onclick: 'x' }] } },
    '/layout/children/0/onclick',
    /not known/,
  ],
  [
    'a binding that is code',
    { ...good, layout: { type: 'text', text: '{{state.a()}}' } },
    '/layout/text',
    /not a path/,
  ],
  [
    'a binding outside state and meta',
    { ...good, layout: { type: 'text', text: '{{window.name}}' } },
    '/layout/text',
    /not a path/,
  ],
  [
    'a button without an action',
    { ...good, layout: { type: 'button', label: 'x' } },
    '/layout/action',
    /missing/,
  ],
  [
    'an action without a path',
    { ...good, layout: { type: 'button', label: 'x', action: { type: 'http.get' } } },
    '/layout/action/path',
    /missing/,
  ],
  [
    'rows that are not one binding',
    { ...good, layout: { type: 'table', columns: [], rows: 'state.rows' } },
    '/layout/rows',
    /one binding/,
  ],
  ['a slash in a field name', { ...good, 'a/b~c': 1 }, '/a~1b~0c', /not known/],
];
for (const [name, view, pointer, says] of bad)
  test(`a view with ${name} is told at its JSON pointer`, () => {
    const error = validateView(view).find((e) => e.pointer === pointer);
    assert.ok(error, JSON.stringify(validateView(view)));
    assert.match(error!.message, says);
  });

const condemned = (layout: unknown) => validateView({ schema: 'ui/v0', layout }).filter(condemns);

test('a node type of a newer version does not condemn the view, and hides no other fault', () => {
  const newer = { type: 'map.tiles' };
  assert.is(validateView({ schema: 'ui/v0', layout: newer })[0]!.unknownType, 'map.tiles');
  assert.equal(condemned({ type: 'stack', children: [newer, { type: 'empty' }] }), []);
  const [fault, ...others] = condemned({ type: 'stack', children: [newer, { type: 'text' }] });
  assert.equal([fault!.pointer, others], ['/layout/children/1/text', []]);
});

test('a node whose type is no word, or that has none, condemns the view', () => {
  for (const type of [7, null, ['title'], { title: 1 }])
    assert.equal(
      condemned({ type }).map((e) => e.pointer),
      ['/layout/type'],
      JSON.stringify(type),
    );
  assert.ok(condemned({}).length > 0);
});

test('a view too deep or too large is refused, and checking it ends', () => {
  let deep: Record<string, unknown> = { type: 'text', text: 'x' };
  for (let i = 0; i < 5000; i++) deep = { type: 'stack', child: deep };
  assert.ok(validateView({ schema: 'ui/v0', layout: deep }).some((e) => /deeper/.test(e.message)));
  const wide = { type: 'stack', children: Array.from({ length: 50_000 }, () => ({ type: 'empty' })) };
  assert.ok(validateView({ schema: 'ui/v0', layout: wide }).length > 0);
});

test('whatever is sent, the validator answers and does not throw', () =>
  fc.assert(
    fc.property(fc.anything(), (value) => {
      const layout = validateView({ schema: 'ui/v0', layout: value });
      return Array.isArray(validateView(value)) && Array.isArray(layout) && layout.length <= 100;
    }),
    { numRuns: 500 },
  ));

test.run();
