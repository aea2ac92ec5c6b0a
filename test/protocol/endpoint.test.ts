// Declared endpoints: the one a path leads to, what its handler is given, and the words about what is wrong.
import fc from 'fast-check';
import * as T from 'typebox';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checked, faultsOf, SAYS } from '../../firmware/protocol/endpoint/check.ts';
import type { Area } from '../../firmware/protocol/endpoint/endpoint.ts';
import { inputOf } from '../../firmware/protocol/endpoint/input.ts';
import { bind, router } from '../../firmware/protocol/endpoint/router.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';

const test = suite('endpoint');
const plain = { who: 'anybody', doc: 'A test.' } as const;
const area = {
  top: { ...plain, method: 'GET', path: '/' },
  things: { ...plain, method: 'GET', path: '/things' },
  make: { ...plain, method: 'POST', path: '/things', body: T.Object({ n: T.Integer() }) },
  thing: { ...plain, method: 'GET', path: '/things/{id}', params: { id: T.String({ pattern: '^[a-z]+$' }) } },
  special: { ...plain, method: 'GET', path: '/things/special' },
  part: { ...plain, method: ['GET', 'PUT'], path: '/things/{id}/parts/{path*}', body: 'raw' },
} as const satisfies Area;
const handlers = Object.fromEntries(Object.keys(area).map((name) => [name, () => name]));
const { find } = router(bind(area as Area, handlers as never));
const codeOf = (work: () => unknown): string => {
  try {
    work();
  } catch (e) {
    if (e instanceof IngleError) return e.code;
    throw e;
  }
  return '';
};

const table: [method: string, path: string, name: string, params?: Record<string, string>][] = [
  ['GET', '/', 'top'],
  ['GET', '/things', 'things'],
  ['POST', '/things', 'make'],
  ['GET', '/things/lamp', 'thing', { id: 'lamp' }],
  // What is written out goes before a name.
  ['GET', '/things/special', 'special'],
  ['PUT', '/things/lamp/parts/a/b', 'part', { id: 'lamp', path: 'a/b' }],
  ['GET', '/things/special/parts/x', 'part', { id: 'special', path: 'x' }],
  // As its sender meant it; what is handed on stays as it was sent.
  ['GET', '/things/lamp%407', 'thing', { id: 'lamp@7' }],
  ['GET', '/things/1.0.0%2Bb', 'thing', { id: '1.0.0+b' }],
  ['GET', '/things/%D0%B4', 'thing', { id: 'д' }],
  ['GET', '/things/%2541', 'thing', { id: '%41' }],
  ['PUT', '/things/l%61mp/parts/a%2Fb/%2e%2e', 'part', { id: 'lamp', path: 'a%2Fb/%2e%2e' }],
];
for (const [method, path, name, params = {}] of table)
  test(`${method} ${path} is ${name}`, () => {
    const found = find(method, path);
    assert.is(found.bound.name, name);
    assert.equal(found.params, params);
  });

test('what is nowhere is not found, and a wrong method is told what is right', () => {
  for (const path of [
    '',
    '//',
    '/thing',
    '/things/',
    '/things/a/b',
    '/things/a/parts',
    '/things/../x',
    '/things/%2e%2e',
    '/things/.%2E',
    '/things/%2e',
    '/things/a%2Fb',
    '/things/a%5cb',
    '/things/a%00b',
    // No UTF-8, no hexadecimal digits.
    '/things/%ff',
    '/things/%4',
    '/things/%zz',
    '/a'.repeat(99),
  ])
    assert.is(
      codeOf(() => find('GET', path)),
      'not_found',
      path,
    );
  try {
    find('DELETE', '/things');
    assert.unreachable();
  } catch (e) {
    assert.is((e as IngleError).code, 'method_not_allowed');
    assert.is((e as IngleError).details?.['allow'], 'GET, HEAD, POST');
  }
  for (const method of ['', 'get', 'constructor', '__proto__'])
    assert.is(
      codeOf(() => find(method, '/things')),
      'method_not_allowed',
      method,
    );
});

test('HEAD is answered as GET where there is GET, and only there', () => {
  for (const path of ['/', '/things', '/things/lamp', '/things/lamp/parts/a']) {
    const found = find('HEAD', path);
    assert.is(found.method, 'GET');
    assert.is(found.bound, find('GET', path).bound);
    assert.equal(found.params, find('GET', path).params);
  }
  assert.is(find('PUT', '/things/lamp/parts/a').method, 'PUT');
  const { find: writeOnly } = router(bind({ make: area.make } as Area, handlers as never));
  assert.is(
    codeOf(() => writeOnly('HEAD', '/things')),
    'method_not_allowed',
  );
});

test('two endpoints cannot have one place', () => {
  const twice = { a: area.thing, b: { ...area.thing, path: '/things/{other}' } } as Area;
  assert.throws(() => router(bind(twice, handlers as never)), /two endpoints for GET/);
});

test('a handler is given what was declared, and nothing else reaches it', () => {
  const input = (method: string, path: string, body = '', query = '') => {
    const { bound, params } = find(method, path);
    return inputOf(bound.endpoint)(params, new URLSearchParams(query), body);
  };
  assert.equal(input('POST', '/things', '{"n":3}').body, { n: 3 });
  assert.is(input('GET', '/things', 'whatever', 'x=1').body, null);
  assert.equal(input('GET', '/things', '', 'x=1').query, {});
  assert.is(input('PUT', '/things/a/parts/b', 'raw').body, 'raw');
  for (const body of ['{"n":"3"}', '{"n":1.5}', '{}', '[]', 'null', '{"n":1', '"n"'])
    assert.is(
      codeOf(() => input('POST', '/things', body)),
      'invalid_request',
      body,
    );
  assert.is(
    codeOf(() => input('GET', '/things/LAMP')),
    'not_found',
  );
});

const shape = T.Object(
  {
    name: T.String({ minLength: 1, [SAYS]: 'must be a name' }),
    on: T.Optional(T.Boolean()),
    mode: T.Optional(T.Union([T.Literal('a'), T.Literal('b')])),
    list: T.Optional(T.Array(T.Object({ n: T.Integer() }))),
  },
  { additionalProperties: false },
);
const faults: [value: unknown, ...told: [pointer: string, says: RegExp][]][] = [
  [{ name: 'x' }],
  [{}, ['/name', /^is missing$/]],
  [{ name: '' }, ['/name', /^must be a name$/]],
  [{ name: 'x', on: 1 }, ['/on', /^must be a boolean$/]],
  [{ name: 'x', mode: 'c' }, ['/mode', /^must be one of a, b$/]],
  [{ name: 'x', 'a/b~c': 1 }, ['/a~1b~0c', /^is not known here$/]],
  [{ name: 'x', list: [{ n: 1 }, { n: 1.5 }] }, ['/list/1/n', /^must be an integer$/]],
  [{ on: 'x', more: 1 }, ['/more', /not known/], ['/name', /missing/], ['/on', /boolean/]],
  [[], ['', /^must be an object$/]],
  [null, ['', /^must be an object$/]],
];
for (const [value, ...told] of faults)
  test(`faults of ${JSON.stringify(value)}`, () => {
    const found = faultsOf(shape, value);
    assert.equal(found.map((f) => f.pointer).sort(), told.map(([p]) => p).sort());
    for (const [pointer, says] of told) assert.match(found.find((f) => f.pointer === pointer)!.says, says);
  });

test('an optional field that is null is left out, a required one is not', () => {
  assert.equal(checked(shape, { name: 'x', on: null }), { name: 'x' });
  try {
    checked(shape, { name: null, more: 1 });
    assert.unreachable();
  } catch (e) {
    const { code, details, message } = e as IngleError;
    assert.is(code, 'invalid_request');
    assert.is((details!['faults'] as object[]).length, 2);
    assert.match(message, /^"(more|name)" /);
  }
});

const flags = (n: number) => Array.from({ length: n }, (_, i) => `f${i}`);
const wide = T.Object(Object.fromEntries(flags(20).map((name) => [name, T.Boolean()])), {
  additionalProperties: false,
});
const told = (value: object): { faults: { pointer: string }[]; more?: number } => {
  try {
    checked(wide, value);
  } catch (e) {
    return (e as IngleError).details as never;
  }
  return { faults: [] };
};

test('a body with 20 faults is told 20, each at its own place', () => {
  const wrong = Object.fromEntries(flags(20).map((name) => [name, 'yes']));
  assert.equal(
    told(wrong).faults.map((f) => f.pointer),
    flags(20).map((name) => `/${name}`),
  );
  assert.is(told({}).faults.length, 20);
  const mixed = { ...Object.fromEntries(flags(10).map((name) => [name, 1])), a: 1, b: 2 };
  assert.is(told(mixed).faults.length, 22);
});

test('of faults beyond 64 only their number is told', () => {
  const unknown = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`x${i}`, 1]));
  const { faults, more } = told(unknown);
  assert.equal([faults.length, more], [64, 320 - 64]);
});

test('what is not known or wrong below a reference, a list or a condition is told at its own place', () => {
  const tree = {
    $ref: '#/$defs/node',
    $defs: {
      node: {
        type: 'object',
        properties: {
          kind: { enum: ['leaf', 'twig'] },
          tags: { type: 'array', uniqueItems: true, items: { type: 'string', pattern: '^[a-z]+$' } },
          names: { type: 'object', propertyNames: { pattern: '^[a-z]+$', [SAYS]: 'is no name' } },
          kids: { type: 'array', items: { $ref: '#/$defs/node' } },
        },
        additionalProperties: false,
        allOf: [{ if: { properties: { kind: { not: { const: 'twig' } } } }, else: { required: ['kids'] } }],
      },
    },
  };
  const value = { kids: [{ kind: 'twig' }, { kind: 'x', more: 1, tags: ['a', 'a', 'B'], names: { N: 1 } }] };
  assert.equal(
    faultsOf(tree, value)
      .map((f) => `${f.pointer} ${f.says}`)
      .sort(),
    [
      '/kids/0/kids is missing',
      '/kids/1/kind must be one of leaf, twig',
      '/kids/1/more is not known here',
      '/kids/1/names/N is no name',
      '/kids/1/tags/1 is there twice',
      '/kids/1/tags/2 has a form that is not allowed here',
    ],
  );
});

test('a schema that became a function says of every value what it said before', () => {
  const closed = { additionalProperties: false };
  const make = () =>
    T.Object(
      {
        id: T.String({ pattern: '^[a-z]{1,8}$' }),
        n: T.Optional(T.Integer({ minimum: 0, maximum: 9 })),
        kind: T.Optional(T.Union([T.Literal('a'), T.Literal('b')])),
        rows: T.Optional(T.Array(T.Object({ at: T.Number() }, closed), { maxItems: 3, uniqueItems: true })),
      },
      closed,
    );
  const hot = make();
  for (let i = 0; i < 50; i++) faultsOf(hot, { id: 'lamp' });
  const nearly = fc.record(
    {
      id: fc.oneof(fc.string(), fc.constant('lamp'), fc.anything()),
      n: fc.oneof(fc.integer({ min: -2, max: 12 }), fc.double(), fc.anything()),
      kind: fc.oneof(fc.constantFrom('a', 'b', 'c'), fc.anything()),
      rows: fc.oneof(fc.array(fc.record({ at: fc.anything() })), fc.anything()),
      more: fc.anything(),
    },
    { requiredKeys: [] },
  );
  let fine = 0;
  fc.assert(
    fc.property(fc.oneof(nearly, fc.anything(), fc.constant({ id: 'a', n: 3, kind: 'b' })), (value) => {
      const faults = faultsOf(hot, value);
      if (faults.length === 0) fine++;
      assert.equal(faults, faultsOf(make(), value));
    }),
    { numRuns: 2000 },
  );
  assert.ok(fine > 100, `${fine}`);
});

test('whatever comes is taken as it is or refused with pointers that lead somewhere', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const found = faultsOf(shape, value);
      for (const { pointer, says } of found) {
        assert.match(pointer, /^(\/[^/]*)*$/);
        assert.ok(says.length > 3);
      }
      if (found.length === 0) checked(shape, value);
      else
        assert.throws(
          () => checked(shape, value),
          (e: unknown) => e instanceof IngleError || found.length > 0,
        );
    }),
  );
});

test('a closed object is held against its schema alike at the first look and at the hundredth', () => {
  const some = T.Object(
    {
      id: T.String(),
      'a.b': T.Optional(T.Integer()),
      const: T.Optional(T.Literal('c')),
      enum: T.Optional(T.Union([T.Literal('d'), T.Literal('e')])),
      within: T.Optional(T.Array(T.Object({ x: T.Optional(T.Integer()) }, { additionalProperties: false }))),
    },
    { additionalProperties: false },
  );
  const values: [unknown, string[]][] = [
    [{ id: 'a' }, []],
    [{ id: 'a', 'a.b': 1, const: 'c', enum: 'd', within: [{}, { x: 1 }] }, []],
    [{ id: 'a', aab: 1 }, ['/aab']],
    [{ id: 'a', const: 'd' }, ['/const']],
    [{ id: 'a', enum: 'c' }, ['/enum']],
    [{ id: 'a', within: [{}, { y: 1 }] }, ['/within/1/y']],
    [{ id: 'a', properties: {} }, ['/properties']],
  ];
  for (let look = 0; look < 60; look++)
    for (const [value, pointers] of values)
      assert.equal(
        faultsOf(some, value).map((f) => f.pointer),
        pointers,
      );
});

test.run();
