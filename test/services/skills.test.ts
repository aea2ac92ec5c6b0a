// timeout: 400 s
// Packages of skills on a running hub: installed, updated, gone back by themselves, removed, and cut short.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { toBase64url } from '../../firmware/protocol/bytes.ts';
import { skillBusName } from '../../firmware/skills/contract.ts';
import { packSkill } from '../../firmware/skills/package.ts';
import { parseTable } from '../../firmware/skills/slots.ts';
import { connect } from '../../firmware/system/bus.ts';
import { tried, until } from '../lab/wait.ts';
import { file, manifest, signerOfSeed } from '../skills/archive.ts';
import { type Answered, startHub, type TestHub } from './hub.ts';

const acme = signerOfSeed(1);
const other = signerOfSeed(2);
/** Counts in its storage and in its state, and says which version it is. */
const counter = (version: string, migrate = '') => `
export const skill = { ${migrate} start: (ctx) => ({ endpoints: [
  { method: 'POST', path: '/v1/add', async answer() {
    const n = (ctx.storage.get('n') ?? 0) + 1;
    await ctx.storage.set('n', n);
    return { body: { version: '${version}', n }, state: (s) => ({ n: (s.n ?? 0) + 1 }) };
  } },
  { method: 'GET', path: '/v1/state', answer: ({ owner_id }) => ({ body: ctx.state(owner_id) }) },
] }) };`;
const packed = (version: string, o: { id?: string; code?: string; by?: typeof acme | null } = {}) =>
  packSkill(
    [
      file('manifest.json', JSON.stringify(manifest(o.id ?? 'lamp', version))),
      file('skill.js', o.code ?? counter(version)),
    ],
    o.by === null ? undefined : (o.by ?? acme),
  ).bytes;

const test = suite<{ hub: TestHub }>('packages');
test.before(async (c) => {
  c.hub = await startHub({ startable: ['hub_status'], pool: true, env: { INGLE_TRIAL_MS: '12000' } });
  const key = toBase64url(acme.key);
  const said = await c.hub.ask('POST', '/api/skills/publishers', { as: {}, body: { key, name: 'Acme' } });
  assert.is(said.status, 200, JSON.stringify(said.body));
});
test.after((c) => c.hub.stop());

const post = (hub: TestHub, path: string, raw: Uint8Array, headers: Record<string, string> = {}) =>
  hub.ask('POST', `/api/skills/${path}`, { as: {}, raw, headers });
const listed = async (hub: TestHub, id = 'lamp') =>
  (await hub.ask('GET', '/api/skills', { as: {} })).body.skills.find(
    (s: { skill_id: string }) => s.skill_id === id,
  );
const settled = (hub: TestHub, version: string | null, id = 'lamp') =>
  until(
    tried(async () => {
      const s = await listed(hub, id);
      return ['active', 'prepared'].includes(s.state) && s.version === version && s;
    }),
    `${id} ${version}`,
  );
const add = (hub: TestHub, id = 'lamp'): Promise<Answered> =>
  hub.ask('POST', `/skills/${id}/v1/add`, { as: {} });
const good = (r: Answered) => {
  assert.is(r.status, 200, JSON.stringify(r.body));
  return r.body;
};
const slotOf = (hub: TestHub, id = 'lamp') =>
  [...parseTable(readFileSync(join(hub.data, 'skills/slots.json'), 'utf8'))].find(
    ([, r]) => r.state === 'used' && r.skill_id === id,
  )?.[0];
async function pidOf(hub: TestHub, slot: number): Promise<number> {
  const bus = await connect(hub.bus.address);
  const daemon = 'org.freedesktop.DBus';
  const [pid] = await bus.call(daemon, '/org/freedesktop/DBus', daemon, 'GetConnectionUnixProcessID', 's', [
    skillBusName(slot),
  ]);
  bus.close();
  return pid as number;
}

test('a signed package is looked at, installed and serves, without a restart of the API', async ({ hub }) => {
  const looked = good(await post(hub, 'prepare', packed('1.0.0')));
  assert.equal(
    [looked.package.publisher.name, looked.package.trust, looked.skill.state],
    ['Acme', 'trusted', 'prepared'],
  );
  assert.is((await add(hub)).status, 404);
  good(await hub.ask('POST', '/api/skills/lamp/activate', { as: {}, body: { version: '1.0.0' } }));
  await settled(hub, '1.0.0');
  assert.equal(good(await add(hub)), { version: '1.0.0', n: 1 });
  const icons = (await hub.ask('GET', '/v1/icons', { as: {} })).body;
  assert.ok(icons.some((i: { skill_id: string }) => i.skill_id === 'lamp'));
});

/** How often it has counted for the owner. */
const counted = async (hub: TestHub, id = 'lamp') =>
  good(await hub.ask('GET', `/skills/${id}/v1/state`, { as: {} })).n as number;

test('an update keeps the state and migrates what is stored, and a step back finds that as it was', async ({
  hub,
}) => {
  const code = counter('1.1.0', "migrate: ({ storage }) => storage.set('n', storage.get('n') + 100),");
  const bytes = packed('1.1.0', { code });
  good(await post(hub, 'install', bytes, { 'idempotency-key': 'up' }));
  await settled(hub, '1.1.0');
  // Said twice, it is done once.
  assert.is(good(await post(hub, 'install', bytes, { 'idempotency-key': 'up' })).state, 'trial');
  assert.equal(good(await add(hub)), { version: '1.1.0', n: 102 });
  assert.is(await counted(hub), 2);
  good(await hub.ask('POST', '/api/skills/lamp/rollback', { as: {} }));
  await settled(hub, '1.0.0');
  assert.equal(good(await add(hub)), { version: '1.0.0', n: 2 });
  assert.is(await counted(hub), 3);
});

/** After an update that came to nothing: the version before, with all it had. */
async function isAsBefore(hub: TestHub): Promise<void> {
  const before = await counted(hub);
  assert.equal(good(await add(hub)), { version: '1.0.0', n: before });
  assert.is(await counted(hub), before + 1);
}

for (const [what, version, code, reason] of [
  ['throws when it is loaded', '2.0.0', "throw new Error('no');", /^broken$/],
  ['has no skill in it', '2.1.0', 'export const other = 1;', /^broken$/],
  // Its time is over, or before that its budget of failures.
  ['ends at once', '2.2.0', 'process.exit(3);', /^(timeout|broken)$/],
  [
    'cannot migrate',
    '2.2.1',
    counter('2.2.1', "async migrate({ storage }) { await storage.set('n', 0); throw new Error('no'); },"),
    /^broken$/,
  ],
] as const)
  test(`an update that ${what} goes back by itself and says why`, async ({ hub }) => {
    good(await post(hub, 'install', packed(version, { code })));
    const s = await until(
      tried(async () => {
        const s = await listed(hub);
        return s.state === 'active' && s.fault?.version === version && s;
      }),
      'the way back',
    );
    assert.is(s.version, '1.0.0');
    assert.match(s.fault.reason, reason);
    await isAsBefore(hub);
  });

test('an update that hangs goes back once its watchdog has ended it', async ({ hub }) => {
  good(await post(hub, 'install', packed('2.3.0', { code: 'while (true);' })));
  await until(
    tried(async () => (await listed(hub)).state === 'returning'),
    'its time to be over',
  );
  // What systemd's watchdog does on a hub.
  process.kill(await pidOf(hub, slotOf(hub)!), 'SIGKILL');
  const s = await settled(hub, '1.0.0');
  assert.is(s.fault.reason, 'timeout');
  await isAsBefore(hub);
});

test('what may not be installed is refused with the reason', async ({ hub }) => {
  const refused: [string, Uint8Array, number, RegExp][] = [
    ['another publisher', packed('3.0.0', { by: other }), 403, /has come from "Acme"/],
    ['an older version', packed('0.9.0'), 409, /older/],
    ['unsigned', packed('1.0.0', { id: 'bare', by: null }), 403, /not signed/],
    ['the image', packed('9.0.0', { id: 'hub_status' }), 403, /part of the image/],
    ['no package', new Uint8Array(300), 400, /./],
    ['cut off', packed('3.0.0').subarray(0, 200), 400, /./],
  ];
  for (const [what, bytes, status, says] of refused) {
    const r = await post(hub, 'install', bytes);
    assert.equal([r.status, says.test(r.body.message)], [status, true], `${what}: ${JSON.stringify(r.body)}`);
  }
  const many = await Promise.all(
    [{ role: 'guest' as const }, { elevated_until: 1 }].map((as) =>
      hub.ask('POST', '/api/skills/install', { as, raw: packed('3.0.0') }),
    ),
  );
  assert.equal(
    many.map((r) => r.status),
    [403, 401],
  );
});

test('a package of more than 8 MiB is refused before it is sent; other paths take no more than they did', async ({
  hub,
}) => {
  const announced = (path: string, length: number) =>
    new Promise<number>((resolve, reject) => {
      const r = request(
        hub.base + path,
        { method: 'POST', headers: { 'x-service-token': hub.token(), 'content-length': length } },
        (answer) => {
          resolve(answer.statusCode ?? 0);
          r.destroy();
        },
      );
      r.on('error', reject);
      r.flushHeaders();
    });
  assert.is(await announced('/api/skills/install', 8 * 1024 * 1024 + 1), 413);
  assert.is(await announced('/api/skills/developer', 64 * 1024 + 1), 413);
  const big = await post(hub, 'install', new Uint8Array(3 * 1024 * 1024));
  assert.is(big.status, 400, 'it was read whole');
});

test('developer mode lets unsigned ones in, and says so for ever', async ({ hub }) => {
  const mode = (on: boolean) => hub.ask('POST', '/api/skills/developer', { as: {}, body: { on } });
  good(await mode(true));
  assert.is((await hub.ask('GET', '/api/status', { as: {} })).body.developer_mode, true);
  good(await post(hub, 'install', packed('1.0.0', { id: 'bare', by: null })));
  await settled(hub, '1.0.0', 'bare');
  good(await mode(false));
  const s = await listed(hub, 'bare');
  assert.equal([s.unsigned, s.trust], [true, 'unsigned']);
  assert.is((await post(hub, 'prepare', packed('1.1.0', { id: 'bare', by: null }))).status, 403);
});

test('what is removed leaves no document, no icon, no state, no folder', async ({ hub }) => {
  good(await hub.ask('POST', '/v1/icons/pin', { as: {}, body: { skill_id: 'lamp', pinned: true } }));
  const slot = slotOf(hub)!;
  const documents = async () =>
    (await hub.ask('GET', '/docs/index?prefix=o1/lamp/', { as: {} })).body.documents as unknown[];
  assert.ok((await documents()).length > 0);
  good(await hub.ask('DELETE', '/api/skills/lamp', { as: {} }));
  await until(
    tried(async () => (await listed(hub)) === undefined),
    'it to be gone',
  );
  assert.equal(await documents(), []);
  assert.is((await add(hub)).status, 404);
  const bundles = () => readdirSync(join(hub.data, 'skills/bundles')).filter((n) => n.startsWith('lamp'));
  await until(() => bundles().length === 0, 'its folders to be gone');
  const state = join(hub.data, `skill-${slot}`);
  assert.equal(existsSync(state) ? readdirSync(state) : [], []);
  // Its name is free: another publisher begins anew.
  const key = toBase64url(other.key);
  good(await hub.ask('POST', '/api/skills/publishers', { as: {}, body: { key, name: 'Other' } }));
  good(await post(hub, 'install', packed('0.1.0', { by: other })));
  await settled(hub, '0.1.0');
  assert.is((await listed(hub)).publisher.name, 'Other');
  good(await hub.ask('DELETE', `/api/skills/publishers/${key}`, { as: {} }));
  assert.is((await post(hub, 'prepare', packed('0.2.0', { by: other }))).status, 403);
  assert.is((await listed(hub)).trust, 'refused');
});

test('two installed at once both come up', async ({ hub }) => {
  const said = await Promise.all(['red', 'blue'].map((id) => post(hub, 'install', packed('1.0.0', { id }))));
  said.map(good);
  await settled(hub, '1.0.0', 'red');
  await settled(hub, '1.0.0', 'blue');
  assert.is.not(slotOf(hub, 'red'), slotOf(hub, 'blue'));
});

test('killed at any moment of an install, the API or the skill, all comes back with a whole version, done once', async ({
  hub,
}) => {
  let seed = 20261123;
  const random = () => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    return seed / 2 ** 31;
  };
  let before = '1.0.0';
  let adds = 0;
  for (let n = 1; n <= 8; n++) {
    const victim = n % 2 ? 'api' : 'skill';
    const next = `1.${n}.0`;
    const said = post(hub, 'install', packed(next, { id: 'red' })).then(
      (r) => r.status === 200,
      () => false,
    );
    await new Promise((done) => setTimeout(done, random() * 400));
    if (victim === 'api') await hub.kill('api');
    // Whichever has the place now: the version that goes, or the one on trial. Between them there is none.
    else
      await pidOf(hub, slotOf(hub, 'red')!).then(
        (pid) => process.kill(pid, 'SIGKILL'),
        () => {},
      );
    const wasSaid = await said;
    if (victim === 'api') await hub.startApi();
    const s = await until(
      tried(async () => {
        const s = await listed(hub, 'red');
        return s.state === 'active' && s.available && s;
      }),
      `red after kill ${n}`,
    );
    const says = `${n}, ${victim} killed: ${s.version}, ${JSON.stringify(s.fault)}`;
    // A version that was on trial when it died may have been given up, and that is told.
    const isTold = victim === 'skill' && s.version === before && s.fault?.version === next;
    assert.ok(wasSaid ? s.version === next || isTold : [before, next].includes(s.version), says);
    // A skill whose documents are still being handed over says "try again".
    const r = await until(
      tried(async () => {
        const headers = { 'idempotency-key': `add-${n}` };
        const r = await hub.ask('POST', '/skills/red/v1/add', { as: {}, headers });
        return r.status !== 503 && r;
      }),
      'its answer',
    );
    assert.is(good(r).version, s.version);
    assert.is(await counted(hub, 'red'), ++adds, says);
    before = s.version;
  }
});

test.run();
