// timeout: 240 s
// Actions of skills as tools of the Model Context Protocol: off at first, as the caller's rights are, and hostile messages.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { twoClerks } from './clerk.ts';
import { startHub, type TestHub } from './hub.ts';

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
  assert.match(r.body.message, '/api/mcp/switch');
  assert.is((await turn(hub, true, { elevated_until: 1 })).body.error, 'assertion_required');
  assert.is((await turn(hub, true, { role: 'adult' })).status, 403);
  assert.is((await turn(hub, true)).status, 200);
  assert.is((await hub.ask('GET', '/api/status')).body.mcp, true);
  assert.equal((await ask(hub, rpc('ping'))).body, { jsonrpc: '2.0', id: 1, result: {} });
  assert.is((await ask(hub, rpc('ping'), {}, { origin: 'https://example.com' })).status, 403);
});

test('a program lists the tools of its caller and calls one', async ({ hub }) => {
  const { result } = (await ask(hub, rpc('initialize', { protocolVersion: '2025-03-26' }))).body;
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

test('a skill that never answers is a tool that says so, and the hub goes on', async ({ hub }) => {
  const { result } = (await ask(hub, add('clerk.never', {}))).body;
  assert.is(result.isError, true);
  assert.match(result.content[0].text, 'too long');
  assert.is((await turn(hub, false)).status, 200);
  assert.is((await ask(hub, rpc('ping'))).status, 403);
});

test.run();
