// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions of scenarios
// A process that runs one scenario and one job on a real file and kills itself at one point of its way: arguments are the
// database, the file of effects, and the number of the point (-1: none). It ends when all is over, and says how many points
// it passed.
import { appendFileSync, closeSync, existsSync, fsyncSync, openSync, readFileSync } from 'node:fs';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { Action } from '../../firmware/scenario/action.ts';
import { systemClock } from '../../firmware/scenario/clock.ts';
import { openEngine } from '../../firmware/scenario/engine.ts';
import { planOf } from '../../firmware/scenario/plan.ts';
import { openRecords, type Records, scenarioSchema } from '../../firmware/scenario/records.ts';
import { openSchedule } from '../../firmware/scenario/schedule.ts';
import type { Prototype } from '../../firmware/scenario/schema.ts';
import { logger } from '../../firmware/system/log.ts';
import { openStore } from '../../firmware/system/store.ts';

const [file, effects, at, world] = process.argv.slice(2) as [string, string, string, string];
let points = 0;
/** Where the process may die. */
function point(): void {
  if (points++ === Number(at)) process.kill(process.pid, 'SIGKILL');
}
/** What the world remembers, whatever becomes of this process. */
function happens(to: string, line: string): void {
  const fd = openSync(to, 'a');
  appendFileSync(fd, `${line}\n`);
  fsyncSync(fd);
  closeSync(fd);
}

const store = await openStore(file, scenarioSchema);
const plain = openRecords(store);
const records: Records = {
  ...plain,
  async write(ops) {
    point();
    await plain.write(ops);
    point();
  },
};
const actions: Record<string, Omit<Action, 'doc'>> = {
  does: {
    interrupted: 'again',
    async perform({ key, args }) {
      point();
      happens(effects, `${key} ${JSON.stringify(args)}`);
      point();
      return 'r';
    },
  },
  flaky: {
    interrupted: 'again',
    async perform({ key }) {
      // Answers the first key with an error, whenever it is asked with it.
      const isFirst = !existsSync(world) || readFileSync(world, 'utf8').trim().split('\n')[0] === key;
      happens(effects, `${key} flaky`);
      if (isFirst) {
        happens(world, key);
        throw new IngleError('rate_limited', 'Not yet.');
      }
      return null;
    },
  },
  says: {
    interrupted: 'pass',
    async perform({ key }) {
      happens(effects, `${key} once`);
      point();
      return null;
    },
  },
};
const does = (id: string, text: string, more: object = {}) => ({ id, call: 'does', args: { text }, ...more });
const undo = (text: string) => ({ compensate: { call: 'does', args: { text: `undo ${text}` } } });
const scenario = {
  ...{ id: 'victim', version: '1.0.0', dslVersion: '1', name: 'Victim' },
  steps: [
    does('a', 'a', { ...undo('a'), locks: ['mic'], set: { v: '${steps.a.result}' } }),
    { id: 'flaky', call: 'flaky', retries: { max: 3, backoff: '5ms' } },
    { id: 'said', call: 'says', onError: 'go' },
    {
      id: 'each',
      do: 'for',
      each: '[1, 2]',
      locks: ['tts'],
      steps: [does('in', '${item} ${vars.v}', undo('${item}'))],
    },
    { id: 'nap', do: 'delay', for: '20ms' },
    { id: 'event', do: 'wait_for', topic: 'a.comes', timeout: '1h' },
    { id: 'bad', call: 'nothing' },
  ],
} as unknown as Prototype;
const job = { ...scenario, id: 'job', steps: [does('tick', 'tick')] } as unknown as Prototype;
const startOf = (p: Prototype) => ({
  ...{ scenario_id: p.id, version: '1.0.0', source: JSON.stringify(p), user: 'o', ctx: {}, origin: 'test' },
});
const log = logger('victim');
const clock = systemClock('boot');
const runs = openEngine({
  ...{ records, clock, log, quotas: {}, tell: () => {}, boundTo: async () => undefined },
  limits: { max_concurrent_total: 4, max_concurrent_per_scenario: 4, max_concurrent_per_node: 4 },
  actions: { find: (name) => (Object.hasOwn(actions, name) ? { doc: '', ...actions[name]! } : undefined) },
  topics: {
    publish: () => {},
    async subscribe(_, f) {
      const timer = setTimeout(() => f({ open: true }), 10);
      return () => clearTimeout(timer);
    },
  },
  compile: (source) => planOf(JSON.parse(source) as Prototype),
});
const schedule = await openSchedule({ records, clock, log, runs, startOf: () => startOf(job) });
await runs.recover();
await schedule.begin();
// Who asks and gets no answer asks again, under the same id.
if (!(await records.run('run'))) await runs.start({ ...startOf(scenario), run_id: 'run' });
const ticks = () => records.ticks('j', 0);
if (schedule.list().length === 0 && (await ticks()).length === 0)
  await schedule.create({ job_id: 'j', scenario_id: 'job', user: 'o', at: Date.now() + 30 });
const isOver = async () => {
  const [tick] = await ticks();
  const done = tick?.run_id && (await records.run(tick.run_id))?.finished_at;
  return done && (await records.run('run'))?.finished_at;
};
while (!(await isOver())) await new Promise((r) => setTimeout(r, 5));
schedule.stop();
await runs.stop();
const [tick] = await ticks();
console.log(
  JSON.stringify({
    points,
    run: (await records.run('run'))!.state,
    job: (await records.run(tick!.run_id!))!.state,
    ticks: (await ticks()).length,
    letters: (await records.letters()).length,
  }),
);
await store.close();
process.exit(0);
