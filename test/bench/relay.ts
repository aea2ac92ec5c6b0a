// Frames a second, and latency, through root, through a forwarder on Socket.IO that checks nothing, and, as the limit, through
// uWebSockets.js alone. Each server has core 0 while it is measured; rounds alternate; medians are given. Frames are 1 KiB, half of them in each direction.
import { spawnSync } from 'node:child_process';
import { message } from './_line.ts';
import { cpuMs, median, ours, peer, quantile, raw, type Side } from './_sides.ts';

const BROWSERS = 32;
const HUBS = 4;
const ROUNDS = Number(process.env['ROUNDS'] ?? 7);
const SECONDS = 2;
/** Frames under way a sid and direction while throughput is measured. */
const WINDOW = 8;
/** Frames a second, both directions together, while latency is measured. */
const PACE = 2000;
const SIZE = 1024;

spawnSync('taskset', ['-cp', '1', String(process.pid)]);

/** One direction of one sid: packets ready but for the counter, which has eight digits. */
function stream(side: Side, i: number, up: boolean) {
  const b = side.browsers[i]!;
  const [namespace, event] = up ? ['/owner', 'relay.to_hub'] : ['/hub', 'relay.to_browser'];
  const text = `451-${namespace},["${event}",{"sid":"${b.sid}","frame":{"_placeholder":true,"num":0},"ctr":00000000}]`;
  const head = message(false, Buffer.from(text));
  const body = message(true, Buffer.alloc(SIZE, 3));
  const packet = Buffer.concat([head, body]);
  const tcp = (up ? b.line : side.hubs[b.hub]!).tcp;
  let ctr = 10_000_000;
  return {
    /** Writes `n` packets; each carries the time in its frame. */
    send(n: number) {
      const out = Buffer.allocUnsafe(n * packet.length);
      for (let k = 0; k < n; k++) {
        packet.copy(out, k * packet.length);
        out.write(String(++ctr), k * packet.length + head.length - 10, 'latin1');
        out.writeDoubleBE(performance.now(), (k + 1) * packet.length - SIZE);
      }
      tcp.write(out);
    },
  };
}

function load(side: Side) {
  const ups = side.browsers.map((_, i) => stream(side, i, true));
  const downs = side.browsers.map((_, i) => stream(side, i, false));
  const index = new Map(side.browsers.map((b, i) => [b.sid, i]));
  let arrived = 0;
  let refill = false;
  let latencies: number[] | null = null;
  const onFrame = (again: { send(n: number): void }, frame: Buffer) => {
    arrived++;
    latencies?.push(performance.now() - frame.readDoubleBE(0));
    if (refill) again.send(1);
  };
  side.browsers.forEach((b, i) => {
    const before = b.line.onMessage;
    b.line.onMessage = (binary, m) =>
      binary ? onFrame(downs[i]!, m) : m[1] === 0x35 ? undefined : before(binary, m);
  });
  for (const hub of side.hubs) {
    let at = 0;
    hub.onMessage = (binary, m) => {
      if (binary) onFrame(ups[at]!, m);
      else if (m[1] === 0x35) {
        const from = m.indexOf('"sid":"') + 7;
        at = index.get(m.toString('latin1', from, from + 22))!;
      } else {
        const id = /^42\/hub,(\d+)\["status"/.exec(m.toString())?.[1];
        if (id) hub.text(`43/hub,${id}[]`);
      }
    };
  }
  const wait = (ms: number) => new Promise((r) => setTimeout(r, ms));
  return {
    async throughput() {
      refill = true;
      for (const s of [...ups, ...downs]) s.send(WINDOW);
      await wait(300);
      const [began, cpu, first] = [performance.now(), cpuMs(side.pid), arrived];
      await wait(SECONDS * 1000);
      const frames = arrived - first;
      const rate = frames / ((performance.now() - began) / 1000);
      const spent = ((cpuMs(side.pid) - cpu) * 1000) / frames;
      refill = false;
      await wait(300);
      return { rate, cpu: spent };
    },
    async latency() {
      const all: number[] = [];
      latencies = all;
      const end = performance.now() + SECONDS * 1000;
      for (let i = 0; performance.now() < end; i++) {
        (i % 2 ? ups : downs)[(i >> 1) % BROWSERS]!.send(1);
        if (i % (PACE / 500) === 0) await wait(2);
      }
      await wait(300);
      latencies = null;
      return { p50: quantile(all, 0.5), p99: quantile(all, 0.99) };
    },
  };
}

const sides = [await ours(BROWSERS, HUBS), await peer(BROWSERS, HUBS), await raw(BROWSERS, HUBS)];
const loads = sides.map(load);
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
