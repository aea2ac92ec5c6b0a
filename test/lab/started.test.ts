// A suite whose start fails ends at once, says why, and leaves nothing running.
import { spawn } from 'node:child_process';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('started');

const program = `
  import { test } from 'uvu';
  import { started } from './test/lab/started.ts';
  const runs = (end) => new Promise((ok) => setTimeout(() => {
    const timer = setInterval(() => {}, 1000);
    ok({ [end]: async () => clearInterval(timer) });
  }, 100));
  test.before(async () => {
    await started(runs('stop'), Promise.reject(new Error('no such browser')), runs('close'));
  });
  test('never', () => console.log('a test has run'));
  test.run();`;

test('a start that fails is told, what else started is ended, and no test runs', async () => {
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 20_000,
    killSignal: 'SIGKILL',
  });
  let out = '';
  for (const s of [child.stdout, child.stderr]) s.on('data', (d) => (out += d));
  const signal = await new Promise((ok) => child.on('close', (_, by) => ok(by)));
  assert.is(signal, null, 'it ended by itself');
  assert.match(out, 'no such browser');
  assert.not.match(out, 'a test has run');
});

test.run();
