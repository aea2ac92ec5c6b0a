// timeout: 300 s
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isErrorCode } from '../../firmware/protocol/errors.ts';
import type { ProofPurpose } from '../../firmware/protocol/wire.ts';
import { rootApi } from '../../root/endpoints.ts';
import { garbage } from '../lab/garbage.ts';
import {
  type Answer,
  ask,
  call,
  heard,
  newAddress,
  type RootProcess,
  signedIn,
  startRoot,
  until,
} from './kit.ts';

const test = suite<{ root: RootProcess }>('fuzz');
test.before(async (c) => {
  c.root = await startRoot();
});
test.after((c) => c.root.stop());

/** Never a failure inside: the one shape, or what the request was for. 431 is the server's own, for long headers. */
function answered(r: Answer, says: string): void {
  if (r.status === 431) return;
  assert.is.not(r.status, 500, says);
  if (r.status >= 400) assert.ok(isErrorCode(r.body.error), says);
}

test('every JSON type at every field of every endpoint, and at every claim of a proof', async ({ root }) => {
  const { hub, tab } = await signedIn(root);
  const sid = { sid: tab.sid };
  const credential = tab.keys.get({ challenge: 'AAAA', rpId: 'localhost' }) as unknown as Record<
    string,
    unknown
  >;
  const key = hub.e2e();
  type Body = Record<string, unknown>;
  /** Whole bodies for each endpoint that takes one, and who may send it. */
  const bodies: Record<string, [who: 'tab' | 'hub' | 'nobody', ...Body[]]> = {
    '/v1/session': ['tab', sid],
    '/v1/owner/login/device-code': ['hub', {}],
    '/v1/owner/login/verify': ['tab', { ...sid, device_code: '000-000' }, { ...sid, code: '000-000' }],
    '/v1/owner/webauthn/registration/challenge': ['tab', sid],
    '/v1/owner/webauthn/registration/finish': ['tab', { ...sid, credential }],
    '/v1/owner/webauthn/login/challenge': ['tab', sid],
    '/v1/owner/webauthn/login/finish': ['tab', { ...sid, credential }],
    '/v1/owner/logout': ['nobody', sid],
    '/v1/browser/pairing/offer': ['tab', { ...sid, e2e_pubkey: key }],
    '/v1/skill-ui/open': ['tab', { skill_id: 'dial', hub_id: hub.hub_id, page: 'panel' }],
    '/v1/hub/pairing/accept': ['hub', { ...sid, hub_id: hub.hub_id, hub_e2e_pubkey: key }],
    '/v1/hub/enrol': ['nobody', { sign_pub: hub.pub(), e2e_pub: key, proof: await hub.proof('enrol') }],
    '/v1/hub/renew': ['hub', {}],
    '/v1/hub/subnet/join': ['hub', { device_code: '000-000', ticket: 'T'.repeat(22) }],
    '/v1/hub/subnet/admit': ['hub', { hub_id: hub.hub_id, sign_pub: hub.pub() }],
    '/v1/hub/subnet/part': ['hub', { hub_id: hub.hub_id, note: 'x' }],
    '/v1/hub/rotate': ['hub', { e2e_pub: key, sign_pub: hub.pub(), signature: 'AAAA' }],
  };
  const posts = Object.values(rootApi).filter((e) => e.method === 'POST');
  assert.equal(Object.keys(bodies).sort(), posts.map((e) => e.path).sort(), 'every endpoint is here');
  const purposes: Record<string, ProofPurpose> = {
    '/v1/owner/login/device-code': 'device-code',
    '/v1/hub/pairing/accept': 'pairing-accept',
    '/v1/hub/renew': 'renew',
    '/v1/hub/rotate': 'rotate',
    '/v1/hub/subnet/join': 'subnet-join',
    '/v1/hub/subnet/admit': 'subnet-admit',
    '/v1/hub/subnet/part': 'subnet-part',
  };
  const headers = async (who: string, path: string, claims: Record<string, unknown> = {}) => ({
    ...(who === 'tab' ? tab.bearer() : who === 'hub' ? await hub.headers(purposes[path]!, claims) : {}),
    'x-forwarded-for': newAddress(),
  });
  const whole = Object.entries(bodies).flatMap(([path, [who, ...all]]) =>
    all.map((body) => ({ path, who, body })),
  );
  for (const { path, who, body } of whole) {
    for (const field of [...Object.keys(body), 'unknown'])
      for (const value of garbage)
        for (const rest of [body, {}]) {
          const says = `${path} ${field} ${JSON.stringify(value).slice(0, 40)}`;
          answered(
            await call(root, 'POST', path, { ...rest, [field]: value }, await headers(who, path)),
            says,
          );
        }
    if ('credential' in body)
      for (const field of ['id', 'rawId', 'type', 'response', 'clientExtensionResults'])
        for (const value of garbage) {
          const given = { ...sid, credential: { ...credential, [field]: value } };
          await tab.post(path.replace('finish', 'challenge'), sid, await headers(who, path));
          answered(
            await call(root, 'POST', path, given, await headers(who, path)),
            `${path} credential.${field}`,
          );
        }
  }
  for (const path of ['/v1/owner/login/device-code', '/v1/hub/renew', '/v1/hub/enrol'])
    for (const claim of [
      'iat',
      'exp',
      'nbf',
      'jti',
      'aud',
      'sub',
      'iss',
      'purpose',
      'scope',
      'ticket',
      'passkeys',
    ])
      for (const value of [...garbage, Date.now() / 1000, Math.floor(Date.now() / 1000) + 30.5]) {
        const says = `${path} claim ${claim} ${JSON.stringify(value).slice(0, 40)}`;
        const body = path.endsWith('enrol')
          ? { ...bodies[path]![1], proof: await hub.proof('enrol', { [claim]: value }) }
          : {};
        const who = path.endsWith('enrol') ? 'nobody' : 'hub';
        answered(await call(root, 'POST', path, body, await headers(who, path, { [claim]: value })), says);
      }
  assert.not.match(root.log(), / error /, 'nothing failed inside');
});

test('whatever a hub or a browser emits, it is answered in the one shape and the pair beside it goes on', async ({
  root,
}) => {
  const a = await signedIn(root);
  const b = await signedIn(root);
  const line = a.hub.socket();
  const owner = a.tab.socket();
  const otherLine = b.hub.socket();
  const other = b.tab.socket();
  await Promise.all([a.tab.offer(), b.tab.offer()]);
  await until(() => owner.last?.route === 'bound' && other.last?.route === 'bound');

  const event = fc.constantFrom(
    'hub.online',
    'owner.online',
    'pairing.accept',
    'pairing.request',
    'relay.to_hub',
    'relay.to_browser',
    'status',
    '__proto__',
    'toString',
  );
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.uint8Array({ maxLength: 40 }).map((x) => Buffer.from(x)),
    fc.constantFrom(a.tab.sid, b.tab.sid, a.hub.hub_id, b.hub.hub_id, -1, 0, 2 ** 53, 1e308),
  );
  const message = fc.oneof(
    value,
    fc.dictionary(
      fc.constantFrom('sid', 'frame', 'ctr', 'hub_id', 'subnet_id', 'caps', 'session_jwt', 'browser_key_id'),
      value,
    ),
  );
  const binaries = (v: unknown): number =>
    v instanceof Uint8Array
      ? 1
      : v !== null && typeof v === 'object'
        ? Object.values(v).reduce((n: number, one) => n + binaries(one), 0)
        : 0;
  // Socket.IO's parser takes ten binary parts in a packet and closes the connection on more.
  const args = fc.array(message, { maxLength: 3 }).filter((list) => binaries(list) <= 10);
  try {
    await fc.assert(
      fc.asyncProperty(fc.boolean(), event, args, async (hub, name, given) => {
        const answer = await ask(hub ? line : owner, name, ...given);
        if (answer.ok !== true) {
          assert.is(answer.ok, false);
          assert.ok(isErrorCode(answer.error), JSON.stringify(answer));
        }
      }),
      { numRuns: 150 },
    );
    assert.ok(root.alive());
    assert.ok(line.connected && owner.connected);
    const passed = heard(otherLine, 'relay.to_hub');
    other.emit('relay.to_hub', { sid: b.tab.sid, frame: Buffer.from([1]), ctr: 2 ** 40 });
    await passed;
    assert.not.match(root.log(), / error /, 'nothing failed inside');
  } finally {
    for (const s of [line, owner, otherLine, other]) s.close();
  }
});

test('the log holds no sid, token, code or frame', async ({ root }) => {
  const { hub, tab } = await signedIn(root);
  const code = await hub.code();
  for (const secret of [tab.sid, tab.token, tab.cookie, hub.certificate, code, code.replace('-', '')])
    assert.not.ok(root.log().includes(secret));
});

test.run();
