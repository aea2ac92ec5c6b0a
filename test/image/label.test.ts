// The factory part of a device: what the label says, how it gets onto a disk, and what the hub makes of it at boot.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkFactory, factoryJson, wifiCode } from '../../firmware/device/factory.ts';
import { newSecrets } from '../../firmware/setup/secrets.ts';
import { run } from '../../firmware/system/exec.ts';
import { deviceJson, findDevice, readDevice } from '../../image/device.ts';
import { factoryImage, makeLabel, writeInto } from '../../image/label.ts';

const test = suite('label and identity');
const dir = mkdtempSync(join(tmpdir(), 'ingle-label-'));
test.after(() => rmSync(dir, { recursive: true, force: true }));
const { device } = readDevice(findDevice('.', 'example'));

test('a label tells the access point that setup will open, and each label another', () => {
  const [a, b] = [makeLabel(device, 'H2-000123'), makeLabel(device, 'H2-000123')];
  const { psk, pin } = a.factory;
  assert.is(a.ssid, newSecrets(device.brand.name, 'H2-000123', { psk, pin }).ssid);
  assert.is.not(psk, b.factory.psk);
  assert.match(pin, /^\d{6}$/);
  for (const word of ['Hearth', 'hearth-2', 'H2-000123', a.ssid, psk, pin])
    assert.ok(a.text.includes(word), word);
  assert.ok(a.text.includes(`WIFI:T:WPA;S:${a.ssid};P:${psk};;`));
  for (const word of [a.ssid, psk, pin]) assert.ok(a.svg.includes(`>${word}<`), word);
  assert.is(a.png.subarray(1, 4).toString(), 'PNG');
});

test('a maker who wants no secrets on labels gets the serial number alone', () => {
  const l = makeLabel({ ...device, label: 'none' }, 'H2-000123');
  assert.equal([l.factory.psk, l.factory.pin, l.ssid], ['', '', '']);
  assert.not.match(l.text, /Password|PIN/);
});

test('a serial number that is none is refused with what is allowed', () => {
  for (const serial of ['', 'abc', 'a b c d', '../../etc', 'x'.repeat(40), 'h"2-0001'])
    assert.throws(() => makeLabel(device, serial), /serial .*4 to 32 letters, digits and -/);
});

test('whatever the network name, the code for a camera gives it back', () => {
  const back = (code: string) => /^WIFI:T:WPA;S:((?:\\.|[^\\;])*);P:((?:\\.|[^\\;])*);;$/s.exec(code);
  fc.assert(
    fc.property(fc.string(), fc.string(), (ssid, psk) => {
      const m = back(wifiCode(ssid, psk));
      assert.equal(
        m?.slice(1).map((t) => t.replace(/\\(.)/gs, '$1')),
        [ssid, psk],
      );
    }),
  );
});

test('whatever the value, a factory part is checked and never throws', () => {
  fc.assert(fc.property(fc.anything(), (v) => assert.ok(Array.isArray(checkFactory(v).issues))));
  assert.equal(checkFactory(JSON.parse(factoryJson(makeLabel(device, 'H2-0001').factory))).issues, []);
  assert.is(checkFactory({ model: 'x', serial: 'abcd', psk: 'abcdefgh' }).issues.length, 1);
});

const tools = ['/usr/bin/mkfs.erofs', '/usr/bin/fsck.erofs', '/usr/sbin/sfdisk'].find((f) => !existsSync(f));
if (tools) console.log(`SKIP the factory part is not written to a disk: there is no ${tools}`);
(tools ? test.skip : test)(
  'the factory part lands in its partition of a disk image and nowhere else',
  async () => {
    const disk = join(dir, 'disk.img');
    writeFileSync(disk, '');
    truncateSync(disk, 64 * 2 ** 20);
    const table =
      'label: gpt\nname=ingle-esp, size=8MiB\nname=ingle-factory, size=16MiB\nname=ingle-data, size=8MiB\n';
    const made = await run('sfdisk', ['--quiet', disk], { input: table });
    assert.is(made.code, 0, made.stderr);
    const before = readFileSync(disk);
    const { factory } = makeLabel(device, 'H2-000777');
    const part = join(dir, 'factory.img');
    await factoryImage(factory, part);
    await writeInto(disk, readFileSync(part));
    const after = readFileSync(disk);
    const [from, to] = [9 * 2 ** 20, 25 * 2 ** 20];
    assert.is(Buffer.compare(before.subarray(0, from), after.subarray(0, from)), 0);
    assert.is(Buffer.compare(before.subarray(to), after.subarray(to)), 0);
    writeFileSync(join(dir, 'back.img'), after.subarray(from, to));
    const back = await run('fsck.erofs', [
      `--extract=${join(dir, 'back')}`,
      '--overwrite',
      join(dir, 'back.img'),
    ]);
    assert.is(back.code, 0, back.stderr);
    assert.is(readFileSync(join(dir, 'back/factory.json'), 'utf8'), factoryJson(factory));
    assert.is(statSync(join(dir, 'back/factory.json')).mode & 0o077, 0, 'for root alone');
    writeFileSync(join(dir, 'none.img'), '');
    truncateSync(join(dir, 'none.img'), 8 * 2 ** 20);
    await run('sfdisk', ['--quiet', join(dir, 'none.img')], { input: 'label: gpt\nname=x, size=4MiB\n' });
    try {
      await writeInto(join(dir, 'none.img'), readFileSync(part));
      assert.unreachable();
    } catch (e) {
      assert.is((e as { code: string }).code, 'not_found');
    }
  },
);

/** Runs the boot's script in a world of its own. */
async function boot(o: {
  hostname?: string;
  factory?: string;
  macs?: Record<string, string>;
  virtual?: Record<string, string>;
  machineId?: string;
  again?: string;
}) {
  const at = o.again ?? mkdtempSync(join(dir, 'boot-'));
  const put = (file: string, text: string) => {
    mkdirSync(join(at, file, '..'), { recursive: true });
    writeFileSync(join(at, file), text);
  };
  if (!o.again) put('sys/class/block/vda/uevent', 'MAJOR=254\nDEVNAME=vda\nDEVTYPE=disk\n');
  for (const [name, mac] of Object.entries({ ...o.macs, ...o.virtual })) {
    put(`sys/class/net/${name}/address`, `${mac}\n`);
    if (o.macs?.[name]) mkdirSync(join(at, `sys/class/net/${name}/device`), { recursive: true });
  }
  put('device.json', deviceJson({ ...device, hostname: o.hostname ?? device.hostname }));
  put('etc/machine-id', `${o.machineId ?? '0123456789abcdef0123456789abcdef'}\n`);
  if (o.factory !== undefined) put('factory/factory.json', o.factory);
  const r = await run('/bin/sh', ['image/overlay/usr/lib/ingle/identity'], {
    env: {
      IDENTITY_SYS: join(at, 'sys'),
      IDENTITY_ETC: join(at, 'etc'),
      IDENTITY_RUN: join(at, 'run'),
      IDENTITY_STATE: join(at, 'state'),
      IDENTITY_DEVICE: join(at, 'device.json'),
      ...(o.factory === undefined ? {} : { IDENTITY_FACTORY: join(at, 'factory') }),
    },
  });
  assert.is(r.code, 0, r.stderr);
  const read = (name: string) => {
    const file = join(at, 'run', name);
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>) : undefined;
  };
  return { at, said: r.stdout.toString(), device: read('device.json')!, label: read('label.json') };
}
const part = (over = {}) =>
  factoryJson({ model: 'hearth-2', serial: 'H2-00ABCD', psk: 'acefhjkm2345', pin: '123456', ...over });

test('at boot the device has its serial number, its name and the secrets of its label', async () => {
  const b = await boot({ hostname: 'hearth-{serial4}', factory: part() });
  assert.equal(b.device, { serial: 'H2-00ABCD', hostname: 'hearth-abcd' });
  assert.equal(b.label, { psk: 'acefhjkm2345', pin: '123456' });
  assert.is(statSync(join(b.at, 'run/label.json')).mode & 0o777, 0o640);
  assert.is(statSync(join(b.at, 'run/device.json')).mode & 0o777, 0o644);
});

test('the host name follows the pattern, from the address of a real network device', async () => {
  const macs = { eth0: '52:54:00:12:34:56', wlan0: '02:00:00:00:00:01' };
  const virtual = { br0: '00:00:5e:00:53:01' };
  assert.is((await boot({ hostname: 'hub-{mac6}', macs, virtual })).device['hostname'], 'hub-123456');
  assert.is((await boot({ hostname: '{mac}', macs })).device['hostname'], '525400123456');
  assert.is(
    (await boot({ hostname: 'x{serial4}-{mac6}', factory: part(), macs })).device['hostname'],
    'xabcd-123456',
  );
});

test('a radio plugged in later does not rename the hub', async () => {
  const first = await boot({ hostname: 'hub-{mac6}', macs: { wlan0: '02:00:00:00:00:01' } });
  const again = await boot({
    hostname: 'hub-{mac6}',
    macs: { eth0: '52:54:00:12:34:56' },
    again: first.at,
  });
  assert.is(again.device['hostname'], first.device['hostname']);
});

test("the machine's id is kept once, and a broken one is replaced", async () => {
  const kept = (at: string) => readFileSync(join(at, 'state/machine-id'), 'utf8');
  const first = await boot({});
  assert.is(kept(first.at), '0123456789abcdef0123456789abcdef\n');
  const other = 'f'.repeat(32);
  await boot({ again: first.at, machineId: other });
  assert.is(kept(first.at), '0123456789abcdef0123456789abcdef\n');
  writeFileSync(join(first.at, 'state/machine-id'), '0123\n');
  await boot({ again: first.at, machineId: other });
  assert.is(kept(first.at), `${other}\n`);
});

test('without a factory part and without a network there is still a name, and no label', async () => {
  const b = await boot({ hostname: 'hub-{serial4}-{mac6}' });
  assert.is(b.device['hostname'], 'hub-cdef-abcdef');
  assert.is(b.device['serial'], '');
  assert.is(b.label, undefined);
});

test('the factory part of another model is not used, and that is said', async () => {
  const b = await boot({ factory: part({ model: 'toaster' }) });
  assert.match(b.said, /another model/);
  assert.is(b.device['serial'], '');
  assert.is(b.label, undefined);
});

test('a factory part that somebody broke gives no label and no hostile name', async () => {
  for (const text of [
    '',
    '{',
    '\0\0\0',
    part({ serial: '$(reboot)' }),
    part({ pin: '' }),
    part({ psk: 'a"b' }),
  ]) {
    const b = await boot({ hostname: '{serial}', factory: text });
    assert.match(b.device['hostname']!, /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, text);
    assert.is(
      b.label === undefined || checkFactory({ ...b.label, model: 'x', serial: 'abcd' }).issues.length === 0,
      true,
    );
  }
});

test.run();
