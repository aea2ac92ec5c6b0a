import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nextTime, timesBetween } from '../../firmware/scenario/cron.ts';
import type { Records } from '../../firmware/scenario/records.ts';
import { scenarioSchema } from '../../firmware/scenario/records.ts';
import { dueAs, openSchedule, PLANNED, type WantedJob } from '../../firmware/scenario/schedule.ts';
import type { Step } from '../../firmware/scenario/schema.ts';
import { openStore } from '../../firmware/system/store.ts';
import { type HandClock, handClock, type LabOptions, openLab, quiet, scenario, settle } from './lab.ts';

const source = JSON.stringify(scenario([{ call: 'test.do', args: { text: 'tick' } }]));
const minutes = (n: number) => n * 60_000;
const hours = (n: number) => n * 3_600_000;

async function open(o: LabOptions & { source?: string } = {}) {
  const lab = await openLab(o);
  const schedule = await openSchedule({
    ...{ records: lab.records, clock: lab.clock, log: quiet, runs: lab.runs },
    startOf: (job) => ({
      ...{
        scenario_id: job.scenario_id,
        version: '1.0.0',
        source: o.source ?? source,
        user: job.user,
        ctx: job.ctx,
      },
      origin: `job:${job.job_id}`,
      policy: 'queue',
    }),
  });
  await lab.runs.recover();
  await schedule.begin();
  await settle();
  return { ...lab, schedule };
}
const job = (more: Partial<WantedJob> = {}): WantedJob => ({
  job_id: 'j',
  scenario_id: 's',
  user: 'owner',
  ...more,
});
const ticks = async (lab: { records: Records }) =>
  (await lab.records.ticks('j', 0)).map((t) => `${new Date(t.due_at).toISOString().slice(11, 16)} ${t.what}`);

/** Local times around the changes of clocks, by the rules of Vixie cron: what is left out runs at the change, what comes twice runs once. */
test('cron knows the days on which clocks change', () => {
  const berlin = (cron: string, after: string) => {
    const next = nextTime(cron, 'Europe/Berlin', Date.parse(after));
    return next === null ? null : new Date(next).toISOString();
  };
  assert.is(berlin('30 6 * * *', '2026-03-28T12:00:00Z'), '2026-03-29T04:30:00.000Z');
  assert.is(berlin('30 2 * * *', '2026-03-29T00:00:00Z'), '2026-03-29T01:00:00.000Z');
  assert.is(berlin('30 2 * * *', '2026-10-24T12:00:00Z'), '2026-10-25T00:30:00.000Z');
  assert.is(berlin('30 2 * * *', '2026-10-25T00:30:00Z'), '2026-10-26T01:30:00.000Z');
  assert.is(berlin('0 0 29 2 *', '2026-01-01T00:00:00Z'), '2028-02-28T23:00:00.000Z');
  assert.is(berlin('0 0 30 2 *', '2026-01-01T00:00:00Z'), null);
  assert.is(berlin('0 9 * * 1-5', '2026-11-27T12:00:00Z'), '2026-11-30T08:00:00.000Z');
  const day = timesBetween(
    '0 * * * *',
    'Europe/Berlin',
    Date.parse('2026-10-24T22:00Z'),
    Date.parse('2026-10-25T22:59Z'),
    100,
  );
  assert.is(day.times.length, 25, 'the day has 25 hours');
});

test('a job fires at its time, and again at the next', async () => {
  const lab = await open();
  await lab.schedule.create(job({ cron: '0 * * * *' }));
  await lab.clock.pass(hours(3) + 1);
  assert.equal(await ticks(lab), ['13:00 fired', '14:00 fired', '15:00 fired']);
  assert.is(lab.effects.length, 3);
  await lab.schedule.remove('j');
  await lab.clock.pass(hours(3));
  assert.is(lab.effects.length, 3);
});

test('a job for one time fires once and is gone', async () => {
  const lab = await open();
  await lab.schedule.create(job({ at: lab.clock.wall() + minutes(5) }));
  await lab.clock.pass(minutes(5) - 1);
  assert.is(lab.effects.length, 0);
  await lab.clock.pass(1);
  assert.is(lab.effects.length, 1);
  assert.equal(lab.schedule.list(), []);
  assert.equal(await lab.records.jobs(), []);
});

test('a job that is turned off fires nothing, also after a restart', async () => {
  const lab = await open();
  await lab.schedule.create(job({ cron: '0 * * * *', enabled: false }));
  await lab.clock.pass(hours(3));
  lab.schedule.stop();
  const next = await open({ store: lab.store, clock: lab.clock.restart(hours(3)), effects: lab.effects });
  await next.clock.pass(hours(3));
  assert.equal([await ticks(next), next.effects], [[], []]);
});

test('what was missed while the hub was off becomes what the job says, and every time is accounted for', async () => {
  for (const [missed, away, wanted] of [
    ['once', hours(3), ['13:00 skipped', '14:00 skipped', '15:00 fired']],
    ['all', hours(3), ['13:00 fired', '14:00 fired', '15:00 fired']],
    ['skip', hours(3), ['13:00 skipped', '14:00 skipped', '15:00 skipped']],
  ] as const) {
    const lab = await open();
    await lab.schedule.create(job({ cron: '0 * * * *', missed, grace_ms: hours(4) }));
    lab.schedule.stop();
    await lab.runs.stop();
    const next = await open({ store: lab.store, clock: lab.clock.restart(away + minutes(5)) });
    assert.equal((await ticks(next)).slice(0, 3), wanted, missed);
    await next.clock.pass(hours(1));
    assert.is((await ticks(next)).length, 4, 'it goes on');
  }
});

test('a time that is missed by more than its grace is skipped', async () => {
  const lab = await open();
  await lab.schedule.create(job({ cron: '0 13 * * *', grace_ms: minutes(30) }));
  lab.schedule.stop();
  const next = await open({ store: lab.store, clock: lab.clock.restart(hours(2)) });
  assert.equal(await ticks(next), ['13:00 skipped']);
  assert.is(next.effects.length, 0);
});

test('a hub that wakes in 1970 fires nothing until it knows the time, and then once', async () => {
  const lab = await open();
  const at = lab.clock.wall();
  await lab.schedule.create(job({ cron: '0 * * * *' }));
  lab.schedule.stop();
  const clock = handClock(5000, 'boot-2');
  const next = await open({ store: lab.store, clock });
  await clock.pass(hours(5));
  assert.is(next.effects.length, 0);
  clock.set(at + hours(1) + minutes(10));
  await next.schedule.clockChanged();
  await settle();
  assert.equal(await ticks(next), ['13:00 fired']);
  await clock.pass(minutes(50));
  assert.equal(await ticks(next), ['13:00 fired', '14:00 fired']);
});

test('a clock that is set back fires nothing twice, and set on fires what it left out by its policy', async () => {
  const lab = await open();
  await lab.schedule.create(job({ cron: '0 * * * *' }));
  await lab.clock.pass(hours(2));
  assert.is(lab.effects.length, 2);
  lab.clock.set(lab.clock.wall() - hours(2));
  await lab.schedule.clockChanged();
  await lab.clock.pass(hours(2));
  assert.is(lab.effects.length, 2, '13:00 and 14:00 came again');
  await lab.clock.pass(hours(1));
  assert.is(lab.effects.length, 3);
  lab.clock.set(lab.clock.wall() + hours(3));
  await lab.schedule.clockChanged();
  await settle();
  assert.equal(await ticks(lab), [
    '13:00 fired',
    '14:00 fired',
    '15:00 fired',
    '16:00 skipped',
    '17:00 skipped',
    '18:00 fired',
  ]);
});

test('a clock that was days ahead for a while leaves no job waiting for then, and no tick is told twice', async () => {
  const lab = await open();
  await lab.schedule.create(job({ cron: '0 * * * *', missed: 'skip' }));
  const day = 24 * 3_600_000;
  lab.clock.set(lab.clock.wall() + 10 * day);
  await lab.schedule.clockChanged();
  await lab.clock.pass(hours(1));
  assert.is(lab.effects.length, 2, 'the hour it was set to, and the next');
  lab.clock.set(lab.clock.wall() - 10 * day);
  await lab.schedule.clockChanged();
  await lab.clock.pass(hours(2));
  assert.is(lab.effects.length, 4, 'it goes on by the time that it is');
  // The same days come again: what was skipped then has its record.
  lab.clock.set(lab.clock.wall() + 10 * day);
  await lab.schedule.clockChanged();
  await lab.clock.pass(hours(2));
  const all = await lab.records.ticks('j', 0);
  assert.is(new Set(all.map((t) => t.due_at)).size, all.length);
  assert.ok(lab.schedule.list()[0]!.next_at! > lab.clock.wall());
});

test('jobs of triggers follow what is wanted, and those of people stay', async () => {
  const lab = await open();
  await lab.schedule.create(job({ job_id: 'mine', cron: '0 9 * * *' }));
  const trigger = { job_id: 't1', scenario_id: 's', user: 'owner', cron: '0 7 * * *', origin: 's' };
  await lab.schedule.settle([trigger]);
  const due = lab.schedule.list().find((j) => j.job_id === 't1')?.next_at;
  await lab.schedule.settle([{ ...trigger, ctx: { a: 1 } }]);
  assert.is(lab.schedule.list().find((j) => j.job_id === 't1')?.next_at, due);
  await lab.schedule.settle([]);
  assert.equal(
    lab.schedule.list().map((j) => j.job_id),
    ['mine'],
  );
});

test('what a run plans has no more rights when it is due than the run had', () => {
  const due = (role: string, origin: string) => dueAs({ user: 'o1', role }, { origin }).role;
  assert.is(due('owner', `${PLANNED}adult`), 'adult', 'an unknown voice in the owner’s name');
  assert.is(due('kid', `${PLANNED}owner`), 'kid', 'nor than they have then');
  assert.is(due('owner', `${PLANNED}owner`), 'owner');
  for (const origin of ['user', 'trigger:0']) assert.is(due('owner', origin), 'owner');
  assert.is(due('owner', `${PLANNED}somebody`), 'somebody', 'a role that nobody knows may start nothing');
});

test('a job that cannot be is refused in words', async () => {
  const lab = await open();
  for (const [w, pointer] of [
    [job({}), '/at'],
    [job({ cron: '0 * * * *', at: 5 }), '/cron'],
    [job({ cron: '* * * *' }), '/cron'],
    [job({ cron: '99 * * * *' }), '/cron'],
    [job({ cron: '0 0 30 2 *' }), '/cron'],
    [job({ cron: '* * * * * *' }), '/cron'],
    [job({ cron: '0 * * * *', zone: 'Mars/Base' }), '/zone'],
    [job({ at: 5 }), '/at'],
  ] as const)
    await lab.schedule.create(w).then(
      () => assert.unreachable(JSON.stringify(w)),
      (e) => assert.equal([e.code, e.details?.pointer], ['invalid_request', pointer], JSON.stringify(w)),
    );
  assert.equal(lab.schedule.list(), []);
});

test('a crash at any write of ticks and their runs loses no tick and fires none twice', async () => {
  const live = async (at: number, mode: 'before' | 'after') => {
    const store = await openStore(':memory:', scenarioSchema);
    const effects: LabOptions['effects'] = [];
    let writes = 0;
    let dead = false;
    const never = () => new Promise<never>(() => {});
    const records = (r: Records): Records => ({
      ...r,
      async write(ops) {
        if (dead) return never();
        const here = writes++ === at;
        if (here && mode === 'before') dead = true;
        if (dead) return never();
        await r.write(ops);
        if (here) dead = true;
        if (dead) return never();
      },
    });
    let clock: HandClock = handClock();
    const steps = [
      { call: 'test.do', args: { text: '1' } },
      { do: 'delay', for: '10m' },
      { call: 'test.do', args: { text: '2' } },
    ] as Step[];
    const more = {
      store,
      effects,
      records,
      source: JSON.stringify(scenario(steps)),
      point: () => (dead ? never() : undefined),
    };
    let lab = await open({ ...more, clock });
    const make = () => void lab.schedule.create(job({ cron: '*/30 * * * *', missed: 'all' })).catch(() => {});
    make();
    const end = clock.wall() + hours(2) + minutes(20);
    for (let i = 0; i < 400 && clock.wall() < end; i++) {
      await settle();
      if (dead) {
        dead = false;
        at = -1;
        clock = clock.restart(2000);
        lab = await open({ ...more, clock });
        make();
      }
      await clock.pass(minutes(1));
    }
    const told = await ticks(lab);
    const keys = new Set(effects.map((e) => e.key));
    return { told, keys, writes };
  };
  const calm = await live(-1, 'before');
  assert.is(calm.told.length, 4);
  for (let at = 0; at < calm.writes; at++)
    for (const mode of ['before', 'after'] as const) {
      const o = await live(at, mode);
      assert.equal(o.told.slice(0, 4), calm.told, `crash ${mode} write ${at}`);
      assert.ok(o.keys.size >= 7 && o.keys.size <= 8, `crash ${mode} write ${at}: ${o.keys.size}`);
    }
  console.log(`FIGURE crashes_schedule ${calm.writes * 2}`);
});

test.run();
