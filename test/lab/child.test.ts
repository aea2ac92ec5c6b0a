import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { child, ended } from './child.ts';
import { tried, until, within } from './wait.ts';

const test = suite('waiting and children in tests');
const never = new Promise<never>(() => {});
/** A zombie waits for whoever adopts it to look; it does nothing any more. */
const lives = (pid: number) =>
  existsSync(`/proc/${pid}/stat`) && !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

test('children of a test that is killed die with it, and theirs', async () => {
  // This process -> one -> two -> three, each begun as tests begin theirs.
  const script = `
    import { child } from './test/lab/child.ts';
    const depth = Number(process.argv[1]);
    console.log(process.pid);
    if (depth > 0) {
      const c = child(process.execPath, [...process.execArgv, String(depth - 1)], { stdio: ['ignore', 'inherit', 'inherit'] });
    }
    setInterval(() => {}, 1000);`;
  const args = ['--import', 'tsx', '--input-type=module', '-e', script, '2'];
  const first = child(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const pids: number[] = [];
  createInterface({ input: first.stdout! }).on('line', (line) => pids.push(Number(line)));
  await until(() => pids.length === 3, 'three generations');
  assert.ok(pids.every(lives));
  process.kill(pids[0]!, 'SIGKILL');
  await until(() => !pids.some(lives), 'all three to be gone');
});

test('a wait in vain ends, and says what for', async () => {
  const said = async (p: Promise<unknown>) => (await p.catch((e: Error) => e)) as Error;
  assert.is((await said(within(never, 'a letter', 0.05))).message, 'waited in vain for a letter');
  assert.is((await said(until(() => false, 'rain', 0.05))).message, 'waited in vain for rain');
  assert.is((await said(until(() => never, 'an answer', 0.05))).message, 'waited in vain for an answer');
  assert.is(await within(Promise.resolve(7), 'a number'), 7);
  assert.is(await until(async () => 7, 'a number'), 7);
  const thrower = () => Promise.reject(new Error('not there yet'));
  assert.is((await said(until(thrower, 'a friend', 0.05))).message, 'not there yet');
  assert.is((await said(until(tried(thrower), 'a friend', 0.05))).message, 'waited in vain for a friend');
});

test('a child that does not go is killed', async () => {
  const deaf = child('sh', ['-c', "trap '' TERM; echo ready; while :; do sleep 0.1; done"], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(deaf.stdout!, 'data');
  const e = (await ended(deaf, 'SIGTERM', 'the deaf one', 0.5).catch((x: Error) => x)) as Error;
  assert.is(e.message, 'waited in vain for the deaf one to end on SIGTERM');
  await until(() => deaf.signalCode === 'SIGKILL', 'its end');
});

test.run();
