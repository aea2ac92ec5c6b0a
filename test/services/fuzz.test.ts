// timeout: 300 s
// Every JSON type at every field of every path of the local API: an answer in the one shape, and never a failure inside.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { toBase64url, utf8 } from '../../firmware/protocol/bytes.ts';
import { isErrorCode } from '../../firmware/protocol/errors.ts';
import { routes } from '../../services/api/routes.ts';
import { garbage } from '../garbage.ts';
import { type Answered, owner, startHub, type TestHub } from './hub.ts';

const test = suite<{ hub: TestHub }>('fuzz');
test.before(async (c) => {
  c.hub = await startHub({ skills: ['hub_status'] });
});
test.after((c) => c.hub.stop());

/** Fields each path takes, whole; a restart of setup and streams are not for this. */
const bodies: Record<string, Record<string, unknown>> = {
  '/v1/icons/pin': { skill_id: 'hub_status', pinned: true },
  '/v1/icons/order': { order: ['hub_status'] },
  '/v1/open': { skill_id: 'hub_status', mode: 'modal' },
  '/skills/hub_status/v1/refresh': {},
  '/api/setup/restart': {},
  '/api/admin/update/check': { channel: 'stable' },
  '/api/admin/update/download': {},
  '/api/admin/update/verify': { source: '' },
  '/api/admin/update/install': { source: '', restart: '' },
  '/api/admin/update/restart': { when: 'now' },
  '/api/admin/update/cancel': {},
  '/api/admin/update/rollback': {},
};

function answered(r: Answered, says: string): void {
  assert.is.not(r.status, 500, says);
  if (r.status >= 400) assert.ok(isErrorCode(r.body.error), says);
}

test('whatever comes in a body, with a key or without', async ({ hub }) => {
  for (const [methods, form] of routes)
    if (methods.includes('POST'))
      assert.ok(
        Object.keys(bodies).some((p) => form.test(p)),
        `${form}`,
      );
  let n = 0;
  for (const [path, body] of Object.entries(bodies)) {
    for (const field of [...Object.keys(body), 'unknown'])
      for (const value of garbage) {
        const headers: Record<string, string> = n++ % 2 ? { 'idempotency-key': `g${n}` } : {};
        const says = `${path} ${field} ${JSON.stringify(value).slice(0, 40)}`;
        answered(await hub.ask('POST', path, { as: {}, headers, body: { ...body, [field]: value } }), says);
      }
    for (const value of garbage)
      answered(await hub.ask('POST', path, { as: {}, raw: JSON.stringify(value) }), `${path} whole`);
  }
});

test('whatever comes as principal, key or query', async ({ hub }) => {
  for (const value of garbage) {
    for (const field of ['owner_id', 'browser', 'role', 'elevated_until', 'more']) {
      const given = toBase64url(utf8(JSON.stringify({ ...owner, [field]: value }))).slice(0, 3000);
      const r = await hub.ask('GET', '/v1/icons', { headers: { 'x-ingle-principal': given } });
      answered(r, `principal ${field} ${JSON.stringify(value).slice(0, 40)}`);
    }
    const text = encodeURIComponent(JSON.stringify(value)).slice(0, 2000);
    const whole = toBase64url(utf8(JSON.stringify(value))).slice(0, 3000);
    answered(await hub.ask('GET', '/v1/icons', { headers: { 'x-ingle-principal': whole } }), whole);
    answered(await hub.ask('POST', '/v1/icons/pin', { headers: { 'idempotency-key': text } }), text);
    for (const path of ['/docs/index?prefix=', '/skills/hub_status/v1/state?x=', '/skills/hub_status/v1/'])
      answered(await hub.ask('GET', `${path}${text}`, { as: {} }), path);
  }
});

test.run();
