// timeout: 200 s
// ingle-update beside real RAUC: two slots that are files, the hub's own boot loader backend over a folder, real bundles.
import type { ChildProcess } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { must, run, start, stop } from '../../firmware/system/exec.ts';
import { tried, until } from '../lab/wait.ts';
import { startUpdate, type UpdateHub } from './hub.ts';

interface Context {
  hub: UpdateHub;
  rauc: ChildProcess | undefined;
  dir: string;
}
const test = suite<Context>('updates by real RAUC');
const missing = ['/usr/bin/rauc', '/usr/bin/mksquashfs', '/usr/bin/openssl', '/dev/loop-control'].find(
  (f) => !existsSync(f),
);
const why =
  process.getuid?.() !== 0
    ? 'needs root rights'
    : missing
      ? `there is no ${missing}`
      : (await run('unshare', ['--mount', 'true'])).code === 0
        ? ''
        : 'needs mount namespaces';
if (why) console.log(`SKIP real RAUC: ${why}`);
const check = why ? test.skip : test;

test.before(async (c) => {
  if (why) return;
  c.hub = await startUpdate({ rauc: false, serve: false });
  c.dir = c.hub.dir;
  for (const d of ['esp/loader/entries', 'esp/ingle/a', 'keys'])
    mkdirSync(join(c.dir, d), { recursive: true });
  writeFileSync(join(c.dir, 'esp/loader/entries/ingle-0001-a.conf'), entry('a'));
  for (const s of ['a.img', 'b.img']) {
    writeFileSync(join(c.dir, s), '');
    truncateSync(join(c.dir, s), 2 ** 20);
  }
  for (const who of ['maker', 'stranger'])
    await must('openssl', [
      ...'req -x509 -newkey rsa:2048 -nodes -days 3 -subj /CN=test'.split(' '),
      '-keyout',
      join(c.dir, `keys/${who}.key`),
      '-out',
      join(c.dir, `keys/${who}.pem`),
    ]);
  // Debian 12 has RAUC 1.8, whose kernel side for verity bundles not every machine of tests has.
  writeFileSync(
    join(c.dir, 'system.conf'),
    `[system]
compatible=generic
bootloader=custom
statusfile=${c.dir}/rauc.status
mountprefix=${c.dir}/mnt
bundle-formats=plain
[keyring]
path=${c.dir}/keys/maker.pem
[handlers]
bootloader-custom-backend=${process.cwd()}/image/rauc/rauc-backend
[slot.rootfs.0]
device=${c.dir}/a.img
type=raw
bootname=a
[slot.rootfs.1]
device=${c.dir}/b.img
type=raw
bootname=b
`,
  );
  await boot(c, 'a', '1.0.0');
});
test.after(async (c) => {
  if (c.rauc) await stop(c.rauc);
  await c.hub?.stop();
});

const entry = (slot: string) =>
  `title Ingle\nsort-key ingle\nlinux /ingle/${slot}/linux\ninitrd /ingle/${slot}/initrd\noptions ingle.slot=${slot}\n`;

/** The machine comes up in a slot: RAUC and ingle-update are new. */
async function boot(c: Context, slot: 'a' | 'b', version: string): Promise<void> {
  await c.hub.kill();
  if (c.rauc) await stop(c.rauc);
  const { hub } = c;
  hub.env['INGLE_BOOT_ID'] = `boot-${Number(hub.env['INGLE_BOOT_ID']!.split('-')[1]) + 1}`;
  writeFileSync(join(c.dir, 'os-release'), `IMAGE_VERSION=${version}\n`);
  rmSync(hub.restartFile, { force: true });
  c.rauc = start('rauc', ['-c', join(c.dir, 'system.conf'), `--override-boot-slot=${slot}`, 'service'], {
    stdio: ['ignore', 'ignore', process.env['INGLE_LOG'] ? 'inherit' : 'ignore'],
    env: { DBUS_SYSTEM_BUS_ADDRESS: hub.address, INGLE_ESP: join(c.dir, 'esp'), INGLE_SLOT: slot },
  });
  await until(
    tried(async () => (await hub.bus.listNames()).includes('de.pengutronix.rauc')),
    'RAUC',
  );
  await hub.begin();
}

async function bundle(
  c: Context,
  name: string,
  o: { version: string; compatible?: string; signer?: string },
): Promise<string> {
  const from = join(c.dir, `${name}.d`);
  mkdirSync(from);
  for (const f of ['hook', 'rauc-backend']) copyFileSync(`image/rauc/${f}`, join(from, f));
  writeFileSync(join(from, 'rootfs.img'), `root of ${o.version}`.repeat(1000));
  writeFileSync(join(from, 'linux'), `kernel of ${o.version}`);
  writeFileSync(join(from, 'initrd'), 'initrd');
  writeFileSync(join(from, 'entry'), entry('@slot@'));
  writeFileSync(
    join(from, 'manifest.raucm'),
    `[update]
compatible=${o.compatible ?? 'generic'}
version=${o.version}
[hooks]
filename=hook
[image.rootfs]
filename=rootfs.img
hooks=post-install
`,
  );
  const out = join(c.dir, `${name}.raucb`);
  const key = (end: string) => join(c.dir, `keys/${o.signer ?? 'maker'}.${end}`);
  await must('rauc', [`--cert=${key('pem')}`, `--key=${key('key')}`, 'bundle', from, out]);
  return out;
}
const entries = (c: Context) =>
  readdirSync(join(c.dir, 'esp/loader/entries'))
    .filter((f) => /^ingle-\d/.test(f))
    .sort();

check('bundles of a stranger, of another device, cut short and too old are refused unwritten', async (c) => {
  const { client } = c.hub;
  const good = await bundle(c, 'good', { version: '1.1.0' });
  const cut = join(c.dir, 'cut.raucb');
  writeFileSync(cut, readFileSync(good).subarray(0, -3000));
  // RAUC 1.8 says no more than that it is no good; newer ones say why.
  const files: [string, string[]][] = [
    [await bundle(c, 'stranger', { version: '1.1.0', signer: 'stranger' }), ['bad_signature', 'bad_bundle']],
    [await bundle(c, 'other', { version: '1.1.0', compatible: 'toaster' }), ['other_device']],
    [await bundle(c, 'old', { version: '0.1.0' }), ['too_old']],
    [cut, ['bad_bundle', 'bad_signature']],
  ];
  for (const [source, reasons] of files) {
    const said = (await client.Verify({ source })).reason;
    assert.ok(reasons.includes(said), `${source}: ${said}`);
    const before = c.hub.states.length;
    await client.Install({ source, restart: 'now' });
    const refused = await until(
      tried(() => c.hub.states.slice(before).find((s) => s.reason !== '')),
      'the refusal',
    );
    assert.ok(reasons.includes(refused.reason), `${source}: ${refused.reason}`);
  }
  assert.equal(entries(c), ['ingle-0001-a.conf']);
  assert.ok(readFileSync(join(c.dir, 'b.img')).every((x) => x === 0));
});

check('a good bundle is written, starts next, stays once proved, and can be gone back from', async (c) => {
  const { hub } = c;
  assert.equal(await hub.client.Verify({ source: join(c.dir, 'good.raucb') }), {
    version: '1.1.0',
    compatible: 'generic',
    reason: '',
  });
  await hub.client.Install({ source: join(c.dir, 'good.raucb'), restart: 'now' });
  await hub.restartAsked();
  assert.equal(entries(c), ['ingle-0001-a.conf', 'ingle-0002-b+3.conf']);
  assert.is(readFileSync(join(c.dir, 'esp/ingle/b/linux'), 'utf8'), 'kernel of 1.1.0');
  assert.match(readFileSync(join(c.dir, 'b.img')).subarray(0, 13).toString(), /^root of 1\.1\.0/);

  await boot(c, 'b', '1.1.0');
  assert.equal([(await hub.status()).state, (await hub.status()).version], ['trial', '1.1.0']);
  writeFileSync(join(hub.runtime, 'committed'), '');
  const proved = await hub.state('idle');
  assert.is(proved.detail.result?.ok, true);
  assert.equal(proved.detail.previous, { slot: 'rootfs.0', version: '1.0.0' });

  assert.equal(await hub.client.Rollback({}), { version: '1.0.0', restarts: true });
  await hub.restartAsked();
  assert.ok(entries(c).includes('ingle-0003-a+3.conf'), entries(c).join());
  await boot(c, 'a', '1.0.0');
  const back = await hub.state('idle');
  assert.equal([back.detail.result?.kind, back.detail.result?.ok], ['rollback', true]);
});

check('a version the boot loader gave up is told as one that did not work', async (c) => {
  const { hub } = c;
  await hub.client.Install({ source: join(c.dir, 'good.raucb'), restart: 'now' });
  await hub.restartAsked();
  // Three tries, none of which was committed.
  const dir = join(c.dir, 'esp/loader/entries');
  const tried = entries(c).find((f) => f.includes('-b+3'))!;
  copyFileSync(join(dir, tried), join(dir, tried.replace('+3', '+0-3')));
  rmSync(join(dir, tried));
  await boot(c, 'a', '1.0.0');
  const s = await hub.state('idle');
  const { ok, reason, to } = s.detail.result!;
  assert.equal([ok, reason, to], [false, 'not_healthy', '1.1.0']);
  assert.is(s.detail.previous, undefined, 'there is no way to what did not work');
});

test.run();
