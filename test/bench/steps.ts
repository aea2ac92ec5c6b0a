// Durable steps a second, each on the disk before the next begins, at 1, 16 and 64 runs at once: ours, DBOS Transact on
// PostgreSQL on this machine, and a bare loop that commits one row at a time to SQLite with synchronous=FULL. One run
// measures all three in turn; medians of the rounds are given. Steps do nothing, so what is left is what a step costs.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../firmware/scenario/clock.ts';
import { openEngine } from '../../firmware/scenario/engine.ts';
import { planOf } from '../../firmware/scenario/plan.ts';
import { openRecords, scenarioSchema } from '../../firmware/scenario/records.ts';
import type { Prototype } from '../../firmware/scenario/schema.ts';
import { run } from '../../firmware/system/exec.ts';
import { logger } from '../../firmware/system/log.ts';
import { openStore } from '../../firmware/system/store.ts';
import { startPostgres } from '../lab/postgres.ts';
import { peersFolder } from './_peers.ts';
import { median, quantile } from './_sides.ts';

const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
const AT_ONCE = [1, 16, 64];
/** Steps of all runs together. */
const STEPS: Record<number, number> = { 1: 600, 16: 3200, 64: 6400 };

interface Measured {
  /** Steps a second. */
  rate: number;
  /** From the beginning of a step to that of the next of the same run, milliseconds. */
  p99: number;
}

const folder = mkdtempSync(join(tmpdir(), 'ingle-bench-'));

async function ours(atOnce: number, n: number): Promise<Measured> {
  const store = await openStore(join(folder, `ours-${n}-${atOnce}.db`), scenarioSchema);
  const steps = Math.round(STEPS[atOnce]! / atOnce);
  const last = new Map<string, number>();
  const gaps: number[] = [];
  const runs = openEngine({
    ...{
      records: openRecords(store),
      clock: systemClock('boot'),
      log: logger('bench'),
      quotas: {},
      tell: () => {},
    },
    limits: { max_concurrent_total: 1000, max_concurrent_per_scenario: 1000, max_concurrent_per_node: 1000 },
    topics: { publish: () => {}, subscribe: async () => () => {} },
    actions: {
      find: () => ({
        doc: '',
        interrupted: 'again',
        async perform({ run_id }) {
          const now = performance.now();
          const before = last.get(run_id);
          if (before !== undefined) gaps.push(now - before);
          last.set(run_id, now);
          return null;
        },
      }),
    },
    compile: (source) => planOf(JSON.parse(source) as Prototype),
    boundTo: async () => undefined,
  });
  const each = JSON.stringify(Array.from({ length: steps }, (_, i) => i));
  const source = (of: number) =>
    JSON.stringify({
      id: 'bench',
      version: '1.0.0',
      dslVersion: '1',
      name: 'Bench',
      params: { each: JSON.parse(each).slice(0, of) },
      steps: [{ id: 'all', do: 'for', each: 'params.each', steps: [{ id: 'step', call: 'nothing' }] }],
    });
  const one = async (of: number, i: number) => {
    const start = {
      scenario_id: 'bench',
      version: '1.0.0',
      source: source(of),
      user: `u${i}`,
      ctx: {},
      origin: 'bench',
    };
    return (await runs.ended((await runs.start(start)).run_id))!.state;
  };
  await one(50, -1);
  gaps.length = 0;
  const began = performance.now();
  const states = await Promise.all(Array.from({ length: atOnce }, (_, i) => one(steps, i)));
  const seconds = (performance.now() - began) / 1000;
  if (states.some((s) => s !== 'DONE')) throw new Error(`a run ended as ${states.find((s) => s !== 'DONE')}`);
  await runs.stop();
  await store.close();
  return {
    rate: (atOnce * steps) / seconds,
    p99: quantile(
      gaps.sort((a, b) => a - b),
      0.99,
    ),
  };
}

/** One row, one commit, and the next. */
async function loop(n: number): Promise<Measured> {
  const store = await openStore(join(folder, `loop-${n}.db`), [
    'CREATE TABLE rows (n INTEGER PRIMARY KEY, entry TEXT)',
  ]);
  const gaps: number[] = [];
  const began = performance.now();
  const most = 1500;
  for (let i = 0, before = began; i < most; i++) {
    await store.run(
      'INSERT INTO rows (n, entry) VALUES (?, ?)',
      i,
      '{"kind":"done","seq":1,"result":null,"at":1}',
    );
    const now = performance.now();
    gaps.push(now - before);
    before = now;
  }
  const seconds = (performance.now() - began) / 1000;
  await store.close();
  return {
    rate: most / seconds,
    p99: quantile(
      gaps.sort((a, b) => a - b),
      0.99,
    ),
  };
}

async function dbos(peers: string, url: string, atOnce: number): Promise<Measured> {
  const steps = Math.round((STEPS[atOnce]! / atOnce) * 0.5);
  const args = ['test/bench/_dbos.mjs', peers, url, String(atOnce), String(steps)];
  const { stdout } = await run(process.execPath, args, { timeoutMs: 300_000 });
  return JSON.parse(String(stdout).trim().split('\n').at(-1)!) as Measured;
}

const peers = peersFolder();
const server = await startPostgres({ flush: true });
await server.ask('CREATE DATABASE bench');
const all = new Map<string, Measured[]>();
const note = (name: string, m: Measured) => {
  all.set(name, [...(all.get(name) ?? []), m]);
  console.log(`${name}: ${Math.round(m.rate)} steps/s, p99 ${m.p99.toFixed(2)} ms`);
};
for (let n = 0; n < ROUNDS; n++) {
  console.log(`round ${n + 1} of ${ROUNDS}`);
  note('loop', await loop(n));
  for (const atOnce of AT_ONCE) {
    note(`ours ${atOnce}`, await ours(atOnce, n));
    note(`dbos ${atOnce}`, await dbos(peers, server.url('bench'), atOnce));
  }
}
await server.stop();
rmSync(folder, { recursive: true, force: true });
const rate = (name: string) => Math.round(median(all.get(name)!.map((m) => m.rate)));
const p99 = (name: string) => Number(median(all.get(name)!.map((m) => m.p99)).toFixed(2));
console.log(
  JSON.stringify({
    bench: 'steps',
    ours: rate('ours 16'),
    peer: rate('loop'),
    unit: 'steps/s',
    ratio: Number((rate('ours 16') / rate('loop')).toFixed(3)),
    target: '>= 2, and ahead of DBOS at 1, 16 and 64',
    peer_is: 'a loop of single commits to SQLite, synchronous=FULL',
    ...Object.fromEntries(
      AT_ONCE.flatMap((a) => [
        [`ours_${a}`, rate(`ours ${a}`)],
        [`dbos_${a}`, rate(`dbos ${a}`)],
        [`ours_${a}_p99_ms`, p99(`ours ${a}`)],
        [`dbos_${a}_p99_ms`, p99(`dbos ${a}`)],
      ]),
    ),
    loop_p99_ms: p99('loop'),
    rounds: ROUNDS,
  }),
);
process.exit(0);
