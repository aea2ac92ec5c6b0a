// timeout: 4500 s, patient
// Updates of a flashed hub that never come to their end, and roots that never come up: each time the hub is again on
// the one it had. Tries and waits are the product's own but where bundles.ts says so.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bare, cutInstall, type Moment, wired } from '../lab/vm/interrupt.ts';
import { cannotRun, type Vm } from '../lab/vm/lab.ts';
import { checksOf } from '../lab/vm/suite.ts';
import { backend, carry, flashed, isOn, slow, type World } from '../lab/vm/updates.ts';

const why = cannotRun();
if (why) console.log(`SKIP ${why}`);
const test = suite<World>('updates that fall');
flashed(test, why, wired, { cuts: true });
const check = checksOf(test, why, { chain: true });

/** Slot b's entry as one that has fallen twice (systemd-boot's counters in its name), as each try is emulated. */
const lastTry =
  'mount -m /dev/disk/by-partlabel/ingle-esp /run/lab-esp && cd /run/lab-esp/loader/entries && ' +
  'mv *-b+3.conf $(basename *-b+3.conf +3.conf)+1-2.conf && cd / && umount /run/lab-esp';

/**
 * Installs by hand and restarts, on a machine that runs bare.
 * @param before what is done in between
 */
async function tries(vm: Vm, path: string, before = 'true'): Promise<void> {
  await vm.must(`rauc install ${path}`, { timeoutMs: slow });
  assert.is(await backend(vm, 'get-primary'), 'b');
  await vm.must(before);
  await vm.restart('systemctl reboot --force --no-block', { timeoutMs: slow });
}

check('a kernel that hangs is restarted by the hardware watchdog', async (c) => {
  const { vm } = c;
  // Its driver comes beside the rest of the boot.
  await vm.until('[ "$(cat /sys/class/watchdog/watchdog0/state)" = active ]');
  // A panic restarts by itself; told not to, the kernel stands still.
  const hang = 'echo 0 >/proc/sys/kernel/panic; echo 1 >/proc/sys/kernel/sysrq; echo c >/proc/sysrq-trigger';
  await vm.restart(`systemctl start ingle-booted; sync; ${hang}`, { timeoutMs: slow });
  await isOn(vm, 'a');
});

// What cuts at many more moments leave on the ESP is seen without a machine (cuts.test.ts).
check('the power fails in the middle of an update, and the hub comes up as it was', async (c) => {
  const { vm } = c;
  await carry(c, ['b', 'panic', 'mute']);
  await vm.must('sync');
  // Past its root, which for a small one takes no time.
  const moments: [string, Moment][] = [
    ['b', { of: 'root', mb: 100 }],
    ['panic', { of: 'esp', mb: 10 }],
  ];
  for (const [bundle, at] of moments) {
    await cutInstall(vm, `/var/lab/${bundle}.raucb`, at);
    await vm.start(bare);
    await isOn(vm, 'a');
  }
});

check('one whose kernel panics is left after three tries', async (c) => {
  const { vm } = c;
  await tries(vm, '/var/lab/panic.raucb');
  await isOn(vm, 'a');
  assert.is(await backend(vm, 'get-state', 'b'), 'bad');
  // It had its tries.
  assert.is(vm.console().match(/Attempted to kill init/g)?.length, 3);
});

check('one whose userland does nothing at all is given up by the dead-man', async (c) => {
  const { vm } = c;
  await tries(vm, '/var/lab/mute.raucb', lastTry);
  await isOn(vm, 'a');
  assert.is(await backend(vm, 'get-state', 'b'), 'bad');
});

test.run();
