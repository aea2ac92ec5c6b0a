// timeout: 300 s
// Every JSON type at every field of every path of the local API: an answer in the one shape, and never a failure inside.

import { Validator } from '@seriousme/openapi-schema-validator';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Principal } from '../../firmware/documents/acl.ts';
import { toBase64url, utf8 } from '../../firmware/protocol/bytes.ts';
import { faultsOf } from '../../firmware/protocol/endpoint/check.ts';
import { type Area, type Endpoint, methodsOf } from '../../firmware/protocol/endpoint/endpoint.ts';
import { isErrorCode } from '../../firmware/protocol/errors.ts';
import type { LocalWho } from '../../firmware/system/local-api.ts';
import { areas } from '../../services/api/areas.ts';
import { garbage } from '../lab/garbage.ts';
import { type Answered, owner, startHub, type TestHub } from './hub.ts';

const test = suite<{ hub: TestHub }>('fuzz');
test.before(async (c) => {
  c.hub = await startHub({ skills: ['hub_status'] });
});
test.after((c) => c.hub.stop());

/** An endpoint of the local API with its area's and its own name. */
const all = Object.entries(areas).flatMap(([area, endpoints]) =>
  Object.entries(endpoints as Area).map(([name, endpoint]) => ({ name: `${area}.${name}`, endpoint })),
);
/** A path as an endpoint takes it. */
const pathOf = (e: Endpoint) => e.path.replace('{skill_id}', 'hub_status').replace('{path*}', 'refresh');
/** Streams do not end by themselves. */
const ends = (e: Endpoint) => !e.path.endsWith('/stream');
/** A body that fits the schema, one value for each field. */
function bodyOf(e: Endpoint): Record<string, unknown> {
  if (!e.body || e.body === 'raw') return {};
  const known: Record<string, unknown> = {
    ...{ skill_id: 'hub_status', mode: 'modal', order: ['hub_status'] },
    events: [{ topic: 'external.test', payload: {} }],
  };
  return Object.fromEntries(
    Object.entries(e.body.properties).map(([k, s]) => [
      k,
      known[k] ?? ((s as { type?: string }).type === 'boolean' ? true : ''),
    ]),
  );
}

function answered(r: Answered, says: string): void {
  assert.is.not(r.status, 500, says);
  if (r.status >= 400) assert.ok(isErrorCode(r.body.error), says);
}

test('whatever comes in a body or a query of any path, with a key or without', async ({ hub }) => {
  let n = 0;
  for (const { name, endpoint } of all.filter(({ endpoint }) => ends(endpoint))) {
    const path = pathOf(endpoint);
    for (const method of methodsOf(endpoint).filter((m) => m !== 'GET')) {
      const body = bodyOf(endpoint);
      for (const field of [...Object.keys(body), 'unknown'])
        for (const value of garbage) {
          const headers: Record<string, string> = n++ % 2 ? { 'idempotency-key': `g${n}` } : {};
          const says = `${name} ${field} ${JSON.stringify(value).slice(0, 40)}`;
          answered(await hub.ask(method, path, { as: {}, headers, body: { ...body, [field]: value } }), says);
        }
      for (const value of garbage)
        answered(await hub.ask(method, path, { as: {}, raw: JSON.stringify(value) }), `${name} whole`);
    }
    if (methodsOf(endpoint).includes('GET'))
      for (const value of garbage)
        for (const key of [...Object.keys(endpoint.query ?? {}), 'unknown']) {
          const text = encodeURIComponent(JSON.stringify(value)).slice(0, 2000);
          answered(await hub.ask('GET', `${path}?${key}=${text}`, { as: {} }), `${name} ${key}`);
        }
  }
});

/** Who calls, and what each word of `who` must answer them: the code of a refusal, or nothing. hub_status is for its elevated owner. */
const callers: [
  caller: string,
  as: Partial<Principal> | null | 'nobody',
  refused: Record<LocalWho, string>,
][] = [
  [
    'nobody',
    'nobody',
    {
      public: '',
      token: 'unauthenticated',
      owner: 'unauthenticated',
      elevated: 'unauthenticated',
      skill: 'unauthenticated',
    },
  ],
  ['local control', null, { public: '', token: '', owner: '', elevated: '', skill: '' }],
  ['the owner, elevated', {}, { public: '', token: '', owner: '', elevated: '', skill: '' }],
  [
    'the owner, not elevated',
    { elevated_until: 1 },
    { public: '', token: '', owner: '', elevated: 'assertion_required', skill: 'assertion_required' },
  ],
  [
    'a guest who calls itself elevated',
    { role: 'guest' },
    { public: '', token: '', owner: 'forbidden', elevated: 'forbidden', skill: 'forbidden' },
  ],
];
for (const [caller, as, refused] of callers)
  test(`no path is open to ${caller} that should not be`, async ({ hub }) => {
    for (const { name, endpoint } of all)
      for (const method of methodsOf(endpoint)) {
        const wanted = refused[endpoint.who as LocalWho];
        // What lets this caller in is judged by other tests; a stream would not end.
        if (!wanted && !ends(endpoint)) continue;
        const headers: Record<string, string> = as === 'nobody' ? { 'x-service-token': '' } : {};
        const r = await hub.ask(method, pathOf(endpoint), {
          ...(as && as !== 'nobody' ? { as } : {}),
          headers,
          ...(method === 'GET' ? {} : { raw: '{"garbage":1}' }),
        });
        const says = `${method} ${name} for ${caller}: ${r.status} ${JSON.stringify(r.body).slice(0, 80)}`;
        if (wanted) assert.is(r.body.error, wanted, says);
        else assert.not(['unauthenticated', 'assertion_required'].includes(r.body?.error), says);
      }
  });

test('the document is served, valid OpenAPI 3.1, and names every endpoint', async ({ hub }) => {
  const { status, body } = await hub.ask('GET', '/api/openapi.json');
  assert.is(status, 200);
  const { valid, errors } = await new Validator().validate(body);
  assert.ok(valid, JSON.stringify(errors));
  for (const { name, endpoint } of all)
    for (const method of methodsOf(endpoint)) {
      const said = body.paths[endpoint.path.replace('*}', '}')]?.[method.toLowerCase()];
      assert.ok(said, `${method} ${name}`);
      assert.is(said.security.length, endpoint.who === 'public' ? 0 : 1, name);
    }
});

test('answers are as they are declared', async ({ hub }) => {
  for (const { name, endpoint } of all) {
    if (!endpoint.answer || !ends(endpoint)) continue;
    const [method] = methodsOf(endpoint);
    const r = await hub.ask(method!, pathOf(endpoint), method === 'GET' ? {} : { body: bodyOf(endpoint) });
    if (r.status === 200) assert.equal(faultsOf(endpoint.answer, r.body), [], name);
    else
      assert.ok(
        ['not_supported', 'unavailable', 'forbidden', 'internal'].includes(r.body.error),
        `${name}: ${JSON.stringify(r.body)}`,
      );
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
