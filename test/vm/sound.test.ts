// timeout: 1200 s, apart
// The audio test on the hub's own root with a sound card (snd-aloop), whose two ends the lab connects by a room. What
// is simulated: the card, the room, and the pace of time (ownTime in lab.ts).
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import { top } from '../../image/build.ts';
import { notLadder, without } from '../lab/vm/hub.ts';
import { boot, cannotKeepTime } from '../lab/vm/lab.ts';
import { checksOf, type Lab } from '../lab/vm/suite.ts';
import { sound } from './steps/sound.ts';

const why = cannotKeepTime();
if (why) console.log(`SKIP ${why}`);
const test = suite<Lab>('sound in a machine');
/** All that setup asks of root is an answer. */
const root = createServer((_q, a) => a.setHeader('content-type', 'application/json').end('{"ok":true}'));
test.before(async (c) => {
  if (why) return;
  await new Promise<void>((resolve) => root.listen(0, '127.0.0.1', resolve));
  c.vm = await boot({
    ownTime: true,
    cable: true,
    cmdline: `systemd.setenv=INGLE_ROOT=http://10.0.2.2:${(root.address() as AddressInfo).port} ${without(notLadder)}`,
    files: { 'room.mjs': join(top, 'test/lab/vm/guest/room.mjs') },
  });
});
test.after(async (c) => {
  await c.vm?.stop();
  root.close();
});

sound(checksOf(test, why));

test.run();
