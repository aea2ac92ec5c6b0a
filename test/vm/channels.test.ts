// timeout: 1800 s
// The other ways into a hub's setup, on its own root: BLE, a second radio, the serial line, and factory reset. What is
// simulated: the air (mac80211_hwsim, btvirt).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import { top } from '../../image/build.ts';
import { bundleCentral } from '../lab/vm/ble.ts';
import { labRoot, noPart, startRoot, without } from '../lab/vm/hub.ts';
import { boot, cannotRun } from '../lab/vm/lab.ts';
import { checksOf, type Lab } from '../lab/vm/suite.ts';
import { plugRadios } from '../lab/vm/wifi.ts';
import { channels } from './steps/channels.ts';
import { reset } from './steps/reset.ts';
import { serial } from './steps/serial.ts';
import { two } from './steps/two.ts';

const why = cannotRun();
if (why) console.log(`SKIP ${why}`);
const test = suite<Lab>('channels of setup in a machine');
test.before(async (c) => {
  if (why) return;
  const dir = mkdtempSync(join(tmpdir(), 'ingle-lab-'));
  c.vm = await boot({
    cmdline: `${labRoot} ${without(noPart)}`,
    files: { 'root.js': join(top, 'dist/root/main.js'), 'central.cjs': await bundleCentral(dir) },
  });
  rmSync(dir, { recursive: true });
  await plugRadios(c.vm);
  await startRoot(c.vm);
});
test.after((c) => c.vm?.stop());

const check = checksOf(test, why);
for (const part of [channels, two, serial, reset]) part(check);

test.run();
