// timeout: 240 s
// `ingle api call` against a running ingle-api, and against one that is not what it should be.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { methodsOf } from '../../firmware/protocol/endpoint/endpoint.ts';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { connect } from '../../firmware/system/bus.ts';
import { areas, localDocument } from '../../services/api/areas.ts';
import { callApi, type Question } from '../../services/cli/hub/call.ts';
import { eventReader, type StreamEvent } from '../../services/cli/hub/events.ts';
import { speaker } from '../../services/cli/say.ts';
import { until } from '../lab/wait.ts';
import { startHub, type TestHub } from '../services/hub.ts';

const test = suite<{ hub: TestHub }>('ingle api call');
const dir = mkdtempSync(join(tmpdir(), 'ingle-call-'));
const launcher = join(process.cwd(), 'services/cli/ingle.mjs');
const fileOf = (name: string, text: string) => {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
};

test.before(async (c) => {
  c.hub = await startHub();
});
const fakes: { close(): void }[] = [];
test.after(async (c) => {
  for (const f of fakes) f.close();
  await c.hub.stop();
  rmSync(dir, { recursive: true, force: true });
});

function begin(hub: TestHub, args: string[], env: Record<string, string> = {}, command = ['api', 'call']) {
  const child = spawn(process.execPath, [launcher, ...command, ...args], {
    cwd: dir,
    env: { ...process.env, ...hub.env, INGLE_LANG: 'en', INGLE_LOG: 'debug', ...env },
  });
  const said = { out: '', err: '' };
  child.stdout.on('data', (d) => (said.out += d));
  child.stderr.on('data', (d) => (said.err += d));
  const ended = new Promise<number | null>((done) => child.on('close', done));
  return { child, said, ended };
}
async function ingle(hub: TestHub, args: string[], env: Record<string, string> = {}, input = '') {
  const { child, said, ended } = begin(hub, args, env);
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const code = await ended;
  assert.not.match(said.out + said.err, hub.token(), 'the token is not shown');
  return { code, ...said };
}

test('what names a hook leads to no other path', async ({ hub }) => {
  for (const id of ['.', '..']) {
    const { said, ended } = begin(hub, [id], {}, ['hook', 'remove']);
    assert.is(await ended, 66);
    assert.match(said.err, /There is no hook "\.+". See: ingle hook list/);
  }
  const { said, ended } = begin(hub, ['../icons'], {}, ['hook', 'remove']);
  assert.is.not(await ended, 0, said.out);
});

test('the answer is laid out for a person, and one line for a program', async ({ hub }) => {
  const person = await ingle(hub, ['get', '/api/status']);
  assert.is(person.code, 0, person.err);
  assert.match(person.out, /^\{\n {2}"name": /);
  const program = await ingle(hub, ['GET', '/api/status', '--json']);
  assert.is(program.out.trim().split('\n').length, 1);
  const [a, b] = [person.out, program.out].map((t) => Object.keys(JSON.parse(t) as object));
  assert.equal(a, b);
  assert.is((await ingle(hub, ['GET', '/v1/icons', '--json'])).out, '[]\n');
});

test('a body comes from a file or the standard input, a query from its option', async ({ hub }) => {
  const file = fileOf('order.json', '{"order": []}');
  for (const [args, input] of [
    [['--body', file], ''],
    [['--body', '-'], '{"order": []}'],
  ] as const) {
    const r = await ingle(hub, ['POST', '/v1/icons/order', ...args, '--json'], {}, input);
    assert.is(r.code, 0, r.err);
    assert.equal(JSON.parse(r.out), { ok: true });
  }
  const index = await ingle(hub, ['GET', '/docs/index', '--query', 'prefix=nobody/', '--json']);
  assert.is(index.code, 0, index.err);
});

test('what is wrong ends with the status of its code and a way on, and the API is not asked in vain', async ({
  hub,
}) => {
  const order = ['POST', '/v1/icons/order'];
  const cases: [args: string[], code: number, error: string, says: RegExp][] = [
    [['GET', '/api/nothing'], 66, 'not_found', /\/api\/nothing.*openapi\.json/],
    [['GET', '/api/../../etc/passwd'], 66, 'not_found', /\/etc\/passwd/],
    [['DELETE', '/api/status'], 64, 'method_not_allowed', /does not take DELETE; it takes GET, HEAD/],
    [['G T', '/api/status'], 64, 'method_not_allowed', /it takes GET/],
    [['GET', 'api/status'], 64, 'invalid_request', /begins with a slash/],
    [['GET', '@example.org/'], 64, 'invalid_request', /begins with a slash/],
    [['GET', '/api/status', '--query', 'topic'], 64, 'invalid_request', /--query topic=weather/],
    [['GET', '/api/status', '--body', '-'], 64, 'invalid_request', /takes no body/],
    [[...order, '--body', fileOf('bad', '{"order": [')], 64, 'invalid_request', /Nothing was sent.*not JSON/],
    [[...order, '--body', fileOf('list', '[]')], 64, 'invalid_request', /must be a JSON object/],
    [
      [...order, '--body', fileOf('deep', `{"a":${'['.repeat(99)}${']'.repeat(99)}}`)],
      64,
      'invalid_request',
      /deeper/,
    ],
    [[...order, '--body', join(dir, 'none')], 66, 'not_found', /none cannot be read: ENOENT/],
    [[...order, '--body', dir], 64, 'invalid_request', /EISDIR/],
    [[...order, '--body', '/dev/zero'], 65, 'too_large', /larger than the 65536 bytes/],
    [[...order, '--body', fileOf('huge', `{"a":"${'x'.repeat(70_000)}"}`)], 65, 'too_large', /65536/],
    [[...order, '--body', fileOf('wrong', '{"orders": []}')], 64, 'invalid_request', /"order/],
    [order, 64, 'invalid_request', /order/],
    [['GET', '/skills/nobody/v1/some/way'], 66, 'not_found', /no skill "nobody"/],
  ];
  for (const [args, code, error, says] of cases) {
    const r = await ingle(hub, [...args, '--json']);
    assert.is(r.code, code, `${args.join(' ')}: ${r.err}`);
    const body = JSON.parse(r.err.split('\n')[0]!) as { error: string; message: string };
    assert.is(body.error, error);
    assert.match(body.message, says);
    assert.is(r.out, '');
  }
});

test('events of a stream are printed one a line, until Ctrl-C', async ({ hub }) => {
  const bus = await connect(hub.bus.address);
  for (const json of [[], ['--json']]) {
    const { child, said, ended } = begin(hub, ['GET', '/api/observe/stream?topic=test.', ...json]);
    await until(async () => {
      await bus.publish('test.a', { n: 1, text: 'two\nlines \x1b[2J' });
      await bus.publish('other', {});
      return said.out.split('\n').length > 2;
    }, 'two events');
    child.kill('SIGINT');
    assert.is(await ended, 0, said.err);
    const line = said.out.split('\n')[0]!;
    if (json.length > 0) {
      const { event, data } = JSON.parse(line) as {
        event: string;
        data: { topic: string; payload: unknown };
      };
      assert.equal([event, data.topic], ['event', 'test.a']);
    } else assert.match(line, /^event {2}\{"at":\d+,"topic":"test\.a"/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
    assert.not.match(said.out, /[\x00-\x09\x0b-\x1f]|other/);
  }
  bus.close();
});

test('a hub that is away, that has no token or another one is told apart', async ({ hub }) => {
  const away = await ingle(hub, ['GET', '/api/status', '--json'], { INGLE_API_PORT: '9' });
  assert.is(away.code, 69);
  assert.match(away.err, /No hub runs here.*npm start/);
  const never = await ingle(hub, ['GET', '/api/status'], { INGLE_DATA: join(dir, 'never') });
  assert.is(never.code, 69);
  assert.match(never.err, /No hub runs here/);
  const tokens: [text: string, code: number, says: RegExp][] = [
    ['A'.repeat(43), 77, /does not take the token in .*other\/api\/token/],
    ['x', 69, /holds no token; run: ingle api token rotate/],
    ['', 69, /holds no token/],
  ];
  mkdirSync(join(dir, 'other/api'), { recursive: true });
  for (const [text, code, says] of tokens) {
    fileOf('other/api/token', text);
    const r = await ingle(hub, ['GET', '/api/status'], { INGLE_DATA: join(dir, 'other') });
    assert.is(r.code, code, r.err);
    assert.match(r.err, says);
  }
});

/** Calls in this process; gives what it prints, or how it fails. */
async function call(at: { api: string; data: string }, q: Partial<Question>, json = false) {
  let out = '';
  const say = speaker({ json, env: { INGLE_LANG: 'en' }, out: (t) => (out += t) });
  try {
    await callApi(at, { method: 'GET', path: '/api/status', query: [], ...q }, say, 300);
    return { out, error: undefined };
  } catch (e) {
    return { out, error: e as IngleError };
  }
}

test('an API that is frozen is told, with what shows why', async ({ hub }) => {
  const api = hub.children.get('api')!;
  api.kill('SIGSTOP');
  const { error } = await call({ api: hub.base, data: hub.data }, {});
  api.kill('SIGCONT');
  assert.is(error?.code, 'timeout');
  assert.match(error!.message, /does not answer.*ingle doctor/);
});

/** An API of the test's own behind the hub's document; `answer` does the rest. */
async function fake(
  answer: (req: IncomingMessage, res: ServerResponse) => void,
  document: unknown = localDocument(),
) {
  const asked: string[] = [];
  const data = mkdtempSync(join(dir, 'fake-'));
  mkdirSync(join(data, 'api'));
  writeFileSync(join(data, 'api/token'), 'B'.repeat(43));
  const server = createServer((req, res) => {
    if (req.url === '/api/openapi.json' && document)
      return void res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
    asked.push(`${req.method} ${req.url} ${req.headers['x-service-token']}`);
    answer(req, res);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  fakes.push({ close });
  return { asked, at: { api, data }, close };
}

test('every endpoint of the hub can be called', async () => {
  const f = await fake((_, res) => res.writeHead(204).end());
  for (const area of Object.values(areas))
    for (const e of Object.values(area) as { method: 'GET'; path: string }[])
      for (const method of methodsOf(e)) {
        if (e.path === '/api/openapi.json') continue;
        const path = e.path.replace(/\{\w+\*\}/, 'a/b/c').replace(/\{\w+\}/g, 'a');
        const { out, error } = await call(f.at, { method, path });
        assert.is(error, undefined, `${method} ${path}: ${error?.message}`);
        assert.is(out, 'Done.\n');
        assert.is(f.asked.pop(), `${method} ${path} ${'B'.repeat(43)}`);
      }
  f.close();
});

test('what answers badly is refused, and drives neither terminal nor memory', async () => {
  type Case = [answer: (res: ServerResponse) => void, code: string | undefined, out: RegExp];
  const long = (res: ServerResponse) => {
    const more = () => {
      while (!res.destroyed && res.write('x'.repeat(65_536)));
    };
    res.on('drain', more);
    more();
  };
  const cases: Case[] = [
    [(res) => res.end('{"a":"\x9b\u202e\\u001b[2J"}'), undefined, /"\\u009b\\u202e\\u001b\[2J"/],
    [(res) => res.end('a\x1b[2J\tb'), undefined, /^a\\u001b\[2J\tb\n$/],
    [(res) => res.end(Buffer.from([0xff, 0, 1])), undefined, /3 bytes of -, not text/],
    [(res) => res.writeHead(404).end('{"error":"not_found","message":"No\\u001b[2J."}'), 'not_found', /^$/],
    [(res) => res.writeHead(500).end('oops'), 'unavailable', /^$/],
    [(res) => res.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(), 'internal', /^$/],
    [long, 'too_large', /^$/],
    [(res) => void res.writeHead(200).write('{'), 'timeout', /^$/],
    [
      (res) => void res.writeHead(200, { 'content-length': '9' }).write('{', () => res.destroy()),
      'unavailable',
      /^$/,
    ],
    [
      (res) => res.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: 1\n\n'),
      'unavailable',
      /^message {2}1\n$/,
    ],
    [
      (res) => void res.writeHead(200, { 'content-type': 'text/event-stream' }).write(': on\n\n'),
      'timeout',
      /^$/,
    ],
    [
      (res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        long(res);
      },
      'too_large',
      /^$/,
    ],
  ];
  for (const [i, [answer, code, out]] of cases.entries()) {
    const f = await fake((_, res) => answer(res));
    const r = await call(f.at, {});
    assert.is(r.error?.code, code, `case ${i}: ${r.error?.message}`);
    assert.match(r.out, out, `case ${i}`);
    assert.not.match(r.error?.message ?? '', '\x1b');
    f.close();
  }
});

test('what is no local API is not asked further', async () => {
  const documents = [
    '<html>',
    { paths: null },
    { paths: { '/a': 1 } },
    { paths: { '/api/status': { get: null } } },
    [],
  ];
  for (const document of documents) {
    const f = await fake((_, res) => res.end(), document);
    const { error } = await call(f.at, {});
    assert.ok(
      ['unavailable', 'not_found'].includes(error?.code ?? ''),
      `${JSON.stringify(document)}: ${error?.stack}`,
    );
    assert.equal(f.asked, []);
    f.close();
  }
  const page = await fake((_, res) => res.writeHead(404).end('<html>'), null);
  assert.match((await call(page.at, {})).error!.message, /not the local API of a hub/);
  page.close();
});

test('the token goes to the hub alone, whatever the path', async () => {
  const f = await fake((_, res) => res.end('{}'));
  const path = fc.oneof(
    fc.webPath(),
    fc.string(),
    fc.constantFrom(
      '//example.org/',
      '/\\example.org',
      '/@example.org',
      '.example.org/',
      ':80@example.org/',
      '/%2e%2e/x',
    ),
  );
  const real = globalThis.fetch;
  const hosts = new Set<string>();
  globalThis.fetch = (input, init) => {
    hosts.add(new URL(String(input)).origin);
    return real(input, init);
  };
  try {
    await fc.assert(
      fc.asyncProperty(path, async (path) => {
        await call(f.at, { path });
      }),
      { numRuns: 200 },
    );
  } finally {
    globalThis.fetch = real;
    f.close();
  }
  assert.equal([...hosts], [f.at.api]);
});

test('events are the same however their bytes are cut', () => {
  const text =
    ': hi\r\n\r\nevent: a\ndata: 1\ndata:2\n\ndata: é→\r\rid: 7\ndata\n\nevent: none\n\nretry: 1\ndata:  x\n\n';
  const bytes = Buffer.from(text);
  const want: StreamEvent[] = [
    { event: 'a', data: '1\n2' },
    { event: 'message', data: 'é→' },
    { event: 'message', data: '' },
    { event: 'message', data: ' x' },
  ];
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length), { maxLength: 8 }), (cuts) => {
      const read = eventReader();
      const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
      assert.equal(
        at.slice(1).flatMap((end, i) => read(bytes.subarray(at[i], end))),
        want,
      );
    }),
  );
});

test.run();
