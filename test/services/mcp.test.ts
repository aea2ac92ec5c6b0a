// timeout: 240 s
// Actions of skills as tools of the Model Context Protocol: off at first, as the caller's rights are, and hostile messages.
import { readFileSync } from 'node:fs';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { clerk, twoClerks } from './clerk.ts';
import { principal, startHub, type TestHub } from './hub.ts';

const test = suite<{ hub: TestHub }>('mcp');
test.before(async (c) => {
  c.hub = await startHub(twoClerks);
});
test.after((c) => c.hub.stop());

const rpc = (method: string, params = {}, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params });
const ask = (hub: TestHub, body: unknown, as = {}, headers = {}) =>
  hub.ask('POST', '/api/mcp', { as, body, headers });
const turn = (hub: TestHub, on: boolean, as = {}) => hub.ask('POST', '/api/mcp/switch', { as, body: { on } });
const add = (name = 'clerk.add', input: object = { n: 1 }) => rpc('tools/call', { name, arguments: input });

test('it is off until the owner turns it on with a passkey, and says how', async ({ hub }) => {
  const r = await ask(hub, rpc('ping'));
  assert.is(r.status, 403);
  assert.match(r.body.message, 'ingle mcp on');
  const state = () => hub.ask('GET', '/api/mcp/switch', { as: {} });
  assert.is((await state()).body.on, false);
  assert.is((await hub.ask('GET', '/api/mcp/switch', { as: { role: 'adult' } })).status, 403);
  assert.is((await turn(hub, true, { elevated_until: 1 })).body.error, 'assertion_required');
  assert.is((await turn(hub, true, { role: 'adult' })).status, 403);
  assert.is((await turn(hub, true)).status, 200);
  assert.is((await hub.ask('GET', '/api/status')).body.mcp, true);
  const { on, url, token_file, actions } = (await state()).body;
  assert.equal([on, url], [true, `${hub.base}/api/mcp`]);
  assert.is(readFileSync(token_file, 'utf8').trim(), hub.token());
  assert.equal(
    actions.map((a: { skill_id: string; id: string }) => `${a.skill_id}.${a.id}`),
    ['clerk.add', 'clerk.never', 'safe.add', 'safe.never'],
  );
  assert.equal((await ask(hub, rpc('ping'))).body, { jsonrpc: '2.0', id: 1, result: {} });
  assert.is((await ask(hub, rpc('ping'), {}, { origin: 'https://example.com' })).status, 403);
  // The server reads Origin at this path only: another spelling of it must lead nowhere.
  const body = rpc('ping');
  for (const path of ['/api/%6dcp', '/api/mcp/', '//api/mcp', '/API/mcp'])
    assert.is(
      (await hub.ask('POST', path, { as: {}, body, headers: { origin: 'https://a.b' } })).status,
      404,
      path,
    );
});

test('a program lists the tools of its caller and calls one', async ({ hub }) => {
  const hello = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const { result } = (await ask(hub, rpc('initialize', hello))).body;
  assert.is(result.protocolVersion, '2025-03-26');
  const names = async (as: object) =>
    (await ask(hub, rpc('tools/list'), as)).body.result.tools.map((t: { name: string }) => t.name);
  assert.equal(await names({}), ['clerk.add', 'clerk.never', 'safe.add', 'safe.never']);
  assert.equal(await names({ role: 'kid' }), ['clerk.add', 'clerk.never']);
  assert.equal(JSON.parse((await ask(hub, add())).body.result.content[0].text), { sum: 1 });
  assert.is((await ask(hub, add('safe.add'), { role: 'kid' })).body.error.code, -32602);
});

test('a call repeated under its key is made once, and wrong input is told to the model', async ({ hub }) => {
  const once = () => ask(hub, add('clerk.add', { n: 5 }), {}, { 'idempotency-key': 'k1' });
  assert.equal((await once()).body, (await once()).body);
  assert.equal(JSON.parse((await ask(hub, add())).body.result.content[0].text), { sum: 7 });
  const { result } = (await ask(hub, add('clerk.add', { n: 'x' }))).body;
  assert.is(result.isError, true);
  assert.match(result.content[0].text, '"n" must be an integer');
});

test('what is no message is refused in the one shape, and notifications are only taken', async ({ hub }) => {
  const bad = [
    [rpc('ping')],
    {},
    { ...rpc('ping'), jsonrpc: '1.0' },
    rpc('ping', [] as never),
    rpc('ping', {}, {}),
  ];
  for (const body of bad)
    assert.is((await ask(hub, body)).body.error, 'invalid_request', JSON.stringify(body));
  assert.is((await ask(hub, { jsonrpc: '2.0', method: 'tools/call', params: {} })).status, 202);
  assert.is((await ask(hub, rpc('resources/list'))).body.error.code, -32601);
  assert.is((await ask(hub, rpc('tools/call', { name: '__proto__' }))).body.error.code, -32602);
  assert.is((await ask(hub, rpc('x'.repeat(70_000)))).status, 413);
  assert.is((await hub.ask('GET', '/api/mcp', { as: {} })).status, 405);
});

/** What a request of the revision 2026-07-28 says of itself. */
const now = '2026-07-28';
const named = (method: string) => ({ 'mcp-protocol-version': now, 'mcp-method': method });
const of = (version: string) => ({
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
});

test('no subscription is kept open, and who speaks another revision is told which are known', async ({
  hub,
}) => {
  const notifications = { toolsListChanged: true };
  const listen = rpc('subscriptions/listen', { _meta: of(now), notifications });
  const r = await ask(hub, listen, {}, named('subscriptions/listen'));
  assert.is(r.headers.get('content-type'), 'application/json');
  assert.is(r.body.error.code, -32603);
  const other = { ...named('tools/list'), 'mcp-protocol-version': '2031-01-01' };
  const told = await ask(hub, rpc('tools/list', { _meta: of('2031-01-01') }), {}, other);
  assert.is(told.status, 400);
  assert.equal(told.body.error.data.supported, [now]);
  const apart = await ask(hub, rpc('tools/list', { _meta: of(now) }), {}, named('tools/call'));
  assert.is(apart.body.error.code, -32020, 'a header says another thing than the message');
});

for (const mode of ['legacy', 'auto'] as const)
  test(`the protocol’s own client finds the tools of its caller and calls them (${mode})`, async ({
    hub,
  }) => {
    const opened = async (as = {}) => {
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${hub.base}/api/mcp`), {
          requestInit: { headers: { 'x-service-token': hub.token(), 'x-ingle-principal': principal(as) } },
        }),
      );
      return client;
    };
    const kid = await opened({ role: 'kid' });
    assert.is(kid.getServerVersion()?.name, 'ingle');
    assert.is(kid.getNegotiatedProtocolVersion(), mode === 'auto' ? now : '2025-11-25');
    const { tools } = await kid.listTools();
    assert.equal(
      tools.map((t) => t.name),
      ['clerk.add', 'clerk.never'],
    );
    assert.equal(tools[0]!.inputSchema, clerk('clerk').capabilities.actions!['add']!.input as never);
    await kid.callTool({ name: 'safe.add', arguments: { n: 1 } }).then(
      () => assert.unreachable('a tool that is not for a kid'),
      (e) => assert.is(e.code, -32602),
    );
    const sum = async (input: Record<string, unknown>) => {
      const { content, isError } = await kid.callTool({ name: 'clerk.add', arguments: input });
      const [said] = content;
      return { text: said?.type === 'text' ? said.text : '', isError };
    };
    const before = JSON.parse((await sum({ n: 1 })).text).sum;
    assert.is(JSON.parse((await sum({ n: 3 })).text).sum, before + 3);
    const wrong = await sum({ n: 0 });
    assert.is(wrong.isError, true);
    assert.match(wrong.text, '"n"');
    await kid.close();
    await opened({ role: 'guest' }).then(
      () => assert.unreachable('a guest'),
      (e) => assert.match(String(e), /Guests may not|403/),
    );
  });

test('a skill that never answers is a tool that says so, and the hub goes on', async ({ hub }) => {
  const { result } = (await ask(hub, add('clerk.never', {}))).body;
  assert.is(result.isError, true);
  assert.match(result.content[0].text, 'too long');
  assert.is((await turn(hub, false)).status, 200);
  assert.is((await ask(hub, rpc('ping'))).status, 403);
});

test.run();
