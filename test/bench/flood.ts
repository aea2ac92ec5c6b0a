// Round trips of an honest browser, with nobody else there, beside one flooder that never signs in, beside fifty flooders
// (half of them signed in, with small valid frames), and beside 150 readers that stopped; through root and through a
// forwarder that checks nothing. Servers have core 0; flooders are another process on core 1 and give way to this one.
import { fork, spawnSync } from 'node:child_process';
import { setPriority } from 'node:os';
import type { Flooder } from './_flooder.ts';
import { message } from './_line.ts';
import { median, memory, ours, peer, quantile, type Side } from './_sides.ts';

const READERS = 150;
const FLOODERS = 50;
const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
const SECONDS = 4;
/** Pause between two frames of the honest browser, ms. */
const PACE = 5;
/** A frame that has not come back by then counts as one that took so long, ms. */
const LATEST = 3000;
/** Frames to readers that stopped: bytes of one, and how many a reader in a round. */
const BIG = 60_000;
const FRAMES = 40;

spawnSync('taskset', ['-cp', '1', String(process.pid)]);
const wait = (ms: number) => new Promise((r) => setTimeout(r, ms));

/** A frame from `namespace` as bytes. */
function frame(namespace: '/owner' | '/hub', sid: string, ctr: number, body: Uint8Array): Buffer {
  const event = namespace === '/hub' ? 'relay.to_browser' : 'relay.to_hub';
  const text = `451-${namespace},["${event}",{"sid":"${sid}","frame":{"_placeholder":true,"num":0},"ctr":${ctr}}]`;
  return Buffer.concat([message(false, Buffer.from(text)), message(true, body)]);
}

/** The honest browser is the first one, alone with the first hub, which sends back what it gets. */
function honest(side: Side) {
  const { sid, line } = side.browsers[0]!;
  const hub = side.hubs[0]!;
  let ctr = 1;
  const sent = new Map<number, number>();
  let took: number[] = [];
  const beforeHub = hub.onMessage;
  hub.onMessage = (binary, m) => {
    if (binary) hub.tcp.write(frame('/hub', sid, ctr++, m));
    else if (m[1] !== 0x35) beforeHub(binary, m);
  };
  const before = line.onMessage;
  line.onMessage = (binary, m) => {
    if (!binary) {
      if (m[1] !== 0x35) before(binary, m);
      return;
    }
    const id = m.readDoubleBE(0);
    const began = sent.get(id);
    if (began !== undefined) took.push(performance.now() - began);
    sent.delete(id);
  };
  return async () => {
    took = [];
    sent.clear();
    for (let end = performance.now() + SECONDS * 1000; performance.now() < end; ) {
      const body = Buffer.alloc(64);
      body.writeDoubleBE(ctr, 0);
      sent.set(ctr, performance.now());
      line.tcp.write(frame('/owner', sid, ctr++, body));
      await wait(PACE);
    }
    for (let i = 0; sent.size > 0 && i < LATEST / 50; i++) await wait(50);
    for (const began of sent.values()) took.push(performance.now() - began);
    return { p50: quantile(took, 0.5), p99: quantile(took, 0.99), lost: sent.size };
  };
}

/** Runs `work` while `n` flooders send. */
async function beside<T>(side: Side, n: number, work: () => Promise<T>): Promise<T> {
  const flooders: Flooder[] = Array.from({ length: n }, (_, i) => {
    const headers = { 'x-forwarded-for': `10.10.0.${i}` };
    if (i % 2 === 0) return { namespace: '', auth: {}, headers, sid: '', greeting: '' };
    return side.browsers[i + 1]!.papers;
  });
  const child = fork('test/bench/_flooder.ts', { execArgv: ['--import', 'tsx'] });
  setPriority(child.pid!, 10);
  child.send({ port: side.port, flooders });
  await wait(1000);
  try {
    return await work();
  } finally {
    child.kill('SIGKILL');
  }
}

/** Runs `work` while the second hub sends to readers that do not read. */
async function stopped(side: Side, work: () => Promise<object>): Promise<number> {
  const readers = side.browsers.filter((b) => b.hub === 1).slice(0, READERS);
  for (const r of readers) {
    r.line.tcp.removeAllListeners('close');
    r.line.tcp.on('error', () => {});
    r.line.tcp.pause();
  }
  const before = memory(side.pid);
  let most = 0;
  let over = false;
  const body = Buffer.alloc(BIG, 1);
  // Seldom, as looking at a process's memory holds it up.
  const looking = setInterval(() => {
    most = Math.max(most, memory(side.pid) - before);
  }, 2000);
  const sending = (async () => {
    for (let k = 1; k <= FRAMES && !over; k++)
      for (const [i, r] of readers.entries()) {
        side.hubs[1]!.tcp.write(frame('/hub', r.sid, k, body));
        // 32 MiB a second.
        if (i % 4 === 3) await wait(7);
      }
  })();
  await work();
  over = true;
  await sending;
  clearInterval(looking);
  return Math.max(most, memory(side.pid) - before);
}

type Figures = { idle: number; one: number; fifty: number; readers: number; growth: number; lost: number };

async function round(open: typeof ours): Promise<Figures & { name: string }> {
  // Browsers alternate between the two hubs; only the first one of the first hub is honest.
  const side = await open(2 * READERS + 2, 2);
  for (const l of [...side.hubs, ...side.browsers.map((b) => b.line)]) l.tcp.on('error', () => {});
  const measure = honest(side);
  await measure();
  const idle = await measure();
  const readers = { p99: 0, lost: 0 };
  const growth = await stopped(side, async () => Object.assign(readers, await measure()));
  const one = await beside(side, 1, measure);
  const fifty = await beside(side, FLOODERS, measure);
  for (const { line } of side.browsers) line.tcp.removeAllListeners('close');
  await side.stop();
  for (const l of [...side.hubs, ...side.browsers.map((b) => b.line)]) l.tcp.destroy();
  const lost = one.lost + fifty.lost + readers.lost;
  const f = { idle: idle.p99, one: one.p99, fifty: fifty.p99, readers: readers.p99, growth, lost };
  console.log(
    `${side.name} ${JSON.stringify(f, (_, v) => (typeof v === 'number' ? Math.round(v * 100) / 100 : v))}`,
  );
  return { name: side.name, ...f };
}

const all: Record<'ours' | 'peer', Figures[]> = { ours: [], peer: [] };
for (let i = 0; i < ROUNDS; i++)
  for (const open of i % 2 ? [peer, ours] : [ours, peer]) {
    const r = await round(open);
    all[r.name as 'ours' | 'peer'].push(r);
  }
const figure = (name: 'ours' | 'peer', key: keyof Figures) =>
  Number(median(all[name].map((f) => f[key])).toFixed(2));
const worst = (name: 'ours' | 'peer') =>
  Math.max(...(['one', 'fifty', 'readers'] as const).map((k) => figure(name, k)));
const [mine, theirs] = [worst('ours'), worst('peer')];
const each = (name: 'ours' | 'peer') => ({
  [`${name}_idle_p99_ms`]: figure(name, 'idle'),
  [`${name}_one_p99_ms`]: figure(name, 'one'),
  [`${name}_fifty_p99_ms`]: figure(name, 'fifty'),
  [`${name}_readers_p99_ms`]: figure(name, 'readers'),
  [`${name}_readers_growth_mib`]: Math.round(figure(name, 'growth') / 1024 / 1024),
  [`${name}_lost`]: figure(name, 'lost'),
});
console.log(
  JSON.stringify({
    bench: 'flood',
    ours: mine,
    peer: theirs,
    unit: 'ms p99',
    ratio: Number((mine / theirs).toFixed(4)),
    target: '<= 0.05',
    times_idle: Number((mine / figure('ours', 'idle')).toFixed(2)),
    rounds: ROUNDS,
    ...each('ours'),
    ...each('peer'),
  }),
);
process.exit(0);
