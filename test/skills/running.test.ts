// Processes that have the names of skills, as the daemon tells of them.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { openRunning, type RunningOptions } from '../../firmware/skills/running.ts';
import { until } from '../lab/wait.ts';

const test = suite('skills that run');

test('a process that both the signal and the list of names tell of is taken up once', () => {
  const asked: string[] = [];
  const running = openRunning({
    bus: {
      client: (_: unknown, { busName }: { busName: string }) => ({
        Manifest() {
          asked.push(busName);
          return new Promise(() => {});
        },
      }),
    },
    log: { info() {} },
    places: { isStartable: () => true },
    known: { setAvailable() {} },
  } as unknown as RunningOptions);
  running.follow('lamp', ':1.5');
  running.follow('lamp', ':1.5');
  assert.equal(asked, [':1.5']);
  // Another one is another.
  running.follow('lamp', ':1.6');
  assert.equal(asked, [':1.5', ':1.6']);
});

test('one that goes while it is taken up leaves its skill as it was: startable, or gone', () => {
  const said: unknown[] = [];
  const running = openRunning({
    bus: { client: () => ({ Manifest: () => new Promise(() => {}) }) },
    log: { info() {}, notice() {} },
    places: { isStartable: (id: string) => id === 'lamp' },
    known: { setAvailable: (id: string, is: boolean) => said.push([id, is]) },
    gone: () => said.push('gone'),
  } as unknown as RunningOptions);
  for (const id of ['lamp', 'own']) {
    running.follow(id, ':1.5');
    assert.equal(said.splice(0), []);
    running.follow(id, '');
    assert.equal(said.splice(0), ['gone', [id, id === 'lamp']]);
    running.follow(id, '');
    assert.equal(said, []);
  }
});

test('one that may not be here is not startable again because it has gone', async () => {
  const said: unknown[] = [];
  const running = openRunning({
    bus: { client: () => ({ Manifest: () => Promise.reject(new IngleError('forbidden', 'Not signed.')) }) },
    log: { info() {}, warn() {} },
    places: { isStartable: () => true },
    known: { setAvailable: (id: string, is: boolean) => said.push([id, is]) },
  } as unknown as RunningOptions);
  running.follow('lamp', ':1.5');
  await until(() => said.length > 0, 'it to be refused');
  running.follow('lamp', '');
  assert.equal(said, [
    ['lamp', false],
    ['lamp', false],
  ]);
});

test.run();
