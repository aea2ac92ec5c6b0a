// The power is cut at five steps of the ladder, one after another on the same hub: each boot resumes and goes on to
// the next step. test/soak does the same at random moments.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bootForCuts, complete, cut, surroundings } from '../vm/cut.ts';
import { call, home, journal, phoneIn, reach, secrets } from '../vm/hub.ts';
import { cannotRun, type Vm } from '../vm/lab.ts';

const why = cannotRun();
if (why) console.log(`SKIP ${why}`);
const test = suite<{ vm: Vm; psk: string }>('power cuts in setup');
const check = why ? test.skip : test;

test.before(async (c) => {
  if (!why) c.vm = await bootForCuts();
});
test.after((c) => c.vm?.stop());

const serving = (vm: Vm) => reach(vm, 'the access point', (s) => s.channels.includes('softap'));

check('during the audio test: it begins again', async (c) => {
  await reach(c.vm, 'the ladder', (s) => s.state !== 'BOOT');
  await call(c.vm, 'Setup1', 'Restart', 's', 'serial').catch(() => []);
  const kept = await cut(c.vm);
  assert.ok(!kept.done);
  await surroundings(c.vm);
  await serving(c.vm);
  c.psk = (await secrets(c.vm)).psk;
});

check('with the access point up: it comes back with a new key', async (c) => {
  await cut(c.vm);
  await surroundings(c.vm);
  await serving(c.vm);
  const { psk } = await secrets(c.vm);
  assert.is.not(psk, c.psk);
});

check('with a phone in it: the phone gets in again with the new key', async (c) => {
  await phoneIn(c.vm);
  await cut(c.vm);
  await surroundings(c.vm);
  await serving(c.vm);
  await phoneIn(c.vm);
});

check(
  'while a network is being joined: the access point is back, and the network may be asked for again',
  async (c) => {
    await call(c.vm, 'Setup1', 'WifiConnect', 'sssb', 'serial', home.ssid, home.psk, false);
    await c.vm.until('journalctl -b -u ingle-setup -o cat | grep -q "CHANNELS -> CONNECTING"');
    const kept = await cut(c.vm);
    assert.ok(!kept.done, kept.state);
    await surroundings(c.vm);
  },
);

check('during the retest: the hub is ready after the boot, in its network', async (c) => {
  const s = await reach(
    c.vm,
    'the access point, or the network it knew already',
    (x) => x.channels.includes('softap') || x.state.startsWith('READY'),
  );
  if (s.channels.includes('softap'))
    await call(c.vm, 'Setup1', 'WifiConnect', 'sssb', 'serial', home.ssid, home.psk, false);
  await c.vm.until('journalctl -b -u ingle-setup -o cat | grep -q -- "-> RETEST"', { timeoutMs: 180_000 });
  const kept = await cut(c.vm);
  console.log(`FIGURE state_kept_at_the_retest_cut ${kept.state}`);
  assert.ok(['RETEST', 'READY_WITH_LIMITS'].includes(kept.state), kept.state);
  await surroundings(c.vm);
  assert.is(await complete(c.vm), 'READY_WITH_LIMITS', await journal(c.vm));
});

test.run();
