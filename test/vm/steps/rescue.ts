// The rescue entry of the boot menu, chosen as a person does who holds a key while the machine starts.
import * as assert from 'uvu/assert';
import { hashSecret } from '../../../firmware/setup/console-secret.ts';
import type { Vm } from '../../lab/vm/lab.ts';
import type { Check } from '../../lab/vm/suite.ts';
import { chooses, menu, sees, types } from '../../lab/vm/terminal.ts';

/** systemd-boot starts this entry once (Boot Loader Interface, LoaderEntryOneShot). */
async function chooseOnce(vm: Vm, entry: string): Promise<void> {
  const attributes = Buffer.from([7, 0, 0, 0]);
  await vm.put(
    '/sys/firmware/efi/efivars/LoaderEntryOneShot-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f',
    Buffer.concat([attributes, Buffer.from(`${entry}\0`, 'utf16le')]),
  );
}

export function rescue(check: Check): void {
  check('the machine is the same one after a restart, and its journal goes on', async ({ vm }) => {
    const id = await vm.must('cat /etc/machine-id');
    assert.match(id, /^[0-9a-f]{32}$/);
    assert.is(await vm.must('cat /var/lib/ingle/identity/machine-id'), id);
    const before = vm.console().length;
    await chooseOnce(vm, 'ingle-rescue.conf');
    await vm.restart();
    assert.is(await vm.must('cat /etc/machine-id'), id);
    assert.is(await vm.must('journalctl --list-boots -o json | grep -o boot_id | wc -l'), '2');
    await sees(vm, 'rescue. None of the services run.', before);
  });

  check('rescue has a menu on its terminals, and no shell where the maker set no secret', async ({ vm }) => {
    assert.match(await vm.must('cat /proc/cmdline'), /systemd\.unit=rescue\.target/);
    assert.is(await vm.must('systemctl --failed --plain --no-legend'), '');
    assert.is((await vm.run('systemctl is-active ingle.target')).code, 3, 'nothing of ours runs');
    await vm.until('cat /dev/vcs1', { test: (screen) => screen.includes('What next?') });
    assert.not.match(await types(vm, '0\r', menu), /A shell/);
    const checked = await chooses(vm, 'Check everything', menu);
    assert.match(checked, /^ ok {2}Databases +\d+ files are whole/m, checked);
    assert.match(await chooses(vm, 'Logs of the boot before this one', menu), /systemd/);
    assert.match(await chooses(vm, 'Start the other version next', menu), /no other version/);
  });

  check('with a console secret rescue asks for it first, and then has a shell', async ({ vm }) => {
    // As a device file with a secret would have it; this one has none.
    const device = JSON.parse(await vm.must('cat /usr/share/ingle/device.json')) as { console: object };
    device.console = { ...device.console, secret: await hashSecret('hearth') };
    await vm.put('/run/device.json', JSON.stringify(device));
    const before = vm.console().length;
    await vm.must('mount --bind /run/device.json /usr/share/ingle/device.json; systemctl restart rescue');
    await sees(vm, 'Console secret: ', before);
    await types(vm, 'guess\r', /not the console secret\.\s+Console secret: /);
    await types(vm, 'hearth\r', menu);
    await chooses(vm, 'A shell', 'exit');
    await types(vm, 'echo I am $(id -un)\r', 'I am root');
    await types(vm, 'exit\r', menu);
  });

  check('a factory reset from rescue makes the machine another one', async ({ vm }) => {
    const id = await vm.must('cat /etc/machine-id');
    await vm.must('echo mine >/var/lib/ingle/setup/mine');
    await chooses(vm, 'Factory reset', 'Type "erase" to go on: ');
    await types(vm, 'no\r', menu);
    assert.is(await vm.must('cat /var/lib/ingle/setup/mine'), 'mine');
    await chooses(vm, 'Factory reset', 'Type "erase" to go on: ');
    const up = vm.restart('true');
    vm.type('erase\r');
    await up;
    assert.is.not((await vm.run('test -e /var/lib/ingle/setup/mine')).code, 0);
    const now = await vm.must('cat /etc/machine-id');
    assert.match(now, /^[0-9a-f]{32}$/);
    assert.is.not(now, id);
    await vm.until(`grep -x ${now} /var/lib/ingle/identity/machine-id`);
  });
}
