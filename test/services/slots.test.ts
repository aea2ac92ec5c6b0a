// timeout: 200 s
// The places of the local API: nobody without the token takes one, and one browser does not take all.
import { connect, type Socket } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tried, until } from '../lab/wait.ts';
import { principal, startHub, type TestHub } from './hub.ts';

const test = suite<{ hub: TestHub }>('slots');
test.before(async (c) => {
  c.hub = await startHub();
});
test.after((c) => c.hub.stop());

/** Requests whose body is announced and does not come. */
async function slow(hub: TestHub, count: number, path: string, headers: Record<string, string> = {}) {
  const heads = Object.entries({ host: 'hub', 'content-length': '100', ...headers });
  const text = `POST ${path} HTTP/1.1\r\n${heads.map(([k, v]) => `${k}: ${v}\r\n`).join('')}\r\n{`;
  const answers: string[] = [];
  const sockets: Socket[] = [];
  await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<void>((resolve) => {
          const s = connect(Number(new URL(hub.base).port), '127.0.0.1', () =>
            s.write(text, () => resolve()),
          );
          s.on('data', (d) => answers.push(d.toString().slice(9, 12)));
          s.on('error', () => {});
          sockets.push(s);
        }),
    ),
  );
  return {
    answers,
    async end() {
      for (const s of sockets) s.destroy();
      await until(
        tried(async () => {
          const r = await hub.ask('GET', '/api/node/status');
          return r.status === 200;
        }),
        'all places to be free',
      );
    },
  };
}
const quick = async (hub: TestHub, browser: string) => {
  const began = performance.now();
  const r = await hub.ask('GET', '/v1/icons', { as: { browser } });
  return { status: r.status, ms: performance.now() - began };
};

test('400 slow bodies without the token take no place, wherever they knock', async ({ hub }) => {
  for (const path of [
    '/health/live',
    '/health/ready',
    '/health/none',
    '/v1/icons/pin',
    '/api/status',
    '/x',
  ]) {
    const many = await slow(hub, 400, path);
    const honest = await quick(hub, 'phone1');
    assert.is(honest.status, 200, path);
    assert.ok(honest.ms < 2000, `${path} ${honest.ms} ms`);
    await until(
      tried(() => many.answers.length === 400),
      'each to have its answer',
    );
    // They take GET, from anybody; of other paths nothing is told without the token.
    const isOpen = path === '/health/live' || path === '/health/ready';
    assert.equal([...new Set(many.answers)], [isOpen ? '405' : '401'], path);
    await many.end();
  }
});

test('one browser’s slow bodies take its own places, and end by themselves', async ({ hub }) => {
  const headers = { 'x-service-token': hub.token(), 'x-ingle-principal': principal({ browser: 'greedy' }) };
  const many = await slow(hub, 300, '/v1/icons/pin', headers);
  await until(
    tried(() => many.answers.length === 300 - 64),
    'those beyond its share to be refused',
  );
  assert.equal([...new Set(many.answers)], ['429']);
  assert.is((await quick(hub, 'phone1')).status, 200);
  assert.is((await quick(hub, 'greedy')).status, 429);
  assert.is((await hub.ask('GET', '/api/node/status')).status, 200, 'local control goes on');
  // The server closes them without a word after its 10 s, or we after ours.
  await until(
    tried(async () => (await quick(hub, 'greedy')).status === 200),
    'the slow ones to be given up',
    30,
  );
  await many.end();
});

test.run();
