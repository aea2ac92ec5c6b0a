// Frames a second, and latency, through root, through a forwarder on Socket.IO that checks nothing, and, as the limit, through
// uWebSockets.js alone. Each server has core 0 while it is measured; rounds alternate; medians are given. Frames are 1 KiB, half of them in each direction.
import { spawnSync } from 'node:child_process';
import { load, SIZE } from './_load.ts';
import { median, ours, peer, raw } from './_sides.ts';

const BROWSERS = 32;
const HUBS = 4;
const ROUNDS = Number(process.env['ROUNDS'] ?? 7);

spawnSync('taskset', ['-cp', '1', String(process.pid)]);

const sides = [await ours(BROWSERS, HUBS), await peer(BROWSERS, HUBS), await raw(BROWSERS, HUBS)];
const loads = sides.map((s) => load({ ...s, pids: [s.pid] }));
const results = sides.map(() => ({
  rate: [] as number[],
  cpu: [] as number[],
  p50: [] as number[],
  p99: [] as number[],
}));
for (let round = 0; round < ROUNDS; round++)
  for (const k of round % 2 ? [2, 1, 0] : [0, 1, 2]) {
    const t = await loads[k]!.throughput();
    const l = await loads[k]!.latency();
    const r = results[k]!;
    // The first round warms the compilers.
    if (round === 0) continue;
    r.rate.push(t.rate);
    r.cpu.push(t.cpu);
    r.p50.push(l.p50);
    r.p99.push(l.p99);
  }
for (const s of sides) await s.stop();
const [a, b, c] = results.map(
  (r): Record<string, number> => ({
    rate: Math.round(median(r.rate)),
    cpu: Number(median(r.cpu).toFixed(1)),
    p50: Number(median(r.p50).toFixed(2)),
    p99: Number(median(r.p99).toFixed(2)),
  }),
);
console.log(
  JSON.stringify({
    bench: 'relay',
    ours: a!['rate'],
    peer: b!['rate'],
    unit: 'frames/s',
    ratio: Number((a!['rate']! / b!['rate']!).toFixed(3)),
    target: '>= 1.2',
    rounds: ROUNDS - 1,
    frame_bytes: SIZE,
    ours_cpu_us_per_frame: a!['cpu'],
    peer_cpu_us_per_frame: b!['cpu'],
    ours_p50_ms: a!['p50'],
    peer_p50_ms: b!['p50'],
    ours_p99_ms: a!['p99'],
    peer_p99_ms: b!['p99'],
    limit: c!['rate'],
    ratio_to_limit: Number((a!['rate']! / c!['rate']!).toFixed(3)),
    limit_cpu_us_per_frame: c!['cpu'],
    limit_p50_ms: c!['p50'],
    limit_p99_ms: c!['p99'],
  }),
);
process.exit(0);
