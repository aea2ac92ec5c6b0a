// What a skill's page says out of its frame: only what it may, whatever it sends.
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  isLight,
  isTicket,
  ownPath,
  pageBounds,
  readSaid,
  sizeWithin,
} from '../../firmware/ui/page/messages.ts';

const test = suite('messages of a page');

const request = (more: object) => readSaid({ type: 'request', id: 1, api: '/v1/x', ...more });
const codeOf = (said: ReturnType<typeof readSaid>) =>
  said?.type === 'refused' ? said.error.code : (said?.type ?? null);

test('what a page has to say is read, and all else is nothing', () => {
  assert.equal(readSaid({ type: 'hello', ticket: 't', more: 1 }), { type: 'hello', ticket: 't' });
  assert.equal(readSaid({ type: 'resize', h: 20 }), { type: 'resize', w: undefined, h: 20 });
  assert.equal(readSaid({ type: 'resize', w: '1', h: Number.NaN }), {
    ...{ type: 'resize', w: undefined, h: undefined },
  });
  assert.equal(request({}), { type: 'request', id: 1, method: 'GET', api: '/v1/x', body: undefined });
  assert.equal(request({ id: 'a', method: 'POST', body: { a: [1] } }), {
    ...{ type: 'request', id: 'a', method: 'POST', api: '/v1/x', body: { a: [1] } },
  });
  for (const data of [null, undefined, 1, 'hello', [], ['hello'], {}, { type: 'page' }, { type: 'context' }])
    assert.is(readSaid(data), null, JSON.stringify(data));
});

test('a request that can be answered is, one without an id is nothing', () => {
  const rows: [more: object, code: string | null][] = [
    [{ id: undefined }, null],
    [{ id: '' }, null],
    [{ id: 1.5 }, null],
    [{ id: 'x'.repeat(65) }, null],
    [{ id: 'x'.repeat(64) }, 'request'],
    [{ id: {} }, null],
    [{ method: 'DELETE' }, 'invalid_request'],
    [{ method: 'get' }, 'invalid_request'],
    [{ body: {} }, 'invalid_request'],
    [{ api: '/skills/other/v1/x' }, 'forbidden'],
    [{ api: undefined }, 'forbidden'],
    [{ method: 'POST', body: 'x'.repeat(pageBounds.weight) }, 'too_large'],
    [{ method: 'POST', body: new Map() }, 'too_large'],
  ];
  for (const [more, code] of rows) assert.is(codeOf(request(more)), code, JSON.stringify(more).slice(0, 80));
});

test('a page asks below its own skill’s path and nowhere else', () => {
  for (const api of ['/v1/x', '/v1/a/b-c/d.e', '/v1/x?', '/v1/x?a=%20&b=../..', '/v1/~a/_b/-c'])
    assert.is(ownPath('lamp', api), `/skills/lamp${api}`);
  const bad = [
    ...['', '/', 'v1/x', '/v1', '/v1/', '/v2/x', '//v1/x', '/v1//x', '/v1/x/', '/V1/x', ' /v1/x', '/v1/x '],
    ...['/v1/..', '/v1/.', '/v1/../../other/v1/x', '/v1/x/../y', '/v1/.hidden', '/v1/%2e%2e/x', '/v1/a%2Fb'],
    ...[
      '/v1/x#y',
      '/v1/x?a?b',
      '/v1/x?a#b',
      '/v1/x\\y',
      '/v1/x\n',
      '/v1/x?a\nb',
      '/v1/é',
      '/v1/x;y',
      '/v1/x@y',
    ],
    ...['https://x.y/v1/x', '/skills/other/v1/x', `/v1/${'x'.repeat(2000)}`],
  ];
  for (const api of [...bad, null, 1, ['/v1/x'], { toString: () => '/v1/x' }])
    assert.is(ownPath('lamp', api), null, String(api).slice(0, 60));
});

test('whatever address it makes up stays below its own skill as a browser or a server reads it', () => {
  const piece = fc.constantFrom(
    '/',
    '..',
    '.',
    '%2e',
    '%2F',
    'v1',
    'skills',
    'other',
    '\\',
    '?',
    '#',
    '@',
    ':',
    'x',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(piece).map((p) => `/v1/${p.join('')}`),
        fc.string(),
      ),
      (api) => {
        const path = ownPath('lamp', api);
        if (path === null) return;
        const url = new URL(path, 'http://hub');
        assert.ok(decodeURIComponent(url.pathname).startsWith('/skills/lamp/v1/'), api);
        assert.is(url.pathname + url.search + (path.endsWith('?') ? '?' : ''), path);
        assert.is(url.host + url.hash, 'hub');
      },
    ),
    { numRuns: 3000 },
  );
});

test('plain JSON within the bounds is taken, and nothing else', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (v) => isLight(JSON.parse(JSON.stringify(v))) === true),
  );
  const deep = (n: number): unknown => (n === 0 ? 1 : [deep(n - 1)]);
  const round: unknown[] = [];
  round.push(round);
  assert.ok(isLight(deep(pageBounds.depth)));
  const heavy = [
    ...[
      deep(pageBounds.depth + 1),
      round,
      'x'.repeat(pageBounds.weight),
      new Array(2 ** 32 - 1),
      new Date(),
      /x/,
    ],
    ...[new Map(), new Uint8Array(1), 1n, Number.NaN, () => {}, { a: { b: new Set() } }],
    Object.fromEntries(Array.from({ length: 9000 }, (_, i) => [i, 1])),
    { ['k'.repeat(pageBounds.weight)]: 1 },
  ];
  for (const [i, v] of heavy.entries()) assert.is(isLight(v), false, String(i));
});

test('of JSON that is taken, its text is bounded as well', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 3000 }), { maxLength: 60 }), (list) => {
      if (isLight(list)) assert.ok(list.join('').length <= pageBounds.weight);
      else assert.ok(list.join('').length + list.length * 8 + 8 > pageBounds.weight);
    }),
  );
});

test('only the very ticket is one', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.anything(), (ticket, other) => {
      assert.ok(isTicket(ticket, ticket));
      assert.is(isTicket(other, ticket), other === ticket);
      assert.is(isTicket(`${ticket}x`, ticket), false);
      assert.is(isTicket(ticket.slice(1), ticket), false);
    }),
  );
  for (const said of [undefined, null, '', ['abc'], { length: 3 }]) assert.is(isTicket(said, 'abc'), false);
  assert.is(isTicket('ab\0', 'ab'), false);
  assert.is(isTicket('ab', 'ab\0'), false);
});

test('a size stays within what a window can show', () => {
  const now = { w: 300, h: 200 };
  assert.equal(sizeWithin({ w: undefined, h: undefined }, now), now);
  assert.equal(sizeWithin({ w: -5, h: 0 }, now), { w: 120, h: 40 });
  assert.equal(sizeWithin({ w: 1e9, h: 1e300 }, now), { w: 4000, h: 4000 });
  assert.equal(sizeWithin({ w: undefined, h: 99.6 }, { w: undefined, h: 1 }), { w: undefined, h: 100 });
  const any = fc.option(fc.double({ noNaN: true }), { nil: undefined });
  fc.assert(
    fc.property(any, any, (w, h) => {
      const size = sizeWithin({ w, h }, now);
      assert.ok(Number.isInteger(size.w) && Number.isInteger(size.h));
      assert.ok(size.w! >= 120 && size.w! <= 4000 && size.h >= 40 && size.h <= 4000);
    }),
  );
});

test.run();
