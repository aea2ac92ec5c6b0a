// Views of ui/v0 and ui/v0.1 as render trees: golden pairs, what is wrong in its place, and any JSON at all.
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compile, frontEndOf } from '../../firmware/ui/compile.ts';
import { validateView } from '../../firmware/ui/schema.ts';
import type { Node } from '../../firmware/ui/tree.ts';
import { compileV0 } from '../../firmware/ui/v0/compile.ts';
import { treeFaults } from './tree-schema.ts';
import { views } from './views.ts';

const test = suite('compiled views');
const golden = 'test/ui/golden';
const read = (file: string) =>
  JSON.parse(readFileSync(`${golden}/${file}`, 'utf8')) as Record<string, unknown>;

for (const file of readdirSync(golden).filter((f) => f.endsWith('.view.json')))
  test(`${file} becomes the tree beside it`, async () => {
    const view = read(file);
    const { tree, problems } = await compile(view);
    assert.equal(problems, []);
    assert.equal(tree, read(file.replace('.view.', '.tree.')));
    assert.equal(treeFaults(tree), []);
    assert.equal(validateView(view), []);
  });

/** The views beside, with one text or another in them. */
const good = fc
  .tuple(fc.constantFrom('every', 'later'), fc.constantFrom('', 'x {{state.y}}', '{{meta.a[*].b}}', '{ }'))
  .map(
    ([file, text]) =>
      JSON.parse(
        JSON.stringify(read(`${file}.view.json`))
          .replaceAll('"Name"', JSON.stringify(text))
          .replaceAll('"More"', JSON.stringify(text)),
      ) as Record<string, unknown>,
  );

const nodeOf = (layout: unknown, schema = 'ui/v0') => {
  const { tree, problems } = compileV0({ schema, layout });
  return { node: tree.main[0]!, problems, needs: tree.needs };
};

const wrong: [string, unknown, pointer: string, code: string, hint: RegExp][] = [
  ['a type nobody knows', { type: 'tabel' }, '/layout/type', 'unknown_type', /"table" is near/],
  ['a type of a later version', { type: 'tabs' }, '/layout/type', 'newer_version', /ui\/v0\.1/],
  ['no type', {}, '/layout/type', 'missing', /missing/],
  ['a type that is no word', { type: 7 }, '/layout/type', 'wrong_type', /name of a type/],
  ['no object', 'x', '/layout', 'wrong_type', /object/],
  ['a text that is missing', { type: 'text' }, '/layout/text', 'missing', /missing/],
  ['a binding that is code', { type: 'text', text: '{{a()}}' }, '/layout/text', 'binding', /not a path/],
  ['a text without end', { type: 'text', text: 'x'.repeat(4001) }, '/layout/text', 'too_large', /4000/],
  [
    'rows that are no binding',
    { type: 'table', columns: [], rows: 'x' },
    '/layout/rows',
    'binding',
    /one binding/,
  ],
  ['a button for nothing', { type: 'button', label: 'x' }, '/layout/action', 'missing', /missing/],
  [
    'a place that is no skill',
    { type: 'button', label: 'x', action: { type: 'navigate', path: 'javascript:x' } },
    '/layout/action/path',
    'value',
    /skill:<id>/,
  ],
  [
    'a body with a faulty binding',
    { type: 'button', label: 'x', action: { type: 'http.post', path: '/v1/x', body: { 'a/b': ['{{x}}'] } } },
    '/layout/action/body/a~1b/0',
    'binding',
    /not a path/,
  ],
  [
    'a field without a name',
    {
      type: 'form',
      label: 'x',
      fields: [{ key: '__proto__', label: 'x' }],
      action: { type: 'http.post', path: '/v1/x' },
    },
    '/layout/fields/0/key',
    'value',
    /lower-case/,
  ],
];
for (const [name, layout, pointer, code, hint] of wrong)
  test(`${name} is marked in its place, with pointer, code and a hint`, () => {
    const { node, problems } = nodeOf(layout);
    assert.match(problems[0]!.hint, hint);
    assert.equal([problems[0]!.pointer, problems[0]!.code], [pointer, code]);
    assert.equal(node, { is: 'note', code, says: problems[0]!.hint, pointer });
  });

test('what is wrong with one node takes no other with it', () => {
  const { node, problems } = nodeOf({
    type: 'card',
    title: '{{broken',
    gap: 900,
    onclick: 'x',
    children: [{ type: 'text' }, { type: 'title', text: 'here' }],
  });
  assert.equal(problems.map((p) => [p.pointer, p.code]).sort(), [
    ['/layout/children/0/text', 'missing'],
    ['/layout/gap', 'value'],
    ['/layout/onclick', 'unknown_property'],
    ['/layout/title', 'binding'],
  ]);
  assert.equal(node, {
    is: 'card',
    children: [
      { is: 'note', code: 'missing', says: 'is missing', pointer: '/layout/children/0/text' },
      { is: 'title', text: 'here' },
    ],
  });
});

test('a view too deep or too large ends in a note, and compiling it ends', () => {
  let deep: unknown = { type: 'text', text: 'x' };
  for (let i = 0; i < 5000; i++) deep = { type: 'stack', child: deep };
  assert.ok(nodeOf(deep).problems.some((p) => p.code === 'too_deep'));
  const wide = { type: 'stack', children: Array.from({ length: 50_000 }, () => ({ type: 'empty' })) };
  const { node, problems } = nodeOf(wide);
  assert.ok(problems.some((p) => p.code === 'too_large'));
  assert.is((node as Extract<Node, { is: 'stack' }>).children.length, 2000);
});

test('a document of no kind that is known says so in a tree', async () => {
  const { tree, problems } = await compile({ hello: 1 });
  assert.equal(problems.map((p) => p.pointer).sort(), ['/hello', '/layout', '/schema']);
  assert.is(tree.main[0]!.is, 'note');
  assert.is(frontEndOf({ hello: 1 }), 'ui/v0');
});

test('any view gives a tree that may be drawn, within bounds of its size', () => {
  fc.assert(
    fc.property(views, (view) => {
      const { tree, problems } = compileV0(view);
      assert.equal(treeFaults(tree), []);
      const [from, to] = [JSON.stringify(view).length, JSON.stringify(tree).length];
      assert.ok(to <= 8 * from + 400 * (problems.length + 1), `${from} became ${to}`);
      if (problems.length === 0) assert.not.match(JSON.stringify(tree), /"is":"note"/);
    }),
    { numRuns: 500 },
  );
});

test('a view that passes the schema gives no problem', () => {
  let valid = 0;
  fc.assert(
    fc.property(fc.oneof(views, good), (view) => {
      if (validateView(view).length > 0) return;
      valid++;
      assert.equal(compileV0(view).problems, []);
    }),
    { numRuns: 100 },
  );
  assert.ok(valid > 20, `only ${valid} were valid`);
});

test('whatever is compiled, the answer is a tree and nothing is thrown', () => {
  fc.assert(
    fc.property(fc.anything(), (value) => {
      for (const view of [value, { schema: 'ui/v0', layout: value }, { schema: 'ui/v0.1', layout: value }])
        assert.equal(treeFaults(compileV0(view).tree), []);
    }),
    { numRuns: 1000 },
  );
});

test.run();
