// What a browser asks for reaches the local API as the hub wants it, and nothing else does.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { WebSocketServer } from 'ws';
import { concat, fromBase64url, fromUtf8, utf8 } from '../../firmware/protocol/bytes.ts';
import type { TunnelSocket } from '../../firmware/protocol/tunnel/tunnel.ts';
import { forward, type LocalApi } from '../../firmware/uplink/forward.ts';
import { isPath, type Principal, requestHeaders, responseHeaders } from '../../firmware/uplink/headers.ts';
import { serviceToken } from '../../firmware/uplink/token.ts';
import { forwardSocket } from '../../firmware/uplink/websocket.ts';
import { until } from '../lab/wait.ts';

const me: Principal = { owner_id: 'own_1', browser: 'B', role: 'owner', elevated_until: 7 };
const never = new AbortController().signal;

interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
}
const test = suite<{
  dir: string;
  file: string;
  seen: Seen[];
  token: string;
  server: Server;
  wss: WebSocketServer;
  api: LocalApi;
}>('forward');

test.before.each(async (c) => {
  c.dir = mkdtempSync(join(tmpdir(), 'ingle-forward-'));
  c.file = join(c.dir, 'token');
  c.token = 'first';
  writeFileSync(c.file, 'first\n');
  c.seen = [];
  c.server = createServer(async (q, s) => {
    const parts: Buffer[] = [];
    for await (const p of q) parts.push(p as Buffer);
    if (q.headers['x-service-token'] !== c.token) return s.writeHead(401).end('{}');
    c.seen.push({ method: q.method!, url: q.url!, headers: q.headers, body: Buffer.concat(parts) });
    if (q.url === '/silent') return;
    if (q.url === '/break') {
      s.writeHead(200).write('half');
      return setTimeout(() => q.socket.destroy(), 20);
    }
    if (q.url === '/large') {
      s.writeHead(200, { 'content-type': 'application/octet-stream' });
      for (let i = 0; i < 64; i++) s.write(Buffer.alloc(65_536, i));
      return s.end();
    }
    s.writeHead(201, { 'content-type': 'text/plain', 'set-cookie': 'a=b', 'x-ingle-x': '1', etag: '"1"' });
    s.end(`hi ${q.url}`);
  });
  c.wss = new WebSocketServer({ noServer: true });
  c.server.on('upgrade', (q, socket, head) => {
    c.seen.push({ method: 'WS', url: q.url!, headers: q.headers, body: Buffer.alloc(0) });
    if (q.headers['x-service-token'] !== c.token)
      return socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}');
    if (q.url === '/forbidden') {
      const body = '{"error":"forbidden","message":"No."}';
      return socket.end(
        `HTTP/1.1 403 Forbidden\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      );
    }
    c.wss.handleUpgrade(q, socket, head, (ws) => {
      ws.send('welcome');
      ws.on('message', (d, binary) => (String(d) === 'bye' ? ws.close() : ws.send(d, { binary })));
    });
  });
  await new Promise<void>((ok) => c.server.listen(0, '127.0.0.1', ok));
  const { port } = c.server.address() as AddressInfo;
  c.api = { host: '127.0.0.1', port, token: serviceToken(c.file), headTimeout: 5000 };
});
test.after.each(async (c) => {
  c.server.closeAllConnections();
  for (const ws of c.wss.clients) ws.terminate();
  c.wss.close();
  await new Promise((ok) => c.server.close(ok));
  rmSync(c.dir, { recursive: true, force: true });
});

async function* body(...parts: Uint8Array[]) {
  yield* parts;
}
async function read(b: Awaited<ReturnType<typeof forward>>['body']): Promise<Uint8Array> {
  if (b === undefined || b instanceof Uint8Array) return b ?? new Uint8Array();
  const parts: Uint8Array[] = [];
  for await (const p of b) parts.push(p);
  return concat(...parts);
}
const get = (path: string, headers: Record<string, string> = {}) => ({ method: 'GET', path, headers });

test('a request arrives with the service token and who asks; the answer comes back', async ({
  api,
  seen,
}) => {
  const a = await forward(api, get('/v1/icons?x=1', { accept: 'text/plain' }), body(), me, never);
  assert.is(a.status, 201);
  assert.is(fromUtf8(await read(a.body)), 'hi /v1/icons?x=1');
  assert.is(a.headers['etag'], '"1"');
  assert.is(a.headers['set-cookie'], undefined);
  assert.is(a.headers['x-ingle-x'], undefined);
  const { headers } = seen[0]!;
  assert.is(headers['accept'], 'text/plain');
  assert.equal(JSON.parse(fromUtf8(fromBase64url(headers['x-ingle-principal'] as string))), me);
});

test('a browser cannot speak with rights that are not its own', async ({ api, seen }) => {
  const evil = {
    'X-Service-Token': 'mine',
    'x-ingle-principal': 'e30',
    'X-Ingle-Anything': '1',
    Cookie: 'a=b',
    Authorization: 'Bearer x',
    'X-Forwarded-For': '1.2.3.4',
    Host: 'evil',
    Connection: 'upgrade, x-service-token',
    'Transfer-Encoding': 'chunked',
    'Content-Length': '999',
    'bad name': 'x',
    'x-split': 'a\r\nx-ingle-principal: e30',
    'x-fine': 'ж'.length === 1 ? 'ok' : '',
  };
  await forward(api, { ...get('/x', evil), method: 'POST' }, body(utf8('{}')), me, never);
  const { headers } = seen[0]!;
  assert.is(headers['x-service-token'], 'first');
  assert.is(headers['content-length'], '2');
  for (const gone of [
    'cookie',
    'authorization',
    'x-forwarded-for',
    'x-ingle-anything',
    'transfer-encoding',
    'x-split',
  ])
    assert.is(headers[gone], undefined, gone);
  assert.is(headers['x-fine'], 'ok');
  assert.match(headers['host']!, /^127\.0\.0\.1/);
});

test('whatever headers a browser makes up, only harmless ones pass', () => {
  const name = fc.oneof(
    fc.string(),
    fc.constantFrom(
      'X-INGLE-a',
      'x-Service-Token',
      'COOKIE',
      'aUthorization',
      'Host',
      'te',
      'sec-websocket-key',
    ),
  );
  fc.assert(
    fc.property(fc.dictionary(name, fc.oneof(fc.string(), fc.string({ unit: 'binary' }))), (given) => {
      const out = requestHeaders(given, me, 'T');
      assert.is(out['x-service-token'], 'T');
      for (const [n, v] of Object.entries(out)) {
        assert.match(n, /^[!#$%&'*+.^_`|~0-9a-z-]+$/);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: looked for on purpose
        assert.not.match(v, /[\x00\r\n]/);
      }
      assert.is(
        Object.keys(out)
          .filter((n) => n.startsWith('x-ingle-'))
          .join(),
        'x-ingle-principal',
      );
      for (const n of ['cookie', 'authorization', 'host', 'te', 'sec-websocket-key']) assert.not(n in out);
      responseHeaders(given);
    }),
  );
});

test('only a path of the local API is a path', async ({ api, seen }) => {
  for (const bad of [
    '',
    'x',
    '//evil/x',
    'http://evil/',
    '/a b',
    '/a\r\nb',
    '/a#b',
    '/ж',
    '/' + 'x'.repeat(9000),
  ]) {
    assert.not(isPath(bad), bad);
    const e = await forward(api, get(bad), body(), me, never).catch((x) => x);
    assert.is(e.code, 'invalid_request');
  }
  const e = await forward(api, { ...get('/'), method: 'CONNECT' }, body(), me, never).catch((x) => x);
  assert.is(e.code, 'method_not_allowed');
  assert.ok(isPath('/v1/icons?a=b&c=%20'));
  assert.is(seen.length, 0);
});

test('a rotated service token is read anew, and the request sent again with its body', async (c) => {
  await forward(c.api, get('/a'), body(), me, never);
  c.token = 'second';
  writeFileSync(c.file, 'second');
  const a = await forward(c.api, { ...get('/b'), method: 'POST' }, body(utf8('one'), utf8('two')), me, never);
  assert.is(a.status, 201);
  assert.is(c.seen.at(-1)!.body.toString(), 'onetwo');
  c.token = 'third';
  assert.is((await forward(c.api, get('/c'), body(), me, never)).status, 401);
});

test('large bodies stream both ways', async ({ api, seen }) => {
  const big = Array.from({ length: 40 }, (_, i) => new Uint8Array(16_384).fill(i));
  const a = await forward(api, { ...get('/large'), method: 'PUT' }, body(...big), me, never);
  assert.is((await read(a.body)).length, 64 * 65_536);
  assert.ok(seen[0]!.body.equals(Buffer.concat(big)));
});

test('a large body on a slow line may come for longer than an answer may take', async ({ api, seen }) => {
  async function* slow() {
    for (let i = 0; i < 24; i++) {
      if (i > 5) await new Promise((done) => setTimeout(done, 100));
      yield new Uint8Array(16_384).fill(i);
    }
  }
  await forward({ ...api, headTimeout: 1000 }, { ...get('/large'), method: 'PUT' }, slow(), me, never);
  assert.is(seen[0]!.body.length, 24 * 16_384);
});

test('while the local API is away the browser gets 503 and may ask again', async (c) => {
  const dead = { ...c.api, port: 1 };
  const a = await forward(dead, get('/x'), body(), me, never);
  assert.equal([a.status, a.headers['retry-after']], [503, '1']);
  assert.is(JSON.parse(fromUtf8(await read(a.body))).error, 'unavailable');
  const e = await forwardSocket(dead, get('/sync'), quiet(), me).catch((x) => x);
  assert.is(e.code, 'unavailable');
  rmSync(c.file);
  const none = { ...c.api, token: serviceToken(c.file) };
  assert.is((await forward(none, get('/x'), body(), me, never)).status, 401);
});

test('an answer that never comes, breaks off or is not wanted any more ends as such', async ({ api }) => {
  const late = await forward({ ...api, headTimeout: 50 }, get('/silent'), body(), me, never).catch((x) => x);
  assert.is(late.code, 'timeout');
  const half = await forward(api, get('/break'), body(), me, never);
  assert.is((await read(half.body).catch((x) => x)).code, 'unavailable');
  const stop = new AbortController();
  const gone = forward(api, get('/silent'), body(), me, stop.signal).catch((x) => x);
  setTimeout(() => stop.abort(), 30);
  assert.is((await gone).code, 'timeout');
});

function quiet(): TunnelSocket & { got: unknown[]; closed: number } {
  return {
    got: [],
    closed: 0,
    async send(d) {
      this.got.push(d);
    },
    onmessage: () => {},
    onclose: () => {},
    close() {
      this.closed++;
    },
  };
}

test('a WebSocket carries text and bytes both ways in order, and closes from either side', async ({
  api,
  seen,
}) => {
  const s = quiet();
  await forwardSocket(api, get('/sync/room', { cookie: 'x' }), s, me);
  assert.is(seen[0]!.headers['cookie'], undefined);
  assert.ok(seen[0]!.headers['x-ingle-principal']);
  for (const d of ['a', utf8('b'), 'ж']) await s.onmessage(d);
  await until(() => s.got.length === 4);
  assert.equal(s.got, ['welcome', 'a', utf8('b'), 'ж']);
  await s.onmessage('bye');
  await until(() => s.closed === 1);
});

test('a browser that reads slowly holds the local API back, and nothing is lost', async ({ api, wss }) => {
  const s = quiet();
  let release: () => void = () => {};
  const gate = new Promise<void>((ok) => (release = ok));
  s.send = async (d) => {
    await gate;
    s.got.push(d);
  };
  await forwardSocket(api, get('/sync'), s, me);
  const [ws] = wss.clients;
  for (let i = 0; i < 2000; i++) ws!.send(new Uint8Array(16_384).fill(i & 255));
  await new Promise((ok) => setTimeout(ok, 100));
  assert.ok(ws!.bufferedAmount > 0, 'the sender is held back');
  release();
  await until(() => s.got.length === 2001);
  assert.is((s.got[2000] as Uint8Array)[0], 1999 & 255);
});

test('a refused WebSocket says why, and a rotated token is tried again', async (c) => {
  const e = await forwardSocket(c.api, get('/forbidden'), quiet(), me).catch((x) => x);
  assert.is(e.code, 'forbidden');
  c.token = 'second';
  writeFileSync(c.file, 'second');
  const s = quiet();
  await forwardSocket(c.api, get('/sync'), s, me);
  await until(() => s.got.length === 1);
  s.onclose(null);
});

test.run();
