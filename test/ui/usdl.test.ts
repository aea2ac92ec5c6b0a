// USDL as render trees: every component, slot, property and expression; what is wrong in its place.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { compile } from '../../firmware/ui/compile.ts';
import { conditionOf } from '../../firmware/ui/condition.ts';
import { template } from '../../firmware/ui/expression.ts';
import type { Node } from '../../firmware/ui/tree.ts';
import { treeFaults } from './tree-schema.ts';

const page = (components: unknown[], more: Record<string, unknown> = {}) => ({
  version: 'usdl/0.2',
  components,
  ...more,
});
const compiled = async (document: Record<string, unknown>) => {
  const { tree, problems } = await compile(document);
  assert.equal(treeFaults(tree), []);
  return { tree, main: tree.main, problems, codes: problems.map((p) => p.code) };
};
const vm = (...steps: (string | number | null)[]) => ({ path: ['state', 'viewModel', ...steps] });

const good: [string, Record<string, unknown>, Node[], Record<string, unknown>?][] = [
  [
    'a Card with words, components and actions',
    {
      type: 'Card',
      id: 'c',
      title: 'Order {{$.id}}',
      body: '$.note',
      components: [{ type: 'Progress', label: 'Done', bind: '$.done', max: 10 }],
      actions: [{ text: 'Pay', action: 'pay', variant: 'primary' }],
    },
    [
      {
        is: 'card',
        title: { join: ['Order ', vm('id')] },
        children: [
          { is: 'text', of: [vm('note')] },
          { is: 'progress', label: 'Done', value: vm('done'), max: 10 },
          {
            is: 'button',
            label: 'Pay',
            tone: 'primary',
            act: {
              do: 'action',
              id: 'pay',
              target: 'shop',
              payload: { object: { id: vm('id'), all: true } },
            },
          },
        ],
        id: 'c',
      },
    ] as unknown as Node[],
    { actions: { pay: { emit: 'ui.action', target: 'skill:shop', payload: { id: '$.id', all: true } } } },
  ],
  [
    'a Toolbar with an Input that waits for the last key',
    {
      type: 'Toolbar',
      components: [
        {
          type: 'Input',
          label: 'Find',
          bind: '$.filter.text',
          debounceMs: 300,
          on: [{ event: 'change', action: 'reload' }],
        },
      ],
      actions: [{ text: 'New', navigate: { to: 'order', params: { of: '$route.shop' }, mode: 'modal' } }],
    },
    [
      {
        is: 'row',
        children: [
          {
            is: 'input',
            field: { name: 'text', label: 'Find', input: 'text', value: vm('filter', 'text') },
            bind: vm('filter', 'text'),
            act: { do: 'query', query: 'orders.list', params: { object: { q: vm('filter', 'text') } } },
            wait: 300,
          },
          {
            is: 'button',
            label: 'New',
            act: {
              do: 'go',
              page: 'order',
              params: { object: { of: { path: ['route', 'shop'] } } },
              mode: 'modal',
            },
          },
        ],
      },
    ] as unknown as Node[],
    { actions: { reload: { emit: 'ui.query', query: 'orders.list', params: { q: '$.filter.text' } } } },
  ],
  [
    'a Select',
    {
      type: 'Select',
      label: 'Mode',
      bind: '$.mode',
      options: [
        { id: 'a', text: 'A' },
        { id: 'b', i18n: 'both' },
      ],
    },
    [
      {
        is: 'input',
        field: {
          name: 'mode',
          label: 'Mode',
          input: 'choice',
          value: vm('mode'),
          options: [
            { value: 'a', label: 'A' },
            { value: 'b', label: { i18n: { en: 'Both', ru: 'Оба' } } },
          ],
        },
        bind: vm('mode'),
      },
    ] as unknown as Node[],
    { meta: { texts: { both: { i18n: { en: 'Both', ru: 'Оба' } } } } },
  ],
  [
    'a Button with an action of its own',
    {
      type: 'Button',
      text: 'Buy',
      variant: 'danger',
      icon: 'cart',
      action: { type: 'ui.action', action_id: 'buy', payload: { n: 1 } },
    },
    [
      {
        is: 'button',
        label: 'Buy',
        icon: 'cart',
        tone: 'danger',
        act: { do: 'action', id: 'buy', payload: { object: { n: 1 } } },
      },
    ],
  ],
  [
    'a lazy Table whose rows lead on',
    {
      type: 'Table',
      title: 'Orders',
      columns: [
        { key: 'id', title: 'No.' },
        { key: 'sum', title: 'Sum', sort: true },
      ],
      data: { source: 'lazy', query: 'orders.list', params: { q: '$.filter.text' }, pageSize: 25 },
      search: true,
      on: [{ event: 'rowClick', navigate: { to: 'order', params: { id: '$row.id' } } }],
    },
    [
      {
        is: 'table',
        title: 'Orders',
        columns: [
          {
            key: 'id',
            label: 'No.',
            cell: {
              is: 'text',
              of: [
                {
                  act: { do: 'go', page: 'order', params: { object: { id: { path: ['row', 'id'] } } } },
                  of: [{ path: ['row', 'id'] }],
                },
              ],
            },
          },
          { key: 'sum', label: 'Sum', sort: true },
        ],
        rows: { query: 'orders.list', params: { object: { q: vm('filter', 'text') } }, pageSize: 25 },
        search: true,
      },
    ] as unknown as Node[],
  ],
  [
    'a Table over a query of the view model',
    { type: 'Table', columns: [{ key: 'a', title: 'A' }], data: { bind: '$.orders[?@.open == true]' } },
    [
      {
        is: 'table',
        columns: [{ key: 'a', label: 'A' }],
        rows: { query: '$.orders[?@.open == true]', of: vm() },
      },
    ] as unknown as Node[],
  ],
  [
    'a Form',
    {
      type: 'Form',
      id: 'order',
      title: 'Order',
      fields: [
        { name: 'name', label: 'Name', component: 'Input', bind: '$.name', required: true, max: 40 },
        { name: 'size', label: 'Size', component: 'Select', options: [{ id: 's', text: 'Small' }] },
        { name: 'pin', label: 'PIN', input: 'secret' },
      ],
      actions: [
        { text: 'Order', action: 'place' },
        { text: 'Draft', action: 'draft' },
      ],
    },
    [
      {
        is: 'form',
        id: 'order',
        title: 'Order',
        fields: [
          { name: 'name', label: 'Name', input: 'text', value: vm('name'), required: true, max: 40 },
          { name: 'size', label: 'Size', input: 'choice', options: [{ value: 's', label: 'Small' }] },
          { name: 'pin', label: 'PIN', input: 'secret' },
        ],
        label: 'Order',
        act: { do: 'action', id: 'place', form: 'order' },
      },
      { is: 'button', label: 'Draft', act: { do: 'action', id: 'draft', form: 'order' } },
    ] as unknown as Node[],
  ],
  [
    'Markdown',
    { type: 'Markdown', text: '## {{$.name}}\n\n**b** [x](https://a.b/)' },
    [
      {
        is: 'stack',
        children: [
          { is: 'title', text: vm('name'), level: 2 },
          {
            is: 'text',
            of: [{ mark: 'strong', of: ['b'] }, ' ', { act: { do: 'go', href: 'https://a.b/' }, of: ['x'] }],
          },
        ],
      },
    ] as unknown as Node[],
  ],
  [
    'a Chart, with a plain one instead',
    {
      type: 'Chart',
      title: 'Power',
      spec: { $vegaLite: { mark: { type: 'bar' }, encoding: { x: { field: 'at' }, y: { field: 'kw' } } } },
      data: { bind: '$.samples' },
    },
    [
      {
        is: 'vega',
        title: 'Power',
        spec: { mark: { type: 'bar' }, encoding: { x: { field: 'at' }, y: { field: 'kw' } } },
        data: vm('samples'),
        instead: {
          is: 'chart',
          kind: 'bar',
          title: 'Power',
          series: [{ label: 'kw', x: vm('samples', null, 'at'), y: vm('samples', null, 'kw') }],
        },
      },
    ] as unknown as Node[],
  ],
  [
    'a Widget, with a component instead',
    {
      type: 'Widget',
      page: '/v1/ui/plan/index.html',
      title: 'Plan',
      w: 300,
      h: 200,
      instead: { type: 'Card', body: 'No plan' },
    },
    [
      {
        is: 'frame',
        page: 'plan/index.html',
        title: 'Plan',
        w: 300,
        h: 200,
        instead: { is: 'card', children: [{ is: 'text', of: ['No plan'] }] },
      },
    ],
  ],
];
for (const [name, component, expected, more] of good)
  test(`${name} becomes its nodes`, async () => {
    const { main, problems } = await compiled(page([component], more));
    assert.equal(problems, []);
    assert.equal(main, expected);
  });

test('each slot takes its components, and a page is scoped to a part of the view model', async () => {
  const button = { type: 'Button', text: '$.a', action: 'go' };
  const { tree, problems } = await compiled(
    page(
      [button, { ...button, slot: 'header' }, { ...button, slot: 'aside' }, { ...button, slot: 'toast' }],
      {
        layout: { slot: 'modal' },
        viewModel: { orders: { a: 'A' } },
        viewBind: '$.orders',
        meta: { title: 'Orders' },
      },
    ),
  );
  assert.equal(problems, []);
  assert.equal(tree.needs, ['aside', 'modal', 'toast']);
  const node = { is: 'button', label: vm('orders', 'a'), act: { do: 'action', id: 'go' } };
  assert.equal(
    [tree.main, tree.header, tree.aside, tree.modal, tree.toast],
    [[], [node], [node], [node], [node]],
  );
  assert.equal(
    [tree.state, tree.title, tree.from],
    [{ viewModel: { orders: { a: 'A' } } }, 'Orders', 'usdl/0.2'],
  );
});

const wrong: [string, Record<string, unknown>, code: string, pointer: string][] = [
  ['a component nobody knows', { type: 'Buton' }, 'unknown_component', '/components/0/type'],
  ['a component without a type', {}, 'unknown_component', '/components/0/type'],
  ['a button for nothing', { type: 'Button', text: 'x' }, 'missing', '/components/0/action'],
  ['a table without rows', { type: 'Table', columns: [{ key: 'a' }] }, 'missing', '/components/0/data'],
  ['a form without fields', { type: 'Form', fields: [] }, 'missing', '/components/0/fields'],
  [
    'a page beyond the skill’s own',
    { type: 'Widget', page: '../../secret' },
    'bad_page',
    '/components/0/page',
  ],
  ['a page elsewhere', { type: 'Widget', page: 'https://x.y/' }, 'bad_page', '/components/0/page'],
  [
    'a way out',
    { type: 'Button', navigate: { to: 'javascript:alert(1)' } },
    'unsafe_link',
    '/components/0/navigate',
  ],
  ['a binding that is none', { type: 'Input', bind: '$.a[*].b' }, 'bad_bind', '/components/0/bind'],
  ['a query that is none', { type: 'Progress', value: '$.a[?@.b ==]' }, 'bad_query', '/components/0/value'],
  ['a text that is none', { type: 'Card', i18n: 'nope', title: 'x' }, 'unknown_text', '/components/0/i18n'],
  ['a condition that is code', { type: 'Card', when: 'alert(1)' }, 'bad_condition', '/components/0/when'],
  [
    'a chart that loads',
    { type: 'Chart', spec: { $vegaLite: { data: { url: 'https://x.y' } } } },
    'unsafe_spec',
    '/components/0/spec',
  ],
  ['a property nobody knows', { type: 'Card', titel: 'x' }, 'schema', '/components/0/titel'],
];
for (const [name, component, code, pointer] of wrong)
  test(`${name} is told where it is, and the page stays`, async () => {
    const { main, problems } = await compiled(page([component, { type: 'Card', title: 'after' }]));
    assert.ok(
      problems.some((p) => p.code === code && p.pointer === pointer && p.hint !== ''),
      JSON.stringify(problems),
    );
    assert.equal(main.at(-1), { is: 'card', title: 'after', children: [] });
  });

test('what has a condition that cannot be read is not shown', async () => {
  const { main } = await compiled(page([{ type: 'Card', when: 'alert(1)' }]));
  assert.equal(main, [{ is: 'card', children: [], when: { is: false } }]);
});

test('nothing that a chart would load is in its tree', async () => {
  const { tree } = await compiled(
    page([
      {
        type: 'Chart',
        spec: {
          $vegaLite: {
            layer: [{ mark: 'image', encoding: { url: { field: 'u' }, href: { field: 'h' } } }],
            transform: [{ lookup: 'a', from: { data: { url: 'https://x.y/z.csv' } } }],
          },
        },
      },
    ]),
  );
  assert.not.match(JSON.stringify(tree), /url|href|x\.y/);
});

test('a later minor version compiles as far as it is known, another major one is a single note', async () => {
  const later = await compiled({
    ...page([{ type: 'Card', title: 'x', glow: 1 }, { type: 'Hologram' }]),
    version: 'usdl/0.9',
    era: 2,
  });
  assert.equal(
    later.main.map((n) => n.is),
    ['card', 'note'],
  );
  assert.equal(later.codes, ['unknown_component']);
  const other = await compiled({ ...page([{ type: 'Card' }]), version: 'usdl/1.0' });
  assert.equal([other.main.length, other.main[0]?.is, other.codes], [1, 'note', ['unsupported_version']]);
});

test('conditions read as they are written', () => {
  const names = { root: ['state'] } as const;
  const at = (...steps: string[]) => ({ path: ['state', ...steps] });
  const cases: [string, unknown][] = [
    ['$.a', { is: at('a') }],
    ['!$.a', { not: { is: at('a') } }],
    ["$.a == 'x y'", { compare: '=', left: at('a'), right: 'x y' }],
    ['$.n>=-2.5', { compare: '>=', left: at('n'), right: -2.5 }],
    ['$row.f != null', { compare: '!=', left: { path: ['row', 'f'] }, right: null }],
    ['$.a || $.b && !$.c', { any: [{ is: at('a') }, { all: [{ is: at('b') }, { not: { is: at('c') } }] }] }],
    ['($.a || $.b) && true', { all: [{ any: [{ is: at('a') }, { is: at('b') }] }, { is: true }] }],
    ['', null],
    ['$.a =', null],
    ['$.a == ', null],
    ['($.a', null],
    ['$.a $.b', null],
    ['a.b', null],
    ['f($.a)', null],
    [`${'('.repeat(50)}$.a${')'.repeat(50)}`, null],
  ];
  for (const [text, expected] of cases) assert.equal(conditionOf(text, names), expected, text);
});

test('expressions are paths where they can be, queries of RFC 9535 where not, and words else', () => {
  const names = { root: ['state', 'viewModel'] } as const;
  const cases: [string, unknown][] = [
    ['$', vm()],
    ["$['a b'][0].c[*]", vm('a b', 0, 'c', null)],
    ['$.a[-1]', { query: '$.a[-1]', of: vm() }],
    ['$..x', { query: '$..x', of: vm() }],
    ['$row.list[?@.a]', { query: '$.list[?@.a]', of: { path: ['row'] } }],
    ['$route.id', { path: ['route', 'id'] }],
    ['$5 a month', '$5 a month'],
    ['$$.a', '$.a'],
    ['{{$.a}} of {{$route.n}}', { join: [vm('a'), ' of ', { path: ['route', 'n'] }] }],
    ['{{a}}', '{{a}}'],
    ['a', 'a'],
  ];
  for (const [text, expected] of cases) assert.equal(template(text, names), expected, text);
});

test.run();
