// What hubs and browsers that are connected and at rest cost: processor time and memory of root, with PostgreSQL and
// Redis and what these do for it, beside one process of root on SQLite. What a process costs with nobody connected is
// taken off. Clients answer root's pings and say nothing else.

import { freePort } from '../../services/cli/house/runtime.ts';
import { startPostgres } from '../lab/postgres.ts';
import { startRedis } from '../lab/redis.ts';
import { type RootProcess, startRoot } from '../root/kit.ts';
import { pair } from './_pair.ts';
import { cpuMs, memory } from './_sides.ts';
import { steps } from './_steps.ts';

/** Root asks for work where more hubs than that enrol in a minute. */
const PAIRS = Number(process.env['PAIRS'] ?? 300);
/** What is counted in, and what is waited for before: V8 is through with what connecting left behind. Seconds. */
const REST = Number(process.env['REST'] ?? 90);
const SETTLE = Number(process.env['SETTLE'] ?? 30);

interface Setup {
  root: RootProcess;
  /** Processes by name, and what is counted, each as it stands. */
  pids(): Promise<Record<string, number[]>>;
  counts(): Promise<Record<string, number>>;
  stop(): Promise<void>;
}
const step = steps();
const wait = (seconds: number) => new Promise((r) => setTimeout(r, seconds * 1000));

async function alone(): Promise<Setup> {
  const root = await startRoot();
  return {
    root,
    pids: async () => ({ root: [root.pid()] }),
    counts: async () => ({}),
    stop: () => root.stop(),
  };
}

async function clustered(): Promise<Setup> {
  const [database, redis] = await Promise.all([startPostgres({ flush: true }), startRedis()]);
  const root = await startRoot({
    INGLE_ROOT_DATABASE: database.url('postgres'),
    INGLE_ROOT_REDIS: redis.url,
    INGLE_ROOT_PEER: `127.0.0.1:${await freePort('127.0.0.1')}`,
  });
  return {
    root,
    pids: async () => ({ root: [root.pid()], redis: [redis.pid()], postgres: await database.pids() }),
    counts: async () => ({
      redis_commands: Number(/total_commands_processed:(\d+)/.exec(await redis.say('INFO', 'stats'))![1]),
      redis_bytes: Number(/used_memory:(\d+)/.exec(await redis.say('INFO', 'memory'))![1]),
      postgres_transactions: Number(
        await database.ask('SELECT sum(xact_commit + xact_rollback) FROM pg_stat_database'),
      ),
      postgres_bytes: Number(await database.ask("SELECT pg_database_size('postgres')")),
    }),
    async stop() {
      await root.stop();
      await redis.stop();
      await database.stop();
    },
  };
}

/** What is spent in a second of rest: processor time in µs by process, events; and bytes as they stand at its end. */
async function atRest(of: Setup): Promise<Record<string, number>> {
  await wait(SETTLE);
  const spent = async () =>
    Object.fromEntries(
      Object.entries(await of.pids()).map(([name, pids]) => [
        `${name}_us`,
        pids.reduce((sum, pid) => sum + cpuMs(pid) * 1000, 0),
      ]),
    );
  const look = async () => ({ ...(await spent()), ...(await of.counts()) }) as Record<string, number>;
  const before = await look();
  await wait(REST);
  const after = await look();
  const rates = Object.entries(after).map(([name, n]) =>
    name.endsWith('_bytes') ? [name, n] : [name, (n - before[name]!) / REST],
  );
  return Object.fromEntries([...rates, ['root_bytes', memory(of.root.pid())]]);
}

/** What each pair adds. */
async function cost(name: string, open: () => Promise<Setup>): Promise<Record<string, number>> {
  const of = await step(`root ${name} starts`, open);
  const empty = await step('nobody is connected', () => atRest(of));
  await step(`${PAIRS} hubs and browsers sign in`, async () => {
    for (let n = 0; n < PAIRS; n++) await pair([of.root, of.root]);
  });
  const full = await step('all are at rest', () => atRest(of));
  await of.stop();
  return Object.fromEntries(
    Object.entries(full).map(([what, n]) => [what, Number(((n - empty[what]!) / PAIRS).toPrecision(3))]),
  );
}

const ours = await cost('with PostgreSQL and Redis', clustered);
const peer = await cost('on SQLite', alone);
const total = (of: Record<string, number>) =>
  Object.entries(of).reduce((sum, [name, n]) => sum + (name.endsWith('_us') ? n : 0), 0);
console.log(
  JSON.stringify({
    ...{ bench: 'rest', ours: Number(total(ours).toFixed(1)), peer: Number(total(peer).toFixed(1)) },
    ...{ unit: 'µs of a processor a pair and second', ratio: Number((total(ours) / total(peer)).toFixed(3)) },
    pairs: PAIRS,
    ...ours,
    ...Object.fromEntries(Object.entries(peer).map(([name, n]) => [`sqlite_${name}`, n])),
  }),
);
process.exit(0);
