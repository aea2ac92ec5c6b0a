// Frames of 1 KiB between two processes of root: the line they have beside Redis Streams and sharded pub/sub of one Redis,
// in turn. Frames a second when as many go as the way takes, delay of one frame every two milliseconds, and the
// processor time of all that takes part. The peer is the better of Redis's two.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '../../services/cli/house/runtime.ts';
import { startRedis } from '../lab/redis.ts';
import { type Name, open, type Way, ways } from './_lines.ts';
import { cpuMs, median, quantile } from './_sides.ts';

const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
const FRAMES = Number(process.env['FRAMES'] ?? 40_000);
const BATCH = 200;
const SINGLE = 500;

interface Figures {
  rate: number;
  cpu_us: number;
  p50: number;
  p99: number;
  lost: number;
}
interface Count {
  next: number;
  outOfOrder: number;
  late: number[];
}

async function say<T>(child: ChildProcess, what: object | string): Promise<T> {
  const answer = once(child, 'message') as Promise<[T]>;
  child.send(what);
  return (await answer)[0];
}
/** Waits until the receiver has no more, or all. */
async function drained(child: ChildProcess, all: number): Promise<Count> {
  const late: number[] = [];
  for (let before = -1, still = 0; ; ) {
    const c = await say<Count>(child, 'count');
    late.push(...c.late);
    still = c.next === before ? still + 1 : 0;
    before = c.next;
    if (c.next >= all || still > 100) return { ...c, late };
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function measure(name: Name): Promise<Figures> {
  const redis = await startRedis();
  const child = fork('test/bench/_receiver.ts', { execArgv: ['--import', 'tsx'] });
  const names = { redis: redis.url, port: await freePort('127.0.0.1'), id: '' };
  const { id } = await say<{ id: string }>(child, { way: name, names });
  const way: Way = await open(name, { ...names, id });
  const cpu = () => cpuMs(process.pid) + cpuMs(child.pid!) + cpuMs(redis.pid());
  let sent = 0;
  const all = async (count: number) => {
    for (let i = 0; i < count; i += BATCH) {
      await way.send(sent, BATCH);
      sent += BATCH;
    }
  };
  await all(FRAMES / 4);
  await drained(child, sent);
  const [began, cpuBefore] = [performance.now(), cpu()];
  await all(FRAMES);
  const { next } = await drained(child, sent);
  const seconds = (performance.now() - began) / 1000;
  const cpu_us = ((cpu() - cpuBefore) * 1000) / FRAMES;
  const lost = sent - next;
  for (let i = 0; i < SINGLE; i++) {
    await way.send(sent++, 1);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const { late } = await drained(child, sent);
  await way.close();
  child.kill('SIGKILL');
  await redis.stop();
  return { rate: FRAMES / seconds, cpu_us, p50: quantile(late, 0.5), p99: quantile(late, 0.99), lost };
}

const results = Object.fromEntries(ways.map((w) => [w, [] as Figures[]])) as Record<Name, Figures[]>;
for (let round = 0; round < ROUNDS; round++)
  for (const w of ways) {
    const f = await measure(w);
    results[w].push(f);
    console.log(
      `${w} ${Math.round(f.rate)} frames/s, ${f.cpu_us.toFixed(1)} µs of a processor, p50 ${f.p50.toFixed(2)} ms, p99 ${f.p99.toFixed(2)} ms, lost ${f.lost}`,
    );
  }
const of = (w: Name, key: keyof Figures) => Number(median(results[w].map((f) => f[key])).toFixed(2));
const ours = of('line', 'rate');
const peer = Math.max(of('streams', 'rate'), of('sharded', 'rate'));
const figures = (w: Name) => ({
  [`${w}_rate`]: of(w, 'rate'),
  [`${w}_cpu_us`]: of(w, 'cpu_us'),
  [`${w}_p50_ms`]: of(w, 'p50'),
  [`${w}_p99_ms`]: of(w, 'p99'),
  [`${w}_lost`]: of(w, 'lost'),
});
console.log(
  JSON.stringify({
    ...{ bench: 'lines', ours, peer, unit: 'frames/s', ratio: Number((ours / peer).toFixed(4)) },
    ...{ rounds: ROUNDS, frame_bytes: 1024, ...Object.assign({}, ...ways.map(figures)) },
  }),
);
process.exit(0);
