// Memory a connected browser costs root, and a forwarder that keeps nothing but its sockets. Proportional set size
// (Linux smaps_rollup) before and after the browsers connect, sockets authenticated and routes bound on our side.
import { spawnSync } from 'node:child_process';
import { median, memory, ours, peer } from './_sides.ts';

const COUNT = Number(process.env['SOCKETS'] ?? 5000);
const HUBS = 50;
const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
/**
 * Memory counts as settled when it has moved by less than this share for `STILL_MS`; it is waited for no longer than
 * `SETTLE_MS`. V8 gives back what the connecting left behind some eight seconds after a process has come to rest, twice
 * or three times over (its memory reducer), or up to a minute later; a shorter look measures garbage.
 */
const STILL = 0.005;
const STILL_MS = 40_000;
const SETTLE_MS = Number(process.env['SETTLE_MS'] ?? 120_000);

spawnSync('taskset', ['-cp', '1', String(process.pid)]);
const wait = (ms: number) => new Promise((r) => setTimeout(r, ms));

/** Memory of a process once collections have come and the timers of the handshakes have run out, bytes. */
async function settled(pid: number): Promise<number> {
  const began = Date.now();
  let [last, since] = [memory(pid), began];
  for (;;) {
    await wait(500);
    const [now, at] = [memory(pid), Date.now()];
    if (Math.abs(now - last) > STILL * last) [last, since] = [now, at];
    if (at - since >= STILL_MS || at - began >= SETTLE_MS) return now;
  }
}

async function cost(open: typeof ours): Promise<number> {
  let before = 0;
  const side = await open(COUNT, HUBS, async (pid) => {
    before = await settled(pid);
  });
  const after = await settled(side.pid);
  for (const { line } of side.browsers) line.tcp.removeAllListeners('close');
  await side.stop();
  for (const { line } of side.browsers) line.tcp.destroy();
  for (const line of side.hubs) line.tcp.destroy();
  const each = (after - before) / COUNT;
  console.log(`${side.name} ${Math.round(each)} bytes a socket`);
  return each;
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
    target: '<= 0.9',
    sockets: COUNT,
    rounds: ROUNDS,
    ours_all: a.map(Math.round),
    peer_all: b.map(Math.round),
  }),
);
process.exit(0);
