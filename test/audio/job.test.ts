// Who may use the microphone: one job at a time, and a patient one that gives way to each.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openJob } from '../../services/audio/job.ts';
import { until } from '../lab/wait.ts';

const test = suite('jobs with the microphone');

/** Work that goes on until it is ended, and takes a moment to let go. */
function holding(log: string[], name: string) {
  return (signal: AbortSignal) =>
    new Promise<string | undefined>((resolve) => {
      log.push(`${name} begins`);
      signal.addEventListener('abort', () =>
        setImmediate(() => {
          log.push(`${name} ends`);
          resolve(undefined);
        }),
      );
    });
}

test('a job takes the microphone from the patient one, which begins anew after it', async () => {
  const job = openJob();
  const log: string[] = [];
  const end = new AbortController();
  const waiting = job.patiently(end.signal, holding(log, 'phrase'));
  assert.is(
    await job.exclusive('Hear', async () => {
      log.push('hear');
      return 1;
    }),
    1,
  );
  await job.queued('Tell', async () => void log.push('tell'));
  await until(() => log.at(-1) === 'phrase begins', 'the patient one');
  assert.equal(
    log.filter((l) => l !== 'phrase begins' && l !== 'phrase ends'),
    ['hear', 'tell'],
  );
  // It was gone before each of them began.
  assert.equal(log.slice(0, 3), ['phrase begins', 'phrase ends', 'hear']);
  end.abort();
  assert.is(await waiting, undefined);
  assert.is(log.at(-1), 'phrase ends');
  assert.is(job.idle(), true);
});

test('two jobs are never beside each other, nor does what was cut short answer', async () => {
  const job = openJob();
  const end = new AbortController();
  let tries = 0;
  const waiting = job.patiently(end.signal, async (signal) => {
    if (++tries > 1) return 'heard';
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return 'too late';
  });
  const first = job.exclusive(
    'Hear',
    (signal) => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
  );
  const second = await job.exclusive('Listen', async () => {}).catch((e) => e.code);
  assert.is(second, 'conflict');
  await until(() => tries === 1, 'the patient one');
  // The job begins once the patient one is gone.
  await new Promise((resolve) => setImmediate(resolve));
  job.cancel();
  await first;
  assert.is(await waiting, 'heard');
});

test('a job that was cancelled and lets go is waited for by the next, and only by one', async () => {
  const job = openJob();
  const log: string[] = [];
  const first = job.exclusive('Hear', holding(log, 'first'));
  await until(() => log.length > 0, 'the first');
  job.cancel();
  const next = holding(log, 'next');
  const answers = [job.exclusive('Hear', next), job.exclusive('Listen', next)].map((work) =>
    work.catch((e) => e.code),
  );
  await until(() => log.includes('next begins'), 'the next');
  assert.equal(log, ['first begins', 'first ends', 'next begins']);
  await first;
  job.cancel();
  assert.equal(await Promise.all(answers), [undefined, 'conflict']);
});

test('a cancel reaches those that wait for one that lets go', async () => {
  const job = openJob();
  const log: string[] = [];
  const first = job.exclusive('Hear', holding(log, 'first'));
  await until(() => log.length > 0, 'the first');
  job.cancel();
  const next = job.exclusive('Hear', holding(log, 'next')).catch((e) => e.message);
  job.cancel();
  await first;
  assert.is(await next, 'It was cancelled before it began.');
  assert.equal(log, ['first begins', 'first ends']);
  assert.is(job.idle(), true);
});

test('a fault of the patient one is told, and one that was ended is none', async () => {
  const job = openJob();
  const broken = job.patiently(new AbortController().signal, () => Promise.reject(new Error('unplugged')));
  assert.match((await broken.catch((e) => e)).message, 'unplugged');
  const end = new AbortController();
  const waiting = job.patiently(end.signal, async (signal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    throw new Error('killed');
  });
  end.abort();
  assert.is(await waiting, undefined);
});

test.run();
