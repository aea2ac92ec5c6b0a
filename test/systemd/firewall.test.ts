// The hub's firewall under a real kernel: a namespace is the hub, another the network around it. Needs root rights.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SLOTS } from '../../firmware/skills/slots.ts';
import { must, run, start, stop } from '../../firmware/system/exec.ts';
import { nftRemove, nftRules } from '../../firmware/wifi/nft.ts';

const test = suite('firewall');
const dir = mkdtempSync(join(tmpdir(), 'ingle-nft-'));
const hub = `ingle-hub-${process.pid}`;
const world = `ingle-out-${process.pid}`;
const children: ReturnType<typeof start>[] = [];

const able = async (program: string, args: string[]) =>
  run(program, args).then(
    (r) => r.code === 0,
    () => false,
  );
const why =
  process.getuid?.() !== 0
    ? 'needs root rights'
    : !(await able('unshare', ['--net', 'nft', '-c', '-f', '-']))
      ? 'needs network namespaces and nft'
      : '';
if (why) console.log(`SKIP firewall: ${why}`);
const check = why ? test.skip : test;

const inside = (name: string, ...words: string[]) => run('ip', ['netns', 'exec', name, ...words]);
const set = (name: string, ...words: string[]) => must('ip', ['netns', 'exec', name, ...words]);

/** A server in a namespace that says `here` to whoever comes; settles once it listens. */
async function listen(name: string, port: number): Promise<void> {
  const code = `require('node:net').createServer((s) => s.end('here')).listen(${port}, '::', () => console.log('up'))`;
  const child = start('ip', ['netns', 'exec', name, process.execPath, '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  await new Promise<void>((resolve, reject) => {
    child.stdout!.once('data', () => resolve());
    child.once('close', () => reject(new Error('the server ended')));
  });
}

/** A number for a user of the hub. */
const uidOf = (name: string) => (name === 'ingle-fetch' ? 61_000 : 61_000 + Number(name.split('-').at(-1)));
const out = '93.184.216.34';

/** Whether a server answers; what is dropped says nothing, so that takes its time. */
async function reaches(from: string, address: string, port: number, user?: string): Promise<boolean> {
  const code = `const s = require('node:net').connect(${port}, '${address}'); s.setTimeout(2000, () => process.exit(1)); s.on('error', () => process.exit(1)); s.on('data', () => process.exit(0));`;
  const as = user ? ['setpriv', `--reuid=${uidOf(user)}`, '--clear-groups'] : [];
  return (await inside(from, ...as, process.execPath, '-e', code)).code === 0;
}

/** The hub's rules with one port opened as a device file does, and none. */
async function load(open = ''): Promise<void> {
  const rules = readFileSync('systemd/nftables/ingle.nft', 'utf8');
  assert.match(rules, /^include "\/usr\/lib\/ingle\/nftables\/open\.d\/\*\.nft"$/m);
  const file = join(dir, 'rules.nft');
  // This machine has no such users.
  const numbered = rules
    .replace(/^ *#.*$/gm, '')
    .replace(/ingle-(skill-\d+|fetch)\b/g, (name) => `${uidOf(name)}`);
  writeFileSync(file, numbered.replace(/^include .*$/m, open));
  await set(hub, 'nft', '-f', file);
}

test.before(async () => {
  if (why) return;
  for (const name of [hub, world]) {
    await must('ip', ['netns', 'add', name]);
    await set(name, 'ip', 'link', 'set', 'lo', 'up');
  }
  await must('ip', [
    'link',
    'add',
    'cable',
    'netns',
    hub,
    'type',
    'veth',
    'peer',
    'name',
    'cable',
    'netns',
    world,
  ]);
  for (const [name, host] of [
    [hub, 1],
    [world, 2],
  ] as const) {
    await set(name, 'ip', 'link', 'set', 'cable', 'up');
    await set(name, 'ip', 'addr', 'add', `10.77.0.${host}/24`, 'dev', 'cable');
    await set(name, 'ip', '-6', 'addr', 'add', `fd77::${host}/64`, 'dev', 'cable', 'nodad');
  }
  // A host out in the world.
  await set(world, 'ip', 'addr', 'add', `${out}/32`, 'dev', 'lo');
  await set(hub, 'ip', 'route', 'add', out, 'via', '10.77.0.2');
  for (const port of [22, 80, 8777]) await listen(hub, port);
  for (const port of [443, 8443]) await listen(world, port);
});
test.after(async () => {
  for (const c of children.reverse()) await stop(c);
  if (!why) for (const name of [hub, world]) await run('ip', ['netns', 'del', name]);
  rmSync(dir, { recursive: true, force: true });
});

check('nobody reaches a port of the hub, by neither protocol; the hub reaches the world', async () => {
  for (const [address, port] of [['10.77.0.1', 80] as const, ['fd77::1', 8777] as const])
    assert.ok(await reaches(world, address, port), `open before: ${address} ${port}`);
  await load();
  for (const address of ['10.77.0.1', 'fd77::1'])
    for (const port of [22, 80, 8777]) assert.not(await reaches(world, address, port), `${address} ${port}`);
  assert.ok(await reaches(hub, '10.77.0.2', 443));
  assert.ok(await reaches(hub, 'fd77::2', 443), 'neighbours are found by IPv6 too');
  assert.ok(await reaches(hub, '127.0.0.1', 8777), 'the hub speaks with itself');
});

check('the hub answers a ping, and does not pass packets on', async () => {
  await load();
  assert.is((await inside(world, 'ping', '-c', '1', '-W', '5', '10.77.0.1')).code, 0);
  const chain = (await set(hub, 'nft', 'list', 'chain', 'inet', 'ingle_hub', 'forward')).toString();
  assert.match(chain, /hook forward priority filter; policy drop;/);
});

check('what a device turns on is open, and only that', async () => {
  await load('add rule inet ingle_hub open tcp dport 22 accept');
  assert.ok(await reaches(world, '10.77.0.1', 22));
  assert.not(await reaches(world, '10.77.0.1', 80));
});

check(
  'by its user a skill sends nothing, and what fetches for it reaches public hosts at one port',
  async () => {
    const slots = ['ingle-skill-1', 'ingle-skill-16'];
    const all: [string, number][] = [
      [out, 443],
      ['10.77.0.2', 443],
      ['fd77::2', 443],
      ['127.0.0.1', 8777],
    ];
    await set(hub, 'nft', 'flush', 'ruleset');
    for (const user of [slots[0]!, 'ingle-fetch'])
      for (const [address, port] of all)
        assert.ok(await reaches(hub, address, port, user), `open before: ${user} ${address}`);
    await load();
    for (const user of slots)
      for (const [address, port] of all)
        assert.not(await reaches(hub, address, port, user), `${user} ${address} ${port}`);
    assert.ok(await reaches(hub, out, 443, 'ingle-fetch'));
    for (const [address, port] of [...all.slice(1), [out, 8443] as const])
      assert.not(await reaches(hub, address, port, 'ingle-fetch'), `ingle-fetch ${address} ${port}`);
    for (const [address, port] of all)
      assert.ok(await reaches(hub, address, port), `the hub itself: ${address}`);
  },
);

test('the users whose packets are dropped are those of all slots, and sysusers.d makes each', () => {
  const rules = readFileSync('systemd/nftables/ingle.nft', 'utf8').replace(/#.*$/gm, '');
  const named = [...new Set(rules.match(/ingle-(skill-\d+|fetch)\b/g))].sort();
  const slots = Array.from({ length: SLOTS }, (_, i) => `ingle-skill-${i + 1}`);
  assert.equal(named, [...slots, 'ingle-fetch'].sort());
  const users = ['skills', 'fetch']
    .map((f) => readFileSync(`systemd/sysusers.d/ingle-${f}.conf`, 'utf8'))
    .join('');
  for (const user of named) assert.match(users, new RegExp(`^u ${user} `, 'm'));
});

check('the access point lets its phone to the pages of setup, whatever the hub drops', async () => {
  await load();
  await must('ip', ['netns', 'exec', hub, 'nft', '-f', '-'], {
    input: nftRules({ interface: 'cable', address: '10.77.0.1' }),
  });
  assert.ok(await reaches(world, '10.77.0.1', 80));
  for (const port of [22, 8777]) assert.not(await reaches(world, '10.77.0.1', port), `${port}`);
  assert.not(await reaches(world, 'fd77::1', 80), 'the access point speaks IPv4 alone');
  await must('ip', ['netns', 'exec', hub, 'nft', '-f', '-'], { input: nftRemove() });
  assert.not(await reaches(world, '10.77.0.1', 80), 'closed with the access point');
});

check('loaded again, the rules stand once and leave the access point its own', async () => {
  await load();
  await must('ip', ['netns', 'exec', hub, 'nft', '-f', '-'], {
    input: nftRules({ interface: 'cable', address: '10.77.0.1' }),
  });
  const before = (await set(hub, 'nft', 'list', 'table', 'inet', 'ingle_hub')).toString();
  await load();
  assert.is((await set(hub, 'nft', 'list', 'table', 'inet', 'ingle_hub')).toString(), before);
  assert.ok(await reaches(world, '10.77.0.1', 80));
});

test.run();
