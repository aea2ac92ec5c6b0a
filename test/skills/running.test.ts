// Processes that have the names of skills, as the daemon tells of them.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openRunning, type RunningOptions } from '../../firmware/skills/running.ts';

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
  } as unknown as RunningOptions);
  running.follow('lamp', ':1.5');
  running.follow('lamp', ':1.5');
  assert.equal(asked, [':1.5']);
  // Another one is another.
  running.follow('lamp', ':1.6');
  assert.equal(asked, [':1.5', ':1.6']);
});

test.run();
