// Quotas: what a hub, a person and a scenario take in a day and in a week, and what a skill's action takes, as its manifest
// declares it: asked of the local API, counted, and refused in words.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { quotaKinds } from '../../firmware/scenario/action.ts';
import { builtinActions } from '../../firmware/scenario/builtin.ts';
import { periods, type Quotas, scopes } from '../../firmware/scenario/quotas.ts';
import { waysOf } from '../../firmware/scenario/ways.ts';
import { checkManifest } from '../../firmware/skills/manifest.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import { openLab, settle } from './lab.ts';

const of = { skill_id: 'writer', title: 'T', doc: 'D', input: { type: 'object' }, safe: true };
const declared = [
  { ...of, id: 'tell', takes: { llm: 2 } },
  { ...of, id: 'count' },
];

/** Runs steps on a hub whose local API has a skill that writes. */
async function ran(steps: object[], quotas: Quotas, slots: Record<string, string> = {}) {
  const asked: string[] = [];
  const api = createServer((request, response) => {
    asked.push(request.url!);
    const answer =
      request.url === '/api/skills/actions' ? { actions: declared } : { text: 'Once upon a time' };
    request.resume().on('end', () => response.end(JSON.stringify(answer)));
  });
  await once(api.listen(0, '127.0.0.1'), 'listening');
  const ways = waysOf({
    bus: { client: () => ({ Status: async () => ({ owner_id: 'u' }) }) } as unknown as Bus,
    api: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
    ...{ token: () => 'token', schedule: () => undefined as never, now: Date.now, zone: 'UTC' },
  });
  const nothing = { memory: async () => ({}), write: async () => {} };
  const table = builtinActions({ ...ways, end: async () => [] }, nothing, async () => []);
  const names = ['writer.tell', 'writer.count', 'skills.run', 'slot.call'];
  const actions = Object.fromEntries(names.map((name) => [name, table.find(name)!]));
  const lab = await openLab({ actions, quotas, slots });
  const needs = Object.fromEntries(Object.keys(slots).map((name) => [name, { cap: 'tell' }]));
  const run = await lab.start(steps, { slots: needs });
  const row = await lab.runs.ended(run.run_id);
  await lab.runs.stop();
  await lab.store.close();
  api.close();
  return { state: row?.state, error: row?.error, asked };
}

test('calls of a model are counted, however the action is asked for, and refused once they are used up', async () => {
  const quotas: Quotas = { llm: { user: { day: 6 } } };
  const steps = [
    { call: 'writer.tell' },
    { call: 'skills.run', args: { skill: 'writer', action: 'tell' } },
    { do: 'call', slot: 'pen', method: 'tell' },
  ];
  const enough = await ran([...steps, { call: 'writer.count' }], quotas, { pen: 'writer' });
  assert.is(enough.state, 'DONE', JSON.stringify(enough.error));
  const { state, error, asked } = await ran([...steps, { call: 'writer.tell' }], quotas, { pen: 'writer' });
  assert.equal([state, error?.code], ['FAILED', 'rate_limited']);
  assert.match(error?.message ?? '', 'The quota of llm for this user and day is used up.');
  assert.is(
    asked.filter((url) => url.endsWith('/actions/tell')).length,
    3,
    'the skill is not asked any more',
  );
});

test('where the owner has set no quota, nobody is asked what an action takes', async () => {
  const { state, asked } = await ran([{ call: 'writer.tell' }], {});
  assert.is(state, 'DONE');
  assert.equal(asked, ['/skills/writer/v1/actions/tell']);
});

test('a manifest declares what one request of an action takes, a whole number of calls', () => {
  const manifest = (takes: unknown) => ({
    ...{ id: 'writer', version: '1.0.0', title: 'Writer', modes: ['main'] },
    capabilities: {
      actions: {
        tell: {
          title: 'T',
          doc: 'D',
          input: { type: 'object', properties: {}, additionalProperties: false },
          safe: true,
          takes,
        },
      },
    },
  });
  const faults = (takes: unknown): string => {
    try {
      checkManifest(manifest(takes));
      return '';
    } catch (e) {
      return (e as Error).message;
    }
  };
  assert.not.match(faults({ llm: 1 }), 'takes');
  for (const takes of [{ llm: 0 }, { llm: 1.5 }, { http: 1 }, {}]) assert.match(faults(takes), '/takes');
});

const hour = 3_600_000;

test('each of http, tts, stt and llm is bounded for the hub, a person and a scenario, by the day and by the week', async () => {
  for (const kind of quotaKinds)
    for (const scope of scopes)
      for (const period of periods) {
        const open = (more: Parameters<typeof openLab>[0] = {}) =>
          openLab({
            quotas: { [kind]: { [scope]: { [period]: 2 } } },
            actions: { 'test.take': { takes: () => ({ kind, amount: 1 }), perform: async () => null } },
            ...more,
          });
        // A Wednesday.
        let lab = await open();
        const takes = async (user: string, scenario_id: string) => {
          const { run_id } = await lab.start([{ call: 'test.take' }], {}, { user, scenario_id });
          return (await lab.runs.ended(run_id))?.error?.message ?? 'taken';
        };
        const up = `The quota of ${kind} for this ${scope} and ${period} is used up.`;
        const why = `${kind} ${scope} ${period}`;
        assert.equal([await takes('ann', 'home/a'), await takes('ann', 'home/a')], ['taken', 'taken'], why);
        assert.is(await takes('ann', 'home/a'), up, why);
        assert.is(await takes('bob', 'home/a'), scope === 'user' ? 'taken' : up, why);
        assert.is(await takes('ann', 'home/b'), scope === 'scenario' ? 'taken' : up, why);
        await lab.runs.stop();
        const { store } = lab;
        lab = await open({ store, clock: lab.clock.restart(hour) });
        assert.is(await takes('ann', 'home/a'), up, `${why}, after a restart`);
        await lab.clock.pass(24 * hour);
        assert.is(await takes('ann', 'home/a'), period === 'day' ? 'taken' : up, `${why}, the next day`);
        await lab.clock.pass(6 * 24 * hour);
        assert.is(await takes('ann', 'home/a'), 'taken', `${why}, the next week`);
        await lab.runs.stop();
        await store.close();
      }
});

test('runs that go on at one time take no more together than there is', async () => {
  const ends: (() => void)[] = [];
  const lab = await openLab({
    quotas: { http: { node: { day: 2 } } },
    actions: {
      'test.http': {
        takes: () => ({ kind: 'http', amount: 1 }),
        perform: () => new Promise((done) => ends.push(() => done(null))),
      },
    },
  });
  const start = (id: string) => lab.start([{ call: 'test.http' }], {}, { scenario_id: id });
  const runs = await Promise.all(['a', 'b', 'c', 'd'].map(start));
  await settle();
  assert.is(ends.length, 2);
  for (const end of ends) end();
  const states = await Promise.all(runs.map(async ({ run_id }) => (await lab.runs.ended(run_id))?.state));
  assert.equal(states.sort(), ['DONE', 'DONE', 'FAILED', 'FAILED']);
});

test('a request that went out counts though it failed, and one that was refused does not', async () => {
  for (const [code, done] of [
    ['unavailable', 2],
    ['timeout', 2],
    ['not_supported', 5],
    ['forbidden', 5],
  ] as const) {
    const lab = await openLab({
      quotas: { http: { user: { day: 2 } } },
      actions: {
        'test.http': {
          takes: () => ({ kind: 'http', amount: 1 }),
          perform: async () => {
            throw new IngleError(code, 'No.');
          },
        },
      },
    });
    const steps = Array.from({ length: 5 }, () => ({ call: 'test.http', onError: 'go' }));
    await lab.runs.ended((await lab.start(steps)).run_id);
    assert.is(lab.effects.length, done, code);
    // And so it is after a restart.
    assert.is(await lab.records.used('http', 'user:owner', '2026-11-25'), done === 2 ? 2 : 0, code);
  }
});

test.run();
