// timeout: 3000 s, patient
// The power is cut at three steps of the ladder, one after another on the same hub, and what was not flushed is lost in
// part: each boot resumes and goes on to the next step. test/soak does the same fifty times, at random moments. Of the
// first run it is also seen what cuts at many moments of updates and of a busy database would have left.
import { randomInt } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bootForCuts, complete, cut, keeps, surroundings } from '../lab/vm/cut.ts';
import { checkEsp, installs } from '../lab/vm/esp.ts';
import { call, home, journal, reach, secrets } from '../lab/vm/hub.ts';
import { checkIds, writeIds } from '../lab/vm/ids.ts';
import { cannotRun, type Vm } from '../lab/vm/lab.ts';
import type { PowerCut } from '../lab/vm/power.ts';
import { checksOf, figure, type Lab } from '../lab/vm/suite.ts';
import { sweep } from '../lab/vm/sweep.ts';
import { phoneIn } from '../lab/vm/wifi.ts';

const why = cannotRun();
if (why) console.log(`SKIP ${why}`);
const test = suite<Lab>('power cuts in setup');
test.before(async (c) => {
  if (!why) c.vm = await bootForCuts();
});
test.after((c) => c.vm?.stop());
const check = checksOf(test, why);

const serving = (vm: Vm) => reach(vm, 'the access point', (s) => s.channels.includes('softap'));
const joins = (vm: Vm) => call(vm, 'Setup1', 'WifiConnect', 'sssb', 'serial', home.ssid, home.psk, false);
let psk = '';

/** Moments of the updates, and as many of the database, at which the power is cut; each costs some tenths of a second. */
const moments = Number(process.env['INGLE_VM_MOMENTS'] ?? 25);
/** What cuts at any moment of the boot would have left. */
async function outcomes(power: PowerCut): Promise<void> {
  const seed = randomInt(2 ** 31);
  await sweep(power, 'ingle-esp', { about: 'esp', count: moments, seed }, checkEsp);
  await sweep(power, 'ingle-data', { about: 'id', count: moments, seed }, checkIds);
}

check('during the audio test: it begins again, and no update or database loses what it told', async (c) => {
  const { vm } = c;
  await installs(vm);
  await writeIds(vm);
  await reach(vm, 'the console', (s) => s.state === 'CONSOLE');
  await vm.must('echo kept >/var/lib/kept && sync');
  await call(vm, 'Setup1', 'Restart', 's', 'serial');
  await vm.until('journalctl -b -u ingle-setup -o cat | grep -q "CONSOLE -> AUDIO"');
  const kept = await cut(vm, outcomes);
  // What was written last is what counts: the cut may have come before the write.
  assert.ok(['fresh', 'resume'].includes(kept.how) && !kept.done, kept.how);
  assert.is(await vm.must('cat /var/lib/kept'), 'kept');
  await surroundings(vm);
  await serving(vm);
  ({ psk } = await secrets(vm));
});

check(
  'while a network is being joined from a phone: it was not kept; the access point has a new key, and the phone gets in with that',
  async ({ vm }) => {
    await phoneIn(vm);
    await joins(vm);
    await vm.until('journalctl -b -u ingle-wifi -o cat | grep -q "station off -> associating"');
    const kept = await cut(vm);
    assert.equal([kept.how, kept.done], ['resume', false]);
    await surroundings(vm);
    await serving(vm);
    assert.is.not((await secrets(vm)).psk, psk);
    await phoneIn(vm);
  },
);

check(
  'during the retest: after the boot the hub is in its network, and waits for its owner',
  async ({ vm }) => {
    await joins(vm);
    await vm.until('journalctl -b -u ingle-setup -o cat | grep -q -- "-> RETEST"');
    await keeps(vm, 'RETEST|READY');
    const kept = await cut(vm);
    figure('after_the_retest_cut', kept.how);
    assert.ok(['retest', 'resume'].includes(kept.how), kept.how);
    await surroundings(vm);
    assert.is(await complete(vm), 'READY_WITH_LIMITS', await journal(vm));
  },
);

test.run();
