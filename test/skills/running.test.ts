// Processes that have the names of skills, as the daemon tells of them.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { askedOf } from '../../firmware/skills/follow.ts';
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

test('what a leaving process is not let to hear, the next one answers; what was heard is asked once', async () => {
  const turnedAway = new IngleError('forbidden', 'Rejected send message', {
    dbus: 'org.freedesktop.DBus.Error.AccessDenied',
  });
  const r = { id: 'a', owner_id: 'o', method: 'POST', path: '/v1/add', body: new Uint8Array() };
  const answer = { status: 200 } as never;
  const asked: string[] = [];
  const process = (name: string, cause?: Error) => ({
    async request() {
      asked.push(name);
      if (cause) throw cause;
      return answer;
    },
  });
  const gone: unknown[] = [];
  const old = process('old', turnedAway);
  const both = [old, process('new')];
  assert.is(
    await askedOf(
      async () => both.shift()!,
      r,
      (l) => gone.push(l),
    ),
    answer,
  );
  assert.equal([asked.splice(0), gone], [['old', 'new'], [old]]);
  for (const cause of [new IngleError('forbidden', 'Not yours.'), new IngleError('timeout', 'Late.')]) {
    const e = await askedOf(
      async () => process('it', cause),
      r,
      () => assert.unreachable(),
    ).catch((e) => e);
    assert.equal([e, asked.splice(0)], [cause, ['it']]);
  }
});

test.run();
