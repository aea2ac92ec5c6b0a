// timeout: 600 s
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { boot, cannotRun, type Vm } from './lab.ts';

const why = cannotRun();
if (why) console.log(`SKIP ${why}`);
const test = suite<{ vm: Vm }>('boot');
const check = why ? test.skip : test;
test.before(async (c) => {
  if (!why) c.vm = await boot({ services: ['none'] });
});
test.after((c) => c.vm?.stop());

check('the bare root boots with no failed unit, and is read-only', async ({ vm }) => {
  console.log(`FIGURE boot_to_first_command_s ${vm.bootSeconds.toFixed(1)}`);
  await vm.until('systemctl is-system-running --wait || true', { timeoutMs: 120_000 });
  assert.is(await vm.must('systemctl --failed --plain --no-legend'), '');
  assert.match(await vm.must('findmnt -no FSTYPE,OPTIONS /'), /^erofs\s+ro/);
});

check('what is on the data partition survives a power cut', async ({ vm }) => {
  await vm.must('echo kept >/var/lib/kept && sync');
  await vm.kill();
  await vm.start();
  assert.is(await vm.must('cat /var/lib/kept'), 'kept');
});

test.run();
