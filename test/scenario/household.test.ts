// Which hub of a subnet a trigger starts a scenario on: `runOn`, for times, intents and events.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Start } from '../../firmware/scenario/engine.ts';
import type { Value } from '../../firmware/scenario/expression.ts';
import { type HouseholdOptions, JOB, openHousehold } from '../../firmware/scenario/household.ts';
import type { WantedJob } from '../../firmware/scenario/schedule.ts';
import type { Prototype } from '../../firmware/scenario/schema.ts';
import { quiet, settle } from './lab.ts';

const test = suite('household');
const asker = { user: 'u', role: 'owner' };

function open(triggers: Prototype['triggers'], role: 'hub' | 'member') {
  const scenario = { id: 'test/x', version: '1.0.0', dslVersion: '1', name: 'X', steps: [], triggers };
  const row = { id: 'test/x', version: '1.0.0', prototype: scenario as unknown as Prototype };
  const implementation = { user: 'house', id: 'test/x', implementation: { enabled: true }, rev: 1 };
  const started: Start[] = [];
  let jobs: readonly WantedJob[] = [];
  let hears: (payload: Value) => void = () => {};
  const household = openHousehold({
    library: {
      ...{ find: () => row, active: () => [row], implementations: () => [implementation] },
      ...{ implementation: () => implementation, effective: () => ({ scenario, bindings: {} }) },
    },
    schedule: {
      async settle(wanted: readonly WantedJob[]) {
        jobs = wanted;
      },
    },
    topics: {
      publish: () => {},
      async subscribe(_: string, f: typeof hears) {
        hears = f;
        return () => {};
      },
    },
    runs: { start: async (s: Start) => void started.push(s) },
    ...{ log: quiet, tell: () => {}, askerOf: async () => asker, offers: async () => [] },
    ...{ role: async () => role, zone: 'UTC', locale: 'en' },
  } as unknown as HouseholdOptions);
  return { household, started, jobs: () => jobs, say: (payload: Value) => hears(payload) };
}
/** How a start by each kind of trigger goes on this hub: done here, done where it can be, or refused. */
async function starts(runOn: 'hub' | 'member:self' | undefined, role: 'hub' | 'member') {
  const on = runOn ? { runOn } : {};
  const h = open(
    [
      // The one before the others has another say.
      { type: 'event', topic: 'external.other', runOn: runOn === 'hub' ? 'member:self' : 'hub' },
      { type: 'time', cron: '0 7 * * *', ...on },
      { type: 'intent', name: 'wake', ...on },
    ],
    role,
  );
  await h.household.settle();
  const how = (origin: string) =>
    h.household
      .startOf('test/x', asker, { origin })
      .then(({ here }) => (here ? 'here' : 'anywhere'))
      .catch((e) => `${e.code}: ${e.message}`);
  return Promise.all([how(`${JOB}${h.jobs()[0]!.job_id}`), how('intent:wake'), how('user')]);
}

test('without runOn a scenario starts where its trigger is', async () => {
  assert.equal(await starts(undefined, 'hub'), ['anywhere', 'anywhere', 'anywhere']);
  assert.equal(await starts(undefined, 'member'), ['anywhere', 'anywhere', 'anywhere']);
});

test('of runOn hub, a member starts nothing but by hand, and says where it begins', async () => {
  assert.equal(await starts('hub', 'hub'), ['anywhere', 'anywhere', 'anywhere']);
  const [time, intent, hand] = await starts('hub', 'member');
  assert.match(time!, /^conflict: .* hub that leads the subnet/);
  assert.is(intent, time);
  assert.is(hand, 'anywhere');
});

test('of runOn member:self, the hub whose trigger it is does it itself', async () => {
  assert.equal(await starts('member:self', 'hub'), ['here', 'here', 'anywhere']);
  assert.equal(await starts('member:self', 'member'), ['here', 'here', 'anywhere']);
});

test('an event goes by the trigger that heard it', async () => {
  for (const [runOn, role, here] of [
    ['hub', 'hub', [undefined]],
    ['hub', 'member', []],
    ['member:self', 'member', [true]],
  ] as const) {
    const h = open([{ type: 'event', topic: 'external.door', runOn }], role);
    await h.household.settle();
    h.say({});
    await settle();
    assert.equal(
      h.started.map((s) => s.here),
      here,
      `${runOn} on a ${role}`,
    );
  }
});

test.run();
