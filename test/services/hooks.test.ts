// timeout: 240 s
// Webhooks over HTTP against a real ingle-api: who may do what, kill -9, floods, and what goes out on the bus.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { digestOf } from '../../firmware/hooks/signature.ts';
import { utf8 } from '../../firmware/protocol/bytes.ts';
import { type Bus, connect } from '../../firmware/system/bus.ts';
import { until } from '../lab/wait.ts';
import { startHub, type TestHub } from './hub.ts';

interface Made {
  id: string;
  url: string;
  secret: string;
}
interface Heard {
  hook: string;
  id: string;
  body: unknown;
}
const test = suite<{ hub: TestHub; bus: Bus; heard: Heard[]; hook: Made }>('hooks over HTTP');
test.before(async (c) => {
  c.hub = await startHub();
  c.bus = await connect(c.hub.bus.address);
  c.heard = [];
  await c.bus.subscribe('external.door', (_, payload) => void c.heard.push(payload as Heard));
  const made = await c.hub.ask('POST', '/api/hooks', {
    as: {},
    body: { name: 'Door', topic: 'external.door' },
  });
  c.hook = made.body;
});
test.after(async (c) => {
  c.bus.close();
  await c.hub.stop();
});

const now = () => Math.floor(Date.now() / 1000);
function signed(hook: Pick<Made, 'secret'>, id: string, body: string, at = now()) {
  const key = new Uint8Array(Buffer.from(hook.secret.replace('whsec_', ''), 'base64'));
  const digest = Buffer.from(digestOf(key, { id, at }, utf8(body))).toString('base64');
  // No token: who sends has none.
  return {
    raw: body,
    headers: {
      ...{ 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': `v1,${digest}` },
      'x-service-token': '',
    },
  };
}

test('a message without a token goes out on the topic of its hook, and into the stream of events', async ({
  hub,
  hook,
  heard,
}) => {
  const r = await hub.ask('POST', hook.url, signed(hook, 'first', '{"open":true}'));
  assert.equal([r.status, r.body], [200, { ok: true }]);
  await until(() => heard.length === 1, 'the message');
  assert.equal(heard[0], { hook: hook.id, id: 'first', body: { open: true } });
  await hub.ask('GET', '/api/observe/tail');
  await hub.ask('POST', hook.url, signed(hook, 'second', '{"open":false}'));
  const { body } = await hub.ask('GET', '/api/observe/tail?topic=external.door');
  assert.equal(body.events.filter((e: { payload: Heard }) => e.payload.id === 'second').length, 1);
});

test('the secret is shown once: not in the list, and not to a request with the same key', async ({
  hub,
  hook,
}) => {
  const { body } = await hub.ask('GET', '/api/hooks', { as: {} });
  assert.is(body.hooks[0].id, hook.id);
  assert.not(JSON.stringify(body).includes('whsec_'));
  const make = () =>
    hub.ask('POST', '/api/hooks', {
      as: {},
      headers: { 'idempotency-key': 'twice' },
      body: { name: 'Twice', topic: 'external.twice' },
    });
  const [a, b] = [await make(), await make()];
  assert.not(a.body.secret === b.body.secret);
  for (const made of [a, b]) await hub.ask('DELETE', `/api/hooks/${made.body.id}`, { as: {} });
});

test('only an elevated owner makes hooks, and only below "external."', async ({ hub, hook }) => {
  const body = { name: 'x', topic: 'external.x' };
  assert.is((await hub.ask('POST', '/api/hooks', { as: { role: 'guest' }, body })).status, 403);
  assert.is(
    (await hub.ask('POST', '/api/hooks', { as: { elevated_until: 1 }, body })).body.error,
    'assertion_required',
  );
  for (const topic of ['ui.x', 'external', 'external.', 'external.X', 'external.x\n', 'externalx.y'])
    assert.is((await hub.ask('POST', '/api/hooks', { as: {}, body: { ...body, topic } })).status, 400, topic);
  assert.is((await hub.ask('GET', hook.url)).status, 405);
  for (const path of ['/hooks/', '/hooks/short', `${hook.url}/x`])
    assert.ok([400, 404].includes((await hub.ask('POST', path, signed(hook, 'p', '{}'))).status), path);
});

test('nobody learns from an answer whether there is a hook', async ({ hub, hook }) => {
  const bare = { raw: '{}', headers: { 'x-service-token': '' } };
  const wrong = signed({ secret: 'whsec_AAAA' }, 'w', '{}');
  const unknown = `/hooks/${'A'.repeat(22)}`;
  for (const m of [bare, wrong, { ...wrong, raw: 'x'.repeat(70_000) }]) {
    const [a, b] = [await hub.ask('POST', hook.url, m), await hub.ask('POST', unknown, m)];
    assert.equal([a.status, a.body], [b.status, b.body]);
    assert.ok(a.status >= 400 && a.status < 500);
  }
  // The token of the hub opens nothing here.
  const r = await hub.ask('POST', hook.url, {
    raw: '{}',
    headers: { ...wrong.headers, 'x-service-token': hub.token() },
  });
  assert.is(r.body.error, 'unauthenticated');
});

test('what the bus cannot carry and what is no JSON is refused, and the next message is taken', async ({
  hub,
  hook,
  heard,
}) => {
  for (const [i, body] of [
    '',
    '{',
    '\xff',
    '{"a":"\\u0000"}',
    `${'['.repeat(33)}${']'.repeat(33)}`,
  ].entries())
    assert.is(
      (await hub.ask('POST', hook.url, signed(hook, `bad${i}`, body))).body.error,
      'invalid_request',
      body,
    );
  assert.is((await hub.ask('POST', hook.url, signed(hook, 'big', `"${'x'.repeat(65_000)}"`))).status, 200);
  await until(() => heard.some((h) => h.id === 'big'), 'the big message');
});

test('killed in the middle of a stream of messages, the hub has published all it acknowledged, and takes none again', async ({
  hub,
  hook,
  heard,
}) => {
  const bodies = Array.from({ length: 30 }, (_, i) => signed(hook, `k${i}`, JSON.stringify({ i })));
  const acknowledged: number[] = [];
  const sent = bodies.map((m, i) =>
    hub.ask('POST', hook.url, m).then(
      (r) => r.status === 200 && acknowledged.push(i),
      () => {},
    ),
  );
  await until(() => acknowledged.length >= 5, 'the first messages');
  await hub.kill('api');
  await Promise.all(sent);
  for (const i of acknowledged) await until(() => heard.some((h) => h.id === `k${i}`), `message ${i}`);
  await hub.startApi();
  for (const i of acknowledged) {
    const r = await hub.ask('POST', hook.url, bodies[i]!);
    assert.ok(['conflict', 'rate_limited'].includes(r.body.error), `${i}: ${JSON.stringify(r.body)}`);
  }
  for (const i of acknowledged) assert.is(heard.filter((h) => h.id === `k${i}`).length, 1, `k${i}`);
  const left = bodies.findIndex((_, i) => !acknowledged.includes(i));
  if (left < 0) return;
  // The kill may have come between what was done and the word of it: then it is refused, as it was heard.
  const wasHeard = heard.some((h) => h.id === `k${left}`);
  const { status } = await hub.ask('POST', hook.url, bodies[left]!);
  assert.ok(status === 200 || (status === 409 && wasHeard), `${left}: ${status}, heard: ${wasHeard}`);
  await until(() => heard.some((h) => h.id === `k${left}`), `message ${left}`);
});

test('a flood of strangers takes nothing from the owner and the hook', async ({ hub, hook }) => {
  const stranger = signed({ secret: 'whsec_AAAA' }, 's', '{}');
  const flood = await Promise.all(Array.from({ length: 300 }, () => hub.ask('POST', hook.url, stranger)));
  assert.ok(flood.every((r) => r.status === 401 || r.status === 429));
  assert.ok(flood.some((r) => r.status === 429));
  assert.is((await hub.ask('GET', '/api/hooks', { as: {} })).body.hooks[0].refused.reason, 'signature');
  assert.is((await hub.ask('POST', hook.url, signed(hook, 'after', '{}'))).status, 200);
});

test('a new secret ends the old one, and a removed hook is gone', async ({ hub, hook }) => {
  const { body } = await hub.ask('POST', `/api/hooks/${hook.id}/rotate`, { as: {} });
  assert.is((await hub.ask('POST', hook.url, signed(hook, 'old', '{}'))).status >= 400, true);
  assert.is((await hub.ask('POST', hook.url, signed(body, 'new', '{}'))).status, 200);
  assert.is((await hub.ask('DELETE', `/api/hooks/${hook.id}`, { as: {} })).status, 200);
  assert.is((await hub.ask('DELETE', `/api/hooks/${hook.id}`, { as: {} })).status, 404);
  assert.ok((await hub.ask('POST', hook.url, signed(body, 'gone', '{}'))).status >= 400);
});

test.run();
