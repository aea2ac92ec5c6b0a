// gate: out, it listens on a port
// A fetch over real TLS against a stand-in: what is judged, followed, bounded and given up.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { exchange } from '../../firmware/fetch/exchange.ts';
import { type Asked, BOUNDS } from '../../firmware/fetch/request.ts';
import { fromUtf8, utf8 } from '../../firmware/protocol/bytes.ts';
import { within } from '../lab/wait.ts';
import { standIn } from './standin.ts';

const out = '93.184.216.34';
const names = {
  'api.example.org': [out],
  'other.example.org': ['10.0.0.1', out],
  'home.example.org': ['192.168.1.1', '::1', 'fd00::1'],
  'cloud.example.org': ['169.254.169.254'],
  'uncertain.example.org': [out],
  'empty.example.org': [],
};
const hosts = [...Object.keys(names), 'nowhere.example.org'];
const seen: IncomingMessage[] = [];
const paths: Record<string, (q: IncomingMessage, r: ServerResponse) => void> = {
  '/plain': (_, r) => r.writeHead(200, { 'Set-Cookie': 'a=b', ETag: '"1"' }).end('hello'),
  '/echo': (q, r) => void q.pipe(r),
  '/zip': (_, r) => r.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('zipped')),
  '/torn': (_, r) => r.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('zipped').subarray(0, 12)),
  '/bomb': (_, r) => r.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(64 << 20))),
  '/odd': (_, r) => r.writeHead(200, { 'content-encoding': 'br' }).end('x'),
  '/large': (_, r) => r.end(Buffer.alloc(BOUNDS.answer + 1)),
  '/most': (_, r) => r.end(Buffer.alloc(BOUNDS.answer)),
  '/lies': (_, r) => {
    r.writeHead(200, { 'content-length': '100' }).write('short');
    r.destroy();
  },
  '/silent': () => {},
  '/slow': (_, r) => {
    r.writeHead(200).write('a');
    const drip = setInterval(() => r.write('a'), 20);
    r.on('close', () => clearInterval(drip));
  },
  '/round': (_, r) => r.writeHead(302, { location: '/round' }).end(),
  '/other': (_, r) => r.writeHead(302, { location: 'https://other.example.org/plain' }).end(),
  '/evil': (_, r) => r.writeHead(302, { location: 'https://evil.example.net/' }).end(),
  '/inside': (_, r) => r.writeHead(302, { location: 'https://home.example.org/' }).end(),
  '/teapot': (_, r) => r.writeHead(418).end(),
};
const host = await standIn(names, (q, r) => {
  seen.push(q);
  (paths[q.url!] ?? ((_, x) => x.writeHead(404).end()))(q, r);
});
const fetched = (url: string, o: Partial<Asked> & { ms?: number } = {}) =>
  within(
    exchange(
      host.way,
      { url, method: 'GET', headers: {}, body: new Uint8Array(), ...o },
      hosts,
      'Ingle/1 (+us)',
      o.ms ?? 60_000,
    ),
    url,
  );
const at = (path: string) => `https://api.example.org${path}`;
const codeOf = (p: Promise<unknown>): Promise<string> =>
  p.then(
    () => 'fetched',
    (e) => e.code,
  );

const test = suite('fetching');
test.after(() => host.stop());

test('an answer comes with its status, headers and body; the hub says who it is', async () => {
  const r = await fetched(at('/plain'), { headers: { 'User-Agent': 'me', Cookie: 'c', 'X-Mine': '1' } });
  assert.equal([r.status, fromUtf8(r.body), r.url], [200, 'hello', at('/plain')]);
  assert.is(r.headers['etag'], '"1"');
  assert.is(r.headers['set-cookie'], undefined);
  const { headers } = seen.at(-1)!;
  assert.is(headers['user-agent'], 'Ingle/1 (+us)');
  assert.equal([headers.host, headers['x-mine'], headers.cookie], ['api.example.org', '1', undefined]);
  assert.is((await fetched(at('/teapot'))).status, 418);
  assert.is(fromUtf8((await fetched(at('/echo'), { method: 'POST', body: utf8('ping') })).body), 'ping');
  assert.is(fromUtf8((await fetched(at('/zip'))).body), 'zipped');
});

test('a name that leads home or to a cloud’s metadata is never connected', async () => {
  const before = host.connections();
  for (const name of ['home', 'cloud'])
    assert.is(await codeOf(fetched(`https://${name}.example.org/plain`)), 'forbidden', name);
  assert.is(await codeOf(fetched('https://nowhere.example.org/')), 'unavailable');
  assert.is(await codeOf(fetched('https://empty.example.org/')), 'unavailable');
  assert.is(host.connections(), before);
});

test('of several addresses only the public ones are connected, and those that were judged', async () => {
  const given: string[][] = [];
  const way = {
    ...host.way,
    reach(judged: { address: string; family: number }[]) {
      given.push(judged.map((a) => a.address));
      return host.way.reach(judged);
    },
  };
  const asked = {
    url: 'https://other.example.org/plain',
    method: 'GET',
    headers: {},
    body: new Uint8Array(),
  };
  await exchange(way, asked, hosts, 'Ingle', 60_000);
  assert.equal(given, [[out]]);
});

test('a certificate of another name, or one nobody vouches for, ends it', async () => {
  assert.is(await codeOf(fetched('https://uncertain.example.org/plain')), 'unavailable');
  const { ca: _, ...untrusting } = host.way;
  const asked = { url: at('/plain'), method: 'GET', headers: {}, body: new Uint8Array() };
  assert.is(await codeOf(exchange(untrusting, asked, hosts, 'Ingle', 60_000)), 'unavailable');
});

test('redirects are followed among the hosts, and not without end', async () => {
  const r = await fetched(at('/other'), { headers: { authorization: 'k' } });
  assert.equal([r.url, fromUtf8(r.body)], ['https://other.example.org/plain', 'hello']);
  assert.is(seen.at(-1)!.headers.authorization, undefined);
  assert.is(await codeOf(fetched(at('/evil'))), 'forbidden');
  assert.is(await codeOf(fetched(at('/inside'))), 'forbidden');
  assert.is(await codeOf(fetched(at('/round'))), 'unavailable');
});

test('an answer that is too large, packed or not, or breaks off is none', async () => {
  assert.is((await fetched(at('/most'))).body.length, BOUNDS.answer);
  for (const [path, code] of Object.entries({
    '/large': 'too_large',
    '/bomb': 'too_large',
    '/torn': 'unavailable',
    '/lies': 'unavailable',
    '/odd': 'unavailable',
  }))
    assert.is(await codeOf(fetched(at(path))), code, path);
});

test('a host that is silent, drips or whose name nobody resolves is given up', async () => {
  for (const path of ['/silent', '/slow'])
    assert.is(await codeOf(fetched(at(path), { ms: 300 })), 'timeout', path);
  const deaf = { ...host.way, resolve: () => new Promise<never>(() => {}) };
  const asked = { url: at('/plain'), method: 'GET', headers: {}, body: new Uint8Array() };
  assert.is(await codeOf(within(exchange(deaf, asked, hosts, 'Ingle', 100), 'the end')), 'timeout');
});

test.run();
