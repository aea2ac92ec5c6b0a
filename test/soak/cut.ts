// npm run test:soak [-- <cuts>]: the power of a hub in setup is cut at random moments (50 times unless told), with a
// phone in its access point and a network being joined now and then; after each boot nothing may be half written,
// nothing may serve unasked, and setup must go on. Prints a line a cut, then the count by how setup went on.
import { randomInt } from 'node:crypto';
import { bootForCuts, complete, cut, keeps, surroundings } from '../lab/vm/cut.ts';
import { call, home, reach } from '../lab/vm/hub.ts';
import { cannotRun, type Vm } from '../lab/vm/lab.ts';
import { phoneIn } from '../lab/vm/wifi.ts';

const why = cannotRun();
if (why) {
  console.log(`SKIP ${why}`);
  process.exit(0);
}

/** Cuts after which setup is brought to its end before the next one. */
const COMPLETE = 5;
/** The latest moment of a cut after the radio is plugged in, milliseconds: setup has come to an end by then. */
const LATEST = 40_000;

/** What a person does meanwhile, until the power is cut wherever they are. */
async function person(vm: Vm, on: () => boolean): Promise<void> {
  if (randomInt(3) === 0) await call(vm, 'Setup1', 'Restart', 's', 'serial');
  await reach(vm, 'the access point', (s) => !on() || s.channels.includes('softap'));
  if (on() && randomInt(3) === 0) await phoneIn(vm);
  if (!on()) return;
  const psk = randomInt(4) === 0 ? 'wrong horse' : home.psk;
  await call(vm, 'Setup1', 'WifiConnect', 'sssb', 'serial', home.ssid, psk, false);
  await reach(vm, 'an outcome', (s) => !on() || s.state.startsWith('READY') || s.error !== '');
}

async function run(cuts: number): Promise<void> {
  const vm = await bootForCuts();
  const ways = new Map<string, number>();
  let ends = 0;
  try {
    for (let n = 1; n <= cuts; n++) {
      await surroundings(vm);
      let on = true;
      const doing = person(vm, () => on).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, randomInt(LATEST)));
      on = false;
      const { how } = await cut(vm);
      await doing;
      ways.set(how, (ways.get(how) ?? 0) + 1);
      let end = '';
      if (n % COMPLETE === 0 || n === cuts) {
        await surroundings(vm);
        end = await complete(vm);
        ends++;
        // The next cuts meet a hub without a network again.
        await call(vm, 'Wifi1', 'Forget', 's', '');
        await call(vm, 'Setup1', 'Restart', 's', 'serial');
        await keeps(vm, 'AUDIO|CHANNELS|CONSOLE');
        await vm.kill();
        await vm.start();
      }
      console.log(`cut ${n} of ${cuts}: went on by ${how}${end ? `, completed to ${end}` : ''}`);
    }
  } catch (e) {
    vm.failed();
    throw e;
  } finally {
    await vm.stop();
  }
  console.log(`FIGURE power_cuts ${cuts} ${JSON.stringify(Object.fromEntries(ways))}, completed ${ends}`);
}

run(Number(process.argv[2] ?? 50)).catch((e) => {
  console.error(e);
  process.exit(1);
});
