// What 1,000 jobs and 1,000 waits that sleep cost: how often ingle-scenario wakes in ten minutes in which nothing is due
// (context switches of all its threads, Linux /proc/<pid>/task/*/status), and its private memory; beside a bare Node
// process that waits for one timer. As on a hub, ingle-api and ingle-uplink run beside it: what of Node and SQLite they
// share is nobody's private memory.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../firmware/scenario/clock.ts';
import { scenario1 } from '../../firmware/scenario/contract.ts';
import { openEngine } from '../../firmware/scenario/engine.ts';
import { compileSource } from '../../firmware/scenario/household.ts';
import { earlierSchema, librarySchema, readmesSchema } from '../../firmware/scenario/library.ts';
import { openRecords, scenarioSchema } from '../../firmware/scenario/records.ts';
import { openSchedule } from '../../firmware/scenario/schedule.ts';
import { connect } from '../../firmware/system/bus.ts';
import { logger } from '../../firmware/system/log.ts';
import { openStore } from '../../firmware/system/store.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import { freePort } from '../../services/cli/house/runtime.ts';
import { privateBus } from '../lab/bus.ts';
import { child } from '../lab/child.ts';
import { tried, until } from '../lab/wait.ts';

const { build } = await import('../../services/cli/build.mjs' as string);

const MINUTES = Number(process.env['MINUTES'] ?? 10);
const COUNT = Number(process.env['COUNT'] ?? 1000);
const DAY = 86_400_000;
const wait = (ms: number) => new Promise((r) => setTimeout(r, ms));

/** Fills a database as the service leaves it: runs that wait for a day, jobs of next year. */
async function filled(file: string): Promise<void> {
  const store = await openStore(file, [...scenarioSchema, librarySchema, earlierSchema, readmesSchema]);
  const records = openRecords(store);
  const clock = systemClock('boot');
  const runs = openEngine({
    ...{ records, clock, log: logger('bench'), quotas: {}, tell: () => {}, compile: compileSource },
    limits: { max_concurrent_total: 64, max_concurrent_per_scenario: 64, max_concurrent_per_node: 64 },
    topics: { publish: () => {}, subscribe: async () => () => {} },
    actions: { find: () => undefined },
    boundTo: async () => undefined,
  });
  const steps = [{ id: 'wait', do: 'delay', for: '20h' }];
  const scenario = { id: 'home/bench', version: '1.0.0', dslVersion: '1', name: 'Bench', steps };
  const source = JSON.stringify({ scenario, bound: [] });
  for (let i = 0; i < COUNT; i++)
    await runs.start({
      scenario_id: 'home/bench',
      version: '1.0.0',
      source,
      user: `u${i}`,
      ctx: {},
      origin: 'bench',
    });
  await until(() => runs.live().every((v) => v.waits?.for === 'time'), 'the waits');
  const schedule = await openSchedule({
    records,
    clock,
    log: logger('bench'),
    runs,
    startOf: () => Promise.reject(new Error()),
  });
  const at = Date.now() + 30 * DAY;
  for (let i = 0; i < COUNT; i++)
    await schedule.create(
      i % 2
        ? { scenario_id: 'home/bench', user: 'u', at: at + i * 1000 }
        : { scenario_id: 'home/bench', user: 'u', cron: '0 4 1 1 *' },
    );
  schedule.stop();
  await runs.stop();
  await store.close();
}

function switches(pid: number): number {
  return readdirSync(`/proc/${pid}/task`)
    .map((t) => readFileSync(`/proc/${pid}/task/${t}/status`, 'utf8'))
    .flatMap((s) => [...s.matchAll(/ctxt_switches:\s+(\d+)/g)])
    .reduce((sum, [, n]) => sum + Number(n), 0);
}
/** Private memory, bytes. */
function privately(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return [...rollup.matchAll(/^Private_\w+:\s+(\d+)/gm)].reduce((sum, [, kb]) => sum + Number(kb) * 1024, 0);
}

await build((what: string) => console.error(`built ${what}`));
const data = mkdtempSync(join(tmpdir(), 'ingle-bench-'));
console.log(`filling a database with ${COUNT} jobs and ${COUNT} waits`);
await filled(join(data, 'scenario', 'scenario.db'));
const bus = await privateBus();
const conf = ['ingle-.service.d/node.conf', 'ingle-scenario.service']
  .map((unit) => readFileSync(`systemd/units/${unit}`, 'utf8'))
  .join('\n');
const flags = /LASTING_FLAGS=([^"]+)/.exec(conf)![1]!.split(' ');
const own = /^ExecStart=\S+ \$LASTING_FLAGS (.*) \S+$/m.exec(conf)![1]!.split(' ');
const env = {
  ...process.env,
  INGLE_BUS_ADDRESS: bus.address,
  INGLE_DATA: data,
  INGLE_CONFIG: '/nonexistent',
  INGLE_LOG: 'error',
  NODE_ENV: 'production',
  ...Object.fromEntries(
    [...conf.matchAll(/^Environment=(MALLOC.*)$/gm)]
      .flatMap(([, all]) => all!.split(' '))
      .map((v) => v.split('=') as [string, string]),
  ),
};
const beside = mkdtempSync(join(tmpdir(), 'ingle-bench-'));
const port = String(await freePort('127.0.0.1'));
const others = ['api', 'uplink'].map((name) =>
  child(process.execPath, [...flags, `dist/services/${name}/main.js`], {
    env: { ...env, INGLE_DATA: beside, INGLE_API_PORT: port },
  }),
);
const service = child(process.execPath, [...flags, ...own, 'dist/services/scenario/main.js'], { env });
const bare = child(process.execPath, [...flags, '-e', 'setTimeout(() => {}, 86400000)'], { env });
const asker = await connect(bus.address);
await until(
  tried(async () => {
    const names = await asker.listNames();
    return [scenario1.bus, uplink1.bus].every((n) => names.includes(n));
  }),
  'the services',
);
const { metrics } = await asker.client(scenario1).Metrics({});
const open = Number((metrics['open'] as { value: unknown }).value);
if (open !== COUNT) throw new Error(`${open} runs are open`);
asker.close();
// What starting left is given back: V8 looks eight seconds after the process has come to rest, and twice more.
await wait(180_000);
const before = [switches(service.pid!), switches(bare.pid!)] as const;
for (let m = 0; m < MINUTES; m++) {
  await wait(60_000);
  console.log(
    `minute ${m + 1} of ${MINUTES}: ${switches(service.pid!) - before[0]} switches, ${(privately(service.pid!) / 1e6).toFixed(1)} MB`,
  );
}
const [ours, peer] = [switches(service.pid!) - before[0], switches(bare.pid!) - before[1]];
const [memory, bareMemory] = [privately(service.pid!), privately(bare.pid!)];
service.kill();
bare.kill();
for (const o of others) o.kill();
await bus.stop();
for (const d of [data, beside]) rmSync(d, { recursive: true, force: true });
console.log(
  JSON.stringify({
    ...{
      bench: 'wake',
      ours,
      peer,
      unit: `context switches in ${MINUTES} minutes`,
      target: '0 and at most 20 MB',
    },
    ratio: Number((ours / Math.max(1, peer)).toFixed(3)),
    ...{
      jobs: COUNT,
      waits: COUNT,
      private_bytes: memory,
      bare_private_bytes: bareMemory,
      private_target: 20_000_000,
    },
  }),
);
process.exit(0);
