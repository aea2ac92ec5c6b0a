// timeout: 300 s
// ingle-update as a process, on a private bus beside a stand-in of RAUC.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { must, run } from '../../firmware/system/exec.ts';
import { update1 } from '../../firmware/update/contract.ts';
import { assertContract } from '../lab/contract.ts';
import { tried, until } from '../lab/wait.ts';
import { dies, serveFile, startUpdate, type UpdateHub } from './hub.ts';
import { bundleText } from './rauc.ts';

const test = suite<{ hub: UpdateHub }>('update service');
test.before.each(async (c) => {
  c.hub = await startUpdate();
});
test.after.each((c) => c.hub.stop());

const refused = async (work: Promise<unknown>) => ((await work.catch((e) => e)) as { code: string }).code;

test('it offers what its contract says', ({ hub }) => assertContract(hub.bus, update1));

test('from a check to a new version that stays, a step at a time', async ({ hub }) => {
  hub.server.offer({ version: '1.1.0' }, { more: { notes_ru: 'Новое' } });
  const first = await hub.status();
  assert.equal([first.state, first.version, first.slot], ['idle', '1.0.0', 'a']);
  assert.is(first.detail.previous, undefined);
  const found = await hub.client.Check({ channel: '' });
  assert.equal([found.available, found.version, found.notes], [true, '1.1.0', 'What is new in 1.1.0']);
  assert.is((await hub.status()).state, 'available');
  await hub.client.Download({});
  await hub.state('downloaded');
  assert.equal(await hub.client.Verify({ source: '' }), {
    version: '1.1.0',
    compatible: 'generic',
    reason: '',
  });
  await hub.client.Install({ source: '', restart: '' });
  const installed = await hub.state('installed');
  assert.is(installed.detail.target, '1.1.0');
  assert.equal(readdirSync(hub.bundles), [], 'what is installed takes no room any more');
  await hub.client.Restart({ when: 'now' });
  await hub.restartAsked();
  await hub.state('restarting');
  await hub.reboot({ committed: false });
  const trial = await hub.state('trial');
  assert.equal([trial.version, trial.slot], ['1.1.0', 'b']);
  assert.is(await refused(hub.client.Install({ source: '/x.raucb', restart: '' })), 'conflict');
  writeFileSync(join(hub.runtime, 'committed'), '');
  const after = await hub.state('idle');
  const { ok, kind, from, to, reason } = after.detail.result!;
  assert.equal([ok, kind, from, to, reason], [true, 'update', '1.0.0', '1.1.0', '']);
  assert.equal(after.detail.previous, { slot: 'rootfs.0', version: '1.0.0' });
  assert.is((await hub.client.Check({ channel: '' })).available, false);
});

test('one order downloads, installs and restarts', async ({ hub }) => {
  hub.server.offer({ version: '1.1.0' });
  await hub.client.Check({ channel: '' });
  await hub.client.Install({ source: '', restart: 'now' });
  await hub.restartAsked();
  // The signal of it may come after the file.
  await until(() => hub.states.at(-1)?.state === 'restarting', 'the last state to be told');
  assert.equal(
    hub.states.map((s) => s.state).filter((s, i, all) => s !== all[i - 1]),
    [...'available downloading downloaded verifying installing installed draining'.split(' '), 'restarting'],
  );
});

test('a new version that does not prove itself is told as such, with what its health check said', async ({
  hub,
}) => {
  await dies(hub, '1.1.0');
  const s = await hub.state('available');
  const { ok, reason, text } = s.detail.result!;
  assert.equal([ok, reason, text], [false, 'not_healthy', 'io.ingle.Audio1 does not answer']);
  assert.is(s.version, '1.0.0');
});

test('what an earlier version died of is not told of one that never came so far', async ({ hub }) => {
  await dies(hub, '1.0.9');
  const { ok, reason, text } = (await hub.state('available')).detail.result!;
  assert.equal([ok, reason, text], [false, 'not_healthy', '']);
});

test('a power cut before the order to restart boots the new version, and that is noticed', async ({
  hub,
}) => {
  hub.server.offer({ version: '1.1.0' });
  await hub.client.Check({ channel: '' });
  await hub.client.Install({ source: '', restart: '' });
  await hub.state('installed');
  await hub.reboot();
  assert.is((await hub.state('idle')).detail.result!.ok, true);
});

test('going back starts the earlier version, which then runs', async ({ hub }) => {
  hub.server.offer({ version: '1.1.0' });
  await hub.client.Check({ channel: '' });
  await hub.client.Install({ source: '', restart: 'now' });
  await hub.restartAsked();
  await hub.reboot();
  await hub.state('idle');
  assert.equal(await hub.client.Rollback({}), { version: '1.0.0', restarts: true });
  await hub.restartAsked();
  await hub.reboot({ version: '1.0.0' });
  const s = await hub.state('idle', 'available');
  const { ok, kind, to } = s.detail.result!;
  assert.equal([ok, kind, to, s.slot], [true, 'rollback', '1.0.0', 'a']);
});

test('an installed version can be set aside before it ever starts', async ({ hub }) => {
  hub.server.offer({ version: '1.1.0' });
  await hub.client.Check({ channel: '' });
  await hub.client.Install({ source: '', restart: 'night' });
  const waiting = await hub.state('waiting');
  assert.ok(waiting.detail.restart_at > 0);
  assert.equal(await hub.client.Rollback({}), { version: '1.0.0', restarts: false });
  assert.is(hub.machine.primary, 'a');
  assert.is((await hub.status()).state, 'available');
});

test('there is nothing to go back to on a hub that was never updated', async ({ hub }) => {
  assert.is(await refused(hub.client.Rollback({})), 'conflict');
});

test('the night is waited for over a restart of the service, and can be taken back', async ({ hub }) => {
  hub.server.offer({ version: '1.1.0' });
  await hub.client.Check({ channel: '' });
  await hub.client.Install({ source: '', restart: '' });
  await hub.state('installed');
  await hub.client.Restart({ when: 'night' });
  await hub.kill();
  await hub.begin();
  await hub.state('waiting');
  await hub.client.Cancel({});
  assert.is((await hub.status()).state, 'installed');
});

for (const [what, bundle, reason] of [
  ['badly signed', { version: '1.1.0', stranger: true }, 'bad_signature'],
  ['for another device', { version: '1.1.0', compatible: 'other' }, 'other_device'],
  ['older than allowed', { version: '0.8.0' }, 'too_old'],
  ['without a version', { version: 'one' }, 'bad_bundle'],
] as const)
  test(`a bundle ${what} is refused with its reason`, async ({ hub }) => {
    const file = join(hub.dir, 'x.raucb');
    writeFileSync(file, bundleText(bundle));
    assert.is((await hub.client.Verify({ source: file })).reason, reason);
    await hub.client.Install({ source: file, restart: 'now' });
    const s = await until(
      tried(async () => {
        const now = await hub.status();
        return now.detail.error ? now : undefined;
      }),
      'the refusal',
    );
    assert.equal([s.state, s.detail.error!.reason], ['idle', reason]);
    assert.ok(s.detail.error!.text.length > 20);
    assert.equal(hub.machine.installs, []);
  });

test('a truncated file is refused, and so is one that is not there', async ({ hub }) => {
  const file = join(hub.dir, 'x.raucb');
  writeFileSync(file, bundleText({ version: '1.1.0' }).slice(0, 20));
  assert.is((await hub.client.Verify({ source: file })).reason, 'bad_bundle');
  assert.is((await hub.client.Verify({ source: '/nowhere/x.raucb' })).reason, 'not_found');
  for (const source of [
    'relative.raucb',
    '/etc/passwd',
    '/a/../b.raucb',
    'ftp://x/y.raucb',
    'http://x/y.raucb',
  ])
    assert.is(await refused(hub.client.Install({ source, restart: '' })), 'invalid_request', source);
});

test('an index that passes off an old bundle as a new one gets nothing installed', async ({ hub }) => {
  hub.server.offer({ version: '1.0.5' }, { more: { version: '9.0.0' } });
  await hub.client.Check({ channel: '' });
  await hub.client.Install({ source: '', restart: 'now' });
  const s = await until(
    tried(async () => {
      const now = await hub.status();
      return now.detail.error ? now : undefined;
    }),
    'the refusal',
  );
  assert.is(s.detail.error!.reason, 'wrong_version');
  assert.equal(hub.machine.installs, []);
});

test('a server that gives another bundle than the one that was looked at gets it set aside', async ({
  hub,
}) => {
  hub.server.offer({ version: '1.1.0' });
  await hub.client.Check({ channel: '' });
  const looks: string[] = [];
  hub.server.bend((req, res) => {
    if (!req.url!.endsWith('.raucb')) return false;
    looks.push(req.url!);
    res.end(bundleText({ version: looks.length === 1 ? '1.1.0' : '1.0.5' }));
    return true;
  });
  await hub.client.Install({ source: 'stream', restart: 'now' });
  const s = await until(
    tried(async () => {
      const now = await hub.status();
      return now.detail.error ? now : undefined;
    }),
    'the refusal',
  );
  assert.is(s.detail.error!.reason, 'wrong_version');
  assert.equal([hub.machine.installs.length, hub.machine.primary], [1, 'a']);
});

test('without a USB stick there is none to install from', async ({ hub }) => {
  assert.is(await refused(hub.client.Install({ source: 'usb', restart: '' })), 'not_found');
  assert.equal((await hub.client.Sticks({})).bundles, []);
});

const small = mkdtempSync(join(tmpdir(), 'ingle-mount-'));
const mounts = await run('mount', ['-t', 'tmpfs', 'tmpfs', small]).then(
  (r) => r.code === 0,
  () => false,
);
if (mounts) await must('umount', [small]);
else console.log('SKIP a stick: nothing can be mounted here');
rmSync(small, { recursive: true });
(mounts ? test : test.skip)('the newest bundle on a USB stick is found and installed', async ({ hub }) => {
  const stick = join(hub.dir, 'media/sda1');
  mkdirSync(stick, { recursive: true });
  await must('mount', ['-t', 'tmpfs', 'tmpfs', stick]);
  try {
    const bundle = bundleText({ version: '1.3.0' });
    writeFileSync(join(stick, 'hub.raucb'), bundle);
    const file = join(stick, 'hub.raucb');
    assert.equal((await hub.client.Sticks({})).bundles, [{ path: file, size: BigInt(bundle.length) }]);
    await hub.client.Install({ source: 'usb', restart: '' });
    assert.is((await hub.state('installed')).detail.target, '1.3.0');
    assert.equal(hub.machine.installs, [file]);
  } finally {
    await must('umount', [stick]);
  }
});

test('a streamed bundle never touches the disk', async ({ hub }) => {
  hub.server.offer({ version: '1.1.0' });
  await hub.client.Check({ channel: '' });
  await hub.client.Install({ source: 'stream', restart: '' });
  await hub.state('installed');
  assert.equal(hub.machine.installs, [`${hub.server.url}/1.1.0.raucb`]);
});

test('RAUC failing leaves the hub as it was, with the reason', async ({ hub }) => {
  hub.machine.faults = ['fail'];
  hub.server.offer({ version: '1.1.0' });
  await hub.client.Check({ channel: '' });
  await hub.client.Install({ source: '', restart: 'now' });
  const s = await until(
    tried(async () => {
      const now = await hub.status();
      return now.detail.error && now.state === 'available' ? now : undefined;
    }),
    'the failure',
  );
  assert.is(s.detail.error!.reason, 'install_failed');
  assert.is(hub.machine.primary, 'a');
  await hub.client.Install({ source: '', restart: '' });
  await hub.state('installed');
});

test('RAUC dying in the middle is answered by beginning anew', async ({ hub }) => {
  hub.machine.faults = ['die'];
  hub.server.offer({ version: '1.1.0' });
  await hub.client.Check({ channel: '' });
  await hub.client.Install({ source: '', restart: '' });
  await until(
    tried(async () => !(await hub.bus.listNames()).includes('de.pengutronix.rauc')),
    'RAUC to die',
  );
  await hub.raucAgain();
  await hub.state('installed');
  assert.is(hub.machine.installs.length, 2);
});

test('the service killed while RAUC writes finds its installation again', async ({ hub }) => {
  hub.machine.faults = ['hang'];
  hub.server.offer({ version: '1.1.0' });
  await hub.client.Check({ channel: '' });
  await hub.client.Install({ source: '', restart: '' });
  await until(
    tried(() => hub.machine.slots.b.status === 'pending'),
    'RAUC to write',
  );
  await hub.kill();
  await hub.begin();
  await hub.state('installing');
  hub.rauc.finish();
  await hub.state('installed');
  assert.is(hub.machine.installs.length, 1);
});

test('the service killed as RAUC ends sees that all is written', async ({ hub }) => {
  hub.machine.faults = ['hang'];
  hub.server.offer({ version: '1.1.0' });
  await hub.client.Check({ channel: '' });
  await hub.client.Install({ source: '', restart: 'now' });
  await until(
    tried(() => hub.machine.slots.b.status === 'pending'),
    'RAUC to write',
  );
  await hub.kill();
  hub.rauc.finish();
  await until(
    tried(() => hub.machine.primary === 'b'),
    'RAUC to end',
  );
  await hub.begin();
  await hub.restartAsked();
  assert.is(hub.machine.installs.length, 1);
});

test('a power cut in the middle of an installation is begun anew, but not for ever', async ({ hub }) => {
  hub.machine.faults = ['hang', 'hang', 'hang', 'hang'];
  hub.server.offer({ version: '1.1.0' });
  await hub.client.Check({ channel: '' });
  await hub.client.Install({ source: '', restart: '' });
  for (let tries = 1; tries <= 3; tries++) {
    await until(
      tried(() => hub.machine.installs.length === tries),
      `try ${tries}`,
    );
    hub.rauc.stop();
    await hub.kill();
    await hub.raucAgain();
    await hub.reboot({ version: '1.0.0' });
  }
  const s = await until(
    tried(async () => {
      const now = await hub.status();
      return now.state === 'available' ? now : undefined;
    }),
    'the end',
  );
  assert.is(s.detail.error!.reason, 'interrupted');
  assert.is(hub.machine.installs.length, 3);
});

test('a service killed in the middle of a download goes on where it was', async ({ hub }) => {
  const body = hub.server.offer({ version: '1.1.0' }, { pad: 3_000_000 });
  let held = true;
  hub.server.bend((req, res, file) => {
    if (!req.url!.endsWith('.raucb') || !held) return false;
    res.writeHead(200, { etag: '"one"', 'content-length': file.length });
    res.write(file.subarray(0, 1_000_000));
    return true;
  });
  await hub.client.Check({ channel: '' });
  await hub.client.Download({});
  await until(
    tried(() => readdirSync(hub.bundles).some((f) => f.endsWith('.part'))),
    'a part',
  );
  await until(
    tried(async () => (await hub.status()).detail.percent >= 30),
    'progress',
  );
  await hub.kill();
  held = false;
  hub.server.bend((req, res, file) => {
    if (!req.url!.endsWith('.raucb')) return false;
    serveFile(req, res, file, '"one"');
    return true;
  });
  await hub.begin();
  await hub.state('downloaded');
  const { range } = hub.server.asked.filter((a) => a.path.endsWith('.raucb')).at(-1)!;
  const from = Number(/^bytes=(\d+)-$/.exec(range)?.[1]);
  assert.ok(from > 0 && from <= 1_000_000 && from < body.length, range);
});

test('a download can be stopped and begun again', async ({ hub }) => {
  hub.server.offer({ version: '1.1.0' }, { pad: 1_000_000 });
  hub.server.bend((req, res, file) => {
    if (!req.url!.endsWith('.raucb')) return false;
    res.writeHead(200, { 'content-length': file.length });
    res.write(file.subarray(0, 1000));
    return true;
  });
  await hub.client.Check({ channel: '' });
  await hub.client.Install({ source: '', restart: 'now' });
  await hub.state('downloading');
  await hub.client.Cancel({});
  assert.is((await hub.status()).state, 'available');
  hub.server.bend(undefined);
  await hub.client.Download({});
  await hub.state('downloaded');
});

test('a restart that does not come is told, and may be asked for again', async () => {
  const hub = await startUpdate({ env: { INGLE_STUCK_MS: '100' } });
  try {
    hub.server.offer({ version: '1.1.0' });
    await hub.client.Check({ channel: '' });
    await hub.client.Install({ source: '', restart: 'now' });
    await hub.restartAsked();
    const s = await hub.state('installed');
    assert.is(s.detail.error?.reason, 'not_restarted');
    rmSync(hub.restartFile);
    await hub.client.Restart({ when: 'now' });
    await hub.restartAsked();
  } finally {
    await hub.stop();
  }
});

test('an idle service ends, and one that waits for something does not', async () => {
  const hub = await startUpdate({ env: { INGLE_IDLE_MS: '300' } });
  try {
    assert.is(await hub.ended(), 0);
  } finally {
    await hub.stop();
  }
});

test('a computer without RAUC says that updates come with git', async () => {
  const hub = await startUpdate({ rauc: false });
  try {
    assert.is((await hub.status()).state, 'unsupported');
    const e = await hub.client.Check({ channel: '' }).catch((x) => x);
    assert.is(e.code, 'not_supported');
    assert.match(e.message, /git/);
  } finally {
    await hub.stop();
  }
});

test.run();
