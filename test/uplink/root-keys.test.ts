// timeout: 240 s, patient
// A root that changes its keys while it runs: hub and phone notice nothing, and where the old keys are revoked the hub
// comes back by itself, in its place.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { run } from '../../firmware/system/exec.ts';
import { authenticator } from '../lab/authenticator.ts';
import { programOf } from '../lab/program.ts';
import { call, until } from '../root/kit.ts';
import { accessOf, type Home, phone, signIn, withHub } from './kit.ts';

interface World extends Home {
  keys: ReturnType<typeof authenticator>;
  p: Awaited<ReturnType<typeof phone>>;
}
const test = suite<World>('a root that changes its keys');
withHub(test);
test.before(async (c) => {
  c.keys = authenticator(c.root.origin);
  c.p = await comesIn(c);
});
test.after((c) => c.p?.close());

async function comesIn(c: World) {
  const code = await c.hub.calls.IssueCode({ new_passkey: false });
  const tab = await signIn(c.root, code.device_code, { keys: c.keys });
  const p = await phone(c.root, tab, c.hubId, accessOf(code.link).access);
  await p.up();
  return p;
}
const rotate = async ({ root }: World, ...more: string[]) => {
  const words = [...programOf('root/main.ts'), 'rotate-keys', ...more, '--data', root.data];
  const { code, stdout, stderr } = await run(process.execPath, words, { timeoutMs: 60_000 });
  assert.is(code, 0, String(stderr));
  return stdout.toString();
};
const kids = async ({ root }: World): Promise<string[]> =>
  (await call(root, 'GET', '/.well-known/jwks.json')).body.keys.map((k: { kid: string }) => k.kid);
const mine = ({ root, p }: World) => call(root, 'GET', '/v1/owner/sessions', undefined, p.tab.bearer());

test('while it runs, it takes new keys, and what the old ones signed goes on', async (c) => {
  const [old] = await kids(c);
  assert.match(await rotate(c), /within a minute.*counts until it is over/);
  const now = await until(async () => {
    const all = await kids(c);
    return all.length === 2 && all;
  }, 'both keys');
  assert.is(now[1], old);
  assert.is((await mine(c)).status, 200);
  await c.root.kill();
  await c.root.again();
  await until(async () => (await c.hub.calls.Status({})).connected, 'the hub, with its old certificate');
  await c.p.up();
  assert.is((await c.p.read('/still')).text, 'GET /still ');
});

test('what a revoked key signed counts no more; the hub comes back by itself, and forgets nobody', async (c) => {
  const before = await c.hub.calls.Status({});
  assert.match(await rotate(c, '--revoke'), /takes nothing signed before/);
  await c.root.kill();
  await c.root.again();
  assert.is((await kids(c)).length, 1);
  assert.is((await mine(c)).status, 401);
  const after = await until(async () => {
    const s = await c.hub.calls.Status({});
    return s.connected && s;
  }, 'the hub, with a new certificate');
  assert.equal(
    [after.hub_id, after.owner_id, after.subnet_id, after.browsers],
    [before.hub_id, before.owner_id, before.subnet_id, before.browsers],
  );
  assert.is(after.last_error, '');
  // The same passkey signs in.
  const again = await comesIn(c);
  assert.is((await again.read('/again')).status, 200);
  again.close();
});

test.run();
