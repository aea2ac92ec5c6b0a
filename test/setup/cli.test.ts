import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { run } from '../../firmware/system/exec.ts';
import { until } from '../lab/wait.ts';
import { fakeHub } from './fake-hub.ts';

const test = suite('ingle setup');

test('the owner sees where setup stands, starts it again and finishes it, in words and in JSON', async () => {
  const hub = await fakeHub();
  await hub.setup.begin();
  await until(() => hub.setup.state === 'CHANNELS', 'setup is open');
  const ingle = (...args: string[]) =>
    run(process.execPath, ['services/cli/ingle.mjs', 'setup', ...args], {
      env: { INGLE_BUS_ADDRESS: hub.address, LC_ALL: 'C' },
    });
  const plain = await ingle('status');
  assert.match(plain.stdout.toString(), /Setup is at: CHANNELS/);
  const status = JSON.parse((await ingle('status', '--json')).stdout.toString());
  assert.is(status.state, 'CHANNELS');
  assert.is(status.online, false);
  const early = await ingle('finish', '--json');
  assert.is(early.code, 73);
  assert.is(JSON.parse(early.stderr).error, 'conflict');
  hub.world.online = true;
  assert.is((await ingle('finish')).code, 0);
  await until(() => hub.setup.state === 'READY_WITH_LIMITS', 'setup is finished');
  assert.is((await ingle('restart')).code, 0);
  await until(() => hub.setup.state === 'CHANNELS', 'setup is open again');
  await hub.stop();
});

test.run();
