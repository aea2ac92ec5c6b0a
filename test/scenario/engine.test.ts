// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions of scenarios
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { MOST_BESIDE } from '../../firmware/scenario/engine.ts';
import { handClock, openLab, settle } from './lab.ts';

const says = (text: string, more: object = {}) => ({ call: 'test.do', args: { text }, ...more });

test('a scenario does its steps in order, and each knows the results of those before it', async () => {
  const lab = await openLab();
  const run = await lab.start(
    [
      { id: 'one', ...says('a'), alias: 'first', set: { x: '${first} and ${params.p}' } },
      { id: 'two', ...says('${vars.x} ${steps.one.result}') },
      { do: 'for', each: "['p', 'q']", steps: [{ id: 'in', ...says('${item}') }] },
      { id: 'not', if: 'vars.none', ...says('never') },
      { name: 'group', when: 'not vars.none', do: [{ name: 'deep', ...says('deep') }] },
    ],
    { params: { p: 'P' } },
  );
  const row = await lab.runs.ended(run.run_id);
  assert.is(row?.state, 'DONE');
  assert.equal(lab.did(), ['test.do(a)', 'test.do(a and P a)', 'test.do(p)', 'test.do(q)', 'test.do(deep)']);
  assert.equal(
    lab.effects.map((e) => e.key.replace(run.run_id, 'R')),
    ['R/one/1', 'R/two/2', 'R/in/3', 'R/in/4', 'R/deep/5'],
  );
  const journal = await lab.records.journal(run.run_id);
  assert.equal(
    journal.map((j) => `${j.step_name ?? ''} ${j.status}`),
    ['one DONE', 'two DONE', 'in DONE', 'in DONE', 'deep DONE', ' DONE'],
  );
  assert.equal(
    lab.told.map((t) => t.event).filter((e) => e.startsWith('scenario')),
    ['scenario.start', 'scenario.finish'],
  );
});

test('a step that fails is tried again after its backoff, with a key of its own, and then fails the run', async () => {
  let tries = 0;
  const lab = await openLab({
    actions: {
      'test.fail': {
        perform: async () => {
          tries++;
          throw new IngleError('rate_limited', 'Too often.');
        },
      },
    },
  });
  const run = await lab.start([
    { id: 'ok', ...says('a'), compensate: { call: 'test.undo', args: { text: 'undo ${result}' } } },
    { id: 'bad', call: 'test.fail', retries: { max: 2, backoff: 'exp:1s..10s' } },
  ]);
  await settle();
  assert.is(tries, 1);
  assert.equal((await lab.runs.view(run.run_id))?.waits, { for: 'retry' });
  await lab.clock.pass(749);
  assert.is(tries, 1);
  await lab.clock.pass(2);
  assert.is(tries, 2);
  await lab.clock.pass(1500);
  assert.is(tries, 3);
  const row = await lab.runs.ended(run.run_id);
  assert.is(row?.state, 'FAILED');
  assert.equal(row?.error, { code: 'rate_limited', message: 'Too often.', step: 'bad' });
  assert.equal(lab.did(), ['test.do(a)', ...Array(3).fill('test.fail()'), 'test.undo(undo a)']);
  assert.is(
    new Set(lab.effects.map((e) => e.key)).size,
    5,
    'an answer of an earlier try is not asked for again',
  );
  const [letter] = await lab.records.letters();
  assert.is(letter?.run_id, run.run_id);
});

test('a step may fail and the run goes on', async () => {
  const lab = await openLab({
    actions: {
      'test.fail': {
        perform: async () => {
          throw new IngleError('not_found', 'None.');
        },
      },
    },
  });
  const run = await lab.start([
    { id: 'bad', call: 'test.fail', onError: 'go' },
    { id: 'then', ...says('${steps.bad.status} ${steps.bad.result.error}') },
  ]);
  assert.is((await lab.runs.ended(run.run_id))?.state, 'DONE');
  assert.is(lab.did().at(-1), 'test.do(failed not_found)');
});

test('what was done is undone in reverse order when a run is stopped, and its cancel is told', async () => {
  const lab = await openLab();
  const undoable = (id: string) => ({
    id,
    ...says(id),
    activityId: `music-${id}`,
    compensate: { call: 'test.undo', args: { text: id } },
  });
  const run = await lab.start([
    undoable('a'),
    undoable('b'),
    { id: 'wait', do: 'delay', for: '1h' },
    says('never'),
  ]);
  await settle();
  assert.equal(lab.runs.live()[0]?.waits, { for: 'time' });
  assert.equal(await lab.runs.stopByActivity('nothing'), []);
  assert.equal(await lab.runs.stopByActivity('music-b'), [{ run_id: run.run_id, begun: ['music-b'] }]);
  const row = await lab.runs.ended(run.run_id);
  assert.is(row?.state, 'CANCELED');
  assert.equal(lab.did(), ['test.do(a)', 'test.do(b)', 'test.undo(b)', 'test.undo(a)']);
  assert.is(lab.published[0]?.topic, `scenario.cancel.${run.run_id}`);
  await lab.clock.pass(7_200_000);
  assert.is(lab.effects.length, 4);
  await lab.runs.order(run.run_id, 'stop').then(
    () => assert.unreachable(),
    (e) => assert.is(e.code, 'conflict'),
  );
});

test('runs that sleep share one timer, and after a restart sleep on at once, with what they were given', async () => {
  const lab = await openLab({ limits: { max_concurrent_total: 1 } });
  const steps = [{ id: 'wait', do: 'delay', for: '1h' }, says('${ctx.name}')];
  const names = ['Ann', 'Bob', 'Cid'];
  for (const name of names) {
    await lab.start(steps, {}, { ctx: { name }, policy: 'beside' });
    await lab.clock.pass(60_000);
  }
  assert.is(lab.clock.pending, 1);
  await lab.runs.stop();
  const { store, effects } = lab;
  const next = await openLab({ clock: lab.clock.restart(60_000), store, effects });
  await next.runs.recover();
  const waits = next.runs.live().map((v) => [v.row.current_step, v.waits?.for]);
  assert.equal(waits, Array(3).fill(['wait', 'time']), 'none of them wants a place');
  assert.is(next.clock.pending, 1);
  await next.clock.pass(56 * 60_000);
  assert.equal(next.did(), ['test.do(Ann)']);
  await next.clock.pass(2 * 60_000);
  assert.equal(next.did(), ['test.do(Ann)', 'test.do(Bob)', 'test.do(Cid)']);
  assert.is(next.clock.pending, 0);
});

test('a killed run undoes nothing', async () => {
  const lab = await openLab();
  const run = await lab.start([
    { ...says('a'), compensate: { call: 'test.undo' } },
    { do: 'delay', for: '1h' },
  ]);
  await settle();
  await lab.runs.order(run.run_id, 'kill');
  assert.is((await lab.runs.ended(run.run_id))?.state, 'CANCELED');
  assert.equal(lab.did(), ['test.do(a)']);
  assert.equal(
    lab.published.map(({ topic, payload }) => [topic, (payload as { killed: boolean }).killed]),
    [[`scenario.cancel.${run.run_id}`, true]],
  );
  assert.is(lab.clock.pending, 0, 'no timer is left');
});

test('a step that goes on is told to stop, and its effect is undone', async () => {
  let aborted = false;
  const lab = await openLab({
    actions: {
      'test.long': {
        perform: ({ signal }) =>
          new Promise((_, no) =>
            signal.addEventListener('abort', () => {
              aborted = true;
              no(new Error('stopped'));
            }),
          ),
      },
    },
  });
  const run = await lab.start([
    { call: 'test.long', compensate: { call: 'test.undo', args: { text: 'long' } } },
  ]);
  await settle();
  await lab.runs.order(run.run_id, 'stop');
  assert.is((await lab.runs.ended(run.run_id))?.state, 'CANCELED');
  assert.ok(aborted);
  assert.equal(lab.did(), ['test.long()', 'test.undo(long)'], 'it had begun, so it may have had an effect');
});

test('a paused run begins nothing until it is resumed, and its waits go on', async () => {
  const lab = await openLab();
  const run = await lab.start([{ do: 'delay', for: '10m' }, says('after')]);
  await settle();
  await lab.runs.order(run.run_id, 'pause');
  await lab.clock.pass(3_600_000);
  assert.equal(lab.did(), []);
  assert.is(lab.runs.live()[0]?.instance, 'paused');
  await lab.runs.order(run.run_id, 'resume');
  assert.is((await lab.runs.ended(run.run_id))?.state, 'DONE');
});

test('a wait ends with the event that counts, or with its timeout', async () => {
  const lab = await openLab();
  const wait = {
    id: 'w',
    do: 'wait_for',
    topic: 'door.state',
    where: '$.payload.open == true',
    timeout: '5m',
  };
  const run = await lab.start([wait, says('${steps.w.result.by} ${steps.w.result.payload.who}')]);
  await settle();
  await lab.say('door.state', { open: false });
  assert.is(lab.effects.length, 0);
  await lab.say('door.state', { open: true, who: 'kid' });
  assert.is((await lab.runs.ended(run.run_id))?.state, 'DONE');
  const late = await lab.start([wait, says('${steps.w.result.by}')]);
  await lab.clock.pass(300_000);
  assert.is((await lab.runs.ended(late.run_id))?.state, 'DONE');
  const strict = await lab.start([{ ...wait, otherwise: 'fail' }]);
  await lab.clock.pass(300_000);
  assert.is((await lab.runs.ended(strict.run_id))?.error?.code, 'timeout');
  assert.equal(lab.did(), ['test.do(event kid)', 'test.do(timeout)']);
});

test('held_for wants the condition to hold for the whole time', async () => {
  const lab = await openLab();
  const run = await lab.start([
    { do: 'held_for', topic: 'room.temp', where: '$.payload.t > 25', for: '10m' },
    says('hot'),
  ]);
  await settle();
  await lab.say('room.temp', { t: 26 });
  await lab.clock.pass(9 * 60_000);
  await lab.say('room.temp', { t: 24 });
  await lab.clock.pass(9 * 60_000);
  assert.equal(lab.did(), []);
  await lab.say('room.temp', { t: 30 });
  await lab.clock.pass(5 * 60_000);
  await lab.say('room.temp', { t: 31 });
  await lab.clock.pass(5 * 60_000 - 1);
  assert.equal(lab.did(), []);
  await lab.clock.pass(1);
  assert.is((await lab.runs.ended(run.run_id))?.state, 'DONE');
});

test('steps with one lock never overlap, and who waits is told for whom', async () => {
  const going = new Set<string>();
  const ends: (() => void)[] = [];
  const lab = await openLab({
    actions: {
      'test.mic': {
        async perform({ run_id }) {
          assert.is(going.size, 0);
          going.add(run_id);
          await new Promise<void>((done) => ends.push(done));
          going.delete(run_id);
          return null;
        },
      },
    },
  });
  const steps = [{ call: 'test.mic', locks: ['tts', 'mic'] }];
  const a = await lab.start(steps, { id: 'a' });
  const b = await lab.start(steps, { id: 'b' });
  await settle();
  const waiting = lab.runs.live().find((v) => v.row.run_id === b.run_id);
  assert.equal(waiting?.waits, { for: 'locks', locks: { mic: a.run_id, tts: a.run_id } });
  ends[0]!();
  await settle();
  ends[1]!();
  await Promise.all([lab.runs.ended(a.run_id), lab.runs.ended(b.run_id)]);
});

test('runs beside each other are bounded for each person, and one that ends leaves room', async () => {
  const lab = await openLab();
  const start = (user: string) =>
    lab.start([{ do: 'delay', for: '1h' }], { policy: 'beside' }, { user, scenario_id: 'home/alarm' });
  const runs = await Promise.all(Array.from({ length: MOST_BESIDE }, () => start('ann')));
  await start('ann').then(
    () => assert.unreachable(),
    (e) => {
      assert.is(e.code, 'conflict');
      assert.match(e.message, /Stop some of them/);
    },
  );
  await start('bob');
  const ends = await lab.start(
    [says('end')],
    { policy: 'queue' },
    { user: 'ann', scenario_id: 'home/alarm' },
  );
  assert.is((await lab.runs.ended(ends.run_id))?.state, 'DONE', 'what ends some of them has room');
  await lab.runs.order(runs[0]!.run_id, 'stop');
  await settle();
  await start('ann');
  assert.is(lab.runs.size, MOST_BESIDE + 1);
});

test('a policy of single refuses, of queue waits, of replace stops what goes on', async () => {
  const lab = await openLab();
  const steps = [
    { ...says('begin'), compensate: { call: 'test.undo' } },
    { do: 'delay', for: '1m' },
  ];
  const first = await lab.start(steps);
  await lab.start(steps).then(
    () => assert.unreachable(),
    (e) => assert.is(e.code, 'conflict'),
  );
  const queued = await lab.start(steps, { policy: 'queue' });
  await settle();
  assert.is(queued.state, 'PENDING');
  await lab.clock.pass(60_000);
  assert.is((await lab.runs.ended(first.run_id))?.state, 'DONE');
  assert.is((await lab.runs.view(queued.run_id))?.row.state, 'RUNNING');
  const third = await lab.start(steps, { policy: 'replace' });
  assert.is((await lab.runs.ended(queued.run_id))?.state, 'CANCELED');
  await lab.clock.pass(60_000);
  assert.is((await lab.runs.ended(third.run_id))?.state, 'DONE');
  const other = await lab.start(steps, {}, { user: 'person_a' });
  const also = await lab.start(steps, {}, { user: 'person_b' });
  assert.ok(other && also, 'each person has a chain of their own');
});

test('no more runs go on at one time than the limits say, and none of low priority waits for good', async () => {
  const ends: (() => void)[] = [];
  const lab = await openLab({
    limits: { max_concurrent_total: 2, max_concurrent_per_scenario: 1 },
    actions: {
      'test.slow': {
        perform: () => new Promise((done) => ends.push(() => done(null))),
      },
    },
  });
  const start = (id: string, priority: 'LOW' | 'NORM' | 'HIGH', user = id) =>
    lab.start([{ call: 'test.slow' }], { id, priority }, { user });
  await start('a', 'NORM');
  await start('b', 'NORM');
  const low = await start('low', 'LOW');
  await start('c', 'NORM');
  await settle();
  assert.is(ends.length, 2);
  ends.shift()!();
  await settle();
  const phase = async (id: string) => (await lab.runs.view(id))?.waits?.for ?? null;
  assert.is(await phase(low.run_id), 'place', 'the one of higher priority goes first');
  await lab.clock.pass(61_000);
  await start('d', 'NORM');
  await start('e', 'HIGH');
  ends.shift()!();
  await settle();
  assert.is(await phase(low.run_id), null, 'after a minute it counts as high');
});

test('a quota that is used up fails the step and says which', async () => {
  const lab = await openLab({
    quotas: { http: { user: { day: 2 } } },
    actions: { 'test.http': { takes: () => ({ kind: 'http', amount: 1 }), perform: async () => 1 } },
  });
  const run = await lab.start([1, 2, 3].map(() => ({ call: 'test.http', retries: { max: 5 } })));
  const row = await lab.runs.ended(run.run_id);
  assert.is(row?.error?.code, 'rate_limited');
  assert.match(row?.error?.message ?? '', 'http for this user and day');
  assert.is(lab.effects.length, 2);
});

test('a run takes no longer than it may', async () => {
  const lab = await openLab();
  const run = await lab.start(
    [
      { ...says('a'), compensate: { call: 'test.undo' } },
      { do: 'delay', for: '3h' },
    ],
    { timeout: '1h' },
  );
  await lab.clock.pass(3_600_000);
  assert.is((await lab.runs.ended(run.run_id))?.state, 'TIMEOUT');
  assert.equal(lab.did(), ['test.do(a)', 'test.undo()']);
});

test('a step takes no longer than it may, whether or not what it does heeds that', async () => {
  for (const heeds of [true, false]) {
    const lab = await openLab({
      actions: {
        'test.long': {
          perform: ({ signal }) =>
            new Promise((_, no) => {
              if (heeds) signal.addEventListener('abort', () => no(new Error('stopped')));
            }),
        },
      },
    });
    const steps = [
      { id: 'slow', call: 'test.long', timeout: '5s', retries: { max: 1, backoff: '1s' } },
      says('never'),
    ];
    const run = await lab.start(steps);
    await lab.clock.pass(4999);
    assert.is(lab.effects.length, 1);
    // One that does not heed is left alone three seconds later.
    await lab.clock.pass(heeds ? 1001 : 4001);
    assert.is(lab.effects.length, 2, 'it is tried again');
    await lab.clock.pass(8000);
    const row = await lab.runs.ended(run.run_id);
    assert.equal([row?.state, row?.error?.code, row?.error?.step], ['FAILED', 'timeout', 'slow']);
    assert.is(lab.effects.length, 2);
  }
});

test('force starts where one goes on, which ends in order', async () => {
  const lab = await openLab();
  const steps = [
    { ...says('begin'), compensate: { call: 'test.undo', args: { text: 'begin' } } },
    { do: 'delay', for: '1m' },
  ];
  const first = await lab.start(steps);
  await settle();
  const second = await lab.start(steps, {}, { force: true });
  assert.is((await lab.runs.ended(first.run_id))?.state, 'CANCELED');
  await lab.clock.pass(60_000);
  assert.is((await lab.runs.ended(second.run_id))?.state, 'DONE');
  assert.equal(lab.did().sort(), ['test.do(begin)', 'test.do(begin)', 'test.undo(begin)']);
});

test('a wait for an event goes on over a restart, and its timeout with it', async () => {
  const lab = await openLab();
  for (const id of ['late', 'rung']) {
    const wait = { id: 'w', do: 'wait_for', topic: `bell.${id}`, timeout: '10m' };
    await lab.start([wait, says('${steps.w.result.by}')], {}, { scenario_id: id });
  }
  await lab.clock.pass(3 * 60_000);
  await lab.runs.stop();
  const { store, effects } = lab;
  const next = await openLab({ store, effects, clock: lab.clock.restart(2 * 60_000) });
  await next.runs.recover();
  await settle();
  await next.say('bell.rung', {});
  assert.equal(next.did(), ['test.do(event)']);
  await next.clock.pass(5 * 60_000 - 1);
  assert.equal(next.did(), ['test.do(event)']);
  await next.clock.pass(1);
  assert.equal(next.did(), ['test.do(event)', 'test.do(timeout)']);
});

test('a parameter may be an expression over whom it is for', async () => {
  const lab = await openLab();
  const params = { who: '${ctx.user.name}', many: ['${ctx.user.name}', 2] };
  const ctx = { user: { id: 'ann', name: 'Ann' } };
  const run = await lab.start(
    [says('${params.who} ${params.many[0]}${params.many[1]}')],
    { params },
    { ctx },
  );
  assert.is((await lab.runs.ended(run.run_id))?.state, 'DONE');
  assert.equal(lab.did(), ['test.do(Ann Ann2)']);
});

test('a dead letter is replayed from its start, or from the step that failed, once', async () => {
  let broken = true;
  const lab = await openLab({
    actions: {
      'test.maybe': {
        perform: async () => {
          if (broken) throw new IngleError('not_found', 'None.');
          return 1;
        },
      },
    },
  });
  const steps = [says('a'), { id: 'm', call: 'test.maybe' }, says('b')];
  const run = await lab.start(steps);
  await lab.runs.ended(run.run_id);
  const [letter] = await lab.records.letters();
  broken = false;
  const again = await lab.runs.replay(letter!.id, 'step');
  assert.is((await lab.runs.ended(again.run_id))?.state, 'DONE');
  assert.equal(lab.did(), ['test.do(a)', 'test.maybe()', 'test.maybe()', 'test.do(b)']);
  await lab.runs.replay(letter!.id, 'start').then(
    () => assert.unreachable(),
    (e) => assert.is(e.code, 'conflict'),
  );
});

test('after a restart every run goes on where its journal says', async () => {
  const lab = await openLab();
  const run = await lab.start([
    says('before'),
    { id: 'd', do: 'delay', for: '10m' },
    says('after ${steps.d.status}'),
  ]);
  await lab.clock.pass(60_000);
  await lab.runs.stop();
  const next = await openLab({ store: lab.store, clock: lab.clock.restart(60_000), effects: lab.effects });
  await next.runs.recover();
  await next.clock.pass(8 * 60_000 - 1);
  assert.equal(lab.did(), ['test.do(before)'], 'the minute it was off counts, and no more');
  await next.clock.pass(1);
  assert.is((await next.runs.ended(run.run_id))?.state, 'DONE');
  assert.equal(lab.did(), ['test.do(before)', 'test.do(after done)']);
});

test('a hub that wakes in 1970 ends no wait early, whatever its clock says then', async () => {
  const lab = await openLab({ clock: handClock(1000) });
  await lab.start([{ do: 'delay', for: '10m' }, says('after')]);
  await lab.clock.pass(60_000);
  lab.clock.set(Date.UTC(2026, 10, 25));
  lab.runs.clockChanged();
  await settle();
  assert.equal(lab.did(), []);
  await lab.clock.pass(9 * 60_000);
  assert.equal(lab.did(), ['test.do(after)']);
  const other = await openLab({ clock: handClock(1000) });
  await other.start([{ do: 'delay', for: '10m' }, says('after')]);
  await other.clock.pass(60_000);
  await other.runs.stop();
  const clock = handClock(Date.UTC(2026, 10, 25), 'boot-2');
  const next = await openLab({ store: other.store, clock, effects: other.effects });
  await next.runs.recover();
  await clock.pass(10 * 60_000 - 1);
  assert.equal(next.did(), [], 'nobody knows how long it was off, so the wait begins anew');
  await clock.pass(1);
  assert.equal(next.did(), ['test.do(after)']);
});

test('an expression that goes too far fails its run and nothing else', async () => {
  const lab = await openLab();
  const bomb = await lab.start([
    { set: { x: ['a'.repeat(1000)] } },
    {
      do: 'for',
      each: Array.from({ length: 40 }, (_, i) => i)
        .join()
        .replace(/^(.*)$/, '[$1]'),
      steps: [{ set: { x: '${[vars.x, vars.x]}' } }],
    },
    says('never'),
  ]);
  const ok = await lab.start([says('fine')], { id: 'other' });
  assert.is((await lab.runs.ended(bomb.run_id))?.error?.code, 'too_large');
  assert.is((await lab.runs.ended(ok.run_id))?.state, 'DONE');
  assert.equal(lab.did(), ['test.do(fine)']);
});

test('a method is asked of the skill that is bound to the slot, whose name the run never sees', async () => {
  const lab = await openLab({ slots: { player: 'radio' } });
  const slots = { player: { cap: 'radio' }, lamp: { cap: 'light', optional: true } };
  const run = await lab.start(
    [
      { if: "hasSlot('player')", do: 'call', slot: 'player', method: 'play', args: { text: 'jazz' } },
      { if: "hasSlot('lamp')", do: 'call', slot: 'lamp', method: 'on' },
    ],
    { slots },
  );
  assert.is((await lab.runs.ended(run.run_id))?.state, 'DONE');
  assert.equal(
    lab.effects.map((e) => e.args),
    [{ action: 'play', args: { text: 'jazz' } }],
  );
});

test('what did not answer is asked the same again, and what answered with an error anew', async () => {
  const answers = ['unavailable', 'rate_limited', 'timeout', ''];
  const lab = await openLab({
    actions: {
      'test.shaky': {
        perform: async () => {
          const code = answers.shift();
          if (code) throw new IngleError(code as 'timeout', 'No.');
          return 1;
        },
      },
    },
  });
  const run = await lab.start([{ id: 's', call: 'test.shaky', retries: { max: 5, backoff: '1s' } }]);
  await lab.clock.pass(5000);
  assert.is((await lab.runs.ended(run.run_id))?.state, 'DONE');
  assert.equal(
    lab.effects.map((e) => e.key.split('/').at(-1)),
    ['1', '1', '2', '2'],
  );
});

test('the same id starts the same run, once', async () => {
  const lab = await openLab();
  const start = () => lab.start([says('once')], {}, { run_id: 'mine' });
  const [one] = [await start()];
  await lab.runs.ended('mine');
  const two = await start();
  assert.equal([one.run_id, two.run_id, two.state], ['mine', 'mine', 'DONE']);
  assert.equal(lab.did(), ['test.do(once)']);
});

test('what must hold goes on holding over a restart, or begins anew, as its step says', async () => {
  for (const [away, left] of [
    ['counts', 5],
    ['anew', 10],
  ] as const) {
    const lab = await openLab();
    const step = { id: 'h', do: 'held_for', topic: 'room.temp', where: '$.payload.t > 20', for: '10m', away };
    await lab.start([step, says('held')]);
    await settle();
    await lab.say('room.temp', { t: 25 });
    await lab.clock.pass(3 * 60_000);
    await lab.runs.stop();
    const next = await openLab({
      store: lab.store,
      clock: lab.clock.restart(2 * 60_000),
      effects: lab.effects,
    });
    await next.runs.recover();
    await next.clock.pass(left * 60_000 - 1);
    assert.equal(next.did(), [], away);
    await next.clock.pass(1);
    assert.equal(next.did(), ['test.do(held)'], away);
  }
});

/** A run that gets an order while something is being written for the `n`th time. @returns how it ended, and what it did */
async function orderedAt(n: number, orders: readonly ('pause' | 'resume' | 'stop' | 'kill')[]) {
  let writes = 0;
  let given: Promise<void> | undefined;
  let refused = '';
  let before: string[] = [];
  let fails = 2;
  const lab = await openLab({
    actions: {
      'test.shaky': {
        perform: async () => {
          if (fails-- > 0) throw new IngleError('rate_limited', 'Not yet.');
          return null;
        },
      },
    },
    records: (r) => ({
      ...r,
      async write(ops) {
        if (++writes === n)
          given = (async () => {
            for (const what of orders) await lab.runs.order('r', what);
            before = lab.did();
          })().catch((e) => {
            // A run that is over by then takes no order.
            assert.is(e.code, 'conflict', e.stack);
            refused = e.code;
          });
        await r.write(ops);
      },
    }),
  });
  await lab.start(
    [
      { id: 'one', ...says('one'), locks: ['mic'], compensate: { call: 'test.undo', args: { text: 'one' } } },
      { id: 'd', do: 'delay', for: '1h' },
      { id: 'f', call: 'test.shaky', retries: { max: 3, backoff: '1m' } },
      { id: 'h', do: 'held_for', topic: 'room', where: '$.payload.t > 20', for: '10m' },
      { id: 'w', do: 'wait_for', topic: 'bell', timeout: '1h' },
      says('last'),
    ],
    {},
    { run_id: 'r' },
  );
  await lab.clock.pass(2 * 3_600_000);
  await lab.say('room', { t: 21 });
  await lab.clock.pass(20 * 60_000);
  await lab.say('bell', {});
  await lab.clock.pass(3_600_000);
  await given;
  const row = (await lab.records.run('r'))!;
  return { state: row.state, did: lab.did(), before, writes, refused };
}

test('an order may come in the middle of anything that is written', async () => {
  const plain = await orderedAt(0, []);
  assert.is(plain.state, 'DONE');
  const paused = new Set<string>();
  for (let n = 1; n <= plain.writes; n++) {
    const { state, did } = await orderedAt(n, ['pause', 'resume']);
    paused.add(`${state} ${did.join()}`);
    for (const what of ['stop', 'kill'] as const) {
      const end = await orderedAt(n, [what]);
      const isUndone = what === 'stop' && end.did.includes('test.do(one)') && !end.refused;
      assert.is(end.state, end.refused ? 'DONE' : 'CANCELED', `${what} at ${n}`);
      assert.is(end.did.includes('test.undo(one)'), isUndone, `${what} at ${n}: ${end.did.join()}`);
      if (!end.refused)
        assert.equal(
          end.did.slice(end.before.length),
          isUndone ? ['test.undo(one)'] : [],
          `nothing is begun after it was told to ${what} at ${n}`,
        );
    }
  }
  assert.equal([...paused], [`DONE ${plain.did.join()}`]);
});

test.run();
