// timeout: 4500 s, apart
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
 * @param o.before what is done in between
 * @param o.restart what restarts it
 */
async function tries(vm: Vm, path: string, o: { before?: string; restart?: string }): Promise<void> {
  await vm.must(`rauc install ${path}`, { timeoutMs: slow });
  assert.is(await backend(vm, 'get-primary'), 'b');
  if (o.before) await vm.must(o.before);
  await vm.restart(o.restart ?? 'systemctl reboot --force --no-block', { timeoutMs: slow });
}

// What cuts at many more moments leave on the ESP is seen without a machine (cuts.test.ts).
check('the power fails in the middle of an update, and the hub comes up as it was', async (c) => {
  const { vm } = c;
  await carry(c, ['panic', 'mute']);
  await vm.must('sync');
  const moments: Moment[] = [
    { of: 'root', mb: 20 },
    { of: 'esp', mb: 10 },
  ];
  for (const at of moments) {
    await cutInstall(vm, '/var/lab/panic.raucb', at);
    await vm.start(bare);
    await isOn(vm, 'a');
  }
});

check(
  'a kernel that hangs is restarted by the hardware watchdog; the next, which panics, is left after three tries',
  async (c) => {
    const { vm } = c;
    // The watchdog's driver comes beside the rest of the boot.
    await vm.until('[ "$(cat /sys/class/watchdog/watchdog0/state)" = active ]');
    // A panic restarts by itself; told not to, the kernel stands still.
    const hang =
      'echo 0 >/proc/sys/kernel/panic; echo 1 >/proc/sys/kernel/sysrq; echo c >/proc/sysrq-trigger';
    await tries(vm, '/var/lab/panic.raucb', { restart: `sync; ${hang}` });
    await isOn(vm, 'a');
    assert.is(await backend(vm, 'get-state', 'b'), 'bad');
    // It had its tries.
    assert.is(vm.console().match(/Attempted to kill init/g)?.length, 3);
  },
);

check('one whose userland does nothing at all is given up by the dead-man', async (c) => {
  const { vm } = c;
  await tries(vm, '/var/lab/mute.raucb', { before: lastTry });
  await isOn(vm, 'a');
  assert.is(await backend(vm, 'get-state', 'b'), 'bad');
});

test.run();
