// Routes of scenario apps: which one a path names, and back.
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { appPath, closedBy, mountedAt, viewModelOf } from '../../firmware/ui/app.ts';
import { matchRoute, paramsOf, pathTo, routeForm } from '../../firmware/ui/route.ts';

const routes = [
  { name: 'list', path: '/' },
  { name: 'today', path: '/day/today' },
  { name: 'day', path: '/day/:date' },
  { name: 'hour', path: '/day/:date/:hour' },
  { name: 'help', path: '/help' },
];

const found: [string, string | null, Record<string, string>?][] = [
  ['/', 'list', {}],
  ['/help', 'help', {}],
  ['/help/', 'help', {}],
  ['/day/today', 'today', {}],
  ['/day/2026-11-24', 'day', { date: '2026-11-24' }],
  ['/day/a%20b', 'day', { date: 'a b' }],
  ['/day/%D0%B4', 'day', { date: 'д' }],
  ['/day/..%2F..%2Fshopping', 'day', { date: '../../shopping' }],
  ['/day/x/7', 'hour', { date: 'x', hour: '7' }],
  ['/Help', null],
  ['/day', null],
  ['/day//7', null],
  ['//', null],
  ['', null],
  ['help', null],
  ['/day/%', null],
  ['/day/%00', null],
  ['/day/..', null],
  ['/day/%2E%2E', null],
  ['/a/b/c/d', null],
  [`/day/${'x'.repeat(1000)}`, null],
];
for (const [path, name, params] of found)
  test(`"${path.slice(0, 40)}" is ${name ?? 'no page'}`, () => {
    for (const all of [routes, routes.toReversed()]) {
      const m = matchRoute(all, path);
      assert.is(m?.route.name ?? null, name);
      if (params) assert.equal(m!.params, params);
    }
  });

test('a route has its path where it has its parameters; others follow as a query', () => {
  const [day] = routes.filter((r) => r.name === 'day');
  assert.is(pathTo(day!, { date: 'a/b' }), '/day/a%2Fb');
  assert.is(pathTo(day!, { date: 7, from: 'list', no: null, also: { x: 1 } }), '/day/7?from=list');
  for (const date of ['', '..', '.', undefined, null, {}, '\u0000']) assert.is(pathTo(day!, { date }), null);
  assert.is(pathTo(day!, JSON.parse('{"__proto__": {"date": "x"}}')), null);
  assert.equal(paramsOf('/day/:date/:hour'), ['date', 'hour']);
});

/** What no path can carry: a step up, control signs, half a sign. */
const isOdd = (text: string) => ['.', '..'].includes(text) || /[\p{Cc}\p{Cs}]/u.test(text);
test('what a parameter carries comes back, whatever it is, and never as another route', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }), (date) => {
      const path = pathTo(routes[3]!, { date, hour: 'h' });
      if (path === null) return assert.ok(isOdd(date), JSON.stringify(date));
      assert.match(path, /^\/day\/[^/?#]+\/h$/);
      const m = matchRoute(routes, path)!;
      assert.equal([m.route.name, m.params], ['hour', { date, hour: 'h' }]);
    }),
  );
});

test('no path of whatever making holds the matcher up or makes it throw', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('/', '%', 'a', '.', ':', '2', 'F', '\\', '?'), maxLength: 200 }),
      (path) => {
        const m = matchRoute(routes, path);
        if (m) assert.ok(Object.keys(m.params).every((k) => ['date', 'hour'].includes(k)));
      },
    ),
  );
});

test('a path of a route is literal segments and parameters, and nothing else', () => {
  const form = new RegExp(routeForm);
  for (const good of ['/', '/a', '/a/:b', '/:b/c.d', '/a-b/~c']) assert.ok(form.test(good), good);
  for (const bad of [
    '',
    'a',
    '/a/',
    '//',
    '/a b',
    '/:',
    '/:1',
    '/a%20',
    '/a?b',
    '/:a:b',
    '/*',
    `/${'a/'.repeat(9)}b`,
  ])
    assert.not.ok(form.test(bad), bad);
});

test('an app lies at /s/<id>/, and no other address is one', () => {
  assert.is(appPath('energy'), '/s/energy/');
  assert.equal(mountedAt('/s/energy'), { id: 'energy', path: '/' });
  assert.equal(mountedAt('/s/energy/day/1'), { id: 'energy', path: '/day/1' });
  for (const path of ['/', '/s', '/s/', '/s//x', '/shop', '/a/s/energy']) assert.is(mountedAt(path), null);
});

test('a guard wants its parameter, or something in the view model', () => {
  const has = { path: ['state', 'viewModel', 'a'] } as const;
  const scope = (a: unknown) => ({ state: { viewModel: { a } } });
  const id = { hasParam: 'id', else: 'list' };
  assert.is(closedBy([id], { id: '7' }, {}), undefined);
  const lacking: Record<string, string>[] = [{}, { id: '' }, { other: '7' }];
  for (const params of lacking) assert.is(closedBy([id], params, {}), id);
  assert.is(closedBy([{ hasParam: 'toString' }], {}, {})?.hasParam, 'toString');
  for (const a of [undefined, null, '', false, []]) assert.ok(closedBy([{ has }], {}, scope(a)));
  for (const a of [0, 'x', true, [1], {}]) assert.not.ok(closedBy([{ has }], {}, scope(a)));
});

test('each skill has its own part of the view model, whatever its state is called in there', () => {
  const app = { id: 'shop', skills: ['weather'], initial: { shop: { n: 1, m: 2 }, other: { x: 1 } } };
  const tree = { state: { viewModel: { shop: { m: 3 }, weather: { c: 4 }, evil: 1 } } };
  const contents = JSON.parse(
    '{"shop": {"n": 5, "weather": "mine"}, "weather": {"shop": {"n": 9}, "__proto__": {"p": 1}}, "evil": {"y": 1}}',
  );
  assert.equal(viewModelOf(app, tree, contents), {
    shop: { n: 5, m: 3, weather: 'mine' },
    weather: { c: 4, shop: { n: 9 } },
  });
  for (const odd of [null, 'x', [1], undefined])
    assert.equal(viewModelOf(app, undefined, { shop: odd }), { shop: { n: 1, m: 2 }, weather: {} });
});

test.run();
