// How long a node may act for its hubs: the rule, and that two nodes never act for one, whatever happens to them.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openTenure, type Tenure, times } from '../../root/cluster/tenure.ts';

const test = suite('tenure');

test('a grant counts from when it was asked for, and ends before Redis gives the place away', () => {
  let now = 0;
  const t = openTenure(() => now);
  assert.not(t.holds());
  t.granted(0);
  now = times.grant - times.margin - 1;
  assert.ok(t.holds());
  now++;
  assert.not(t.holds());
  t.granted(now);
  t.confirmed(now);
  assert.not(t.holds(), 'what is over stays over');
});

test('while Redis is gone for all others, it goes on; one answer counts for its time only', () => {
  let now = 0;
  const t = openTenure(() => now);
  t.confirmed(0);
  assert.not(t.holds(), 'others grant nothing');
  t.granted(0);
  for (; now < 20_000; now += 500) {
    assert.ok(t.holds());
    t.missed();
    t.confirmed(now);
  }
  now += times.confirmed;
  assert.not(t.holds());
});

test('a node takes hubs once Redis has answered it for long enough, and anew after each gap', () => {
  let now = 0;
  const t = openTenure(() => now);
  const go = (ms: number) => {
    for (const end = now + ms; now < end; now += 500) t.granted(now);
  };
  go(times.settle - 500);
  assert.not(t.mayTake());
  go(500);
  assert.ok(t.mayTake());
  t.missed();
  assert.not(t.mayTake());
  go(times.settle - 500);
  assert.not(t.mayTake());
});

const STEP = 100;
/** One node of the model: its tenure begins anew when it is over, as in cluster/node.ts. */
interface Node {
  id: number;
  tenure: Tenure;
  began: boolean;
  owns: boolean;
  isGone: boolean;
  next: number;
  run: number;
}
const happening = fc.record({
  what: fc.constantFrom(
    'redis dies',
    'redis freezes',
    'cut from redis',
    'cut from peers',
    'frozen',
    'killed',
    'calm',
  ),
  who: fc.nat(2),
  steps: fc.integer({ min: 1, max: 120 }),
});

/** Three nodes that all want one hub. @returns the moments at which two of them held it */
function play(
  script: readonly { what: string; who: number; steps: number }[],
  t = times,
  knowsRuns = true,
): number {
  let now = 0;
  const redis = { grants: new Map<number, number>(), home: -1, run: 0 };
  let ids = 0;
  const fresh = (): Node => ({
    ...{ id: ids++, tenure: openTenure(() => now, t), began: false, owns: false, isGone: true },
    ...{ next: now, run: -1 },
  });
  const nodes = [fresh(), fresh(), fresh()];
  const seen: number[][] = nodes.map(() => []);
  let two = 0;
  const lasts = (id: number) => (redis.grants.get(id) ?? 0) > now;
  for (const { what, who, steps } of [{ what: 'calm', who: 0, steps: 60 }, ...script]) {
    if (what === 'redis dies') {
      redis.grants.clear();
      redis.home = -1;
      redis.run++;
    }
    if (what === 'killed') nodes[who] = fresh();
    for (let step = 0; step < steps; step++, now += STEP) {
      const reachesRedis = (i: number) => !/^redis/.test(what) && !(what === 'cut from redis' && i === who);
      const meets = (i: number, j: number) => !(what === 'cut from peers' && (i === who || j === who));
      const runs = (i: number) => !(what === 'frozen' && i === who);
      nodes.forEach((n, i) => {
        if (!runs(i) || now < n.next) return;
        n.next = now + t.beat;
        if (n.began && !n.tenure.holds()) {
          nodes[i] = n = { ...fresh(), next: now + t.beat };
          seen[i] = [];
        }
        const others = [0, 1, 2].filter((j) => j !== i);
        if (reachesRedis(i)) {
          const back = n.isGone || n.run !== redis.run;
          if (n.run !== redis.run && knowsRuns) n.tenure.missed();
          n.run = redis.run;
          n.isGone = false;
          redis.grants.set(n.id, now + t.grant);
          if (back && n.owns) {
            if (redis.home !== n.id && lasts(redis.home)) n.owns = false;
            else redis.home = n.id;
          }
          n.tenure.granted(now);
          n.began = true;
          seen[i] = others.filter((j) => lasts(nodes[j]!.id)).map((j) => nodes[j]!.id);
          if (!n.owns && n.tenure.mayTake() && !lasts(redis.home)) {
            redis.home = n.id;
            n.owns = true;
          }
        } else {
          n.isGone = true;
          n.tenure.missed();
          // Those it knows of; one that is killed or frozen does not answer.
          const answers = seen[i]!.map((id) => {
            const j = nodes.findIndex((m) => m.id === id);
            return j >= 0 && runs(j) && meets(i, j) && nodes[j]!.isGone ? now : -1e9;
          });
          if (answers.length > 0) n.tenure.confirmed(Math.min(...answers));
          else if (what === 'redis dies') n.tenure.confirmed(now);
        }
      });
      // A frozen one holds as well: it may wake between any two instructions.
      if (nodes.filter((n) => n.owns && n.tenure.holds()).length > 1) two++;
    }
  }
  return two;
}

test('whatever is cut, frozen or killed, two nodes never hold one hub', () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 12 }), (script) => {
      assert.is(play(script), 0);
    }),
    { numRuns: 500 },
  );
});

test('the model finds rules that are too generous', () => {
  const freeze = [{ what: 'cut from redis', who: 0, steps: 100 }];
  assert.is(play(freeze), 0);
  assert.ok(play(freeze, { ...times, margin: -3000 }) > 0);
  // Others take a hub as soon as Redis is back, and who was not frozen goes on for the time of one answer.
  const back = [
    { what: 'redis dies', who: 0, steps: 30 },
    { what: 'cut from redis', who: 0, steps: 60 },
  ];
  assert.is(play(back), 0);
  assert.ok(play(back, { ...times, settle: 0 }) > 0);
  // It was gone and back before anybody noticed, and has forgotten.
  const quick = [
    { what: 'calm', who: 0, steps: 1 },
    { what: 'redis dies', who: 0, steps: 1 },
    { what: 'cut from redis', who: 0, steps: 4 },
  ];
  assert.is(play(quick), 0);
  assert.ok(play(quick, times, false) > 0);
});

test.run();
