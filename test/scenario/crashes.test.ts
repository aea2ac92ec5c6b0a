// gate: out, 4 s of a processor
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions of scenarios
// Every write of a run is a place where the hub may die: before it is on the disk, and after it, before anybody knows.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { Records, RunRow } from '../../firmware/scenario/records.ts';
import { scenarioSchema } from '../../firmware/scenario/records.ts';
import type { Prototype } from '../../firmware/scenario/schema.ts';
import { openStore } from '../../firmware/system/store.ts';
import { type Effect, handClock, type LabOptions, openLab, settle } from './lab.ts';
import { whole } from './whole.ts';

interface Outcome {
  row: RunRow | undefined;
  /** What was done, each key once, in the order it was first done. */
  done: string[];
  /** How often each key was done. */
  times: Map<string, number>;
  writes: number;
}

/** Runs a scenario to its end in a house where the door opens and it gets warm, with a crash at one write. */
async function live(
  steps: object[],
  at = -1,
  mode: 'before' | 'after' = 'before',
  stopAfter?: string,
): Promise<Outcome> {
  const store = await openStore(':memory:', scenarioSchema);
  const effects: Effect[] = [];
  const flaky = new Set<string>();
  let writes = 0;
  let dead = false;
  const never = () => new Promise<never>(() => {});
  const dying = (r: Records): Records => ({
    ...r,
    async write(ops) {
      if (dead) return never();
      const here = writes++ === at;
      if (here && mode === 'before') {
        dead = true;
        return never();
      }
      await r.write(ops);
      if (here) {
        dead = true;
        return never();
      }
    },
  });
  const options: LabOptions = {
    store,
    effects,
    actions: {
      'test.flaky': {
        async perform({ key }) {
          flaky.add(key);
          if (flaky.size <= 2) throw new IngleError('rate_limited', 'Not yet.');
          return 'at last';
        },
      },
    },
    point: () => (dead ? never() : undefined),
  };
  let clock = handClock();
  let lab = await openLab({ ...options, clock, records: dying });
  const p = {
    id: 'whole',
    version: '1.0.0',
    dslVersion: '1',
    name: 'Whole',
    params: { n: 1 },
    steps,
  } as Prototype;
  const start = {
    scenario_id: p.id,
    version: p.version,
    source: JSON.stringify(p),
    user: 'owner',
    ctx: {},
    origin: 'test',
    run_id: 'run',
  };
  let row: RunRow | undefined;
  let stopped = false;
  void lab.runs.start(start).catch(() => {});
  for (let i = 0; i < 400; i++) {
    await settle();
    if (dead) {
      dead = false;
      at = -1;
      clock = clock.restart(1000);
      lab = await openLab({ ...options, clock, records: dying });
      await lab.runs.recover();
      // Who asked and got no answer asks again.
      void lab.runs.start(start).catch(() => {});
    }
    row = await lab.records.run('run');
    if (row?.finished_at) break;
    if (stopAfter && !stopped && effects.some((x) => x.key.includes(stopAfter))) {
      const order = lab.runs.order('run', 'stop').then(
        () => (stopped = true),
        () => (stopped = true),
      );
      await Promise.race([order, settle()]);
      continue;
    }
    await lab.say('door.state', { open: true });
    await lab.say('room.temp', { t: 25 });
    await clock.pass(15_000);
  }
  const times = new Map<string, number>();
  for (const { key } of effects) times.set(key, (times.get(key) ?? 0) + 1);
  const args = new Map<string, string>();
  for (const { key, args: a } of effects) {
    const text = JSON.stringify(a);
    assert.is(args.get(key) ?? text, text, 'one key is never two effects');
    args.set(key, text);
  }
  const done = [...times.keys()].map((key) => `${key} ${args.get(key)}`);
  await store.close();
  return { row, done, times, writes };
}

async function everywhere(
  steps: object[],
  check: (o: Outcome, whole: Outcome) => void,
  stopAfter?: string,
): Promise<number> {
  const calm = await live(steps, -1, 'before', stopAfter);
  assert.ok(calm.row?.finished_at, 'it ends');
  for (let at = 0; at < calm.writes; at++)
    for (const mode of ['before', 'after'] as const) {
      const o = await live(steps, at, mode, stopAfter);
      try {
        check(o, calm);
      } catch (e) {
        (e as Error).message += ` (crash ${mode} write ${at} of ${calm.writes})`;
        throw e;
      }
    }
  return calm.writes;
}

/** What is said is said once at most; all else at least once, and again only under its key. */
function sameEffects(o: Outcome, calm: Outcome): void {
  const silent = (all: string[]) => all.filter((d) => !d.includes('/loud/'));
  assert.equal(silent(o.done), silent(calm.done));
  for (const [key, n] of o.times) assert.ok(n === 1 || (n === 2 && !key.includes('/loud/')), `${key} ${n}`);
}

test('a crash at any write of a run that ends well loses nothing and does nothing twice', async () => {
  const writes = await everywhere(whole([]), (o, calm) => {
    assert.is(o.row?.state, 'DONE');
    sameEffects(o, calm);
  });
  console.log(`FIGURE crashes_ends_well ${writes * 2}`);
  assert.ok(writes > 15);
});

test('a crash at any write of a run that fails undoes everything that was done, once for each key', async () => {
  const fails = [{ id: 'bad', call: 'test.none' }];
  const writes = await everywhere(whole(fails), (o, calm) => {
    assert.is(o.row?.state, 'FAILED');
    assert.is(o.row?.error?.step, 'bad');
    sameEffects(o, calm);
  });
  console.log(`FIGURE crashes_fails ${writes * 2}`);
});

test('a crash at any write of a run that is stopped ends in the same place', async () => {
  const writes = await everywhere(
    whole([]),
    (o) => {
      assert.is(o.row?.state, 'CANCELED');
      const undone = o.done.flatMap((d) => /"text":"(first a|flaky|round \d)"/.exec(d)?.[1] ?? []);
      const rounds = o.done.flatMap((d) => /"text":(\d)/.exec(d)?.[1] ?? []);
      const all = ['first a', 'flaky', ...rounds.map((n) => `round ${n}`)];
      assert.equal([...new Set(undone)].sort(), all, 'what was done is undone, and nothing else');
    },
    '/round/',
  );
  console.log(`FIGURE crashes_stopped ${writes * 2}`);
});

test.run();
