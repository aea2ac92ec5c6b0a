// scenario.yaml: every field, what is wrong with it, and that a page does nothing it was not let through for.
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { compileApp, contractsOf, sourceIn } from '../../firmware/scenario-app/compile.ts';
import { confinement } from '../../firmware/scenario-app/confine.ts';
import { scenarioFaults } from '../../firmware/scenario-app/schema.ts';
import { treeText } from '../../firmware/text/tree.ts';
import type { Act, Node } from '../../firmware/ui/tree.ts';
import { treeFaults } from '../ui/tree-schema.ts';
import { intruderSource } from './intruder.ts';

const whole = {
  name: 'orders',
  version: '1.0.0',
  title: { en: 'Orders', ru: 'Заказы' },
  entry: 'all',
  theme: { tokens: 'sea' },
  permissions: [{ skill: 'stock', contracts: ['stock.list', 'stock.move'] }],
  viewModel: { initial: { orders: { open: [] }, stock: { left: 0 } } },
  routes: {
    all: {
      path: '/',
      title: 'All',
      usdl: 'all.yaml',
      prefetch: [{ query: 'stock.list', params: { of: '$.orders.kind' } }],
    },
    one: {
      path: '/one/:id',
      title: { en: 'One', ru: 'Один' },
      usdl: 'one.yaml',
      guards: [{ hasParam: 'id', else: 'all' }, { has: '$.orders.open' }],
    },
  },
  menu: [{ route: 'all' }],
};
const pages = {
  'all.yaml': {
    version: 'usdl/0.2',
    components: [
      { type: 'Table', columns: [{ key: 'id' }], data: { query: 'stock.list', pageSize: 7 } },
      { type: 'Input', label: 'Kind', bind: '$.orders.kind' },
    ],
  },
  'one.yaml': {
    version: 'usdl/0.2',
    components: [{ type: 'Card', title: 'No. {{$route.id}}, {{$.stock.left}} left' }],
  },
};
const may = contractsOf(whole.permissions);
const made = (scenario: unknown = whole, of: Record<string, unknown> = pages, given = may) =>
  compileApp({ scenario, pages: of }, 'orders', given);

test('an app compiles with every field it has', async () => {
  const { app, problems } = await made();
  assert.equal(problems, []);
  const { routes, ...rest } = app!;
  assert.equal(rest, {
    app: 1,
    id: 'orders',
    name: 'orders',
    version: '1.0.0',
    title: { i18n: { en: 'Orders', ru: 'Заказы' } },
    tokens: 'sea',
    entry: 'all',
    menu: ['all'],
    initial: whole.viewModel.initial,
    skills: ['stock'],
  });
  const [all, one] = routes;
  assert.equal(all!.prefetch, [
    {
      query: 'stock.list',
      target: 'stock',
      pageSize: 7,
      params: { object: { of: { path: ['state', 'viewModel', 'orders', 'kind'] } } },
    },
  ]);
  assert.equal(one!.guards, [
    { hasParam: 'id', else: 'all' },
    { has: { path: ['state', 'viewModel', 'orders', 'open'] } },
  ]);
  for (const r of routes) assert.equal(treeFaults(r.tree), []);
  // Who answers is said, so that nothing is left for the application to decide.
  assert.match(JSON.stringify(all!.tree), /"query":"stock.list",[^{}]*"target":"stock"/);
});

const route = whole.routes.all;
const wrong: [string, object, string][] = [
  ['no name', { name: undefined }, '/name'],
  ['a title of no language', { title: {} }, '/title'],
  ['a title that is a number', { title: 7 }, '/title'],
  ['an entry that is not there', { entry: 'none' }, '/entry'],
  ['an entry with parameters', { entry: 'one' }, '/entry'],
  ['an entry out of a prototype', { entry: 'constructor' }, '/entry'],
  ['tokens nobody has', { theme: { tokens: 'neon' } }, '/theme/tokens'],
  [
    'a contract that is none',
    { permissions: [{ skill: 'a', contracts: ['a b'] }] },
    '/permissions/0/contracts/0',
  ],
  ['a permission for itself', { permissions: [{ skill: 'orders', contracts: [] }] }, '/permissions/0/skill'],
  [
    'a part of the view model of nobody',
    { viewModel: { initial: { other: {} } } },
    '/viewModel/initial/other',
  ],
  ['a part that is no object', { viewModel: { initial: { orders: [] } } }, '/viewModel/initial/orders'],
  ['no routes', { routes: {} }, '/routes'],
  ['a name of a route that is none', { routes: { 'A b': route } }, '/routes/A b'],
  ['a path with a slash at its end', { routes: { all: { ...route, path: '/a/' } } }, '/routes/all/path'],
  ['a page outside of the folder', { routes: { all: { ...route, usdl: '../x.yaml' } } }, '/routes/all/usdl'],
  [
    'a page with an absolute path',
    { routes: { all: { ...route, usdl: '/etc/x.yaml' } } },
    '/routes/all/usdl',
  ],
  [
    'two routes of one shape',
    { routes: { all: { ...route, path: '/:a' }, b: { ...route, path: '/:b' } }, entry: 'all', menu: [] },
    '/routes/b/path',
  ],
  ['a guard that says nothing', { routes: { all: { ...route, guards: [{}] } } }, '/routes/all/guards/0'],
  [
    'a guard that leads to itself',
    { routes: { all: { ...route, guards: [{ hasParam: 'a', else: 'all' }] } } },
    '/routes/all/guards/0/else',
  ],
  [
    'a guard on a query',
    { routes: { all: { ...route, guards: [{ has: '$..a' }] } } },
    '/routes/all/guards/0/has',
  ],
  ['a menu that leads nowhere', { menu: [{ route: 'none' }] }, '/menu/0/route'],
  ['a field nobody knows', { colour: 'red' }, '/colour'],
];
for (const [what, change, pointer] of wrong)
  test(`a scenario with ${what} is refused, and says where`, async () => {
    const { app, problems } = await made({ ...whole, ...change });
    assert.is(app, null);
    assert.ok(
      problems.some((p) => p.pointer === pointer && p.file === 'scenario.yaml'),
      JSON.stringify(problems),
    );
  });

test('whatever a scenario is, it is judged without a throw', async () => {
  const json = fc.jsonValue({ maxDepth: 6 });
  await fc.assert(
    fc.asyncProperty(json, json, async (scenario, page) => {
      await made(scenario);
      await made(whole, { 'all.yaml': page, 'one.yaml': page });
      await made(Object.assign({}, whole, scenario));
    }),
    { numRuns: 200 },
  );
  for (const odd of [null, 7, 'x', [], { pages: [] }, {}]) assert.throws(() => sourceIn(odd));
  const huge = Object.fromEntries(
    Array.from({ length: 5000 }, (_, i) => [`r${i}`, { ...route, path: `/${i}` }]),
  );
  assert.ok(scenarioFaults({ ...whole, routes: huge }, 'orders').length > 0);
});

test('what the manifest does not name is not given', async () => {
  const { app, problems } = await made(
    whole,
    pages,
    contractsOf([{ skill: 'stock', contracts: ['stock.move'] }]),
  );
  assert.equal(problems[0], {
    file: 'scenario.yaml',
    pointer: '/permissions/0',
    code: 'not_declared',
    hint: 'permissions.contracts of manifest.json does not name stock, stock.list.',
  });
  // Nobody else has the contract, so it is the app's own skill that is asked.
  assert.not.match(JSON.stringify(app!.routes[0]!.tree), '"target":"stock"');
  const none = await made(whole, pages, contractsOf(undefined));
  assert.equal(none.app!.skills, []);
});

test('a page that is missing, or no USDL, is a problem in its file and no page', async () => {
  const { app, problems } = await made(whole, {
    'all.yaml': { schema: 'ui/v0', layout: { type: 'text', text: 'x' } },
  });
  assert.equal(problems.map((p) => `${p.file} ${p.code}`).slice(0, 3), [
    'all.yaml invalid',
    'scenario.yaml unused',
    'one.yaml missing',
  ]);
  const nothing = { is: 'text', of: [treeText('nothing')] };
  for (const r of app!.routes) assert.equal(r.tree.main, [nothing], 'a word, and no blank page');
});

test('a page that wants more than it may has a note in the place of each wish', async () => {
  const { app, problems } = await compileApp(intruderSource, 'intruder', contractsOf(undefined));
  const home = app!.routes[0]!.tree;
  assert.equal(
    home.main.map((n) => (n.is === 'note' ? n.code : n.is)),
    ['outside', 'not_permitted', 'outside', 'input', 'card', 'card', 'button', 'button', 'button'],
  );
  assert.ok(problems.some((p) => p.code === 'elsewhere' && p.hint.includes('$.shopping')));
  assert.not.match(JSON.stringify(home.main.filter((n) => n.is !== 'note' && n.is !== 'card')), 'shopping');
});

const { tree: confine } = confinement('mine', new Map([['stock', ['stock.move']]]));
const vm = (...path: (string | number | null)[]) => ({ path: ['state', 'viewModel', ...path] as const });
const acts: [string, Act, boolean][] = [
  ['sets its own', { do: 'set', at: vm('mine', 'a') as never, value: 1 }, true],
  ['sets the whole of its own', { do: 'set', at: vm('mine') as never, value: 1 }, false],
  ["sets another's", { do: 'set', at: vm('stock', 'a') as never, value: 1 }, false],
  ['sets all items', { do: 'set', at: vm('mine', null) as never, value: 1 }, false],
  ['sets a parameter of the route', { do: 'set', at: { path: ['route', 'id'] }, value: 1 }, false],
  ['asks what it may', { do: 'action', id: 'stock.move', target: 'stock' }, true],
  ['asks what it may, of nobody by name', { do: 'action', id: 'stock.move' }, true],
  ['asks what it may not', { do: 'action', id: 'stock.drop', target: 'stock' }, false],
  ['asks a skill it may not', { do: 'query', query: 'x', target: 'other' }, false],
  ['shows meanwhile its own', { do: 'action', id: 'x', meanwhile: [{ op: 'add', at: ['mine', 'a'] }] }, true],
  [
    "shows meanwhile another's",
    { do: 'action', id: 'x', meanwhile: [{ op: 'add', at: ['stock', 'a'] }] },
    false,
  ],
  [
    'shows meanwhile what the address says',
    { do: 'action', id: 'x', meanwhile: [{ op: 'add', at: [{ path: ['route', 'ns'] }, 'a'] }] },
    false,
  ],
  ['posts by itself', { do: 'post', path: '/skills/stock/v1/x' }, false],
  ['publishes', { do: 'publish', topic: 't' }, false],
  ['goes to a page', { do: 'go', page: 'all' }, true],
];
for (const [what, act, isLet] of acts)
  test(`an act that ${what} is ${isLet ? 'let through' : 'refused'}, wherever it stands`, () => {
    const field = { name: 'f', label: 'F', input: 'text' } as const;
    const places: ((a: Act) => Node)[] = [
      (a) => ({ is: 'button', label: 'B', act: a }),
      (a) => ({ is: 'form', fields: [field], label: 'S', act: a }),
      (a) => ({ is: 'input', field, act: a }),
      (a) => ({ is: 'empty', text: 'E', act: a }),
      (a) => ({ is: 'text', of: [{ mark: 'strong', of: [{ act: a, of: ['x'] }] }] }),
    ];
    const within: ((n: Node) => Node)[] = [
      (n) => n,
      (n) => ({ is: 'card', children: [n] }),
      (n) => ({ is: 'list', items: [[n]] }),
      (n) => ({ is: 'tabs', tabs: [{ label: 'T', children: [n] }] }),
      (n) => ({ is: 'each', of: { array: [] }, child: n, none: n }),
      (n) => ({ is: 'table', columns: [{ key: 'k', label: 'K', cell: n }], rows: { array: [] } }),
      (n) => ({ is: 'vega', spec: {}, instead: n }),
      (n) => ({ is: 'frame', page: 'p', title: 'P', instead: n }),
    ];
    for (const place of places)
      for (const into of within)
        for (const slot of ['main', 'header', 'aside', 'modal', 'toast'] as const) {
          const told: string[] = [];
          const tree = {
            tree: 1 as const,
            from: 'usdl/0.2',
            main: [],
            needs: [],
            [slot]: [into(place(act))],
          };
          const made = JSON.stringify(confine(tree, (p) => told.push(p.code)));
          assert.is(made.includes(`"do":"${act.do}"`), isLet, made);
          assert.is(told.some((c) => c === 'outside' || c === 'not_permitted') || isLet, true);
        }
  });

test.run();
