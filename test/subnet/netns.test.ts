// timeout: 400 s
// Two hubs in two network namespaces and root in a third: register, heartbeat, one vanishes and comes back.
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ended } from '../lab/child.ts';
import { type Net, noNets, openNets } from '../lab/netns.ts';
import { until } from '../lab/wait.ts';

const PORT = '8080';
const why = await noNets();
if (why) console.log(`SKIP subnet in namespaces: ${why}`);

interface Hub {
  net: Net;
  folder: string;
  process: ChildProcess;
  hub_id: string;
}
type Nets = Awaited<ReturnType<typeof openNets<'a' | 'b'>>>;
const test = suite<{ nets: Nets; root: ChildProcess; a: Hub; b: Hub; dir: string }>('a subnet in namespaces');
const check = why ? test.skip : test;

const ingle = resolve('services/cli/ingle.mjs');
/** `ingle` in the folder of a hub: what it says with --json. */
async function said(h: Pick<Hub, 'net' | 'folder'>, ...words: string[]) {
  const r = await h.net.run(process.execPath, [ingle, ...words, '--json'], { cwd: h.folder });
  if (r.code !== 0) throw new Error(`${words.join(' ')}: ${r.stderr}`);
  // biome-ignore lint/suspicious/noExplicitAny: looked at field by field in assertions
  return JSON.parse(r.stdout.toString().trim().split('\n').at(-1)!) as any;
}
const serve = (net: Net, folder: string): ChildProcess =>
  net.start(
    process.execPath,
    [ingle, 'hub', 'serve', '--root', `http://${net.middle}:${PORT}`, '--data', join(folder, '.ingle')],
    { cwd: folder, stdio: 'ignore' },
  );
const isUp = async (h: Pick<Hub, 'net' | 'folder'>) =>
  said(h, 'status').then(
    (s) => s.connected === true,
    () => false,
  );
async function startHub(net: Net, dir: string, name: string): Promise<Hub> {
  const folder = join(dir, name);
  mkdirSync(join(folder, '.ingle'), { recursive: true });
  writeFileSync(join(folder, '.ingle', 'config.json'), JSON.stringify({ name, subnet_heartbeat: 1 }));
  const h = { net, folder, process: serve(net, folder), hub_id: '' };
  await until(() => isUp(h), `${name} to be connected`);
  return { ...h, hub_id: (await said(h, 'status')).hub_id };
}
/** The member as the first hub shows it. */
const shown = async ({ a, b }: { a: Hub; b: Hub }) =>
  (await said(a, 'subnet', 'nodes')).nodes.find((n: { hub_id: string }) => n.hub_id === b.hub_id);
const becomes = (c: { a: Hub; b: Hub }, state: string) =>
  until(
    async () => (await shown(c).catch(() => undefined))?.state === state,
    `the member to be shown as ${state}`,
  );
const pidOf = (h: Hub, name: string): number => {
  const all = readFileSync(
    join('/proc', String(h.process.pid), 'task', String(h.process.pid), 'children'),
    'utf8',
  );
  const pid = all
    .trim()
    .split(/\s+/)
    .find((p) => readFileSync(`/proc/${p}/cmdline`, 'utf8').includes(`/${name}/main.js`));
  return Number(pid);
};
/** How often a hub has said that a member is gone. */
const timesGone = (h: Hub): number =>
  readFileSync(join(h.folder, '.ingle', 'log', 'uplink.log'), 'utf8').split('"gone"').length - 1;

test.before(async (c) => {
  if (why) return;
  const { build } = await import('../../services/cli/build.mjs' as string);
  await build();
  c.dir = mkdtempSync(join(tmpdir(), 'ingle-netns-'));
  c.nets = await openNets(['a', 'b']);
  const { a, b } = c.nets.nets;
  c.root = c.nets.middle.start(process.execPath, [resolve('dist/root/main.js')], {
    stdio: 'ignore',
    env: {
      ...process.env,
      INGLE_ROOT_PORT: PORT,
      INGLE_ROOT_HOST: '0.0.0.0',
      INGLE_ROOT_ORIGIN: `http://localhost:${PORT}`,
      INGLE_ROOT_AUDIENCE: [a, b].map((n) => `http://${n.middle}:${PORT}`).join(),
      INGLE_ROOT_DATA: join(c.dir, 'root'),
    },
  });
  c.a = await startHub(a, c.dir, 'Hall');
  c.b = await startHub(b, c.dir, 'Attic');
});
test.after(async (c) => {
  for (const h of [c.b, c.a]) if (h) await ended(h.process, 'SIGTERM', 'a hub', 20).catch(() => {});
  c.root?.kill('SIGKILL');
  c.nets?.remove();
  if (c.dir) rmSync(c.dir, { recursive: true, force: true });
});

check(
  'hubs that cannot reach each other form a subnet through root: invited, registered, heard',
  async (c) => {
    const { a, b } = c;
    const direct = await b.net.run('ping', ['-c', '1', '-W', '1', a.net.address]).catch(() => ({ code: 1 }));
    assert.is.not(direct.code, 0, 'no way between them');
    const { link } = await said(a, 'subnet', 'invite');
    const joined = await said(b, 'subnet', 'join', link);
    assert.is(joined.hub, a.hub_id);
    await becomes(c, 'here');
    const first = (await shown(c)).heard_at;
    await until(async () => (await shown(c)).heard_at > first, 'a heartbeat');
    const { nodes } = await said(b, 'api', 'call', 'GET', '/api/subnet/nodes');
    assert.equal(
      nodes.map((n: { role: string; state: string }) => [n.role, n.state]),
      [
        ['member', 'here'],
        ['hub', 'here'],
      ],
    );
  },
);

check(
  'a member whose cable is pulled is gone, since then, and here again once it is plugged in',
  async (c) => {
    const before = Math.floor(Date.now() / 1000);
    await c.b.net.cable(false);
    await becomes(c, 'gone');
    const n = await shown(c);
    assert.ok(n.since >= before && n.heard_at <= n.since, JSON.stringify(n));
    await c.b.net.cable(true);
    await becomes(c, 'here');
  },
);

check('a member that is killed outright is gone, and here again once it is started', async (c) => {
  c.b.process.kill('SIGKILL');
  await becomes(c, 'gone');
  c.b.process = serve(c.b.net, c.b.folder);
  await becomes(c, 'here');
});

check('a member whose link is frozen is gone, and here again once it thaws', async (c) => {
  const pid = pidOf(c.b, 'uplink');
  process.kill(pid, 'SIGSTOP');
  try {
    await becomes(c, 'gone');
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await becomes(c, 'here');
});

check('a leading hub that was frozen itself calls nobody gone for it', async (c) => {
  const gone = timesGone(c.a);
  const before = (await shown(c)).heard_at;
  const pid = pidOf(c.a, 'uplink');
  process.kill(pid, 'SIGSTOP');
  // As long as makes a member gone, by this clock: what is waited for is time itself.
  const until_ = Date.now() + 6000;
  await until(async () => Date.now() > until_, 'time to pass');
  process.kill(pid, 'SIGCONT');
  await until(async () => (await shown(c)).heard_at > before + 5, 'a heartbeat afterwards');
  assert.is((await shown(c)).state, 'here');
  assert.is(timesGone(c.a), gone);
});

check(
  'the leading hub is killed outright and started: nobody is gone, and its member is heard again',
  async (c) => {
    const gone = timesGone(c.a);
    c.a.process.kill('SIGKILL');
    await until(async () => (await said(c.b, 'subnet', 'nodes')).reached === false, 'the member to notice');
    const at = Math.floor(Date.now() / 1000);
    c.a.process = serve(c.a.net, c.a.folder);
    await until(async () => ((await shown(c).catch(() => undefined))?.heard_at ?? 0) > at, 'a heartbeat');
    assert.is((await shown(c)).state, 'here');
    assert.is(timesGone(c.a), gone);
  },
);

check('the leading hub’s cable is pulled and plugged in: both are here again without a person', async (c) => {
  await c.a.net.cable(false);
  await becomes(c, 'gone');
  await c.a.net.cable(true);
  await becomes(c, 'here');
  await until(async () => (await said(c.b, 'subnet', 'nodes')).reached === true, 'the member to reach it');
});

check('a member that is let go while it is away learns of it when it is back, and is alone', async (c) => {
  await c.b.net.cable(false);
  await becomes(c, 'gone');
  await said(c.a, 'subnet', 'remove', c.b.hub_id);
  assert.is((await shown(c)).state, 'left');
  await c.b.net.cable(true);
  await until(
    async () => (await said(c.b, 'subnet', 'nodes')).stage === 'removed',
    'the member to learn of it',
  );
  const [a, b] = [await said(c.a, 'status').catch(() => undefined), await said(c.b, 'subnet', 'nodes')];
  assert.is.not(b.subnet_id, a?.subnet_id);
  assert.is((await said(c.b, 'subnet', 'nodes')).role, 'hub');
});

test.run();
