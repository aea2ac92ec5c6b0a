// Memory a connected browser costs root, and a forwarder that keeps nothing but its sockets. Proportional set size
// (Linux smaps_rollup) before and after the browsers connect, sockets authenticated and routes bound on our side, once
// the timers of the handshakes have run out: as the operating system sees both, with what V8 keeps as garbage, which
// is most of it. What remains once both have collected theirs is told as well.
import { spawnSync } from 'node:child_process';
import { collect } from './_heap.ts';
import { median, memory, ours, peer } from './_sides.ts';

const COUNT = Number(process.env['SOCKETS'] ?? 5000);
const HUBS = 50;
const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
/** How long both are left alone first, milliseconds. */
const REST_MS = Number(process.env['REST_MS'] ?? 15_000);

spawnSync('taskset', ['-cp', '1', String(process.pid)]);
const wait = (ms: number) => new Promise((r) => setTimeout(r, ms));

/** Memory of a process at rest, bytes: with its garbage, and without. */
async function rested(pid: number): Promise<{ all: number; live: number }> {
  await wait(REST_MS);
  const all = memory(pid);
  await collect(pid);
  await wait(1000);
  return { all, live: memory(pid) };
}

async function cost(open: typeof ours): Promise<{ all: number; live: number }> {
  let before = 0;
  const side = await open(COUNT, HUBS, async (pid) => {
    before = (await rested(pid)).live;
  });
  const after = await rested(side.pid);
  for (const { line } of side.browsers) line.tcp.removeAllListeners('close');
  await side.stop();
  for (const { line } of side.browsers) line.tcp.destroy();
  for (const line of side.hubs) line.tcp.destroy();
  const each = (bytes: number) => (bytes - before) / COUNT;
  const [live, all] = [each(after.live), each(after.all)];
  console.log(`${side.name} ${Math.round(all)} bytes a socket, ${Math.round(live)} without garbage`);
  return { live, all };
}

type Cost = Awaited<ReturnType<typeof cost>>;
const a: Cost[] = [];
const b: Cost[] = [];
for (let i = 0; i < ROUNDS; i++) {
  a.push(await cost(ours));
  b.push(await cost(peer));
}
const middle = (all: Cost[], which: keyof Cost) => median(all.map((c) => c[which]));
const [mine, theirs] = [middle(a, 'all'), middle(b, 'all')];
const rounded = (all: Cost[], which: keyof Cost) => all.map((c) => Math.round(c[which]));
console.log(
  JSON.stringify({
    bench: 'idle',
    ours: Math.round(mine),
    peer: Math.round(theirs),
    unit: 'bytes/socket',
    ratio: Number((mine / theirs).toFixed(3)),
    target: '<= 0.9',
    sockets: COUNT,
    rounds: ROUNDS,
    ours_all: rounded(a, 'all'),
    peer_all: rounded(b, 'all'),
    ours_without_garbage: rounded(a, 'live'),
    peer_without_garbage: rounded(b, 'live'),
    ratio_without_garbage: Number((middle(a, 'live') / middle(b, 'live')).toFixed(3)),
  }),
);
process.exit(0);
