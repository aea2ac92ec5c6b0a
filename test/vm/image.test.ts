// timeout: 3600 s
// The very disk that is flashed, started by UEFI firmware on a medium larger than it, as one labelled device: what runs,
// what a technician and the owner's orders do with it, rescue, and, erased, a new life with an owner, skills and a power
// cut.
import { suite } from 'uvu';
import { cache } from '../../image/build.ts';
import { findDevice, readDevice } from '../../image/device.ts';
import { factoryImage } from '../../image/factory.ts';
import { type Flash, flash } from '../../image/flash.ts';
import { makeLabel, newFactory } from '../../image/label.ts';
import { debianTools } from '../../image/tools.ts';
import { consoles, without } from '../lab/vm/hub.ts';
import { boot, cannotRun } from '../lab/vm/lab.ts';
import { checksOf, figure, type Lab } from '../lab/vm/suite.ts';
import { flashedDisk } from './steps/flashed-disk.ts';
import { type Outside, outside, owner, powerFails } from './steps/owner.ts';
import { rescue } from './steps/rescue.ts';
import { patientTrials, skills, skillsAfterCut, skillsUnderWay } from './steps/skills.ts';
import { supervisor } from './steps/supervisor.ts';
import { technician } from './steps/technician.ts';

const why = cannotRun();
if (why) console.log(`SKIP ${why}`);
const test = suite<Lab>('the flashed image');
const check = checksOf(test, why);
const { device } = readDevice(findDevice('.', 'generic'));
const label = makeLabel(device, newFactory(device, 'GX-00A7F3'));
let image: Flash;
let around: Outside;
/** A new owner has every skill started once; of those that come with the hub two are enough here. */
const spare = [3, 4, 5, 6, 7].map((slot) => `ingle-skill@${slot}`);
const words = () => `systemd.setenv=INGLE_ROOT=${around.url} ${patientTrials} ${without(spare)}`;
test.before(async (c) => {
  if (why) return;
  image = await flash();
  around = await outside();
  const factory = await factoryImage(await debianTools(cache), label.factory);
  c.vm = await boot({ flash: image, radios: 2, cable: true, factory, cmdline: words() });
  figure('flashed_boot_to_first_command_s', c.vm.bootSeconds.toFixed(1));
});
test.after(async (c) => {
  await around?.stop();
  await c.vm?.stop();
});

flashedDisk(check, () => image);
technician(check, label);
supervisor(check);
rescue(check);
owner(check, () => around);
skills(check);
powerFails(
  check,
  () => around,
  skillsUnderWay,
  // Nobody sits at its consoles any more; each service of a boot is emulated.
  () => `${words()} ${without(consoles)}`,
);
skillsAfterCut(check);

test.run();
