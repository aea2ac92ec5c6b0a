// gate: in, it starts none of the programs that its imports know
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { boardFiles } from '../../image/boards.ts';
import { carried, current, filesBelow } from '../../image/bundles.ts';
import { findDevice, readDevice } from '../../image/device.ts';
import { aliasesOf, dependenciesOf, loadOrder } from '../../image/initrd.ts';
import { osRelease, systemConf } from '../../image/rauc.ts';
import { placeOf } from '../../image/stage.ts';

const test = suite('image');

test('kernel modules load after what they need, each once', () => {
  const dep = [
    'kernel/fs/erofs/erofs.ko.xz: kernel/lib/libcrc32c.ko.xz kernel/crypto/crc32c-base.ko.xz',
    'kernel/lib/libcrc32c.ko.xz: kernel/crypto/crc32c-base.ko.xz',
    'kernel/crypto/crc32c-base.ko.xz:',
    'kernel/drivers/block/virtio_blk.ko.xz:',
  ].join('\n');
  assert.equal(loadOrder(dep, ['virtio_blk', 'crc32c_base', 'erofs', 'built_in']), [
    'kernel/drivers/block/virtio_blk.ko.xz',
    'kernel/crypto/crc32c-base.ko.xz',
    'kernel/lib/libcrc32c.ko.xz',
    'kernel/fs/erofs/erofs.ko.xz',
  ]);
});

test('the initial RAM disk knows its own modules alone, by the names their files have there', () => {
  const dep = 'kernel/a-b.ko.xz: kernel/c.ko.xz\nkernel/c.ko.xz:\nkernel/d.ko.xz: kernel/c.ko.xz\n';
  assert.is(
    dependenciesOf(dep, ['kernel/a-b.ko.xz', 'kernel/c.ko.xz']),
    'kernel/a-b.ko: kernel/c.ko\nkernel/c.ko:\n',
  );
  const alias = 'alias pci:v1* a_b\nalias pci:v2* d\n';
  assert.is(aliasesOf(alias, ['kernel/a-b.ko.xz']), 'alias pci:v1* a_b\n');
});

test('RAUC is told the model, the oldest version and both slots, and takes no other format', () => {
  const { device } = readDevice(findDevice('.', 'generic'));
  const conf = systemConf({ ...device, update: { ...device.update, min_version: '1.2.0' } });
  assert.match(conf, /^compatible=generic$/m);
  assert.match(conf, /^min-bundle-version=1\.2\.0$/m);
  assert.match(conf, /^bundle-formats=verity$/m);
  assert.equal(conf.match(/^bootname=.$/gm), ['bootname=a', 'bootname=b']);
});

test('the system says which image it is, once', () => {
  const text = osRelease('NAME="Debian"\nIMAGE_ID=old\n', { model: 'lamp', version: '1.2.3' });
  assert.is(text, 'NAME="Debian"\nIMAGE_ID=ingle-lamp\nIMAGE_VERSION=1.2.3\n');
});

test('a Raspberry Pi finds its firmware, U-Boot and device tree in the ESP; a PC needs none of it', () => {
  const dir = mkdtempSync(join(tmpdir(), 'ingle-boards-'));
  const [base, parts] = [join(dir, 'base'), join(dir, 'parts')];
  const put = (...files: string[]) => {
    for (const f of files) {
      mkdirSync(dirname(f), { recursive: true });
      writeFileSync(f, '');
    }
  };
  put(join(parts, 'usr/share/doc/busybox-static/copyright'));
  assert.equal(boardFiles(base, parts), []);
  put(join(parts, 'usr/lib/raspi-firmware/start4.elf'));
  const trees = join(base, 'usr/lib/linux-image-6.12-arm64/broadcom');
  put(...['bcm2712-rpi-5-b.dtb', 'bcm2711-rpi-4-b.dtb', 'bcm2837-rpi-3-b.dtb'].map((f) => join(trees, f)));
  assert.equal(
    boardFiles(base, parts).map(([to]) => to),
    [
      ...['config.txt', 'start4.elf', 'fixup4.dat', 'u-boot.bin', 'raspi-firmware.txt'],
      ...['bcm2711-rpi-4-b.dtb', 'bcm2712-rpi-5-b.dtb'],
    ],
  );
  rmSync(dir, { recursive: true });
});

test('every file of systemd/ has a place in the root', () => {
  for (const f of filesBelow('systemd')) assert.ok(placeOf(f), f);
  assert.is(placeOf('units/ingle-wifi.service'), 'usr/lib/systemd/system/ingle-wifi.service');
  assert.is(placeOf('elsewhere/x'), undefined);
});

test('pieces of programs that an earlier build left are not carried', () => {
  const dir = mkdtempSync(join(tmpdir(), 'ingle-parts-'));
  mkdirSync(join(dir, 'dist/.parts'), { recursive: true });
  const part = { sources: {}, outputs: ['dist/services/uplink/main.js', 'dist/services/uplink/hash-New.js'] };
  writeFileSync(join(dir, 'dist/.parts/one.json'), JSON.stringify(part));
  const files = ['main.js', 'hash-Old.js', 'hash-New.js'].map((f) => `services/uplink/${f}`);
  const others = ['services/audio/fvad.wasm', 'skills/x/manifest.json', 'spa/assets/spa-1.js'];
  assert.equal(current(dir, [...files, ...others]), [files[0], files[2], ...others]);
  rmSync(dir, { recursive: true });
});

test('a hub carries its services and not the public root', () => {
  assert.not(carried('root/main.js', []));
  // Equal sources have different times in it, and images are no part of the next one.
  for (const f of ['.stamp', 'image/generic-0.1.0-amd64/ingle-generic.img.zst', 'label/x/label.svg'])
    assert.not(carried(f, []), f);
  assert.not(carried('services/cli/start.js', []));
  assert.ok(carried('services/cli/ingle.js', []));
  assert.ok(carried('services/wifi/main.js', ['wifi']));
  assert.not(carried('services/audio/main.js', ['wifi']));
  // Skills go where their host goes.
  for (const f of ['skills/slots.json', 'skills/updates/skill.js']) {
    assert.ok(carried(f, []), f);
    assert.ok(carried(f, ['skill-host']), f);
    assert.not(carried(f, ['wifi']), f);
  }
});

test.run();
