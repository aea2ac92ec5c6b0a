// Hostile input to every endpoint and every event of root, drawn from a seed: the same seed and number give the same
// input, but for the ids and keys of those who send it.
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import * as assert from 'uvu/assert';
import { message, openLine } from '../bench/_line.ts';
import { type Draw, drawing } from '../lab/draw.ts';
import { garbage, segments } from '../lab/garbage.ts';
import { type Asking, type Heard, keepAlive } from '../lab/keepalive.ts';
import { errorFault } from './fuzzed-answers.ts';
import { knownTo, type Person, person } from './fuzzed-people.ts';
import { ofHead, ofPlace, ofSchema } from './fuzzed-requests.ts';
import type { RootProcess } from './kit.ts';

type Body = Record<string, unknown>;

export const events = [
  ...['hub.online', 'owner.online', 'pairing.accept', 'relay.to_hub', 'relay.to_browser', 'status'],
  ...['page.get', 'pairing.request', 'disconnect', 'error', '__proto__', 'toString', 'x'.repeat(300), ''],
];

/** Values of an event, with what goes beside it in pieces of its own. */
function drawnArgs(d: Draw, known: Record<string, unknown[]>): { args: unknown[]; attached: Buffer[] } {
  const attached: Buffer[] = [];
  const frame = () => {
    attached.push(Buffer.alloc(d.pick([0, 1, 40, 1000]), 3));
    return { _placeholder: true, num: d.chance(20) ? 99 : attached.length - 1 };
  };
  const value = (name: string) =>
    name === 'frame' && !d.chance(4)
      ? frame()
      : d.chance(4)
        ? d.pick(garbage)
        : (known[name]?.[0] ?? d.pick(garbage));
  const names = ['sid', 'frame', 'ctr', 'hub_id', 'subnet_id', 'caps', 'session_jwt', 'browser_key_id', 'x'];
  const object = () => Object.fromEntries(names.filter(() => d.chance(2)).map((name) => [name, value(name)]));
  const args = Array.from({ length: d.below(3) }, () => (d.chance(3) ? d.pick(garbage) : object()));
  return { args, attached };
}

async function sendPacket(d: Draw, p: Person): Promise<void> {
  const namespace = d.pick(['/hub', '/owner'] as const);
  const line = await p.line(namespace);
  const { args, attached } = drawnArgs(d, knownTo(p));
  const kind = attached.length > 0 ? `45${attached.length}-` : '42';
  const to = d.chance(12) ? d.pick(['/', '/x', '']) : namespace;
  const text = `${kind}${to},${d.below(1000)}${JSON.stringify([d.pick(events), ...args])}`;
  const at = d.below(text.length);
  // One in eight is broken: cut, doubled, or with another beginning.
  const broken = [
    text.slice(0, at),
    text + text,
    `${d.below(10)}${text.slice(1)}`,
    `4${d.below(10)}${text.slice(2)}`,
  ];
  line.text(d.chance(8) ? d.pick(broken) : text);
  for (const a of attached) line.tcp.write(message(true, a));
}

/** Asks for a namespace with drawn papers. @returns what refused it */
async function knock(port: number, d: Draw, p: Person): Promise<string> {
  const known = knownTo(p);
  const names = ['hub_id', 'certificate', 'proof', 'session_jwt', 'token', 'sid', 'browser', 'first'];
  const first = { frame: d.pick(['AQID', 'A', '']), ctr: d.pick([7, -1, 2 ** 60]) };
  const right: Body = { certificate: p.hub.certificate, token: p.tab.token, first, ...known };
  const auth = Object.fromEntries(
    names
      .filter(() => d.chance(2))
      .map((n) => [
        n,
        d.chance(2) ? d.pick(garbage) : Array.isArray(right[n]) ? (right[n] as unknown[])[0] : right[n],
      ]),
  );
  const headers = { 'x-forwarded-for': addressOf(d), cookie: d.chance(2) ? p.tab.cookie : d.pick(segments) };
  try {
    const line = await openLine(port, d.pick(['/hub', '/owner', '/x']), auth, headers);
    line.tcp.destroy();
    return '';
  } catch (e) {
    return (e as Error).message;
  }
}

/** Bytes that are nearly a request. @returns how the answer begins */
async function sendBytes(port: number, d: Draw): Promise<string> {
  const whole = `${d.pick(['GET', 'POST', 'BREW'])} /v1/session HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${addressOf(d)}\r\nContent-Length: 2\r\n\r\n{}`;
  const bytes = Buffer.from(whole);
  for (let i = d.below(4); i >= 0; i--) bytes[d.below(bytes.length)] = d.below(256);
  const tcp = connect(port, '127.0.0.1');
  let said = '';
  tcp
    .on('error', () => {})
    .on('data', (chunk) => {
      said += chunk.toString('latin1');
    });
  tcp.end(bytes.subarray(0, d.chance(3) ? d.below(bytes.length) : bytes.length));
  await once(tcp, 'close');
  return said.slice(0, 200);
}

const addressOf = (d: Draw) => `172.${16 + d.below(16)}.${d.below(256)}.${1 + d.below(4)}`;

/** What root holds: descriptors, and resident bytes (VmRSS of proc(5)). */
export function footprint(root: RootProcess): { descriptors: number; bytes: number } {
  const status = readFileSync(`/proc/${root.pid()}/status`, 'utf8');
  return {
    descriptors: readdirSync(`/proc/${root.pid()}/fd`).length,
    bytes: Number(/^VmRSS:\s+(\d+)/m.exec(status)![1]) * 1024,
  };
}

export interface FuzzOptions {
  seed: number;
  /** Numbers of the inputs: from the first to before the last. */
  from: number;
  to: number;
  /** Senders side by side. */
  workers: number;
  /** Called now and then with how many have been sent. */
  progress?(done: number): void;
}

/** Inputs after which somebody else sends: what they may do is used up, signed out or revoked by then. */
const OF_ONE = 800;

/**
 * Sends the inputs. @returns how many of each kind, and how many answers of each status
 * @throws Error that names seed and number of the first input whose answer is wrong
 */
export async function fuzz(root: RootProcess, o: FuzzOptions) {
  const kinds: Record<string, number> = {};
  const statuses: Record<number, number> = {};
  let done = 0;
  const faults: string[] = [];
  let isOver = false;
  function answered(a: Asking, r: Heard): void {
    statuses[r.status] = (statuses[r.status] ?? 0) + 1;
    const why = r.status >= 400 && a.method !== 'HEAD' ? errorFault(r.status, r.text) : '';
    if (why !== '')
      faults.push(`${why}: ${a.method} ${a.path.slice(0, 200)}: ${r.status} ${r.text.slice(0, 300)}`);
  }
  function heard(text: string): void {
    const ack = /^43[^[]*\[(\{.*"ok":false.*\})\]$/s.exec(text)?.[1];
    const why = ack ? errorFault(0, ack, ['ok']) : '';
    if (why !== '') faults.push(`${why}: ${text.slice(0, 300)}`);
  }
  async function one(n: number, d: Draw, p: Person, http: ReturnType<typeof keepAlive>): Promise<string> {
    const request = async (kind: string, a: Promise<Asking>) => {
      const asked = await a;
      const from = { 'x-forwarded-for': addressOf(d) };
      answered(asked, await http.ask({ ...asked, headers: { ...from, ...asked.headers, ...from } }));
      return kind;
    };
    const turn = Math.floor(n / 8);
    switch (n % 8) {
      case 0:
      case 1:
      case 2:
        return request('field', ofPlace(o.seed + 3 * turn + (n % 8), p));
      case 3:
        return request('body', ofSchema(d, p));
      case 4:
        return request('head', ofHead(d, p));
      case 5:
      case 6:
        await sendPacket(d, p);
        return 'packet';
      default: {
        if (d.chance(2)) {
          const said = await sendBytes(root.port, d);
          // 505 (version) is the HTTP server's own word.
          assert.not.match(said, /^HTTP\/1\.1 5(?!05)/);
          return 'bytes';
        }
        const refused = /^44[^{]*(\{.*\})$/s.exec(await knock(root.port, d, p))?.[1];
        const data = refused && (JSON.parse(refused) as { data?: unknown }).data;
        if (data) assert.is(errorFault(0, JSON.stringify(data)), '', refused);
        return 'handshake';
      }
    }
  }
  async function worker(w: number): Promise<void> {
    const http = keepAlive(root.port);
    let p: Person | undefined;
    let left = 0;
    try {
      for (let n = o.from + w; n < o.to && faults.length === 0 && !isOver; n += o.workers) {
        if (!p || left-- === 0) {
          p?.close();
          p = await person(root, heard);
          left = OF_ONE;
        }
        try {
          const kind = await one(n, drawing(o.seed, n), p, http);
          kinds[kind] = (kinds[kind] ?? 0) + 1;
        } catch (e) {
          // Who signed out, or was refused for a while, gets no connection: somebody else goes on.
          if (root.alive() && /^44|\b429\b|closed the connection/.test((e as Error).message)) left = 0;
          else {
            isOver = true;
            throw new Error(`seed ${o.seed}, input ${n}: ${(e as Error).message}`);
          }
        }
        done++;
        if (done % 1000 === 0) o.progress?.(done);
      }
    } finally {
      p?.close();
      http.close();
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: o.workers }, (_, w) => worker(w)));
  for (const r of ended) if (r.status === 'rejected') throw r.reason;
  assert.equal(faults, [], `seed ${o.seed}`);
  return { done, kinds, statuses };
}
