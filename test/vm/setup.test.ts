// timeout: 2700 s
// First-run setup on the hub's own root, in the order of a hub's life: real services under their units, policies and
// users, a real root, real radios' software. What is simulated: the air (mac80211_hwsim, btvirt) and the button
// (uinput). Sound has a machine of its own: sound.test.ts.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as path } from 'node:path';
import { suite } from 'uvu';
import { top } from '../../image/build.ts';
import { bundleCentral } from './ble.ts';
import { labRoot } from './hub.ts';
import { boot, cannotRun } from './lab.ts';
import { bare } from './steps/bare.ts';
import { channels } from './steps/channels.ts';
import { join } from './steps/join.ts';
import { portal } from './steps/portal.ts';
import { reset } from './steps/reset.ts';
import { serial } from './steps/serial.ts';
import { two } from './steps/two.ts';
import { checksOf, type Lab } from './suite.ts';

const why = cannotRun();
if (why) console.log(`SKIP ${why}`);
const test = suite<Lab>('setup in a machine');
test.before(async (c) => {
  if (why) return;
  const dir = mkdtempSync(path(tmpdir(), 'ingle-lab-'));
  c.vm = await boot({
    cmdline: labRoot,
    files: {
      'root.js': path(top, 'dist/root/main.js'),
      'central.cjs': await bundleCentral(dir),
    },
  });
});
test.after((c) => c.vm?.stop());

const check = checksOf(test, why);
for (const part of [bare, portal, join, channels, two, serial, reset]) part(check);

test.run();
