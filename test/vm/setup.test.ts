// timeout: 1800 s
// First-run setup of the very image that is flashed, in the order of a hub's life: real services under their units,
// policies and users, a real root, real radios' software. What is simulated: the air (mac80211_hwsim, btvirt) and the button
// (uinput). Two radios, BLE and the serial line: channels.test.ts; sound: sound.test.ts.
import { join as path } from 'node:path';
import { suite } from 'uvu';
import { top } from '../../image/build.ts';
import { flash } from '../../image/flash.ts';
import { labRoot, noPart, without } from '../lab/vm/hub.ts';
import { boot, cannotRun } from '../lab/vm/lab.ts';
import { checksOf, type Lab } from '../lab/vm/suite.ts';
import { bare } from './steps/bare.ts';
import { join } from './steps/join.ts';
import { portal } from './steps/portal.ts';

const why = cannotRun();
if (why) console.log(`SKIP ${why}`);
const test = suite<Lab>('setup in a machine');
test.before(async (c) => {
  if (why) return;
  c.vm = await boot({
    flash: await flash(),
    cmdline: `${labRoot} ${without(noPart)}`,
    files: { 'root.js': path(top, 'dist/root/main.js') },
  });
});
test.after((c) => c.vm?.stop());

const check = checksOf(test, why);
for (const part of [bare, portal, join]) part(check);

test.run();
