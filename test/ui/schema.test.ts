import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bindingError, templateForm } from '../../firmware/ui/binding.ts';
import { type View, validateView } from '../../firmware/ui/schema.ts';

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
      {
        type: 'form',
        label: 'Find',
        fields: [{ key: 'text', label: 'Text', value: '{{state.text}}' }],
        action: { type: 'http.post', path: '/v1/find' },
      },
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
  [
    'a form that has nothing to type in',
    { ...good, layout: { type: 'form', label: 'x', action: { type: 'navigate', path: 'skill:x' } } },
    '/layout/fields',
    /missing, form needs it/,
  ],
  [
    'a field whose key is no name',
    { ...good, layout: { ...good.layout.children![8], fields: [{ key: '__proto__', label: 'x' }] } },
    '/layout/fields/0/key',
    /lower-case/,
  ],
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
    assert.match(error!.says, says);
  });

const pointers = (layout: unknown) => validateView({ schema: 'ui/v0', layout }).map((e) => e.pointer);

test('a node type that is not known is refused by its name, and hides no other fault', () => {
  const newer = { type: 'map.tiles' };
  const [fault, ...others] = validateView({ schema: 'ui/v0', layout: newer });
  assert.match(fault!.says, /^must be one of title, text, /);
  assert.equal([fault!.pointer, others], ['/layout/type', []]);
  assert.equal(pointers({ type: 'stack', children: [newer, { type: 'empty' }] }), [
    '/layout/children/0/type',
  ]);
  assert.equal(pointers({ type: 'stack', children: [newer, { type: 'text' }] }).sort(), [
    '/layout/children/0/type',
    '/layout/children/1/text',
  ]);
});

test('a node whose type is no word, or that has none, is refused', () => {
  for (const type of [7, null, ['title'], { title: 1 }])
    assert.equal(pointers({ type }), ['/layout/type'], JSON.stringify(type));
  assert.equal(pointers({}), ['/layout/type']);
});

test('a fault names the binding that is wrong', () => {
  const [fault] = validateView({ schema: 'ui/v0', layout: { type: 'text', text: 'a {{state.b}} {{c()}}' } });
  assert.is(fault!.says, 'has a binding that is not a path of state or meta: {{c()}}');
});

test('the form of a text in the schema is what its bindings allow, whatever the braces', () => {
  const form = new RegExp(templateForm, 'u');
  const piece = fc.constantFrom(
    '{',
    '}',
    '{{',
    '}}',
    ' ',
    'x',
    '\n',
    '.a',
    '[0]',
    '[*]',
    'state',
    '{{state.a}}',
    '{{ meta }}',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('');
      assert.is(form.test(text), bindingError(text) === null, text);
    }),
    { numRuns: 20_000 },
  );
  assert.ok(form.test('x'.repeat(2 ** 20)) && !form.test(`${'{ '.repeat(2 ** 19)}}}`));
});

test('a view too deep or too large is refused, and checking it ends', () => {
  let deep: Record<string, unknown> = { type: 'text', text: 'x' };
  for (let i = 0; i < 5000; i++) deep = { type: 'stack', child: deep };
  assert.ok(validateView({ schema: 'ui/v0', layout: deep }).some((e) => /deeper/.test(e.says)));
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
