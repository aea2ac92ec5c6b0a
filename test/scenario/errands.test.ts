// A run that a member of the subnet does: whichever of the two hubs dies, and wherever, it is finished once.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { type ErrandsTaken, openTaken } from '../../firmware/scenario/errands-taken.ts';
import type { Records, RunRow } from '../../firmware/scenario/records.ts';
import { scenarioSchema } from '../../firmware/scenario/records.ts';
import { openStore } from '../../firmware/system/store.ts';
import {
  type Effect,
  handClock,
  type Lab,
  type LabOptions,
  openLab,
  quiet,
  scenario,
  settle,
} from './lab.ts';
import { whole } from './whole.ts';

const away = () => new IngleError('unavailable', 'It is not reached.');
const never = () => new Promise<never>(() => {});

/** What happens once, at the boundary with this number. */
type Fate = 'before' | 'after';
/** Boundaries: each write of either hub, each report on its way there, each answer on its way back. */
interface House {
  leader: Lab;
  member: Lab & { taken: ErrandsTaken };
  effects: Record<'leader' | 'member', Effect[]>;
  /** Boundaries so far. */
  count: number;
}

async function openHouse(at = -1, fate: Fate = 'before') {
  const stores = {
    leader: await openStore(':memory:', scenarioSchema),
    member: await openStore(':memory:', scenarioSchema),
  };
  const h = { effects: { leader: [], member: [] }, count: 0 } as unknown as House;
  /** Which life of a hub this is: what an earlier one began never ends. */
  const life = { leader: 0, member: 0 };
  let clocks = { leader: handClock(), member: handClock(Date.UTC(2026, 10, 25, 13)) };
  const dead = new Set<'leader' | 'member'>();
  const flaky = new Set<string>();
  const here = () => h.count++ === at;
  const isOff = (who: 'leader' | 'member', mine: number) => dead.has(who) || life[who] !== mine;

  const dying =
    (who: 'leader' | 'member', mine: number) =>
    (r: Records): Records => ({
      ...r,
      async write(ops) {
        if (isOff(who, mine)) return never();
        if (ops.length === 0) return;
        const dies = here();
        if (dies && fate === 'before') {
          dead.add(who);
          return never();
        }
        await r.write(ops);
        if (dies) dead.add(who);
        if (isOff(who, mine)) return never();
      },
    });
  const optionsOf = (who: 'leader' | 'member'): LabOptions => ({
    ...{ store: stores[who], effects: h.effects[who], clock: clocks[who] },
    records: dying(who, life[who]),
    point: (
      (mine) => () =>
        isOff(who, mine) ? never() : undefined
    )(life[who]),
    actions: {
      'test.flaky': {
        async perform({ key }) {
          flaky.add(key);
          if (flaky.size <= 2) throw new IngleError('rate_limited', 'Not yet.');
          return 'at last';
        },
      },
    },
  });
  const nudge = () => void (dead.has('member') || h.member?.taken.sync());
  async function openLeader() {
    h.leader = await openLab({ ...optionsOf('leader'), subnet: { place: async () => 'attic', nudge } });
    await h.leader.runs.recover();
  }
  async function openMember() {
    const mine = life.member;
    const o = optionsOf('member');
    // biome-ignore lint/style/useConst: the two know each other
    let taken: ErrandsTaken;
    const lab = await openLab({ ...o, subnet: { wrote: (row) => taken.wrote(row) } });
    taken = openTaken({
      ...{ records: lab.records, runs: lab.runs, clock: clocks.member, log: quiet },
      async ask(report) {
        // The message is what a channel makes of it.
        const said = JSON.parse(JSON.stringify(report));
        if (here()) {
          if (fate === 'before') throw away();
          // It goes there twice.
          void h.leader.runs.report('attic', said).catch(() => {});
        }
        if (isOff('member', mine)) return never();
        const leader = life.leader;
        const gone = (async () => {
          while (!isOff('leader', leader)) await new Promise((r) => setImmediate(r));
          throw away();
        })();
        gone.catch(() => {});
        const does = async () => {
          await h.leader.runs.report('attic', said);
          const ids = report.runs.map((r) => r.run_id);
          return h.leader.runs.errandsOf('attic', ids);
        };
        const answer = JSON.parse(JSON.stringify(await Promise.race([does(), gone])));
        if (here()) throw away();
        if (isOff('member', mine)) return never();
        return { via: 'hall', ...answer };
      },
    });
    h.member = { ...lab, taken };
    await lab.runs.recover();
    void taken.sync();
  }
  await openLeader();
  await openMember();
  return {
    h,
    /** Starts who has died. */
    async revive() {
      for (const who of [...dead]) {
        at = -1;
        life[who]++;
        clocks = { ...clocks, [who]: clocks[who].restart(1000) };
        dead.delete(who);
        await (who === 'leader' ? openLeader() : openMember());
      }
    },
    async pass(ms: number) {
      await clocks.leader.pass(ms);
      await clocks.member.pass(ms);
    },
    async close() {
      life.leader++;
      life.member++;
      await settle();
      await stores.leader.close();
      await stores.member.close();
    },
  };
}

interface Outcome {
  row: RunRow;
  leader: string[];
  member: string[];
  effects: House['effects'];
  owed: number;
  open: number;
  count: number;
}

/** @param order an order that the leading hub gets once an effect with this in its key is there */
async function live(
  at = -1,
  fate: Fate = 'before',
  order?: { what: 'stop' | 'kill'; after: string },
): Promise<Outcome> {
  const house = await openHouse(at, fate);
  const { h } = house;
  const p = scenario(whole([]), { params: { n: 1 }, constraints: ['has:bell'] } as never);
  const start = {
    ...{ scenario_id: p.id, version: p.version, source: JSON.stringify(p), user: 'owner', ctx: {} },
    ...{ origin: 'test', run_id: 'run' },
  };
  void h.leader.runs.start(start).catch(() => {});
  let row: RunRow | undefined;
  let ordered = false;
  for (let i = 0; i < 600; i++) {
    await settle();
    await house.revive();
    // Who asked and got no answer asks again.
    void h.leader.runs.start(start).catch(() => {});
    await settle();
    row = await h.leader.records.run('run');
    const owed = await h.member.records.owed();
    if (row?.finished_at && owed.length === 0) break;
    if (order && !ordered && h.effects.member.some((x) => x.key.includes(order.after))) {
      const given = h.leader.runs.order('run', order.what).then(
        () => (ordered = true),
        () => (ordered = true),
      );
      await Promise.race([given, settle()]);
      continue;
    }
    await h.member.say('door.state', { open: true });
    await h.member.say('room.temp', { t: 25 });
    await house.pass(15_000);
  }
  const journal = async (lab: Lab) =>
    (await lab.records.journal('run')).map(({ entry }) => JSON.stringify(entry));
  const outcome = {
    row: row!,
    ...{ leader: await journal(h.leader), member: await journal(h.member), effects: h.effects },
    ...{ owed: (await h.member.records.owed()).length, open: h.member.runs.size, count: h.count },
  };
  await house.close();
  return outcome;
}

/** One key is one effect, and only what may be done again is done twice. */
function once({ effects }: Outcome): string[] {
  assert.equal(effects.leader, [], 'the hub that leads does nothing of it');
  const args = new Map<string, string>();
  const times = new Map<string, number>();
  for (const { key, args: a } of effects.member) {
    const text = JSON.stringify(a);
    assert.is(args.get(key) ?? text, text, 'one key is never two effects');
    args.set(key, text);
    times.set(key, (times.get(key) ?? 0) + 1);
  }
  for (const [key, n] of times) assert.ok(n === 1 || (n === 2 && !key.includes('/loud/')), `${key} ${n}`);
  return [...args].map(([key, text]) => `${key} ${text}`);
}

async function everywhere(check: (o: Outcome, calm: Outcome) => void, order?: Parameters<typeof live>[2]) {
  const calm = await live(-1, 'before', order);
  check(calm, calm);
  for (let at = 0; at < calm.count; at++)
    for (const fate of ['before', 'after'] as const) {
      const o = await live(at, fate, order);
      try {
        assert.is(o.owed, 0, 'nothing is owed any more');
        assert.is(o.open, 0, 'the member has nothing open');
        check(o, calm);
      } catch (e) {
        (e as Error).message += ` (${fate} boundary ${at} of ${calm.count})`;
        throw e;
      }
    }
  return calm.count * 2;
}

test('a run handed over ends as one that stays, whichever hub dies at whichever boundary', async () => {
  const silent = (all: string[]) => all.filter((d) => !d.includes('/loud/'));
  const cuts = await everywhere((o, calm) => {
    assert.is(o.row.state, 'DONE');
    assert.equal(silent(once(o)), silent(once(calm)));
    assert.equal(o.leader, o.member, 'both have the same journal');
  });
  console.log(`FIGURE handover_boundaries ${cuts}`);
  assert.ok(cuts > 60, `${cuts}`);
});

test('one that is stopped is undone by the hub that did it, wherever either dies', async () => {
  const cuts = await everywhere(
    (o) => {
      assert.is(o.row.state, 'CANCELED');
      const all = once(o);
      const undone = all.flatMap((d) => /"text":"(first a|flaky|round \d)"/.exec(d)?.[1] ?? []);
      const rounds = all.flatMap((d) => /"text":(\d)/.exec(d)?.[1] ?? []);
      assert.equal([...undone].sort(), ['first a', 'flaky', ...rounds.map((n) => `round ${n}`)]);
      assert.equal(o.leader, o.member, 'both have the same journal');
    },
    { what: 'stop', after: '/round/' },
  );
  console.log(`FIGURE handover_boundaries_stopped ${cuts}`);
});

test('one that is killed is over at once at the hub that leads, and soon at the other', async () => {
  await everywhere(
    (o) => {
      assert.is(o.row.state, 'CANCELED');
      once(o);
      assert.not(
        o.effects.member.some((x) => x.key.includes('/then/')),
        'it does not go on',
      );
    },
    { what: 'kill', after: '/round/' },
  );
});

test.run();
