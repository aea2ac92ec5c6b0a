// timeout: 3000 s
// First-run setup of the very image that is flashed, in the order of a hub's life: real services under their units,
// policies and users, a real root, real radios' software. Then the other ways into it: BLE, a second radio, the serial
// line, and factory reset. What is simulated: the air (mac80211_hwsim, btvirt) and the button (uinput). Sound:
// sound.test.ts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as path } from 'node:path';
import { suite } from 'uvu';
import { top } from '../../image/build.ts';
import { flash } from '../../image/flash.ts';
import { bundleCentral } from '../lab/vm/ble.ts';
import { labRoot, noPart, without } from '../lab/vm/hub.ts';
import { boot, cannotRun } from '../lab/vm/lab.ts';
import { checksOf, type Lab } from '../lab/vm/suite.ts';
import { bare } from './steps/bare.ts';
import { channels } from './steps/channels.ts';
import { join } from './steps/join.ts';
import { portal } from './steps/portal.ts';
import { reset } from './steps/reset.ts';
import { serial } from './steps/serial.ts';
import { two } from './steps/two.ts';

const why = cannotRun();
if (why) console.log(`SKIP ${why}`);
const test = suite<Lab>('setup in a machine');
test.before(async (c) => {
  if (why) return;
  const dir = mkdtempSync(path(tmpdir(), 'ingle-lab-'));
  c.vm = await boot({
    flash: await flash(),
    cmdline: `${labRoot} ${without(noPart)}`,
    files: { 'root.js': path(top, 'dist/root/main.js'), 'central.cjs': await bundleCentral(dir) },
  });
  rmSync(dir, { recursive: true });
});
test.after((c) => c.vm?.stop());

const check = checksOf(test, why);
for (const part of [bare, portal, join, channels, two, serial, reset]) part(check);

test.run();
