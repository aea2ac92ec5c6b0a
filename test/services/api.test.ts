// timeout: 240 s
import { connect as tcp } from 'node:net';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { errorTable, isErrorCode } from '../../firmware/protocol/errors.ts';
import { setup1 } from '../../firmware/setup/contract.ts';
import { connect } from '../../firmware/system/bus.ts';
import type { Implementation } from '../../firmware/system/contract.ts';
import { rotateToken } from '../../firmware/system/token.ts';
import { keepAlive } from '../lab/keepalive.ts';
import { tried, until } from '../lab/wait.ts';
import { principal, startHub, type TestHub } from './hub.ts';

const test = suite<{ hub: TestHub }>('local API');
test.before(async (c) => {
  c.hub = await startHub({ skills: ['hub_status'] });
});
test.after((c) => c.hub.stop());

const protectedPaths: [string, string][] = [
  ['GET', '/api/status'],
  ['GET', '/api/node/status'],
  ['GET', '/api/services'],
  ['GET', '/api/setup'],
  ['POST', '/api/setup/restart'],
  ['GET', '/api/observe/stream'],
  ['GET', '/api/observe/tail'],
  ['POST', '/api/observe/ingest'],
  ['GET', '/docs/index?prefix=o1/'],
  ['GET', '/v1/icons'],
  ['POST', '/v1/icons/pin'],
  ['POST', '/v1/icons/order'],
  ['POST', '/v1/open'],
  ['POST', '/skills/hub_status/v1/refresh'],
  ['GET', '/sync/o1/hub_status/view:main'],
  ['GET', '/nothing'],
];

test('health needs no token, everything else does, and a named principal is no token', async ({ hub }) => {
  for (const path of ['/health/live', '/health/ready']) assert.is((await fetch(hub.base + path)).status, 200);
  const token = hub.token();
  const wrong: Record<string, string>[] = [
    {},
    { 'x-service-token': '' },
    { 'x-service-token': token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A') },
    { 'x-service-token': `${token} ` + 'x' },
    { 'x-ingle-principal': principal() },
    { authorization: `Bearer ${token}` },
  ];
  for (const [method, path] of protectedPaths)
    for (const headers of wrong) {
      const r = await fetch(hub.base + path, { method, headers });
      assert.is(r.status, 401, `${method} ${path} ${JSON.stringify(Object.keys(headers))}`);
      assert.is(((await r.json()) as { error: string }).error, 'unauthenticated');
    }
});

test('the owner sees where setup stands and starts it again; without setup the answer says so', async ({
  hub,
}) => {
  assert.is((await hub.ask('GET', '/api/setup')).body.error, 'unavailable');
  const bus = await connect(hub.bus.address);
  const restarts: string[] = [];
  const known = {
    state: 'READY',
    mode: 'softap',
    attempts: 1,
    detail: {
      ...{ online: true, ssid: 'Home', error: '', reason: '', channels: ['ble'], pin_wait_s: 0 },
      ...{ sink_id: 'a', source_id: 'b', name: 'Ingle', model: 'generic', version: '1.0.0' },
    },
  };
  const never = () => {
    throw new Error('not asked in this test');
  };
  const methods = Object.fromEntries(Object.keys(setup1.methods).map((m) => [m, never]));
  await bus.serve(setup1, {
    ...(methods as unknown as Implementation<typeof setup1>),
    Status: () => known,
    Restart: ({ channel }) => {
      restarts.push(channel);
      return {};
    },
  });
  const { state, online } = (await hub.ask('GET', '/api/setup')).body as unknown as Record<string, unknown>;
  assert.equal([state, online], ['READY', true]);
  assert.is((await hub.ask('GET', '/api/setup', { as: { role: 'kid' } })).status, 403);
  assert.is((await hub.ask('POST', '/api/setup/restart')).status, 200);
  assert.equal(restarts, ['api']);
  bus.close();
});

test('a principal that is none is refused even with the token', async ({ hub }) => {
  const bad = [
    'x',
    '!!',
    Buffer.from('{').toString('base64url'),
    principal({ role: 'root' as 'owner' }),
    principal({ owner_id: 'owner' }),
  ];
  for (const value of bad) {
    const r = await hub.ask('GET', '/v1/icons', { headers: { 'x-ingle-principal': value } });
    assert.is(r.status, 400, value);
  }
});

test('who is not the owner sees neither the hub nor its admin skills', async ({ hub }) => {
  for (const role of ['adult', 'kid', 'guest', 'admin'] as const) {
    assert.equal((await hub.ask('GET', '/v1/icons', { as: { role } })).body, []);
    for (const path of ['/api/status', '/api/services', '/api/node/status', '/api/observe/stream'])
      assert.is((await hub.ask('GET', path, { as: { role } })).status, 403, path);
    const open = await hub.ask('POST', '/v1/open', {
      as: { role },
      body: { skill_id: 'hub_status', mode: 'modal' },
    });
    assert.is(open.status, 403);
    assert.is((await hub.ask('POST', '/skills/hub_status/v1/refresh', { as: { role } })).status, 403);
  }
});

test('an admin skill asks for the passkey once the elevation has passed', async ({ hub }) => {
  const as = { elevated_until: Math.floor(Date.now() / 1000) - 1 };
  const asks: [string, string, unknown][] = [
    ['POST', '/v1/open', { skill_id: 'hub_status', mode: 'modal' }],
    ['POST', '/skills/hub_status/v1/refresh', {}],
    ['GET', '/skills/hub_status/v1/state', undefined],
    ['GET', '/api/observe/stream', undefined],
  ];
  for (const [method, path, body] of asks) {
    const r = await hub.ask(method, path, { as, ...(body ? { body } : {}) });
    assert.is(r.status, 401, path);
    assert.is(r.body.error, 'assertion_required');
  }
  assert.is((await hub.ask('GET', '/v1/icons', { as })).body.length, 1, 'its icon is there all the same');
  assert.equal((await hub.ask('GET', '/docs/index?prefix=o1/hub_status', { as })).body.documents, []);
});

test('opening a skill answers where its documents lie', async ({ hub }) => {
  const r = await hub.ask('POST', '/v1/open', { as: {}, body: { skill_id: 'hub_status', mode: 'panel' } });
  assert.equal(r.body, {
    schema: 'ui/v0',
    view: 'o1/hub_status/view:main',
    state: 'o1/hub_status/state:main',
    prefs: 'o1/hub_status/state:device/phone1',
    commands: 'o1/commands/state:device/phone1',
    sizeHints: { w: 480, h: 640 },
    title: 'Hub status',
    mode: 'panel',
  });
  assert.is(
    (await hub.ask('POST', '/v1/open', { as: {}, body: { skill_id: 'none', mode: 'panel' } })).status,
    404,
  );
  const mode = await hub.ask('POST', '/v1/open', {
    as: {},
    body: { skill_id: 'hub_status', mode: 'window' },
  });
  assert.is(mode.status, 400);
  assert.is(mode.body.details.pointer, '/mode');
});

test('malformed, huge and hostile bodies get the one error shape and disturb nobody', async ({ hub }) => {
  const post = (raw: string | Uint8Array, headers = {}) =>
    hub.ask('POST', '/v1/icons/pin', { as: {}, raw, headers });
  assert.is((await post('{')).status, 400);
  assert.is((await post('[]')).status, 400);
  assert.is((await post('null')).status, 400);
  assert.is((await post(Buffer.from([0xff, 0xfe]))).status, 400);
  assert.is((await post(`{"a":${'['.repeat(100)}${']'.repeat(100)}}`)).status, 400);
  const unknown = await post('{"skill_id":"hub_status","pinned":true,"more":1}');
  assert.is(unknown.body.details.pointer, '/more');
  assert.is((await post('{"skill_id":"hub_status","pinned":"yes"}')).body.details.pointer, '/pinned');
  assert.is((await post('{"__proto__":{"pinned":true},"skill_id":"hub_status"}')).status, 400);
  assert.is((await post(`{"skill_id":"${'x'.repeat(70_000)}"}`)).status, 413);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('/v1/icons/pin', '/v1/icons/order', '/v1/open', '/skills/hub_status/v1/refresh'),
      fc.oneof(fc.json(), fc.string(), fc.uint8Array({ maxLength: 300 })),
      async (path, raw) => {
        const r = await hub.ask('POST', path, { as: {}, raw });
        if (r.status < 300) return;
        assert.ok(isErrorCode(r.body.error) && r.body.error !== 'internal', JSON.stringify(r.body));
        assert.is(errorTable[r.body.error as 'conflict'].http, r.status);
        assert.is(typeof r.body.message, 'string');
      },
    ),
    { numRuns: 100 },
  );
});

test('HEAD gets the head of what GET would get, and ends', async ({ hub }) => {
  const ask = async (method: string, path: string) => {
    const headers = { 'x-service-token': hub.token() };
    const r = await fetch(hub.base + path, { method, headers });
    return {
      status: r.status,
      type: r.headers.get('content-type'),
      body: method === 'HEAD' ? await r.text() : '',
    };
  };
  const live = await fetch(`${hub.base}/health/live`);
  const length = String((await live.arrayBuffer()).byteLength);
  const head = await fetch(`${hub.base}/health/live`, { method: 'HEAD' });
  assert.equal([head.status, head.headers.get('content-length')], [200, length]);
  for (const path of ['/health/live', '/v1/icons', '/skills/hub_status/v1/state', '/nothing'])
    assert.equal(await ask('HEAD', path), await ask('GET', path), path);
  // A stream begins and is over.
  assert.equal(await ask('HEAD', '/api/observe/stream'), {
    status: 200,
    type: 'text/event-stream',
    body: '',
  });
  const counts = async () => ((await hub.ask('GET', '/api/status')).body as never)['requests'];
  assert.is(await counts(), 1);
  const refused = await fetch(`${hub.base}/v1/icons/pin`, {
    method: 'HEAD',
    headers: { 'x-service-token': hub.token() },
  });
  assert.equal([refused.status, refused.headers.get('allow')], [405, 'POST']);
});

test('each answer stays out of caches and frames and says what it is', async ({ hub }) => {
  const json = 'application/json';
  for (const [path, type, policy] of [
    ['/api/status', json, "default-src 'none'; frame-ancestors 'none'"],
    ['/nothing', json, "default-src 'none'; frame-ancestors 'none'"],
    ['/api/docs', 'text/html; charset=utf-8', /^default-src 'none'; .*style-src/],
  ] as const) {
    const { headers } = await fetch(hub.base + path, { headers: { 'x-service-token': hub.token() } });
    const said = (name: string) => headers.get(name) ?? '';
    assert.is(said('x-content-type-options'), 'nosniff', path);
    assert.is(said('cache-control'), 'no-store', path);
    assert.is(said('content-type'), type, path);
    if (typeof policy === 'string') assert.is(said('content-security-policy'), policy, path);
    else assert.match(said('content-security-policy'), policy, path);
  }
});

test('a connection goes on after HEAD, with and without a body', async ({ hub }) => {
  const line = keepAlive(Number(new URL(hub.base).port));
  const ask = (method: string, path: string, body?: string) =>
    line.ask({ method, path, headers: { 'x-service-token': hub.token() }, ...(body ? { body } : {}) });
  for (const path of ['/v1/brand', '/v1/icons/pin', '/nothing']) {
    const { status } = await ask('HEAD', path);
    assert.is((await ask('HEAD', path, '{}')).status, status, path);
    assert.is((await ask('GET', path)).status, status, path);
  }
  line.close();
});

test('a path that is not there is told from a method it does not take', async ({ hub }) => {
  for (const path of [
    '/',
    '/api',
    '/api/status/',
    '/skills/hub_status/v2/x',
    '/skills/Hub/v1/x',
    '/skills/hub_status/v1/%00',
  ])
    assert.is((await hub.ask('GET', path)).status, 404, path);
  assert.is((await hub.ask('POST', '/api/status')).status, 405);
  assert.is((await hub.ask('DELETE', '/v1/icons')).status, 405);
  assert.is((await hub.ask('GET', '/skills/hub_status/v1/refresh', { as: {} })).status, 405);
  assert.is((await hub.ask('GET', '/skills/nobody/v1/state', { as: {} })).status, 404);
});

test('a body without end and a line of rubbish end their own connection only', async ({ hub }) => {
  const { port } = new URL(hub.base);
  const raw = (text: string, more?: string): Promise<string> =>
    new Promise((resolve) => {
      let said = '';
      const s = tcp(Number(port), '127.0.0.1', () => s.write(text));
      if (more) s.on('drain', () => s.write(more));
      s.on('data', (d) => {
        said += d;
        if (/^HTTP\/1.1 4/.test(said)) s.destroy();
      });
      s.on('error', () => {});
      s.on('close', () => resolve(said));
    });
  const head = `POST /v1/icons/pin HTTP/1.1\r\nHost: x\r\nX-Service-Token: ${hub.token()}\r\n`;
  assert.match(await raw(`${head}Content-Length: 100000000\r\n\r\n{`), /413/);
  const chunk = `${(16_384).toString(16)}\r\n${'x'.repeat(16_384)}\r\n`;
  assert.match(await raw(`${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(8)}`, chunk), /413/);
  await raw('\x00\x01\x02rubbish\r\n\r\n');
  assert.is((await hub.ask('GET', '/api/status')).status, 200);
});

test('four hundred slow bodies without a token take no slot from the owner', async ({ hub }) => {
  const head = 'POST /v1/icons/pin HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{';
  const slow = Array.from({ length: 400 }, () => tcp(Number(new URL(hub.base).port), '127.0.0.1'));
  for (const s of slow) s.on('error', () => {}).on('connect', () => s.write(head));
  await Promise.all(slow.map((s) => new Promise((ok) => s.once('data', ok).once('close', ok))));
  for (let i = 0; i < 5; i++) assert.is((await hub.ask('GET', '/v1/icons', { as: {} })).status, 200);
  for (const s of slow) s.destroy();
});

test('pins and order are kept, an owner apart from the other, over a restart too', async ({ hub }) => {
  const icon = async (owner_id: string) => (await hub.ask('GET', '/v1/icons', { as: { owner_id } })).body[0];
  assert.equal(
    (await hub.ask('POST', '/v1/icons/pin', { as: {}, body: { skill_id: 'hub_status', pinned: true } })).body,
    { ok: true },
  );
  assert.is(
    (await hub.ask('POST', '/v1/icons/order', { as: {}, body: { order: ['hub_status'] } })).status,
    200,
  );
  assert.is(
    (await hub.ask('POST', '/v1/icons/pin', { as: {}, body: { skill_id: 'x', pinned: true } })).status,
    404,
  );
  assert.is(
    (await hub.ask('POST', '/v1/icons/order', { as: {}, body: { order: ['hub_status', 'x'] } })).body.details
      .pointer,
    '/order/1',
  );
  assert.is(
    (await hub.ask('POST', '/v1/icons/order', { as: {}, body: { order: ['hub_status', 'hub_status'] } }))
      .status,
    400,
  );
  const before = await icon('o1');
  assert.equal([before.pinned, before.order], [true, 0]);
  const other = await icon('o2');
  assert.equal([other.pinned, other.order], [false, null]);
  await hub.kill('api');
  await hub.startApi();
  await hub.available('hub_status');
  assert.equal(await icon('o1'), before);
});

test('a skill that dies keeps its icon, says so, and comes back', async ({ hub }) => {
  const health = async () => (await hub.ask('GET', '/api/status')).body.skills;
  assert.equal(await health(), { known: 1, available: 1 });
  await hub.kill('hub_status');
  const icon = async () => (await hub.ask('GET', '/v1/icons', { as: {} })).body[0];
  await until(
    tried(async () => (await icon()).available === false),
    'the icon to be unavailable',
  );
  assert.equal(await health(), { known: 1, available: 0 });
  const r = await hub.ask('POST', '/skills/hub_status/v1/refresh', { as: {} });
  assert.is(r.status, 503);
  assert.is(r.body.error, 'unavailable');
  assert.is(
    (await hub.ask('POST', '/v1/open', { as: {}, body: { skill_id: 'hub_status', mode: 'modal' } })).status,
    200,
  );
  hub.startSkill('hub_status');
  await hub.available('hub_status');
  assert.is((await hub.ask('POST', '/skills/hub_status/v1/refresh', { as: {} })).status, 200);
});

test('a repeated Idempotency-Key gets the first answer, also after a restart', async ({ hub }) => {
  const refresh = () =>
    hub.ask('POST', '/skills/hub_status/v1/refresh', { as: {}, headers: { 'idempotency-key': 'once-1' } });
  const count = async () =>
    (await hub.ask('GET', '/skills/hub_status/v1/state', { as: {} })).body.refresh.count;
  const before = await count();
  const [a, b] = await Promise.all([refresh(), refresh()]);
  assert.equal(a.body, b.body);
  await hub.kill('api');
  await hub.startApi();
  await hub.available('hub_status');
  assert.equal((await refresh()).body, a.body);
  assert.is(await count(), before + 1);
});

test('bus topics and what happens to skills arrive as events', async ({ hub }) => {
  const abort = new AbortController();
  const r = await fetch(`${hub.base}/api/observe/stream?topic=ui.`, {
    headers: { 'x-service-token': hub.token() },
    signal: abort.signal,
  });
  assert.is(r.headers.get('content-type'), 'text/event-stream');
  let said = '';
  const reading = (async () => {
    for await (const chunk of r.body as unknown as AsyncIterable<Uint8Array>) said += Buffer.from(chunk);
  })().catch(() => {});
  const bus = await connect(hub.bus.address);
  await until(
    tried(() => {
      bus.publish('weather.update', { hidden: true });
      bus.publish('ui.toast', { text: 'привет' });
      return said.includes('ui.toast');
    }),
    'the event',
  );
  assert.match(said, /"payload":\{"text":"привет"\}/);
  assert.not.match(said, /hidden/);
  abort.abort();
  await reading;
  bus.close();
  assert.is((await hub.ask('GET', '/api/status')).status, 200);
});

test('more listeners than there is room for are asked to wait', async ({ hub }) => {
  let abort = new AbortController();
  const listen = () =>
    fetch(`${hub.base}/api/observe/stream`, {
      headers: { 'x-service-token': hub.token() },
      signal: abort.signal,
    });
  let refused: Response[] = [];
  // Until the hub has noticed that earlier listeners are gone, there is less room.
  await until(
    tried(async () => {
      abort = new AbortController();
      refused = (await Promise.all(Array.from({ length: 20 }, listen))).filter((r) => r.status === 429);
      if (refused.length !== 4) abort.abort();
      return refused.length === 4;
    }),
    'room for sixteen and no more',
  );
  assert.ok(refused[0]!.headers.get('retry-after'));
  abort.abort();
  await until(
    tried(async () => {
      const a = new AbortController();
      const r = await fetch(`${hub.base}/api/observe/stream`, {
        headers: { 'x-service-token': hub.token() },
        signal: a.signal,
      });
      a.abort();
      return r.status === 200;
    }),
    'room again',
  );
});

test('names of owners without end do not grow the hub, and those it knows are served on', async ({ hub }) => {
  const said = [];
  for (let n = 0; n < 70; n++)
    said.push((await hub.ask('GET', '/v1/icons', { as: { owner_id: `many${n}` } })).status);
  assert.ok(
    said.slice(0, 50).every((status) => status === 200),
    said.join(' '),
  );
  assert.is(said.at(-1), 429);
  await hub.kill('api');
  await hub.startApi();
  assert.is((await hub.ask('GET', '/v1/icons', { as: { owner_id: 'many0' } })).status, 200);
  assert.is((await hub.ask('GET', '/v1/icons', { as: { owner_id: 'many69' } })).status, 429);
});

test('a rotated token is followed without a restart, and the old one is worth nothing', async ({ hub }) => {
  const old = hub.token();
  rotateToken(`${hub.data}/api/token`);
  await until(
    tried(async () => (await hub.ask('GET', '/api/status')).status === 200),
    'the new token to be taken',
  );
  const r = await fetch(`${hub.base}/api/status`, { headers: { 'x-service-token': old } });
  assert.is(r.status, 401);
});

test('the API ends in good order when asked to, and with its bus', async ({ hub }) => {
  const child = hub.children.get('api')!;
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  child.kill('SIGTERM');
  assert.is(await ended, 0);
  await hub.startApi();
  const again = hub.children.get('api')!;
  const skill = hub.children.get('hub_status')!;
  const both = Promise.all(
    [again, skill].map(
      (c) => new Promise<number | null>((resolve) => c.once('exit', (code) => resolve(code))),
    ),
  );
  await hub.bus.stop();
  assert.equal(await both, [69, 69]);
});

test.run();
