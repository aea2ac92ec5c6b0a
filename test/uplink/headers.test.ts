// Header by header: what of a browser's request reaches the local API, and what of the answer goes back.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fromBase64url, fromUtf8 } from '../../firmware/protocol/bytes.ts';
import { isPath, type Principal, requestHeaders, responseHeaders } from '../../firmware/uplink/headers.ts';
import { serviceToken } from '../../firmware/uplink/token.ts';

const test = suite('headers');
const me: Principal = { owner_id: 'own_1', browser: 'B', role: 'owner', elevated_until: 7 };
const hop = ['connection', 'proxy-connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'];
hop.push('host', 'content-length', 'expect');
const rights = ['cookie', 'authorization', 'proxy-authorization', 'x-service-token', 'forwarded'];
rights.push('x-ingle-principal', 'x-ingle-x', 'x-forwarded-for', 'sec-websocket-key');

/** What of the given headers passes, beside the two the hub sets. */
const passes = (given: Record<string, unknown>) => {
  const { 'x-service-token': token, 'x-ingle-principal': who, ...rest } = requestHeaders(given, me, 'T');
  assert.is(token, 'T');
  assert.equal(JSON.parse(fromUtf8(fromBase64url(who!))), me);
  return rest;
};

test('no header of a connection and none that gives rights passes, however it is written', () => {
  for (const name of [...hop, ...rights])
    for (const spelt of [name, name.toUpperCase()]) assert.equal(passes({ [spelt]: 'x' }), {}, spelt);
  assert.equal(passes({ Accept: 'a', 'X-Fine': 'b' }), { accept: 'a', 'x-fine': 'b' });
});

test('a value is one line of Latin-1 and at most 8192 characters; a name is a token', () => {
  const long = 'x'.repeat(8192);
  assert.equal(passes({ a: long, b: '', c: 'é ÿ\t~', [`n${'n'.repeat(99)}`]: '1' }), {
    ...{ a: long, b: '', c: 'é ÿ\t~' },
    [`n${'n'.repeat(99)}`]: '1',
  });
  const values: unknown[] = [
    `${long}x`,
    'a\nb',
    'a\rb',
    'a\0b',
    'a\x7fb',
    'ж',
    7,
    null,
    ['a'],
    { length: 1 },
  ];
  for (const a of values) assert.equal(passes({ a }), {}, String(a));
  for (const name of ['', 'a b', 'a:b', 'é', 'n'.repeat(101), 'a\n', '\na'])
    assert.equal(passes({ [name]: '1' }), {});
});

test('a browser may send 64 headers', () => {
  const many = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`h${i}`, '1']));
  assert.is(Object.keys(passes(many)).length, 64);
});

test('an answer keeps its length and loses what concerns the connection or the local API', () => {
  const given = { 'Content-Length': '5', ETag: '"1"', Vary: ['a', 'b'], 'content-type': undefined };
  assert.equal(responseHeaders(given), { 'content-length': '5', etag: '"1"', vary: 'a, b' });
  for (const name of [...hop, ...rights, 'set-cookie', 'Set-Cookie'])
    if (name !== 'content-length') assert.equal(responseHeaders({ [name]: 'x' }), {}, name);
  assert.equal(responseHeaders({ 'content-length': undefined }), {});
});

test('a path is one on this host, in ASCII, without a fragment, of at most 8192 characters', () => {
  const long = `/${'x'.repeat(8191)}`;
  for (const p of ['/', '/a?b=c', '/%D0%B6', '/~!"$', long]) assert.ok(isPath(p), p.slice(0, 20));
  for (const p of [
    '',
    'a',
    '//evil',
    '/a#b',
    '/a b',
    '/ж',
    '/a\n',
    '/a\x7f',
    `${long}x`,
    'http://e/',
    7,
    null,
    ['/a'],
  ])
    assert.not(isPath(p), String(p).slice(0, 20));
});

test('the token of the local API is read when needed, and again when it was refused', () => {
  const dir = mkdtempSync(join(tmpdir(), 'ingle-token-'));
  const file = join(dir, 'token');
  const token = serviceToken(file);
  assert.is(token.get(), '', 'the local API has not started yet');
  assert.is(token.stale(), true, 'it may have started meanwhile');
  writeFileSync(file, 'first\n');
  assert.is(token.get(), 'first');
  writeFileSync(file, 'second\n');
  assert.is(token.get(), 'first');
  assert.is(token.stale(), true);
  assert.is(token.get(), 'second');
  assert.is(token.stale(), false, 'the same again');
  rmSync(dir, { recursive: true });
});

test.run();
