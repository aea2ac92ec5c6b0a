// Frames a second through two processes of root beside one: with each hub and its browser at the same process, as steering
// puts them, and with each of them at the other one. One machine stands in for three: every process of root may use a
// part of a processor only (cgroups), and the load comes from what is left. Latency is measured without that bound.
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { freePort } from '../../services/cli/house/runtime.ts';
import { startPostgres } from '../lab/postgres.ts';
import { startRedis } from '../lab/redis.ts';
import { type RootProcess, startRoot } from '../root/kit.ts';
import { type Ends, load, SIZE } from './_load.ts';
import { pair } from './_pair.ts';
import { median } from './_sides.ts';
import { steps } from './_steps.ts';

const PAIRS = Number(process.env['PAIRS'] ?? 32);
const ROUNDS = Number(process.env['ROUNDS'] ?? 5);
/** Of one processor, for each process of root. */
const SHARE = Number(process.env['SHARE'] ?? 0.15);
/** The kernel's own, microseconds: of a shorter one much goes into stopping and starting. */
const PERIOD = 100_000;

type Places = readonly [hub: number, browser: number];
const placements: Record<string, (pair: number) => Places> = {
  one: () => [0, 0],
  two: (n) => [n % 2, n % 2],
  cross: (n) => [n % 2, 1 - (n % 2)],
};
const names = Object.keys(placements);

/** Bounds a process. @returns what takes the bound away, once the process has ended */
function bounded(pid: number): () => void {
  const v2 = existsSync('/sys/fs/cgroup/cgroup.controllers');
  const dir = `/sys/fs/cgroup/${v2 ? '' : 'cpu/'}ingle-bench-${pid}`;
  mkdirSync(dir);
  const quota = String(SHARE * PERIOD);
  if (v2) writeFileSync(`${dir}/cpu.max`, `${quota} ${PERIOD}`);
  else {
    writeFileSync(`${dir}/cpu.cfs_period_us`, String(PERIOD));
    writeFileSync(`${dir}/cpu.cfs_quota_us`, quota);
  }
  writeFileSync(`${dir}/cgroup.procs`, String(pid));
  return () => rmdirSync(dir);
}

const step = steps();
const [database, redis] = await Promise.all([startPostgres({ flush: false }), startRedis()]);
const origin = 'http://localhost';
const node = async () => {
  const peer = `127.0.0.1:${await freePort('127.0.0.1')}`;
  return startRoot({
    INGLE_ROOT_DATABASE: database.url('postgres'),
    INGLE_ROOT_REDIS: redis.url,
    ...{ INGLE_ROOT_PEER: peer, INGLE_ROOT_ORIGIN: origin },
  });
};
const nodes = await Promise.all([node(), node()]);
const pids = nodes.map((n) => n.pid());

const loads: Record<string, ReturnType<typeof load>> = {};
for (const name of names)
  await step(`${PAIRS} hubs and browsers, ${name}`, async () => {
    const ends: Ends = { pids, hubs: [], browsers: [] };
    for (let n = 0; n < PAIRS; n++) {
      const [hub, browser] = placements[name]!(n).map((i) => nodes[i]!) as [RootProcess, RootProcess];
      const p = await pair([hub, browser]);
      ends.hubs.push(p.hub);
      ends.browsers.push({ sid: p.sid, hub: n, line: p.line });
    }
    loads[name] = load(ends);
  });

const results = Object.fromEntries(names.map((n) => [n, { rate: [], cpu: [], p50: [], p99: [] }])) as Record<
  string,
  Record<'rate' | 'cpu' | 'p50' | 'p99', number[]>
>;
const round = (n: number, what: string, one: (name: string) => Promise<object>) =>
  step(`round ${n + 1} of ${ROUNDS}, ${what}`, async () => {
    for (const name of n % 2 ? [...names].reverse() : names) {
      const of = await one(name);
      // The first round warms the compilers.
      if (n > 0) for (const [key, value] of Object.entries(of)) results[name]![key as 'rate'].push(value);
    }
  });
for (let n = 0; n < ROUNDS; n++) {
  if (n === 0) await round(n, 'to warm up', (name) => loads[name]!.throughput());
  await round(n, 'latency', (name) => loads[name]!.latency());
}
const free = pids.map(bounded);
for (let n = 0; n < ROUNDS; n++) await round(n, 'frames a second', (name) => loads[name]!.throughput());
for (const n of nodes) await n.stop();
for (const f of free) f();
await redis.stop();
await database.stop();

const of = (name: string, key: 'rate' | 'cpu' | 'p50' | 'p99') =>
  Number(median(results[name]![key]).toFixed(key === 'rate' ? 0 : 2));
console.log(
  JSON.stringify({
    ...{ bench: 'cluster', ours: of('two', 'rate'), peer: of('one', 'rate'), unit: 'frames/s' },
    ...{ ratio: Number((of('two', 'rate') / of('one', 'rate')).toFixed(3)), target: '>= 1.8' },
    ...{ rounds: ROUNDS - 1, frame_bytes: SIZE, pairs: PAIRS, processor_a_process: SHARE },
    cross_rate: of('cross', 'rate'),
    cross_to_local: Number((of('cross', 'rate') / of('two', 'rate')).toFixed(3)),
    ...Object.fromEntries(
      names.flatMap((n) =>
        (['cpu', 'p50', 'p99'] as const).map((k) => [`${n}_${k}_${k === 'cpu' ? 'us' : 'ms'}`, of(n, k)]),
      ),
    ),
  }),
);
process.exit(0);
