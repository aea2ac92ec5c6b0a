// npm run test:arm64: the image for arm64, flashed and started by UEFI in an emulated machine with the cores of a
// Raspberry Pi 4, until its services are up. Takes some minutes, so it stands outside npm test.
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { must, start } from '../../firmware/system/exec.ts';
import { emulator } from '../../image/emulator.ts';
import { type Flash, flash } from '../../image/flash.ts';
import { type Agent, agent, dial } from '../lab/vm/agent.ts';
import { agentUnit } from '../lab/vm/disks.ts';
import { flashDisk } from '../lab/vm/flashed.ts';

const why =
  process.getuid?.() !== 0
    ? 'an image is built with root rights'
    : existsSync('/usr/bin/aarch64-linux-gnu-g++')
      ? undefined
      : 'there is no g++-aarch64-linux-gnu';
if (why) console.log(`SKIP ${why}`);

interface Machine {
  image: Flash;
  dir: string;
  agent: Agent;
  off(): Promise<void>;
}
const test = suite<Machine>('the arm64 image');
const check = why ? test.skip : test;

test.before(async (c) => {
  if (why) return;
  try {
    c.image = await flash({ arch: 'arm64' });
    c.dir = mkdtempSync(join(tmpdir(), 'ingle-arm64-'));
    await powerOn(c);
  } catch (e) {
    // A suite's `before` hook swallows what it is thrown.
    console.error(e);
    throw e;
  }
});
test.after(async (c) => {
  await c.off?.();
  if (c.dir) rmSync(c.dir, { recursive: true, force: true });
});

async function powerOn(c: Machine): Promise<void> {
  const at = (name: string) => join(c.dir, name);
  await flashDisk(c.dir, c.image.disk);
  const { command, code, vars } = await emulator('arm64');
  copyFileSync(vars, at('vars.fd'));
  mkdirSync(at('lab'));
  cpSync('test/lab/vm/guest/agent.sh', at('lab/agent.sh'));
  await must('mkfs.erofs', ['--all-root', '--quiet', at('lab.erofs'), at('lab')]);
  const disk = (file: string, serial: string, more = '') => [
    ...['-drive', `if=none,id=${serial},file=${file},format=raw,cache=unsafe${more}`],
    ...['-device', `virtio-blk-pci,drive=${serial},serial=${serial}`],
  ];
  const strings = [
    `io.systemd.credential.binary:systemd.extra-unit.ingle-lab.service=${agentUnit()}`,
    'io.systemd.boot.kernel-cmdline-extra=systemd.wants=ingle-lab.service',
  ];
  const child = start(
    command[0],
    [
      ...command.slice(1),
      ...['-machine', 'virt', '-accel', 'tcg,thread=multi', '-cpu', 'cortex-a72', '-smp', '2', '-m', '2048'],
      ...['-nodefaults', '-no-user-config', '-display', 'none'],
      ...['-drive', `if=pflash,format=raw,readonly=on,file=${code}`],
      ...['-drive', `if=pflash,format=raw,file=${at('vars.fd')}`],
      ...disk(at('disk.raw'), 'ingle-disk'),
      ...disk(at('lab.erofs'), 'ingle-lab', ',readonly=on'),
      ...['-serial', `file:${at('console.log')}`, '-device', 'virtio-serial-pci'],
      ...['-chardev', `socket,id=agent,path=${at('agent.sock')},server=on,wait=off`],
      ...['-device', 'virtserialport,chardev=agent,name=ingle.lab', '-device', 'virtio-rng-pci'],
      ...['-smbios', `type=11,${strings.map((s) => `value=${s.replaceAll(',', ',,')}`).join(',')}`],
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  c.off = async () => {
    end();
    await gone;
    process.off('exit', end);
  };
  const began = Date.now();
  try {
    c.agent = await agent(await dial(at('agent.sock'), child), gone);
  } catch (e) {
    throw new Error(`${(e as Error).message}\n${readFileSync(at('console.log'), 'utf8').slice(-4000)}`);
  }
  console.log(`FIGURE arm64_boot_to_first_command_s ${((Date.now() - began) / 1000).toFixed(1)}`);
}

async function said(c: Machine, cmd: string, timeout = 60_000): Promise<string> {
  const s = await c.agent.run(cmd, timeout);
  if (s.code !== 0) throw new Error(`${cmd}\nexit ${s.code}\n${s.stdout}\n${s.stderr}`);
  return s.stdout.trim();
}

check('it starts by UEFI from a root that is held against its hash', async (c) => {
  assert.is(await said(c, 'uname -m'), 'aarch64');
  assert.match(await said(c, 'cat /proc/cmdline'), new RegExp(c.image.verity.hash));
  assert.match(await said(c, 'findmnt -no FSTYPE,OPTIONS /'), /^erofs\s+ro/);
  assert.is(await said(c, 'cat /sys/block/dm-0/dm/name /run/ingle/slot'), 'ingle-root\na');
});

check('it comes to the end of its start with no failed unit', async (c) => {
  await said(c, 'systemctl is-system-running --wait || true', 900_000);
  const journal = await said(c, 'journalctl -b -p warning --no-pager -n 60');
  assert.is(await said(c, 'systemctl --failed --plain --no-legend'), '', journal);
  assert.is(await said(c, 'systemctl is-system-running'), 'running');
});

check('its modules with machine code load, and setup is offered', async (c) => {
  const states = await said(c, 'systemctl is-active ingle-api ingle-uplink ingle-setup ingle-serial@ttyAMA0');
  assert.is(states, 'active\nactive\nactive\nactive');
  const s = await said(
    c,
    'busctl --timeout=200 --json=short call io.ingle.Setup1 /io/ingle/Setup1 io.ingle.Setup1 Status',
    240_000,
  );
  assert.match(s, /"data":\["(PROBE|AUDIO|CHANNELS|CONSOLE)"/);
});

check('boards that are no UEFI have in the ESP what makes them one', async (c) => {
  const at = '/run/ingle-esp-test';
  const mount = `mkdir -p ${at} && mount -o ro /dev/disk/by-partlabel/ingle-esp ${at}`;
  const list = await said(c, `${mount} && ls ${at} && head -c 4 ${at}/bcm2711-rpi-4-b.dtb | od -An -tx1`);
  for (const f of ['config.txt', 'start4.elf', 'fixup4.dat', 'u-boot.bin', 'bcm2712-rpi-5-b.dtb'])
    assert.ok(list.split('\n').includes(f), f);
  assert.match(list, /d0 0d fe ed/, 'a device tree');
});

test.run();
