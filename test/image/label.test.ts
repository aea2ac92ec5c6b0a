// The factory part of a device: what the label says, how it gets onto a disk, and what the hub makes of it at boot.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
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
import { cache } from '../../image/build.ts';
import { deviceJson, findDevice, readDevice } from '../../image/device.ts';
import { factoryImage, labelDevice, writeInto } from '../../image/factory.ts';
import { makeLabel, newFactory } from '../../image/label.ts';
import { debianTools, type Tools } from '../../image/tools.ts';

const test = suite('label and identity');
const dir = mkdtempSync(join(tmpdir(), 'ingle-label-'));
test.after(() => rmSync(dir, { recursive: true, force: true }));
const { device } = readDevice(findDevice('.', 'example'));
const labelOf = (d: typeof device, serial: string) => makeLabel(d, newFactory(d, serial));

test('a label tells the access point that setup will open, and each label another', () => {
  const [a, b] = [labelOf(device, 'H2-000123'), labelOf(device, 'H2-000123')];
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
  const l = labelOf({ ...device, label: 'none' }, 'H2-000123');
  assert.equal([l.factory.psk, l.factory.pin, l.ssid], ['', '', '']);
  assert.not.match(l.text, /Password|PIN/);
});

test('a serial number that is none is refused with what is allowed', () => {
  for (const serial of ['', 'abc', 'a b c d', '../../etc', 'x'.repeat(40), 'h"2-0001'])
    assert.throws(() => labelOf(device, serial), /serial .*4 to 32 letters, digits and -/);
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
  assert.equal(checkFactory(JSON.parse(factoryJson(labelOf(device, 'H2-0001').factory))).issues, []);
  assert.is(checkFactory({ model: 'x', serial: 'abcd', psk: 'abcdefgh' }).issues.length, 1);
});

/** Debian's own mkfs.erofs, unpacked as an image's build does; sfdisk of this computer. */
const why =
  process.getuid?.() !== 0
    ? 'the tools are unpacked with root rights; run the tests as root'
    : ['/usr/bin/mmdebstrap', '/usr/sbin/sfdisk'].find((f) => !existsSync(f));
if (why) console.log(`SKIP no factory part is made: ${why}`);
const check = why ? test.skip : test;
let tools: Tools;
test.before(async () => {
  if (!why) tools = await debianTools(cache);
});

/** A disk as it is flashed, in small. */
async function makeDisk(name: string, parts = ['ingle-esp', 'ingle-factory', 'ingle-data']): Promise<string> {
  const disk = join(dir, name);
  writeFileSync(disk, '');
  truncateSync(disk, 64 * 2 ** 20);
  const table = parts.map((p) => `name=${p}, size=${p === 'ingle-factory' ? 16 : 8}MiB\n`).join('');
  const made = await run('sfdisk', ['--quiet', disk], { input: `label: gpt\n${table}` });
  assert.is(made.code, 0, made.stderr);
  return disk;
}
const refused = async (work: Promise<unknown>, code: string, words: RegExp) => {
  const e = await work.then(
    () => undefined,
    (x) => x as { code: string; message: string },
  );
  assert.is(e?.code, code);
  assert.match(e!.message, words);
};

check('the factory part lands in its partition of a disk image and nowhere else', async () => {
  const disk = await makeDisk('disk.img');
  const before = readFileSync(disk);
  const { factory } = labelOf(device, 'H2-000777');
  const part = await factoryImage(tools, factory);
  await writeInto(disk, part);
  const after = readFileSync(disk);
  const [from, to] = [9 * 2 ** 20, 25 * 2 ** 20];
  assert.is(Buffer.compare(before.subarray(0, from), after.subarray(0, from)), 0);
  assert.is(Buffer.compare(before.subarray(to), after.subarray(to)), 0);
  writeFileSync(join(dir, 'back.img'), after.subarray(from, to));
  await tools.must('usr/bin/fsck.erofs', [
    `--extract=${join(dir, 'back')}`,
    '--overwrite',
    join(dir, 'back.img'),
  ]);
  assert.is(readFileSync(join(dir, 'back/factory.json'), 'utf8'), factoryJson(factory));
  assert.is(statSync(join(dir, 'back/factory.json')).mode & 0o077, 0, 'for root alone');
  await refused(writeInto(await makeDisk('none.img', ['x']), part), 'not_found', /flash the image first/);
});

const labelFiles = ['factory.img', 'factory.json', 'label.png', 'label.svg', 'label.txt'];
const read = (file: string) => readFileSync(file, 'utf8');

check(
  'a label asked for again is the same, from its folder or from the device, until it is replaced',
  async () => {
    const [out, into] = [join(dir, 'labels/H2-000001'), await makeDisk('again.img')];
    const ask = (o: Partial<Parameters<typeof labelDevice>[0]> = {}) =>
      labelDevice({ device, serial: 'H2-000001', out, into, tools, ...o });
    const first = await ask();
    assert.is(first.again, false);
    assert.equal(readdirSync(out).sort(), labelFiles);
    assert.is(statSync(out).mode & 0o777, 0o700);
    for (const f of labelFiles) assert.is(statSync(join(out, f)).mode & 0o777, 0o600, f);
    const second = await ask();
    assert.is(second.again, true);
    assert.equal(second.label.factory, first.label.factory);
    // The folder is erased once the label is printed; the device still knows.
    rmSync(out, { recursive: true });
    assert.equal((await ask()).label.factory, first.label.factory);
    assert.is(read(join(out, 'label.txt')), first.label.text);
    const other = await ask({ replace: true });
    assert.is.not(other.label.factory.psk, first.label.factory.psk);
    assert.is(read(join(out, 'factory.json')), factoryJson(other.label.factory));
    assert.equal((await ask()).label.factory, other.label.factory, 'on the device, too');
    assert.equal(readdirSync(join(dir, 'labels')), ['H2-000001'], 'nothing lies beside it');
  },
);

check('a device that has another label keeps it, and so does a folder', async () => {
  const into = await makeDisk('other.img');
  const ask = (serial: string, out: string, o: { replace?: boolean; into?: string } = { into }) =>
    labelDevice({ device, serial, out: join(dir, out), tools, ...o });
  const first = await ask('H2-000001', 'mine');
  const before = readFileSync(into);
  await refused(ask('H2-000002', 'theirs'), 'conflict', /labelled already, as hearth-2 H2-000001.*--replace/);
  await refused(ask('H2-000002', 'mine', {}), 'conflict', /is the label of hearth-2 H2-000001/);
  assert.not(existsSync(join(dir, 'theirs')));
  assert.is(Buffer.compare(readFileSync(into), before), 0);
  await ask('H2-000001', 'elsewhere', {});
  await refused(ask('H2-000001', 'elsewhere'), 'conflict', /other secrets than the label/);
  await ask('H2-000002', 'theirs', { into, replace: true });
  assert.is(read(join(dir, 'mine/factory.json')), factoryJson(first.label.factory));
});

check('what fails leaves no secrets without their label, whatever fails', async () => {
  const out = join(dir, 'failed');
  const broken: Tools = { ...tools, must: () => Promise.reject(new Error('no mkfs.erofs')) };
  await refused(labelDevice({ device, serial: 'no', out, tools }), 'invalid_request', /4 to 32/);
  for (const o of [
    { tools: broken },
    { tools, into: join(dir, 'no-disk') },
    { tools, into: await makeDisk('bare.img', ['x']) },
  ]) {
    await labelDevice({ device, serial: 'H2-000009', out, ...o }).then(
      () => assert.unreachable(),
      () => {},
    );
    assert.equal(
      readdirSync(dir).filter((f) => f.startsWith('failed')),
      [],
    );
  }
  // A cut between the two renames of a replaced label.
  const { label } = await labelDevice({ device, serial: 'H2-000009', out, tools });
  renameSync(out, `${out}.old`);
  assert.equal((await labelDevice({ device, serial: 'H2-000009', out, tools })).label.factory, label.factory);
  assert.equal(
    readdirSync(dir).filter((f) => f.startsWith('failed')),
    ['failed'],
  );
  mkdirSync(join(dir, 'strange'));
  await refused(
    labelDevice({ device, serial: 'H2-000009', out: join(dir, 'strange'), tools }),
    'conflict',
    /holds no label/,
  );
});

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
