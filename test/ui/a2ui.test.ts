// A2UI as render trees: the public examples of its basic catalogue, both versions, and what is wrong in its place.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { compile } from '../../firmware/ui/compile.ts';
import { needsOf } from '../../firmware/ui/needs.ts';
import type { Node } from '../../firmware/ui/tree.ts';
import { treeFaults } from './tree-schema.ts';

const compiled = async (a2ui: unknown) => {
  const { tree, problems } = await compile({ a2ui });
  assert.equal(treeFaults(tree), []);
  return { tree, main: tree.main, problems, codes: problems.map((p) => p.code) };
};

// The examples ship in A2UI's own package.
const home = dirname(createRequire(import.meta.url).resolve('@a2ui/web_core/v0_9'));
const folders = ['basic', 'minimal'].map((name) => join(home, 'schemas/catalogs', name, 'examples'));
const examples = folders.flatMap((folder) =>
  readdirSync(folder).map((name) => ({
    name,
    ...(JSON.parse(readFileSync(join(folder, name), 'utf8')) as { messages?: unknown[] }),
  })),
);

test('the public examples of the basic catalogue are drawn', async () => {
  const drawn: string[] = [];
  const told = new Map<string, number>();
  const missing: string[] = [];
  for (const { name, messages, ...rest } of examples) {
    const { tree, problems } = await compiled(messages ?? rest);
    const notes = JSON.stringify(tree).match(/"is":"note","code":"(\w+)"/g) ?? [];
    if (notes.length === 0 && tree.main.length > 0) drawn.push(name);
    else missing.push(`${name} ${notes}`);
    for (const p of problems) told.set(p.code, (told.get(p.code) ?? 0) + 1);
  }
  console.log(
    `FIGURE a2ui_examples ${drawn.length} of ${examples.length} without a note, told ${JSON.stringify(Object.fromEntries(told))}`,
  );
  assert.ok(examples.length >= 40);
  assert.equal(
    missing.filter((m) => !/capitalized/.test(m)),
    [],
  );
});

const component = (id: string, component: string, props: object = {}) => ({ id, component, ...props });
const surface = (...components: object[]) => [
  { version: 'v0.9', createSurface: { surfaceId: 's', catalogId: 'basic' } },
  { version: 'v0.9', updateComponents: { surfaceId: 's', components } },
];

test('v0.8 and v0.9 of one page are one tree', async () => {
  const now = await compiled([
    ...surface(
      component('root', 'Column', { children: ['t', 'n', 'list', 'b'] }),
      component('t', 'Text', { text: 'Hi', variant: 'h2' }),
      component('n', 'TextField', { label: 'Name', value: { path: '/who/name' } }),
      component('list', 'List', { children: { path: '/items', componentId: 'item' } }),
      component('item', 'Text', { text: { path: 'title' } }),
      component('l', 'Text', { text: 'Send' }),
      component('b', 'Button', {
        child: 'l',
        variant: 'primary',
        action: { event: { name: 'send', context: { name: { path: '/who/name' } } } },
      }),
    ),
    { version: 'v0.9', updateDataModel: { surfaceId: 's', path: '/who', value: { name: 'Ann' } } },
  ]);
  const old = (id: string, type: string, props: object) => ({ id, component: { [type]: props } });
  const before = await compiled(
    [
      {
        surfaceUpdate: {
          surfaceId: 's',
          components: [
            old('top', 'Column', { children: { explicitList: ['t', 'n', 'list', 'b'] } }),
            old('t', 'Text', { text: { literalString: 'Hi' }, usageHint: 'h2' }),
            old('n', 'TextField', { label: { literalString: 'Name' }, text: { path: '/who/name' } }),
            old('list', 'List', { children: { template: { componentId: 'item', dataBinding: '/items' } } }),
            old('item', 'Text', { text: { path: 'title' } }),
            old('l', 'Text', { text: { literalString: 'Send' } }),
            old('b', 'Button', {
              child: 'l',
              primary: true,
              action: { name: 'send', context: [{ key: 'name', value: { path: '/who/name' } }] },
            }),
          ],
        },
      },
      { dataModelUpdate: { surfaceId: 's', path: 'who', contents: [{ key: 'name', valueString: 'Ann' }] } },
      { beginRendering: { surfaceId: 's', root: 'top' } },
    ]
      .map((m) => JSON.stringify(m))
      .join('\n'),
  );
  assert.equal([now.codes, before.codes], [[], []]);
  assert.equal(before.main, now.main);
  assert.equal(before.tree.state, { s: { who: { name: 'Ann' } } });
  assert.equal([now.tree.from, before.tree.from], ['a2ui/0.9', 'a2ui/0.8']);
  const name = { path: ['state', 's', 'who', 'name'] };
  assert.equal(now.main, [
    {
      is: 'stack',
      children: [
        { is: 'title', text: 'Hi', level: 2 },
        { is: 'input', field: { name: 'n', label: 'Name', input: 'text', value: name }, bind: name },
        {
          is: 'stack',
          children: [
            {
              is: 'each',
              of: { path: ['state', 's', 'items'] },
              child: { is: 'text', of: [{ path: ['row', 'title'] }] },
            },
          ],
        },
        {
          is: 'button',
          label: 'Send',
          tone: 'primary',
          act: { do: 'action', id: 'send', payload: { object: { name } } },
        },
      ],
    },
  ] as unknown as Node[]);
});

test('every component of the catalogue becomes a node', async () => {
  const at = (p: string) => ({ path: `/${p}` });
  const options = [{ label: 'A', value: 'a' }];
  const kinds: [string, object, string][] = [
    ['Text', { text: 'x' }, 'text'],
    ['Image', { url: 'https://x.y/z.png', description: 'A cat' }, 'text'],
    ['Icon', { name: 'accountCircle' }, 'badge'],
    ['Row', { children: [], justify: 'spaceBetween' }, 'row'],
    ['Column', { children: [] }, 'stack'],
    ['List', { children: [] }, 'stack'],
    ['Card', { child: 'x' }, 'card'],
    ['Tabs', { tabs: [{ title: 'One', child: 'x' }] }, 'tabs'],
    ['Modal', { trigger: 'x', content: 'x' }, 'button'],
    ['Divider', {}, 'rule'],
    ['CheckBox', { label: 'L', value: at('a') }, 'input'],
    ['TextField', { label: 'L', value: at('a'), variant: 'obscured' }, 'input'],
    ['DateTimeInput', { value: at('a'), enableDate: true }, 'input'],
    ['ChoicePicker', { options, value: at('a'), variant: 'mutuallyExclusive' }, 'input'],
    ['MultipleChoice', { options, selections: at('a') }, 'input'],
    ['Slider', { value: at('a'), max: 5 }, 'input'],
    ['Video', { url: 'https://x.y/z' }, 'text'],
    ['AudioPlayer', { url: 'https://x.y/z', description: 'Song' }, 'text'],
  ];
  for (const [type, props, is] of kinds) {
    const { main, codes } = await compiled(
      surface(component('root', type, props), component('x', 'Text', { text: 'x' })),
    );
    assert.equal([main[0]?.is, codes], [is, []], type);
  }
});

test('a modal opens by its trigger, and closes', async () => {
  const { tree } = await compiled(
    surface(
      component('root', 'Modal', { trigger: 'b', content: 'x' }),
      component('b', 'Button', { child: 'x', action: { event: { name: 'open' } } }),
      component('x', 'Text', { text: 'Inside' }),
    ),
  );
  const flag = { path: ['state', 'a2ui_open', 'root'] };
  assert.equal(tree.main, [{ is: 'button', label: 'Inside', act: { do: 'set', at: flag, value: true } }]);
  const [modal] = tree.modal ?? [];
  assert.equal(modal?.when, { is: flag });
  assert.ok(tree.needs.includes('modal') && modal && needsOf(modal).length === 0);
});

const wrong: [string, unknown, string][] = [
  ['a component within itself', surface(component('root', 'Card', { child: 'root' })), 'cycle'],
  ['a component that is not there', surface(component('root', 'Card', { child: 'no' })), 'missing_component'],
  ['a component of another catalogue', surface(component('root', 'Hologram')), 'unknown_component'],
  ['a button for nothing', surface(component('root', 'Button', {})), 'bad_action'],
  [
    'a link that leads nowhere good',
    surface(
      component('root', 'Button', {
        action: { functionCall: { call: 'openUrl', args: { url: 'javascript:x' } } },
      }),
    ),
    'unsafe_link',
  ],
  ['a message nobody knows', [{ hello: {} }], 'unknown_message'],
  ['no JSON', '{"a', 'unknown_message'],
  ['a picture without words', surface(component('root', 'Image', { url: 'https://x.y' })), 'no_text'],
  [
    'a function nobody knows',
    surface(component('root', 'Text', { text: { call: 'roman', args: { value: 4 } } })),
    'unsupported_function',
  ],
];
for (const [name, messages, code] of wrong)
  test(`${name} is told`, async () => assert.ok((await compiled(messages)).codes.includes(code)));

test('a data model has nothing that could be taken for a prototype', async () => {
  const value = JSON.parse('{"a": {"__proto__": {"x": 1}, "b": 2}}') as unknown;
  const update = (path: string) => ({ updateDataModel: { surfaceId: 's', path, value } });
  const { tree } = await compiled([update('/'), update('/__proto__'), update('/a/__proto__/c')]);
  assert.equal(JSON.stringify(tree.state), '{"s":{"a":{"b":2}}}');
});

const $ = '$';
test('a formatted text is its parts', async () => {
  const { main } = await compiled(
    surface(
      component('root', 'Text', {
        text: {
          call: 'formatString',
          args: { value: `a ${$}{/b} \\${$}{c} ${$}{formatDate(value: ${$}{/d}, format: 'x')}.` },
        },
      }),
    ),
  );
  assert.equal(main, [
    {
      is: 'text',
      of: [{ join: ['a ', { path: ['state', 's', 'b'] }, ` ${$}{c} `, { path: ['state', 's', 'd'] }, '.'] }],
    },
  ] as unknown as Node[]);
});

test.run();
