// npm run test:soak [-- <cuts>]: the power of a hub in setup is cut at random moments (50 times unless told), with a
// phone in its access point and a network being joined now and then; after each boot nothing may be half written,
// nothing may serve unasked, and setup must go on. Prints a line a cut, then the count by the state that was cut.
import { randomInt } from 'node:crypto';
import { bootForCuts, complete, cut, surroundings } from '../vm/cut.ts';
import { call, home, phoneIn, reach } from '../vm/hub.ts';
import { cannotRun, type Vm } from '../vm/lab.ts';

const why = cannotRun();
if (why) {
  console.log(`SKIP ${why}`);
  process.exit(0);
}

/** What a person does meanwhile; it ends wherever the power is cut. */
async function person(vm: Vm): Promise<void> {
  await call(vm, 'Setup1', 'Restart', 's', 'serial');
  await reach(vm, 'the access point', (s) => s.channels.includes('softap'));
  if (randomInt(2) === 0) await phoneIn(vm);
  const psk = randomInt(3) === 0 ? 'wrong horse' : home.psk;
  await call(vm, 'Setup1', 'WifiConnect', 'sssb', 'serial', home.ssid, psk, false);
  await reach(vm, 'an outcome', (s) => s.state.startsWith('READY') || s.error !== '');
}

async function run(cuts: number): Promise<void> {
  const vm = await bootForCuts();
  const states = new Map<string, number>();
  try {
    for (let n = 1; n <= cuts; n++) {
      await surroundings(vm);
      const doing = person(vm).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, randomInt(45_000)));
      const { state } = await cut(vm);
      await doing;
      states.set(state, (states.get(state) ?? 0) + 1);
      // Every fifth is brought to its end before the next cut.
      let end = '';
      if (n % 5 === 0) {
        await surroundings(vm);
        end = await complete(vm);
        await vm.kill();
        await vm.start();
      }
      console.log(`cut ${n} of ${cuts}: kept ${state}${end ? `, completed to ${end}` : ''}`);
    }
  } finally {
    await vm.stop();
  }
  console.log(`FIGURE power_cuts ${cuts} ${JSON.stringify(Object.fromEntries(states))}`);
}

run(Number(process.argv[2] ?? 50)).catch((e) => {
  console.error(e);
  process.exit(1);
});
