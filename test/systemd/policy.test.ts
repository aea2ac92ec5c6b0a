// timeout: 300 s
// The D-Bus policy files under a real daemon, with real users: made by the product's own sysusers.d in a mount
// namespace, so that this machine's accounts stay as they are. Needs root rights.

import type { ChildProcess } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { skillBusName } from '../../firmware/skills/contract.ts';
import { SLOTS } from '../../firmware/skills/slots.ts';
import { must, run, start, stop } from '../../firmware/system/exec.ts';

const test = suite('bus policy');
const dir = mkdtempSync(join(tmpdir(), 'ingle-policy-'));
const children: ChildProcess[] = [];
const address = `unix:path=${dir}/bus`;
const ids = new Map<string, { uid: string; gid: string; groups: string[] }>();

const root = process.getuid?.() === 0;
const namespaces =
  root &&
  (await run('unshare', ['--mount', 'true']).then(
    (r) => r.code === 0,
    () => false,
  ));
const why = !root ? 'needs root rights' : !namespaces ? 'needs mount namespaces' : '';
if (why) console.log(`SKIP bus policy: ${why}`);
const check = why ? test.skip : test;

test.before(async () => {
  if (why) return;
  // Accounts as on a hub.
  mkdirSync(join(dir, 'etc'));
  const users = readdirSync('systemd/sysusers.d').map((f) => join(process.cwd(), 'systemd/sysusers.d', f));
  await must('systemd-sysusers', [`--root=${dir}`, ...users]);
  const lines = (file: string) =>
    readFileSync(join(dir, 'etc', file), 'utf8')
      .trim()
      .split('\n')
      .map((l) => l.split(':'));
  for (const file of ['passwd', 'group']) {
    const own = readFileSync(`/etc/${file}`, 'utf8');
    const ours = readFileSync(join(dir, 'etc', file), 'utf8');
    const known = new Set(own.split('\n').map((l) => l.split(':')[0]));
    const added = ours.split('\n').filter((l) => l && !known.has(l.split(':')[0]));
    // One person of the household besides.
    const person = file === 'passwd' ? 'ingle-member:x:65533:65533::/:/bin/false' : 'ingle-member:x:65533:';
    writeFileSync(
      join(dir, file),
      `${own.trimEnd()}\n${added.join('\n')}\n${person}\n`.replace(/^(ingle:x:\d+:.*)$/m, '$1,ingle-member'),
    );
  }
  const groups = lines('group');
  for (const [name, , uid, gid] of lines('passwd') as [string, string, string, string][])
    ids.set(name, {
      uid,
      gid,
      groups: groups.filter((g) => g[3]?.split(',').includes(name)).map((g) => g[2]!),
    });
  const gidOf = (name: string) => groups.find((g) => g[0] === name)![2]!;
  // The daemon goes by the groups of a process, and a unit may add some.
  for (const unit of readdirSync('systemd/units').filter((f) => f.endsWith('.service'))) {
    const text = readFileSync(join('systemd/units', unit), 'utf8');
    const id = ids.get(/^User=(\S+)$/m.exec(text)?.[1] ?? '');
    const more = /^SupplementaryGroups=(.+)$/m.exec(text)?.[1]?.split(' ') ?? [];
    id?.groups.push(...groups.filter((g) => more.includes(g[0]!)).map((g) => g[2]!));
  }
  ids.set('stranger', { uid: '65534', gid: '65534', groups: [] });
  ids.set('member', { uid: '65533', gid: '65533', groups: [gidOf('ingle')] });

  cpSync('systemd/dbus/policy', join(dir, 'policy'), { recursive: true });
  // In which order a daemon reads a folder is its own affair; here it is not that of their names, which a hub has.
  const policies = readdirSync('systemd/dbus/policy').sort().reverse();
  writeFileSync(
    join(dir, 'bus.conf'),
    `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>${address}</listen><auth>EXTERNAL</auth>
<policy context="default">
  <allow user="*"/><deny own="*"/><deny send_type="method_call"/>
  <allow send_type="signal"/><allow send_requested_reply="true" send_type="method_return"/>
  <allow send_requested_reply="true" send_type="error"/>
  <allow receive_type="method_call"/><allow receive_type="method_return"/>
  <allow receive_type="error"/><allow receive_type="signal"/>
  <allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus"/>
</policy>
${policies.map((f) => `<include>${dir}/policy/${f}</include>`).join('')}</busconfig>`,
  );
  await build({
    entryPoints: ['test/systemd/probe.ts'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outfile: join(dir, 'probe.mjs'),
    external: ['usocket', 'x11'],
    logLevel: 'error',
    banner: { js: "import{createRequire as r}from'node:module';const require=r(import.meta.url);" },
  });
  chmodSync(dir, 0o755);
  const daemon = start(
    'unshare',
    [
      '--mount',
      'sh',
      '-c',
      `mount --bind ${dir}/passwd /etc/passwd && mount --bind ${dir}/group /etc/group && exec dbus-daemon --config-file ${dir}/bus.conf --nofork --nopidfile --nosyslog --print-address`,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  children.push(daemon);
  let said = '';
  daemon.stderr!.on('data', (d: Buffer) => (said += d));
  await new Promise<void>((resolve, reject) => {
    daemon.stdout!.once('data', () => resolve());
    daemon.once('exit', () => reject(new Error(`dbus-daemon: ${said}`)));
  });
  // An unknown user in a policy is only a warning to the daemon, and would be no rule at all.
  assert.not.match(said, /Unknown (username|group)/);
  assert.equal(await as('ingle-uplink', 'serve'), { ok: true });
  assert.equal(await as('ingle-skill-1', 'skill', 'io.ingle.Skill1.slot1'), { ok: true });
  assert.equal(await as('ingle-skill-1', 'publish'), { ok: true });
});

test.after(async () => {
  for (const c of children.reverse()) await stop(c);
  rmSync(dir, { recursive: true, force: true });
});

/** Runs the probe as a user; its first line. It stays when it serves. */
async function as(user: string, what: string, ...rest: string[]): Promise<Record<string, unknown>> {
  const id = ids.get(user);
  const who = id
    ? [
        `--reuid=${id.uid}`,
        `--regid=${id.gid}`,
        ...(id.groups.length ? [`--groups=${id.groups}`] : ['--clear-groups']),
      ]
    : ['--clear-groups'];
  const child = start('setpriv', [...who, process.execPath, join(dir, 'probe.mjs'), address, what, ...rest], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: '/',
  });
  children.push(child);
  const line = await new Promise<string>((resolve, reject) => {
    let out = '';
    child.stdout!.on('data', (d: Buffer) => {
      out += d;
      if (out.includes('\n')) resolve(out);
    });
    child.once('close', () => reject(new Error(`${user} ${what}: said nothing`)));
  });
  return JSON.parse(line) as Record<string, unknown>;
}
const uplink = ['io.ingle.Uplink1', '/io/ingle/Uplink1', 'io.ingle.Uplink1'];

check('a stranger may not call the hub', async () => {
  for (const member of ['Status', 'IssueCode', 'RotateKey', 'Enrol', 'Offered', 'Adopt'])
    assert.is((await as('stranger', 'call', ...uplink, member))['error'], 'forbidden');
});

check('a stranger may take no name of Ingle', async () => {
  for (const name of ['io.ingle.Uplink1', 'io.ingle.Skill1.slot1', 'io.ingle.Skill1.evil', 'io.ingle.New1'])
    assert.is((await as('stranger', 'own', name))['error'], 'forbidden', name);
});

check("a stranger hears neither the hub's signals nor its topics, a member hears the hub", async () => {
  assert.equal(await as('stranger', 'hear', 'io.ingle.Uplink1'), { heard: 0 });
  assert.equal(await as('stranger', 'hear', 'io.ingle.Bus1'), { heard: 0 });
  assert.equal(await as('member', 'hear', 'io.ingle.Bus1'), { heard: 0 });
  assert.ok(((await as('member', 'hear', 'io.ingle.Uplink1'))['heard'] as number) > 0);
  assert.ok(((await as('ingle-api', 'hear', 'io.ingle.Bus1'))['heard'] as number) > 0);
});

check('members of group ingle and root may call the hub', async () => {
  assert.equal(await as('member', 'call', ...uplink, 'Status'), { ok: true });
  assert.equal(await as('member', 'call', ...uplink, 'ListBrowsers'), { ok: true });
  assert.equal(await as('root', 'call', ...uplink, 'ListBrowsers'), { ok: true });
  assert.equal(await as('ingle-api', 'call', ...uplink, 'Status'), { ok: true });
});

check('a member of group ingle may not pose as a service', async () => {
  for (const name of ['io.ingle.Uplink1', 'io.ingle.Skill1.slot1'])
    assert.is((await as('member', 'own', name))['error'], 'forbidden');
});

check(
  'setup has codes and the place a person confirms, and no more of the link; the console asks setup alone',
  async () => {
    for (const member of ['Status', 'IssueCode', 'Offered', 'Adopt'])
      assert.is.not((await as('ingle-setup', 'call', ...uplink, member))['error'], 'forbidden', member);
    for (const member of ['Enrol', 'ListBrowsers', 'ForgetBrowser', 'InvitePerson', 'InviteHub', 'RotateKey'])
      assert.is((await as('ingle-setup', 'call', ...uplink, member))['error'], 'forbidden', member);
    assert.ok(((await as('ingle-setup', 'hear', 'io.ingle.Uplink1'))['heard'] as number) > 0);
    for (const user of ['ingle-serial', 'ingle-wizard', 'ingle-ble', 'ingle-bot'])
      for (const member of ['Status', 'IssueCode', 'Offered', 'Adopt'])
        assert.is((await as(user, 'call', ...uplink, member))['error'], 'forbidden', `${user} ${member}`);

    const named = await as('ingle-setup', 'hear', 'io.ingle.Uplink1', 'io.ingle.Setup1');
    assert.ok((named['heard'] as number) > 0, 'also as the owner of its name');
    assert.equal(await as('ingle-setup', 'skill', 'io.ingle.Setup1'), { ok: true });
    const setup = ['io.ingle.Setup1', '/io/ingle/Setup1', 'io.ingle.Setup1'];
    for (const member of ['RecoveryLink', 'Offered', 'Adopt']) {
      // Nobody answers behind the name; who may ask is told that, who may not is refused.
      assert.is((await as('ingle-serial', 'call', ...setup, member))['error'], 'not_supported', member);
      for (const user of [
        'stranger',
        'ingle-wizard',
        'ingle-ble',
        'ingle-bot',
        'ingle-api',
        'ingle-uplink',
        'ingle-scenario',
      ])
        assert.is((await as(user, 'call', ...setup, member))['error'], 'forbidden', `${user} ${member}`);
    }
    for (const member of ['Status', 'Restart'])
      assert.is((await as('ingle-api', 'call', ...setup, member))['error'], 'not_supported', member);
    assert.is((await as('ingle-api', 'call', ...setup, 'FactoryReset'))['error'], 'forbidden');
  },
);

check("a skill owns its own name alone, and reads the hub's state alone", async () => {
  const skill = 'ingle-skill-1';
  assert.is((await as(skill, 'own', 'io.ingle.Skill1.slot2'))['error'], 'forbidden');
  assert.is((await as(skill, 'own', 'io.ingle.Uplink1'))['error'], 'forbidden');
  assert.equal(await as(skill, 'call', ...uplink, 'Status'), { ok: true });
  for (const member of [
    'IssueCode',
    'ForgetBrowser',
    'RenameBrowser',
    'RotateKey',
    'ListBrowsers',
    'Offered',
    'Adopt',
  ])
    assert.is((await as(skill, 'call', ...uplink, member))['error'], 'forbidden', member);
});

check('a slot that is pinned to no skill of the image owns its name and asks nobody', async () => {
  for (const slot of [5, SLOTS]) {
    const user = `ingle-skill-${slot}`;
    assert.ok((await as(user, 'own', skillBusName(slot)))['ok'], user);
    for (const other of [1, slot - 1]) {
      assert.is((await as(user, 'own', skillBusName(other)))['error'], 'forbidden', `${user} ${other}`);
      const to = [skillBusName(1), '/io/ingle/Skill1', 'org.freedesktop.DBus.Introspectable', 'Introspect'];
      assert.is((await as(user, 'call', ...to))['error'], 'forbidden', user);
    }
    for (const member of ['Status', 'IssueCode'])
      assert.is((await as(user, 'call', ...uplink, member))['error'], 'forbidden', member);
    assert.equal(await as(user, 'hear', 'io.ingle.Bus1'), { heard: 0 });
    assert.equal(await as(user, 'hear', 'io.ingle.Skill1'), { heard: 0 });
  }
});

check('a skill is called by the local API alone', async () => {
  const to = [
    'io.ingle.Skill1.slot1',
    '/io/ingle/Skill1',
    'org.freedesktop.DBus.Introspectable',
    'Introspect',
  ];
  for (const user of ['stranger', 'member', 'ingle-uplink'])
    assert.is((await as(user, 'call', ...to))['error'], 'forbidden', user);
  assert.equal(await as('ingle-api', 'call', ...to), { ok: true });
});

check(
  'the skill that shows updates gives its orders, and looks into no bundle of its own choice',
  async () => {
    assert.equal(await as('ingle-update', 'skill', 'io.ingle.Update1'), { ok: true });
    const to = ['io.ingle.Update1', '/io/ingle/Update1', 'io.ingle.Update1'];
    // Nobody answers behind the name; who may ask is told that, who may not is refused.
    for (const member of ['Status', 'Check', 'Install', 'Restart', 'Cancel', 'Rollback'])
      assert.is((await as('ingle-skill-2', 'call', ...to, member))['error'], 'not_supported', member);
    for (const member of ['Verify', 'Sticks', 'Download'])
      assert.is((await as('ingle-skill-2', 'call', ...to, member))['error'], 'forbidden', member);
    for (const user of ['stranger', 'ingle-skill-1', 'ingle-skill-3', 'ingle-wifi'])
      assert.is((await as(user, 'call', ...to, 'Status'))['error'], 'forbidden', user);
    for (const user of ['ingle-api', 'member', 'root'])
      assert.is((await as(user, 'call', ...to, 'Verify'))['error'], 'not_supported', user);
  },
);

check(
  'a hand on the button has the hub listen, and whoever reads it asks nothing else of scenarios',
  async () => {
    assert.equal(await as('ingle-scenario', 'skill', 'io.ingle.Scenario1'), { ok: true });
    const to = ['io.ingle.Scenario1', '/io/ingle/Scenario1', 'io.ingle.Scenario1'];
    assert.is((await as('ingle-setup', 'call', ...to, 'Talk'))['error'], 'not_supported');
    for (const member of ['Wake', 'Attend', 'Recognize', 'Run'])
      assert.is((await as('ingle-setup', 'call', ...to, member))['error'], 'forbidden', member);
    for (const user of ['stranger', 'ingle-skill-1', 'ingle-wizard'])
      assert.is((await as(user, 'call', ...to, 'Talk'))['error'], 'forbidden', user);
  },
);

check('the supervisor is asked by the local API alone, and nobody poses as it', async () => {
  assert.equal(await as('root', 'skill', 'io.ingle.Supervisor1'), { ok: true });
  const to = ['io.ingle.Supervisor1', '/io/ingle/Supervisor1', 'io.ingle.Supervisor1'];
  for (const member of ['List', 'Start', 'Stop', 'Restart', 'Log', 'Bound', 'Failures', 'Shutdown']) {
    // Nobody answers behind the name; who may ask is told that, who may not is refused.
    assert.is((await as('ingle-api', 'call', ...to, member))['error'], 'not_supported', member);
    for (const user of ['stranger', 'member', 'root', 'ingle-uplink', 'ingle-setup', 'ingle-skill-1'])
      assert.is((await as(user, 'call', ...to, member))['error'], 'forbidden', `${user} ${member}`);
  }
  for (const user of ['stranger', 'member', 'ingle-api', 'ingle-uplink', 'ingle-skill-1'])
    assert.is((await as(user, 'own', 'io.ingle.Supervisor1'))['error'], 'forbidden', user);
});

check(
  'every slot may ask for the journal, which its supervisor then gives or not; nobody else may',
  async () => {
    const to = ['io.ingle.Supervisor1', '/io/ingle/Supervisor1', 'io.ingle.Supervisor1'];
    for (const slot of [1, 3, SLOTS]) {
      assert.is(
        (await as(`ingle-skill-${slot}`, 'call', ...to, 'Journal'))['error'],
        'not_supported',
        `${slot}`,
      );
      for (const member of ['List', 'Log', 'Bound', 'Failures', 'Stop'])
        assert.is((await as(`ingle-skill-${slot}`, 'call', ...to, member))['error'], 'forbidden', member);
    }
    for (const user of ['stranger', 'member', 'ingle-uplink', 'ingle-wizard'])
      assert.is((await as(user, 'call', ...to, 'Journal'))['error'], 'forbidden', user);
  },
);

check("the skill of the owner's settings does what its screen offers, and no more", async () => {
  const may: Record<string, [string, string[], string[]]> = {
    Wifi1: ['ingle-wifi', ['Scan', 'Connect', 'Forget', 'Status'], ['SoftapStart', 'SoftapStop', 'Country']],
    Audio1: [
      'ingle-audio',
      ['Enumerate', 'Probe', 'LoadProfile', 'SaveProfile', 'SetVolume'],
      ['Record', 'Test', 'VadListen', 'Say', 'Recognize', 'ForgetProfiles'],
    ],
    Uplink1: [
      'ingle-uplink',
      ['Status', 'ListBrowsers', 'ForgetBrowser', 'RenameBrowser'],
      ['IssueCode', 'Adopt', 'Enrol', 'RotateKey'],
    ],
  };
  for (const [name, [user, those, others]] of Object.entries(may)) {
    const to = [`io.ingle.${name}`, `/io/ingle/${name}`, `io.ingle.${name}`];
    assert.equal(await as(user, 'skill', `io.ingle.${name}`), { ok: true });
    for (const member of those) {
      assert.is.not((await as('ingle-skill-3', 'call', ...to, member))['error'], 'forbidden', member);
      assert.is((await as('ingle-skill-5', 'call', ...to, member))['error'], 'forbidden', member);
    }
    for (const member of others)
      assert.is((await as('ingle-skill-3', 'call', ...to, member))['error'], 'forbidden', member);
  }
});

check('every slot may ask for a fetch, and nobody else', async () => {
  assert.equal(await as('ingle-fetch', 'skill', 'io.ingle.Fetch1'), { ok: true });
  const to = ['io.ingle.Fetch1', '/io/ingle/Fetch1', 'io.ingle.Fetch1', 'Fetch'];
  // Nobody answers behind the name; who may ask is told that, who may not is refused.
  for (const slot of [1, 3, SLOTS])
    assert.is((await as(`ingle-skill-${slot}`, 'call', ...to))['error'], 'not_supported', `${slot}`);
  for (const user of ['stranger', 'member', 'ingle-api', 'ingle-uplink', 'ingle-wizard', 'ingle-scenario'])
    assert.is((await as(user, 'call', ...to))['error'], 'forbidden', user);
  // From hosts of its own choice only who says which ones a scenario names.
  const from = [...to.slice(0, 3), 'FetchFrom'];
  assert.is((await as('ingle-scenario', 'call', ...from))['error'], 'not_supported');
  for (const user of ['stranger', 'member', 'ingle-api', 'ingle-skill-3'])
    assert.is((await as(user, 'call', ...from))['error'], 'forbidden', user);
  for (const user of ['stranger', 'member', 'ingle-skill-3'])
    assert.is((await as(user, 'own', 'io.ingle.Fetch1'))['error'], 'forbidden', user);
  assert.is((await as('ingle-fetch', 'own', skillBusName(3)))['error'], 'forbidden');
});

test.run();
