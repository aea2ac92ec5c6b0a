// USB sticks: which are mounted (image/overlay/usr/lib/ingle/stick), and which bundles are found on them.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { must } from '../../firmware/system/exec.ts';
import { findBundles } from '../../firmware/update/sticks.ts';

const test = suite<{ dir: string }>('USB sticks');
test.before.each((c) => {
  c.dir = mkdtempSync(join(tmpdir(), 'ingle-stick-'));
});
test.after.each((c) => rmSync(c.dir, { recursive: true, force: true }));

test('partitions on USB are mounted read-only, other disks are left alone', async ({ dir }) => {
  const sys = join(dir, 'class');
  mkdirSync(sys);
  const usb = 'devices/pci0/0000:00:14.0/usb1/1-2/host3/block';
  for (const at of [
    `${usb}/sda/sda1`,
    `${usb}/sdb`,
    'devices/pci0/ata1/host0/block/sdc/sdc1',
    'devices/virtio0/block/vda',
  ]) {
    mkdirSync(join(dir, at), { recursive: true });
    const parts = at.split('/');
    const i = parts.indexOf('block');
    for (let n = i + 2; n <= parts.length; n++) {
      const name = parts[n - 1]!;
      symlinkSync(join(dir, parts.slice(0, n).join('/')), join(sys, name));
    }
  }
  const said = await must('sh', ['image/overlay/usr/lib/ingle/stick'], {
    env: { STICK_SYS: sys, STICK_MOUNT: 'echo', PATH: process.env['PATH'] ?? '' },
  });
  const mount = '--quiet --collect --fsck=no --options=ro,nosuid,nodev,noexec';
  assert.equal(said.toString().trim().split('\n'), [
    `${mount} /dev/sda1 /run/media/sda1`,
    `${mount} /dev/sdb /run/media/sdb`,
  ]);
});

test('the newest bundle of all sticks comes first; hidden files, folders and what is no stick are no bundles', ({
  dir,
}) => {
  const file = (at: string, time: number) => {
    writeFileSync(join(dir, at), 'x');
    utimesSync(join(dir, at), time, time);
  };
  for (const d of ['media/one', 'media/my stick', 'elsewhere', 'media/one/folder.raucb'])
    mkdirSync(join(dir, d), { recursive: true });
  file('media/one/old.raucb', 1000);
  file('media/one/.hidden.raucb', 5000);
  file('media/one/notes.txt', 5000);
  file('media/my stick/new.raucb', 2000);
  file('elsewhere/x.raucb', 9000);
  const mounts = [
    `/dev/sda1 ${dir}/media/one vfat ro 0 0`,
    `/dev/sdb ${dir}/media/my\\040stick vfat ro 0 0`,
    `/dev/sdc ${dir}/elsewhere vfat ro 0 0`,
    `/dev/sdd ${dir}/media/gone vfat ro 0 0`,
  ].join('\n');
  assert.equal(findBundles(join(dir, 'media'), mounts), [
    { path: join(dir, 'media/my stick/new.raucb'), size: 1 },
    { path: join(dir, 'media/one/old.raucb'), size: 1 },
  ]);
});

test.run();
