// The direct way beside the one through root: time of a request and bytes a second, with root a turn of the event loop away
// and with 40 ms each way emulated; a change of ways in the middle of 10 MiB; memory of the process that has both ends. The
// way through root is a queue in this process, so its first figures are better than any root's.
import { readFileSync } from 'node:fs';
import { localApi } from '../uplink/kit.ts';
import { endAll, pair } from '../uplink/pair.ts';
import { median, quantile } from './_sides.ts';

const REQUESTS = Number(process.env['REQUESTS'] ?? 200);
const ROUNDS = Number(process.env['ROUNDS'] ?? 5);
const MIB = 1024 * 1024;
const BIG = 10 * MIB;

/** Resident memory of this process, bytes (proc(5), VmRSS). */
const rss = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))![1]) * 1024;

const piece = Buffer.alloc(64 * 1024, 7);
const api = await localApi();
api.use(async (q, s) => {
  if (q.url === '/big') for (let i = 0; i < BIG / piece.length; i++) s.write(piece);
  s.end();
});

type Pair = Awaited<ReturnType<typeof pair>>;

async function latencies(p: Pair, n: number) {
  const all: number[] = [];
  for (let i = 0; i < n; i++) {
    const began = performance.now();
    await p.get();
    all.push(performance.now() - began);
  }
  return { p50: quantile(all, 0.5), p99: quantile(all, 0.99) };
}
async function rate(p: Pair): Promise<number> {
  const all: number[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    const began = performance.now();
    await p.download();
    all.push((BIG / (performance.now() - began)) * 1000);
  }
  return median(all);
}
const measured = async (p: Pair, n = REQUESTS) => ({ ...(await latencies(p, n)), rate: await rate(p) });

const near = await pair(api);
await measured(near, 50);
const relay = await measured(near);
const memory = { before: rss(), during: 0, after: 0 };
await near.connect();
await measured(near, 50);
const direct = await measured(near);
memory.during = rss();

/** Longest time between two pieces of 10 MiB while ways change both times, milliseconds, and bytes that came. */
async function change(): Promise<{ pause: number; bytes: number }> {
  const p = await pair(api);
  let [last, pause] = [performance.now(), 0];
  let step = 0;
  const bytes = await p.download(async (got) => {
    pause = Math.max(pause, performance.now() - last);
    if (step === 0 && got > 2 * MIB) step = 1;
    else if (step === 2 && got > 6 * MIB) {
      step = 3;
      p.line!.close();
    }
    last = performance.now();
    if (step === 1) {
      step = 2;
      await p.connect();
      last = performance.now();
    }
  });
  if (p.lost.length > 0) throw new Error(`The channel was lost: ${p.lost.join()}`);
  p.close();
  return { pause, bytes };
}
const changed = await change();
near.close();
await new Promise((r) => setTimeout(r, 1000));
memory.after = rss();

const far = await pair(api, { delay: 40 });
const farRelay = await measured(far, Math.min(REQUESTS, 50));
await far.connect();
const farDirect = await measured(far, Math.min(REQUESTS, 50));
far.close();
endAll();
await api.stop();

const ms = (n: number) => Number(n.toFixed(2));
console.log(
  JSON.stringify({
    bench: 'direct',
    ours: ms(farDirect.p50),
    peer: ms(farRelay.p50),
    unit: 'ms',
    ratio: Number((farDirect.p50 / farRelay.p50).toFixed(3)),
    requests: REQUESTS,
    far_direct_p99_ms: ms(farDirect.p99),
    far_relay_p99_ms: ms(farRelay.p99),
    far_direct_bytes_s: Math.round(farDirect.rate),
    far_relay_bytes_s: Math.round(farRelay.rate),
    near_direct_p50_ms: ms(direct.p50),
    near_relay_p50_ms: ms(relay.p50),
    near_direct_p99_ms: ms(direct.p99),
    near_relay_p99_ms: ms(relay.p99),
    near_direct_bytes_s: Math.round(direct.rate),
    near_relay_bytes_s: Math.round(relay.rate),
    change_longest_pause_ms: ms(changed.pause),
    change_bytes: changed.bytes,
    memory_before: memory.before,
    memory_during: memory.during,
    memory_after: memory.after,
  }),
);
process.exit(0);
