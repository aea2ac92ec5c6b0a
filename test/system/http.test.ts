// One small request: what answers it, and what does not hold it up.
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcp } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { exchange } from '../../firmware/system/http.ts';
import { within } from '../lab/wait.ts';

const test = suite<{ server: Server; base: string }>('http');
const bounds = { timeoutMs: 2000, maxBytes: 1000 };
const at = (s: { address(): unknown }) => `http://127.0.0.1:${(s.address() as AddressInfo).port}`;
const listening = async <S extends { listen(p: number, h: string, f: () => void): unknown }>(s: S) => {
  await new Promise<void>((done) => s.listen(0, '127.0.0.1', done));
  return s;
};
const failed = (asked: Promise<unknown>) =>
  within(
    asked.then(
      () => 'answered',
      (e: Error) => e.message,
    ),
    'the end of the request',
  );

test.before(async (c) => {
  c.server = await listening(
    createServer((q, r) => {
      if (q.url === '/moved') return r.writeHead(302, { location: '/here' }).end();
      if (q.url === '/long') return r.end('x'.repeat(1001));
      if (q.url === '/endless') return void setInterval(() => r.write('x'.repeat(100)), 1).unref();
      if (q.url === '/broken') {
        r.writeHead(200, { 'content-length': '50' });
        r.write('half');
        return setTimeout(() => r.destroy(), 20);
      }
      if (q.url === '/silent') return;
      let body = '';
      q.on('data', (d) => (body += d)).on('end', () =>
        r.end(`${q.method} ${q.headers['x-a'] ?? ''} ${body}`),
      );
    }),
  );
  c.base = at(c.server);
});
test.after((c) => {
  c.server.closeAllConnections();
  c.server.close();
});

test('a question is asked as it is given, and its answer comes whole', async ({ base }) => {
  const said = await exchange(base, { ...bounds, method: 'POST', headers: { 'x-a': 'b' }, body: 'грüß' });
  assert.equal([said.status, said.body.toString()], [200, 'POST b грüß']);
  assert.is((await exchange(base, bounds)).body.toString(), 'GET  ');
});

test('a redirect is told and not followed', async ({ base }) => {
  const said = await exchange(`${base}/moved`, bounds);
  assert.equal([said.status, said.headers.location], [302, '/here']);
});

test('what is too long, endless, broken off or silent ends in an error', async ({ base }) => {
  assert.match(await failed(exchange(`${base}/long`, bounds)), /too long/);
  assert.match(await failed(exchange(`${base}/endless`, bounds)), /too long/);
  assert.is.not(await failed(exchange(`${base}/broken`, bounds)), 'answered');
  assert.match(await failed(exchange(`${base}/silent`, { ...bounds, timeoutMs: 100 })), /late/);
});

test('an answer that drips is late all the same, and so is a port that only takes connections', async () => {
  const drip = await listening(
    createServer((_, r) => {
      r.writeHead(200);
      setInterval(() => r.write('x'), 10).unref();
    }),
  );
  assert.match(await failed(exchange(at(drip), { timeoutMs: 200, maxBytes: 1e6 })), /late/);
  drip.closeAllConnections();
  drip.close();
  const mute = await listening(createTcp());
  assert.match(await failed(exchange(at(mute), { ...bounds, timeoutMs: 100 })), /late/);
  mute.close();
});

test('nobody there, and an answer that is no HTTP, are errors', async () => {
  const gone = await listening(createTcp());
  const url = at(gone);
  await new Promise((done) => gone.close(done));
  assert.is.not(await failed(exchange(url, bounds)), 'answered');
  const odd = await listening(createTcp((s) => void s.end('\0\0 no HTTP\r\n\r\n')));
  assert.is.not(await failed(exchange(at(odd), bounds)), 'answered');
  odd.close();
});

test.run();
