import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { carried, filesBelow } from '../../image/bundles.ts';
import { loadOrder } from '../../image/initrd.ts';
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

test('every file of systemd/ has a place in the root', () => {
  for (const f of filesBelow('systemd')) assert.ok(placeOf(f), f);
  assert.is(placeOf('units/ingle-wifi.service'), 'usr/lib/systemd/system/ingle-wifi.service');
  assert.is(placeOf('elsewhere/x'), undefined);
});

test('a hub carries its services and not the public root', () => {
  assert.not(carried('root/main.js', []));
  assert.not(carried('services/cli/start.js', []));
  assert.ok(carried('services/cli/ingle.js', []));
  assert.ok(carried('services/wifi/main.js', ['wifi']));
  assert.not(carried('services/audio/main.js', ['wifi']));
});

test.run();
