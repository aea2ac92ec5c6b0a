import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { FAILURES, WINDOW_S } from '../../firmware/skills/budget.ts';
import { run } from '../../firmware/system/exec.ts';

const test = suite('systemd units');
const folder = 'systemd/units';
const units = readdirSync(folder).filter((f) => f.endsWith('.service'));
const missing = ['/usr/bin/systemd-analyze', '/usr/bin/node', '/usr/sbin/nft'].find((f) => !existsSync(f));
if (missing) console.log(`SKIP units cannot be analysed: there is no ${missing}`);
const check = missing ? test.skip : test;

check('every unit is one systemd accepts', async () => {
  const files = readdirSync(folder).filter((f) => /\.(service|target|socket|timer)$/.test(f));
  // A trailing colon adds the system's own units, for those ours are ordered after.
  const r = await run('systemd-analyze', ['verify', '--man=no', ...files.map((f) => `${folder}/${f}`)], {
    env: { SYSTEMD_UNIT_PATH: `${process.cwd()}/${folder}:` },
  });
  // The image's systemd knows them; before 254 none did.
  const isOld =
    Number(/^systemd (\d+)/.exec((await run('systemd-analyze', ['--version'])).stdout.toString())?.[1]) < 254;
  const told = r.stderr
    .split('\n')
    .filter((line) => !(isOld && /Unknown key (name )?'(RestartSteps|RestartMaxDelaySec)'/.test(line)));
  assert.is(told.join('\n').trim(), '');
  assert.is(r.code, 0);
});

const scores = new Map<string, string>();
test.after(() => {
  if (scores.size === 0) return;
  const worstFirst = [...scores].sort((a, b) => Number(b[1]) - Number(a[1]) || (a[0] < b[0] ? -1 : 1));
  console.log(`\nexposure  bound  unit`);
  for (const [unit, score] of worstFirst) console.log(`${score.padStart(8)}    2.0  ${unit}`);
});

for (const unit of units)
  check(`${unit} is exposed to no more than 2.0 of 10`, async () => {
    const args = ['security', '--offline=true', '--threshold=20', '--no-pager', `${folder}/${unit}`];
    const r = await run('systemd-analyze', args);
    const score = /exposure level for \S+: ([\d.]+)/.exec(r.stdout.toString())?.[1];
    console.log(`FIGURE exposure of ${unit} ${score}`);
    scores.set(unit, score ?? 'none');
    assert.is(r.code, 0, r.stdout.toString());
    assert.ok(Number(score) <= 2);
  });

test('a unit runs as a user of its own that sysusers.d makes', () => {
  const users = readdirSync('systemd/sysusers.d')
    .map((f) => readFileSync(`systemd/sysusers.d/${f}`, 'utf8'))
    .join('\n');
  for (const unit of units) {
    const user = /^User=(\S+)$/m.exec(readFileSync(`${folder}/${unit}`, 'utf8'))?.[1];
    if (!user || user === 'root') continue;
    const pattern = new RegExp(`^u ${user.replace('%i', '\\S+')} `, 'm');
    assert.match(users, pattern, `${unit} runs as ${user}`);
  }
});

test('a version that is not well has time to be called bad, before its dead-man acts', () => {
  const health = readFileSync(`${folder}/ingle-health.service`, 'utf8');
  const looks = Number(/INGLE_HEALTH_S:-(\d+)/.exec(health)?.[1]);
  // RAUC looks at both slots first: 20 s, the default, were too short on a busy machine.
  const mark = Number(/^TimeoutStopSec=(\d+)$/m.exec(health)?.[1]);
  const deadMan = Number(/ deadman=(\d+) /.exec(readFileSync('image/init.sh', 'utf8'))?.[1]);
  assert.ok(mark >= 120, `${mark} s`);
  assert.ok(looks + mark < deadMan, `${looks} s and ${mark} s of ${deadMan} s`);
});

test('a unit that fails is watched and started again', () => {
  for (const unit of ['ingle-uplink.service', 'ingle-api.service', 'ingle-skill@.service']) {
    const text = readFileSync(`${folder}/${unit}`, 'utf8');
    // A skill goes when nobody needs it.
    const restart = unit.startsWith('ingle-skill@') ? 'Restart=on-failure' : 'Restart=always';
    for (const line of ['Type=notify', restart, 'StartLimitIntervalSec=0', 'ProtectSystem=strict'])
      assert.ok(text.includes(`\n${line}\n`), `${unit}: ${line}`);
    assert.match(text, /\nWatchdogSec=\d+\n/);
    assert.not.match(text, /MemoryDenyWriteExecute/);
  }
});

test('a skill that fails is tried again later each time, and long enough for its budget to be used up', () => {
  const text = readFileSync(`${folder}/ingle-skill@.service`, 'utf8');
  const ms = (name: string) => {
    const [, n, unit] = new RegExp(`^${name}=(\\d+)(ms|s)$`, 'm').exec(text) ?? [];
    return Number(n) * (unit === 'ms' ? 1 : 1000);
  };
  const [first, last] = [ms('RestartSec'), ms('RestartMaxDelaySec')];
  assert.ok(first < last, `${first} to ${last} ms`);
  assert.match(text, /^RestartSteps=[1-9]\d*$/m);
  assert.ok(FAILURES * last < WINDOW_S * 1000, 'else it would be tried for ever');
});

test('the setup pages are not started again and again once their access point is gone', () => {
  const file = /^PathExists=(\S+)$/m.exec(readFileSync(`${folder}/ingle-wizard.path`, 'utf8'))?.[1];
  const unit = readFileSync(`${folder}/ingle-wizard.service`, 'utf8');
  assert.ok(file && unit.includes(`\nExecCondition=/usr/bin/test -e ${file}\n`));
});

test('every Node of ours is held to little memory', () => {
  const conf = readFileSync(`${folder}/ingle-.service.d/node.conf`, 'utf8');
  const flags = /^Environment="NODE_FLAGS=(.*)"$/m.exec(conf)?.[1]?.split(' ') ?? [];
  assert.is(spawnSync(process.execPath, [...flags, '-e', '']).status, 0, 'Node knows all of them');
  for (const name of ['LASTING', 'SKILL'])
    assert.match(conf, new RegExp(`^Environment="${name}_FLAGS=${flags.join(' ')}"$`, 'm'));
  for (const unit of units) {
    const text = readFileSync(`${folder}/${unit}`, 'utf8');
    for (const [line] of text.matchAll(/^Exec\w+=.*\bnode .*$/gm))
      assert.match(line, /node \$(NODE|LASTING|SKILL)_FLAGS (--expose-gc )?\//, unit);
  }
});

test('every activation file names a unit that is there', () => {
  for (const file of readdirSync('systemd/dbus/services')) {
    const text = readFileSync(`systemd/dbus/services/${file}`, 'utf8');
    assert.is(/^Name=(.*)$/m.exec(text)?.[1], file.replace(/\.service$/, ''));
    const unit = /^SystemdService=(.*)$/m.exec(text)?.[1] ?? '';
    assert.ok(existsSync(`${folder}/${unit.replace(/@[^.]+/, '@')}`), `${file} starts ${unit}`);
  }
});

test('a factory reset waits until each service that keeps something has stopped', () => {
  const reset = readFileSync(`${folder}/ingle-reset.service`, 'utf8');
  const stopped = [...reset.matchAll(/^ExecStart=\S+systemctl stop (.*)$/gm)].flatMap((m) =>
    m[1]!.split(' '),
  );
  const keeps = readdirSync(folder)
    .filter((f) => f.endsWith('.service'))
    .filter((f) => /^(StateDirectory|PartOf)=.*ingle/m.test(readFileSync(`${folder}/${f}`, 'utf8')))
    // It makes the name of this machine again at its next start; the console shows that the reset goes on.
    .filter((f) => !['ingle-identity.service', 'ingle-serial@.service'].includes(f));
  const wanted = keeps.map((f) => f.replace('@.', '@*.'));
  assert.equal(
    wanted.filter((f) => !stopped.includes(f)),
    [],
  );
});

test('what looks at a hub takes no time from what it looks at, also while the hub starts', () => {
  const weight = (unit: string, key: string) => {
    const text = readFileSync(`systemd/units/${unit}.service`, 'utf8');
    return Number(new RegExp(`^${key}=(\\d+)$`, 'm').exec(text)?.[1] ?? 100);
  };
  for (const looker of ['ingle-technician', 'ingle-export', 'ingle-health'])
    for (const served of ['ingle-api', 'ingle-uplink', 'ingle-skill@', 'ingle-wifi', 'ingle-setup'])
      for (const key of ['StartupCPUWeight', 'CPUWeight'])
        assert.ok(weight(looker, key) <= weight(served, key), `${looker} ${served} ${key}`);
});

test.run();
