// Updates a second, and p99, to 100 clients of one room and to 1,000 rooms, and memory a room, beside the reference
// y-websocket server and Hocuspocus in one run. Ours has each update on the disk before others see it; the peers keep
// theirs in memory. Each server has core 0 while it is measured; rounds alternate; medians are given.
import { type ChildProcess, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEncoder, toUint8Array, writeVarString, writeVarUint, writeVarUint8Array } from 'lib0/encoding';
import * as Y from 'yjs';
import { encodeStep1 } from '../../firmware/documents/message.ts';
import { ensureToken } from '../../firmware/system/token.ts';
import { freePort } from '../../services/cli/house/runtime.ts';
import { child } from '../lab/child.ts';
import { tried, until } from '../lab/wait.ts';
import { peersFolder } from './_peers.ts';
import { cpuMs, median, quantile } from './_sides.ts';
import { openWire, type Wire } from './_socket.ts';

const { compile } = await import('../compile.mjs' as string);

const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
const SECONDS = Number(process.env['SECONDS'] ?? 3);
const CLIENTS = 100;
const WRITERS = 10;
const ROOMS = 1000;
/** Updates under way a writer of the one room, and rooms with one under way, while throughput is measured. */
const WINDOW = 8;
const BUSY_ROOMS = 100;
/** Updates a second while latency is measured. */
const PACE = 200;

spawnSync('taskset', ['-cp', '1', String(process.pid)]);
const folder = mkdtempSync(join(tmpdir(), 'ingle-bench-'));
const peers = peersFolder();
const pause = (ms: number) => new Promise((r) => setTimeout(r, ms));

interface Side {
  name: 'ours' | 'y-websocket' | 'hocuspocus';
  port: number;
  pid: number;
  join(room: string): Promise<Wire>;
  /** A message with an update of a room, framed. */
  frame(wire: Wire, room: string, update: Uint8Array): Buffer;
}

const roomName = (i: number) => `o1/desktop/state:device/room${i}`;
const sync = (update: Uint8Array, room?: string): Uint8Array => {
  const e = createEncoder();
  if (room !== undefined) writeVarString(e, room);
  writeVarUint(e, 0);
  writeVarUint(e, 2);
  writeVarUint8Array(e, update);
  return toUint8Array(e);
};

const servers = new Set<ChildProcess>();
async function start(name: Side['name'], args: string[], port: number, env = {}): Promise<number> {
  const server = child('taskset', ['-c', '0', process.execPath, ...args], {
    env: { ...process.env, ...env },
  });
  servers.add(server);
  await until(
    tried(async () => (await fetch(`http://127.0.0.1:${port}/`)).status > 0),
    `the server ${name}`,
  );
  return server.pid!;
}

async function ours(): Promise<Side> {
  const port = await freePort('127.0.0.1');
  const data = mkdtempSync(join(folder, 'ours-'));
  const token = ensureToken(join(data, 'token'));
  const file: string = (await compile(['test/bench/_rooms.ts'])).get('test/bench/_rooms.ts');
  const pid = await start('ours', [file, `${port}`, data], port);
  return {
    ...{ name: 'ours', port, pid },
    async join(room) {
      const w = await openWire(port, `/sync/${room}`, { 'x-service-token': token });
      w.send(w.frame(encodeStep1(new Uint8Array([0]))));
      return w;
    },
    frame: (w, _, update) => w.frame(sync(update)),
  };
}

async function reference(): Promise<Side> {
  const port = await freePort('127.0.0.1');
  const file = join(peers, 'node_modules/@y/websocket-server/src/server.js');
  const pid = await start('y-websocket', [file], port, { HOST: '127.0.0.1', PORT: String(port) });
  return {
    ...{ name: 'y-websocket', port, pid },
    async join(room) {
      const w = await openWire(port, `/${room}`);
      w.send(w.frame(encodeStep1(new Uint8Array([0]))));
      return w;
    },
    frame: (w, _, update) => w.frame(sync(update)),
  };
}

async function hocuspocus(): Promise<Side> {
  const port = await freePort('127.0.0.1');
  const pid = await start('hocuspocus', ['test/bench/_hocuspocus.mjs', peers, `${port}`], port);
  return {
    ...{ name: 'hocuspocus', port, pid },
    async join(room) {
      const w = await openWire(port, '/');
      const auth = createEncoder();
      writeVarString(auth, room);
      writeVarUint(auth, 2);
      writeVarUint(auth, 0);
      writeVarString(auth, 'token');
      const first = new Promise<void>((resolve) => {
        w.onMessage = () => resolve();
      });
      w.send(w.frame(toUint8Array(auth)));
      await first;
      w.onMessage = () => {};
      const step1 = createEncoder();
      writeVarString(step1, room);
      writeVarUint(step1, 0);
      writeVarUint(step1, 0);
      writeVarUint8Array(step1, new Uint8Array([0]));
      w.send(w.frame(toUint8Array(step1)));
      return w;
    },
    frame: (w, room, update) => w.frame(sync(update, room)),
  };
}

/** Updates a second for which the load is ready, as making one takes longer than sending it. */
const READY = 40_000;

/** Updates of one key that Yjs itself makes: each holds `@`, the writer in three digits and its number in seven. */
function writer(n: number) {
  const doc = new Y.Doc();
  let made: Uint8Array = new Uint8Array();
  doc.on('update', (u: Uint8Array) => {
    made = u;
  });
  let count = 0;
  return (): Uint8Array => {
    const text = `@${String(n).padStart(3, '0')}${String(count++).padStart(7, '0')}`;
    doc.getMap('content').set(`w${n}`, text);
    return made;
  };
}

const digits = (b: Buffer, at: number, n: number): number => {
  let out = 0;
  for (let i = 0; i < n; i++) out = out * 10 + b[at + i]! - 48;
  return out;
};

/** Reads the newest update of each writer in a message, -1: none. What goes to many clients is read once. */
function newest(writers: number): (b: Buffer) => Int32Array {
  let last = Buffer.alloc(0);
  const found = new Int32Array(writers);
  return (b) => {
    if (b.equals(last)) return found;
    last = Buffer.from(b);
    found.fill(-1);
    for (let at = b.indexOf(64); at >= 0; at = b.indexOf(64, at + 1)) {
      const who = digits(b, at + 1, 3);
      // Anything else with that byte in it.
      if (!(who >= 0 && who < writers)) continue;
      const seq = digits(b, at + 4, 7);
      if (seq > found[who]!) found[who] = seq;
      at += 10;
    }
    return found;
  };
}

/** Rooms with their clients and writers; the newest of a writer that a client has is what it has of it. */
function load(side: Side, rooms: { name: string; wires: Wire[]; writers: number }[]) {
  interface Author {
    wire: Wire;
    make(): Buffer;
    /** Made, and not sent yet. */
    ready: Buffer[];
    /** Number of the next one that is sent. */
    seq: number;
    left: Uint16Array;
    at: Float64Array;
  }
  const MOST = 1 << 20;
  const authors: Author[][] = [];
  let done = 0;
  let again: ((a: Author) => void) | null = null;
  let latencies: number[] | null = null;
  for (const { name, wires, writers } of rooms) {
    const own: Author[] = [];
    authors.push(own);
    for (let i = 0; i < writers; i++) {
      const wire = wires[i]!;
      const next = writer(i);
      own.push({
        ...{ wire, make: () => side.frame(wire, name, next()), ready: [], seq: 0 },
        left: new Uint16Array(rooms.length > 1 ? 1 << 14 : MOST),
        at: new Float64Array(rooms.length > 1 ? 1 << 14 : MOST),
      });
    }
    const read = newest(writers);
    wires.forEach((wire, me) => {
      const seen = new Int32Array(writers).fill(-1);
      wire.onMessage = (b) => {
        const news = read(b);
        const now = performance.now();
        for (const who of news.keys()) {
          const [author, seq] = [own[who]!, news[who]!];
          if (seq <= seen[who]! || who === me) continue;
          for (let k = seen[who]! + 1; k <= seq; k++) {
            latencies?.push(now - author.at[k % author.at.length]!);
            if (--author.left[k % author.left.length]! === 0) {
              done++;
              again?.(author);
            }
          }
          seen[who] = seq;
        }
      };
    });
  }
  const send = (a: Author, others: number) => {
    const k = a.seq++ % a.left.length;
    const frame = a.ready.pop() ?? a.make();
    a.left[k] = others;
    a.at[k] = performance.now();
    a.wire.send(frame);
  };
  const prepare = () => {
    const flat = authors.flat();
    const enough = (READY * (SECONDS + 1)) / flat.length;
    for (const a of flat) {
      const more: Buffer[] = [];
      while (more.length + a.ready.length < enough) more.push(a.make());
      // The oldest stands at the end, from where they are taken.
      a.ready = [...more.reverse(), ...a.ready];
    }
  };
  const others = rooms[0]!.wires.length - 1;
  return {
    /** Updates a second that every other client has; `under` of each author, or one of so many rooms. */
    async throughput(under: number, busy = rooms.length): Promise<{ rate: number; cpu: number }> {
      prepare();
      let next = 0;
      again = (a) => send(busy < rooms.length ? authors[next++ % rooms.length]![0]! : a, others);
      if (busy < rooms.length) for (; next < busy; ) send(authors[next++]![0]!, others);
      else for (const a of authors.flat()) for (let i = 0; i < under; i++) send(a, others);
      await pause(300);
      const [began, first, cpu] = [performance.now(), done, cpuMs(side.pid)];
      await pause(SECONDS * 1000);
      const updates = done - first;
      const rate = updates / ((performance.now() - began) / 1000);
      const spent = ((cpuMs(side.pid) - cpu) * 1000) / updates;
      again = null;
      await pause(400);
      return { rate, cpu: spent };
    },
    async latency() {
      const all: number[] = [];
      const flat = authors.flat();
      await pause(200);
      latencies = all;
      const began = performance.now();
      for (let i = 0; performance.now() < began + SECONDS * 1000; i++) {
        send(flat[i % flat.length]!, others);
        const ahead = began + ((i + 1) * 1000) / PACE - performance.now();
        if (ahead > 1) await pause(ahead);
      }
      await pause(400);
      latencies = null;
      return { p50: quantile(all, 0.5), p99: quantile(all, 0.99) };
    },
  };
}

async function inGroups<T>(n: number, work: (i: number) => Promise<T>): Promise<T[]> {
  const out: T[] = [];
  for (let i = 0; i < n; i += 50)
    out.push(...(await Promise.all(Array.from({ length: Math.min(50, n - i) }, (_, k) => work(i + k)))));
  return out;
}
const rss = (pid: number) => Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096;

const all = async () => [await ours(), await reference(), await hocuspocus()];
let sides = await all();
const figures: Record<string, Record<string, number[]>> = {};
const note = (side: string, what: string, value: number) => {
  // A server that has come to a stand answers nothing in a round; the others are measured on.
  if (!Number.isFinite(value)) return console.error(`${side} ${what}: no answer`);
  console.error(`${side} ${what} ${value.toFixed(2)}`);
  figures[side] ??= {};
  figures[side][what] = [...(figures[side][what] ?? []), value];
};
const one: ReturnType<typeof load>[] = [];
const many: ReturnType<typeof load>[] = [];
for (const side of sides) {
  const wires = await inGroups(CLIENTS, () => side.join(roomName(0)));
  one.push(load(side, [{ name: roomName(0), wires, writers: WRITERS }]));
}
for (let round = 0; round <= ROUNDS; round++)
  for (let k = 0; k < sides.length; k++) {
    const i = (round + k) % sides.length;
    const { rate, cpu } = await one[i]!.throughput(WINDOW);
    const l = await one[i]!.latency();
    // The first round warms the compilers.
    if (round === 0) continue;
    note(sides[i]!.name, 'room', rate);
    note(sides[i]!.name, 'room_cpu_us', cpu);
    note(sides[i]!.name, 'room_p50', l.p50);
    note(sides[i]!.name, 'room_p99', l.p99);
  }
// Anew, as what the first half left unused would hide what a room takes.
for (const server of servers) server.kill('SIGKILL');
sides = await all();
for (const side of sides) {
  await pause(1000);
  const before = rss(side.pid);
  const rooms = await inGroups(ROOMS, async (i) => {
    const name = roomName(i + 1);
    return { name, wires: [await side.join(name), await side.join(name)], writers: 1 };
  });
  await pause(3000);
  note(side.name, 'bytes', (rss(side.pid) - before) / ROOMS);
  many.push(load(side, rooms));
}
for (let round = 0; round <= ROUNDS; round++)
  for (let k = 0; k < sides.length; k++) {
    const i = (round + k) % sides.length;
    const { rate, cpu } = await many[i]!.throughput(1, BUSY_ROOMS);
    const l = await many[i]!.latency();
    if (round === 0) continue;
    note(sides[i]!.name, 'rooms', rate);
    note(sides[i]!.name, 'rooms_cpu_us', cpu);
    note(sides[i]!.name, 'rooms_p50', l.p50);
    note(sides[i]!.name, 'rooms_p99', l.p99);
  }
const of = (side: string, what: string, digits = 0) => Number(median(figures[side]![what]!).toFixed(digits));
const better = (what: string) => Math.max(of('y-websocket', what), of('hocuspocus', what));
const said = Object.fromEntries(
  sides.flatMap(({ name }) =>
    Object.keys(figures[name]!).map((what) => [
      `${name.replace('-', '_')}_${what}`,
      of(name, what, /_p/.test(what) ? 2 : 0),
    ]),
  ),
);
rmSync(folder, { recursive: true, force: true });
console.log(
  JSON.stringify({
    bench: 'sync',
    ours: of('ours', 'room'),
    peer: better('room'),
    unit: 'updates/s',
    ratio: Number((of('ours', 'room') / better('room')).toFixed(3)),
    target: '>= 2',
    rooms_ratio: Number((of('ours', 'rooms') / better('rooms')).toFixed(3)),
    rooms_target: '>= 2',
    rounds: ROUNDS,
    ...said,
  }),
);
process.exit(0);
