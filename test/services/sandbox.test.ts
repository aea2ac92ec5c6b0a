// timeout: 300 s
// Under npm start a skill from a package runs in bubblewrap, and not at all without it unless its owner says so.
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { toBase64url } from '../../firmware/protocol/bytes.ts';
import { packSkill } from '../../firmware/skills/package.ts';
import { parseTable } from '../../firmware/skills/slots.ts';
import type { House } from '../../services/cli/house/house.ts';
import type { HouseOptions } from '../../services/cli/house/plan.ts';
import { startHouse } from '../lab/house.ts';
import { tried, until } from '../lab/wait.ts';
import { file, manifest, signerOfSeed } from '../skills/archive.ts';

/** Does what it is told with the rights of its process, and says how that went. */
const spy = `
import { chmodSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { connect } from 'node:net';
const tries = {
  read: (path) => readFileSync(path, 'utf8').length,
  list: (path) => readdirSync(path).length,
  write: (path) => writeFileSync(path, 'x'),
  chmod: (path) => chmodSync(path, 0o777),
  signal: (pid) => process.kill(Number(pid)),
  run: (program) => { const { error } = spawnSync(program, ['--version']); if (error) throw error; },
  reach: (to) => new Promise((done, no) => {
    const [host, port] = to.split(' ');
    const s = connect({ host, port: Number(port), timeout: 5000 }, () => { s.destroy(); done(); });
    s.on('error', no).on('timeout', () => no(new Error('timeout')));
  }),
};
export const skill = { start: (ctx) => ({ endpoints: [
  { method: 'POST', path: '/v1/try', answer: async ({ body }) => {
    try { await tries[body.what](body.at); return { body: { got: 'done' } }; }
    catch (e) { return { body: { got: e.code ?? e.message } }; }
  } },
  { method: 'POST', path: '/v1/keep', answer: async ({ body }) => { await ctx.storage.set('secret', body.value); return { body: {} }; } },
  { method: 'POST', path: '/v1/env', answer: () => ({ body: { env: process.env } }) },
  { method: 'POST', path: '/v1/spin', answer: () => { for (;;); } },
  { method: 'POST', path: '/v1/never', answer: () => new Promise(() => {}) },
  { method: 'POST', path: '/v1/huge', answer: () => ({ body: Array(64).fill('x'.repeat(2 ** 24)) }) },
  { method: 'POST', path: '/v1/flood', answer: async ({ owner_id }) => {
    for (let i = 0; i < 50_000; i++) {
      ctx.publish('spy.flood', { i, fill: 'x'.repeat(1000) });
      ctx.setState(owner_id, { i });
      if (i % 500 === 0) await new Promise((d) => setImmediate(d));
    }
    return { body: {} };
  } },
  { method: 'POST', path: '/v1/leak', answer: async () => {
    const all = [];
    for (let i = 0; ; i++) { all.push(Buffer.alloc(2 ** 24, i)); await new Promise((d) => setImmediate(d)); }
  } },
] }) };`;

const acme = signerOfSeed(1);
const packed = (id: string, version: string) =>
  packSkill([file('manifest.json', JSON.stringify(manifest(id, version))), file('skill.js', spy)], acme)
    .bytes;

const base = mkdtempSync(join(tmpdir(), 'ingle-sandbox-'));
const data = join(base, 'data');
/** A PATH with what a house needs, and a bwrap of ours or none. */
function pathWith(bwrap?: string): string {
  const dir = mkdtempSync(join(base, 'bin-'));
  for (const name of ['sh', 'dbus-daemon', 'ldd', 'cat', 'bash'])
    for (const at of (process.env['PATH'] ?? '').split(delimiter))
      if (existsSync(join(at, name)) && !existsSync(join(dir, name)))
        symlinkSync(join(at, name), join(dir, name));
  if (bwrap) writeFileSync(join(dir, 'bwrap'), bwrap, { mode: 0o755 });
  return dir;
}

const test = suite<{ house: House }>('the sandbox of a skill');
const again = async (c: { house: House }, o: HouseOptions = {}) => {
  await c.house?.stop();
  c.house = await startHouse({ data, ...o });
};
test.before((c) => again(c));
test.after(async (c) => {
  await c.house?.stop();
  rmSync(base, { recursive: true, force: true });
});

async function ask(
  house: House,
  method: string,
  path: string,
  body?: Uint8Array | object,
  o: { signal?: AbortSignal } = {},
) {
  const token = readFileSync(join(data, 'hub/api/token'), 'utf8').trim();
  const r = await fetch(house.api + path, {
    ...o,
    method,
    headers: { 'x-service-token': token },
    ...(body ? { body: (body instanceof Uint8Array ? body : JSON.stringify(body)) as string } : {}),
  });
  return { status: r.status, body: await r.json() };
}
const told = async (house: House, what: string, at: string | number, id = 'spy'): Promise<string> => {
  const r = await ask(house, 'POST', `/skills/${id}/v1/try`, { what, at: `${at}` });
  return r.status === 200 ? r.body.got : `${r.status} ${r.body.message}`;
};
const listed = async (house: House, id = 'spy') => {
  const { body } = await ask(house, 'GET', '/api/skills');
  const skill = body.skills.find((s: { skill_id: string }) => s.skill_id === id);
  return { ...skill, sandbox: body.sandbox };
};
const serves = (house: House, id = 'spy') =>
  until(
    tried(async () => (await ask(house, 'POST', `/skills/${id}/v1/env`)).status === 200),
    `${id} to serve`,
  );
const slotOf = (id: string) =>
  [...parseTable(readFileSync(join(data, 'hub/skills/slots.json'), 'utf8'))].find(
    ([, r]) => r.state === 'used' && r.skill_id === id,
  )![0];
const stateOf = (id: string) => join(data, 'hub', `skill-${slotOf(id)}`);
/** Runs that did not end in order. */
const failures = (id: string) => JSON.parse(readFileSync(join(stateOf(id), '.runs'), 'utf8')).length - 1;

/** Processes with this folder in their arguments, but for this one. */
const processesOf = (folder: string) =>
  readdirSync('/proc').filter((pid) => {
    try {
      return (
        /^\d+$/.test(pid) &&
        pid !== `${process.pid}` &&
        readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder)
      );
    } catch {
      return false;
    }
  });

/** What a skill must not do, each with the answers that count as refused. */
function attempts(house: House): [what: string, at: string | number, refused: RegExp][] {
  const port = (url: string) => new URL(url).port;
  const unseen = /^ENOENT$/;
  return [
    ['read', join(data, 'hub/api/token'), unseen],
    ['read', join(data, 'hub/api/api.db'), unseen],
    ['read', join(data, 'config.json'), unseen],
    ['read', join(data, 'house.json'), unseen],
    ['read', join(stateOf('other'), '.kept/data.json'), unseen],
    ['list', stateOf('other'), unseen],
    ['list', join(data, 'root'), unseen],
    ['list', '/etc/ssl', unseen],
    ['read', '/etc/passwd', unseen],
    ['read', `/proc/${process.pid}/environ`, unseen],
    ['signal', process.pid, /^ESRCH$/],
    ['signal', house.pid('api')!, /^ESRCH$/],
    ['run', '/bin/sh', unseen],
    ['reach', `127.0.0.1 ${port(house.api)}`, /^(ECONNREFUSED|ENETUNREACH)$/],
    ['reach', `127.0.0.1 ${port(house.origin)}`, /^(ECONNREFUSED|ENETUNREACH)$/],
    ['reach', '192.0.2.1 80', /^(ENETUNREACH|ECONNREFUSED)$/],
    ['write', '/x', /^EROFS$/],
    ['write', '/dev/x', /^EROFS$/],
    ['write', '/tmp/x', /^(EROFS|ENOENT)$/],
    ['write', join(data, 'x'), /^(EROFS|ENOENT)$/],
    ['write', join(data, 'hub/skills/slots.json'), /^EROFS$/],
    ['write', join(data, 'hub/skills/developer'), /^EROFS$/],
    ['write', resolve('dist/services/skill-host/main.js'), /^EROFS$/],
    ['chmod', process.execPath, /^EROFS$/],
  ];
}

test('from inside it reads nothing of others, reaches no network and writes to its own state alone', async (c) => {
  const { house } = c;
  assert.is(house.unconfined, undefined, JSON.stringify(house.unconfined));
  writeFileSync(join(data, 'config.json'), '{}');
  const key = toBase64url(acme.key);
  await ask(house, 'POST', '/api/skills/publishers', { key, name: 'Acme' });
  for (const id of ['other', 'spy']) {
    const r = await ask(house, 'POST', '/api/skills/install', packed(id, '1.0.0'));
    assert.is(r.status, 200, JSON.stringify(r.body));
    await serves(house, id);
  }
  assert.is((await ask(house, 'POST', '/skills/other/v1/keep', { value: 'mine' })).status, 200);
  assert.ok(existsSync(join(stateOf('other'), '.kept/data.json')));
  for (const [what, at, refused] of attempts(house))
    assert.match(await told(house, what, at), refused, `${what} ${at}`);
  assert.is(await told(house, 'write', join(stateOf('spy'), 'mine')), 'done');
  assert.is(await told(house, 'read', join(stateOf('spy'), 'mine')), 'done');
  const { env } = (await ask(house, 'POST', '/skills/spy/v1/env')).body;
  assert.equal([env.HOME, env.PATH], [undefined, undefined]);
});

test('one that takes more memory than a skill may ends alone, and comes back', async ({ house }) => {
  const r = await ask(house, 'POST', '/skills/spy/v1/leak');
  assert.is.not(r.status, 200);
  await serves(house);
  assert.is((await ask(house, 'GET', '/api/status')).status, 200);
});

test('after a restart it is shut in as before; ended in order, no failure counts against it', async (c) => {
  const before = failures('spy');
  await again(c);
  await serves(c.house);
  for (const [what, at, refused] of attempts(c.house))
    assert.match(await told(c.house, what, at), refused, `${what} ${at}`);
  for (let i = 0; i < 2; i++) {
    await c.house.restart('skill spy');
    await serves(c.house);
  }
  // Its own mark is of the run that goes on.
  assert.is(failures('spy'), before);
  await c.house.stop();
  assert.is(failures('spy'), before - 1);
  assert.is(failures('other'), 0);
  await again(c);
});

test('one that loops, leaks, floods, answers a gigabyte or never answers holds nobody up', async ({
  house,
}) => {
  const api = house.pid('api');
  const ms = async (path: string) => {
    const began = performance.now();
    const method = path.includes('/v1/env') ? 'POST' : 'GET';
    assert.is((await ask(house, method, path)).status, 200, path);
    return performance.now() - began;
  };
  for (const what of ['nothing', 'spin', 'leak', 'flood', 'huge', 'never']) {
    await serves(house);
    let isOver = what === 'nothing';
    const quick = { signal: AbortSignal.timeout(60_000) };
    if (!isOver)
      void ask(house, 'POST', `/skills/spy/v1/${what}`, undefined, quick)
        .catch(() => {})
        .finally(() => {
          isOver = true;
        });
    const took: number[] = [];
    for (let i = 0; i < 40; i++) {
      took.push(await ms('/api/status'));
      await ms('/skills/other/v1/env');
    }
    took.sort((a, b) => a - b);
    console.log(
      `FIGURE status beside ${what}: median ${took[20]!.toFixed(1)} ms, longest ${took.at(-1)!.toFixed(1)} ms`,
    );
    assert.is(house.pid('api'), api, `${what}: the API is the one it was`);
    // What systemd's watchdog does on a hub.
    if (what === 'spin') house.kill('skill spy');
  }
  await serves(house);
});

test('one that hears no signal is gone with the house', async (c) => {
  await c.house.stop();
  rmSync(join(data, 'hub/skills/slots.json'));
  c.house = await startHouse({ data });
  // Begun by the bus, and by the house.
  for (const _ of [1, 2]) {
    await serves(c.house);
    void ask(c.house, 'POST', '/skills/spy/v1/spin').catch(() => {});
    const quick = { signal: AbortSignal.timeout(2000) };
    const answer = await ask(c.house, 'POST', '/skills/spy/v1/env', undefined, quick).catch(() => undefined);
    assert.is(answer, undefined, 'it is busy');
    await c.house.stop();
    await until(() => processesOf(data).length === 0, 'its process to be gone');
    c.house = await startHouse({ data });
  }
});

test('without bubblewrap it does not run, and every place says why and what to do', async (c) => {
  await again(c, { env: { PATH: pathWith() } });
  const { house } = c;
  assert.equal(house.unconfined, { reason: 'missing', said: '' });
  const s = await until(
    tried(async () => {
      const s = await listed(house);
      return s.off && !s.available && s;
    }),
    'the list to say so',
  );
  assert.equal([s.state, s.off, s.sandbox, s.version], ['active', 'no_sandbox', 'missing', '1.0.0']);
  const icons = (await ask(house, 'GET', '/v1/icons')).body as { skill_id: string; available: boolean }[];
  assert.is(icons.find((i) => i.skill_id === 'spy')?.available, false);
  const next = /install bubblewrap.* or turn on developer mode/;
  const said = await until(
    tried(async () => {
      const r = await ask(house, 'POST', '/skills/spy/v1/env');
      return /bubblewrap/.test(r.body.message) && r;
    }),
    'its answer to say why',
  );
  assert.is(said.status, 503);
  assert.match(said.body.message, next);
  const r = await ask(house, 'POST', '/api/skills/install', packed('spy', '1.1.0'));
  assert.equal([r.status, r.body.error, r.body.details.reason], [403, 'forbidden', 'no_sandbox']);
  assert.match(r.body.message, next);
  assert.ok((await listed(house)).prepared.some((k: { version: string }) => k.version === '1.1.0'));
  // Those of the image are as they were.
  assert.is((await ask(house, 'POST', '/skills/hub_status/v1/refresh')).status, 200);
});

test('developer mode runs it unprotected until it is turned off', async ({ house }) => {
  const developer = (on: boolean) => ask(house, 'POST', '/api/skills/developer', { on });
  assert.is((await developer(true)).status, 200);
  await serves(house);
  assert.is((await listed(house)).off, null);
  // What the sandbox refuses, this process may: the attempts are real.
  assert.is(await told(house, 'read', join(data, 'hub/api/token')), 'done');
  assert.is(await told(house, 'reach', `127.0.0.1 ${new URL(house.api).port}`), 'done');
  assert.is((await ask(house, 'POST', '/api/skills/spy/activate', { version: '1.1.0' })).status, 200);
  await until(
    tried(async () => (await listed(house)).version === '1.1.0'),
    'the new version',
  );
  assert.is((await developer(false)).status, 200);
  await until(
    tried(async () => /bubblewrap/.test((await ask(house, 'POST', '/skills/spy/v1/env')).body.message)),
    'it to be refused again',
  );
  assert.is((await listed(house)).off, 'no_sandbox');
});

test('a bubblewrap that this computer does not let work is no sandbox, and its own words are told', async (c) => {
  const fails =
    '#!/bin/sh\n[ "$1" = --version ] && exit 0\necho "bwrap: No permissions to create a new namespace" >&2\nexit 1\n';
  await again(c, { env: { PATH: pathWith(fails) } });
  assert.equal(c.house.unconfined, {
    reason: 'unusable',
    said: 'bwrap: No permissions to create a new namespace',
  });
  await until(
    tried(async () => /namespaces/.test((await ask(c.house, 'POST', '/skills/spy/v1/env')).body.message)),
    'its answer to say why',
  );
  assert.is((await listed(c.house)).sandbox, 'unusable');
});

test.run();
