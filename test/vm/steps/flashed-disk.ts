// The disk as it is flashed: the root that runs is the one that was packed, on a medium larger than it.
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import * as assert from 'uvu/assert';
import { offsetOf } from '../../../image/disk.ts';
import type { Flash } from '../../../image/flash.ts';
import { blockSize } from '../../../image/verity.ts';
import { journal, reach } from '../../lab/vm/hub.ts';
import type { Check } from '../../lab/vm/suite.ts';

/** @param image what was flashed */
export function flashedDisk(check: Check, image: () => Flash): void {
  check('it boots to the end with no failed unit and no ordering cycle', async ({ vm }) => {
    await vm.until('systemctl is-system-running --wait || true', { timeoutMs: 240_000 });
    assert.is(await vm.must('systemctl --failed --plain --no-legend'), '', await journal(vm));
    assert.is(await vm.must('journalctl -b --no-pager | grep -i "ordering cycle" || true'), '');
    assert.is(await vm.must('systemctl is-system-running'), 'running');
  });

  check('its journal is bounded, and it keeps the time', async ({ vm }) => {
    const conf = await vm.must('systemd-analyze cat-config systemd/journald.conf');
    assert.match(conf, /^SystemMaxUse=\d+M$/m);
    assert.is(await vm.must('systemctl is-active systemd-timesyncd'), 'active');
  });

  check('its root is slot a, read-only and held against its hash', async ({ vm }) => {
    assert.match(
      await vm.must('findmnt -no SOURCE,FSTYPE,OPTIONS /'),
      /^\/dev\/(dm-0|mapper\/ingle-root)\s+erofs\s+ro/,
    );
    assert.is(await vm.must('cat /sys/block/dm-0/dm/name /sys/block/dm-0/ro'), 'ingle-root\n1');
    assert.is(await vm.must('ls /sys/block/dm-0/slaves'), 'vda2');
    assert.match(await vm.must('cat /proc/cmdline'), new RegExp(image().verity.hash));
    assert.is(await vm.must('cat /run/ingle/slot'), 'a');
    assert.is.not((await vm.run('touch /usr/x || touch /etc/x')).code, 0);
    // Flashed, it is good: nobody has to confirm anything.
    assert.is.not((await vm.run('test -e /run/ingle/trial')).code, 0);
    assert.match(await vm.must('cat /etc/os-release'), new RegExp(`^IMAGE_VERSION=${image().version}$`, 'm'));
  });

  check('the data partition has taken the rest of the medium', async ({ vm }) => {
    const [size] = (await vm.must('findmnt -bno SIZE /var')).split('\n');
    assert.ok(Number(size) > 1.4 * 2 ** 30, `${size} bytes`);
    assert.is(await vm.must('findmnt -no SOURCE /var'), '/dev/vda5');
  });

  check('RAUC knows which root runs and that the other is empty', async ({ vm }) => {
    const status = JSON.parse(await vm.must('rauc status --output-format=json')) as {
      compatible: string;
      booted: string;
      boot_primary: string;
    };
    assert.is(status.compatible, 'generic');
    assert.is(status.booted, 'a');
    assert.is(status.boot_primary, 'rootfs.0');
    assert.is(await vm.must('/usr/lib/ingle/rauc-backend get-state b'), 'bad');
    assert.is.not((await vm.run('findmnt /run/ingle-esp')).code, 0);
  });

  check('it offers setup', async ({ vm }) => {
    await reach(vm, 'setup', (s) => s.state === 'CONSOLE' || s.state === 'CHANNELS');
  });

  check('a byte that changed in the root is noticed, and never read', async ({ vm }) => {
    // Under the machine's feet, in a block it has no reason to have read: the middle of the tree's last data.
    const block = image().verity.blocks - 3;
    const fd = openSync(vm.disk, 'r+');
    const at = offsetOf('ingle-root-a') + block * blockSize + 100;
    const byte = Buffer.alloc(1);
    readSync(fd, byte, 0, 1, at);
    const flip = () => {
      byte[0]! ^= 0xff;
      writeSync(fd, byte, 0, 1, at);
    };
    const read = (from: string) =>
      vm.run(`dd if=${from} of=/dev/null bs=4096 skip=${block} count=1 iflag=direct`);
    assert.is((await read('/dev/dm-0')).code, 0);
    flip();
    assert.is((await read('/dev/vda2')).code, 0);
    assert.is.not((await read('/dev/dm-0')).code, 0);
    assert.match(await vm.must('dmesg'), new RegExp(`verity: .*data block ${block} is corrupted`));
    flip();
    closeSync(fd);
    assert.is((await read('/dev/dm-0')).code, 0);
  });
}
