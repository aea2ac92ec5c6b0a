// Memory a connected browser costs root, and a forwarder that keeps nothing but its sockets. Proportional set size
// (Linux smaps_rollup) before and after the browsers connect, sockets authenticated and routes bound on our side.
import { spawnSync } from 'node:child_process';
import { median, memory, ours, peer } from './_sides.ts';

const COUNT = Number(process.env['SOCKETS'] ?? 5000);
const HUBS = 50;
const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
/** Long enough for collections and for timers of the handshakes to run out. */
const SETTLE_MS = Number(process.env['SETTLE_MS'] ?? 15_000);

spawnSync('taskset', ['-cp', '1', String(process.pid)]);
const wait = (ms: number) => new Promise((r) => setTimeout(r, ms));

async function cost(open: typeof ours): Promise<number> {
  let before = 0;
  const side = await open(COUNT, HUBS, async (pid) => {
    await wait(2000);
    before = memory(pid);
  });
  await wait(SETTLE_MS);
  const after = memory(side.pid);
  for (const { line } of side.browsers) line.tcp.removeAllListeners('close');
  await side.stop();
  for (const { line } of side.browsers) line.tcp.destroy();
  for (const line of side.hubs) line.tcp.destroy();
  return (after - before) / COUNT;
}

const a: number[] = [];
const b: number[] = [];
for (let i = 0; i < ROUNDS; i++) {
  a.push(await cost(ours));
  b.push(await cost(peer));
}
const [mine, theirs] = [median(a), median(b)];
console.log(
  JSON.stringify({
    bench: 'idle',
    ours: Math.round(mine),
    peer: Math.round(theirs),
    unit: 'bytes/socket',
    ratio: Number((mine / theirs).toFixed(3)),
    target: '<= 1.3',
    sockets: COUNT,
    rounds: ROUNDS,
    ours_all: a.map(Math.round),
    peer_all: b.map(Math.round),
  }),
);
process.exit(0);
