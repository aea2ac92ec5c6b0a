// One side of the bench `crowd` in a process of its own: very many hubs, or very many browsers, that come back by
// themselves as the real ones do. Hubs send back what they get.
import { createPrivateKey, type KeyObject, randomBytes } from 'node:crypto';
import { SignJWT } from 'jose';
import { type Line, message, openLine } from './_line.ts';
import { quantile } from './_sides.ts';

/** Who connects; `key`: a hub's, PKCS 8 in PEM. */
export interface Member {
  namespace: '/hub' | '/owner';
  auth: Record<string, string>;
  headers: Record<string, string>;
  sid: string;
  /** What it says first: an event and its argument. */
  hello: [string, object];
  key?: string;
  audience: string;
}
export type Order =
  | { port: number; members: Member[] }
  /** So many of them are to be connected. */
  | { to: number }
  /** Round trips of single frames, `load` others a second beside them. */
  | { measure: { seconds: number; load: number } };
export type Report =
  | { up: number; refused: number }
  | { p50: number; p99: number; sent: number; lost: number };

/** Connections that are asked for at once. */
const AT_ONCE = 100;
/** Pause before the first try again, doubled up to the most, each by half at random; milliseconds. */
const PAUSE = { first: 250, most: 5000 };
/** Frames a second whose round trip is measured, and bytes of each. */
const PACE = 100;
const SIZE = 256;

const members: Member[] = [];
const lines: (Line | undefined)[] = [];
const isUp: boolean[] = [];
let port = 0;
let [up, refused, wanted, asked, counter] = [0, 0, 0, 0, 1];
let took: number[] = [];
const waiting: number[] = [];

function setUp(i: number, value: boolean): void {
  if ((isUp[i] ?? false) !== value) up += value ? 1 : -1;
  isUp[i] = value;
}

const keys = new Map<string, KeyObject>();
async function authOf(m: Member): Promise<object> {
  if (m.key === undefined) return m.auth;
  const key = keys.get(m.key) ?? createPrivateKey(m.key);
  keys.set(m.key, key);
  const now = Math.floor(Date.now() / 1000);
  const claims = { purpose: 'socket', aud: m.audience, iat: now, exp: now + 60 };
  const proof = await new SignJWT({ ...claims, jti: randomBytes(16).toString('base64url') })
    .setProtectedHeader({ alg: 'EdDSA' })
    .sign(key);
  return { ...m.auth, proof };
}

const eventOf = { '/hub': 'relay.to_browser', '/owner': 'relay.to_hub' } as const;
function frame(m: Member, body: Uint8Array): Buffer {
  const text = `451-${m.namespace},["${eventOf[m.namespace]}",{"sid":"${m.sid}","frame":{"_placeholder":true,"num":0},"ctr":${++counter}}]`;
  return Buffer.concat([message(false, Buffer.from(text)), message(true, body)]);
}

function heard(i: number, m: Member, line: Line, binary: boolean, payload: Buffer): void {
  if (binary) {
    if (m.namespace === '/hub') line.tcp.write(frame(m, payload));
    else if (payload[8] === 1) took.push(performance.now() - payload.readDoubleBE(0));
    return;
  }
  const text = payload.toString();
  const id = /^42[^,]+,(\d+)\["status"/.exec(text)?.[1];
  if (id) line.text(`43${m.namespace},${id}[]`);
  if (text.startsWith('42/hub,["pairing.request"'))
    line.text(`42/hub,["pairing.accept",${JSON.stringify({ sid: m.sid })}]`);
  if (m.namespace === '/owner' && text.includes('"route":"')) setUp(i, text.includes('"route":"bound"'));
  if (text.startsWith('43/hub,0[{"ok":true')) setUp(i, true);
}

async function connect(i: number, tries = 0): Promise<void> {
  const m = members[i]!;
  const again = () => {
    const pause = Math.min(PAUSE.most, PAUSE.first * 2 ** tries);
    setTimeout(() => ask(i, tries + 1), pause * (0.5 + Math.random() / 2));
  };
  try {
    const line = await openLine(port, m.namespace, await authOf(m), m.headers);
    lines[i] = line;
    line.tcp.on('error', () => {});
    line.tcp.once('close', () => {
      lines[i] = undefined;
      setUp(i, false);
      again();
    });
    line.onMessage = (binary, payload) => heard(i, m, line, binary, payload);
    line.text(`42${m.namespace},0${JSON.stringify(m.hello)}`);
  } catch {
    refused++;
    again();
  }
}
const tries: number[] = [];
function ask(i: number, nth = 0): void {
  waiting.push(i);
  tries[i] = nth;
  next();
}
function next(): void {
  while (asked < AT_ONCE && waiting.length > 0) {
    const i = waiting.shift()!;
    asked++;
    void connect(i, tries[i]).finally(() => {
      asked--;
      next();
    });
  }
}

async function measure(seconds: number, load: number): Promise<Report> {
  took = [];
  let sent = 0;
  const one = (isMeasured: boolean) => {
    const i = Math.floor(Math.random() * wanted);
    const line = lines[i];
    if (!line) return;
    const body = Buffer.alloc(SIZE);
    body.writeDoubleBE(performance.now(), 0);
    body[8] = isMeasured ? 1 : 0;
    if (isMeasured) sent++;
    line.tcp.write(frame(members[i]!, body));
  };
  const began = performance.now();
  let [measured, others] = [0, 0];
  while (performance.now() - began < seconds * 1000) {
    const s = (performance.now() - began) / 1000;
    for (; measured < s * PACE; measured++) one(true);
    for (; others < s * load; others++) one(false);
    await new Promise((r) => setTimeout(r, 2));
  }
  for (let i = 0; took.length < sent && i < 100; i++) await new Promise((r) => setTimeout(r, 50));
  return { p50: quantile(took, 0.5), p99: quantile(took, 0.99), sent, lost: sent - took.length };
}

process.on('message', (order: Order) => {
  if ('port' in order) {
    port = order.port;
    // One by one: a spread of ten thousand is too long for a call.
    for (const m of order.members) members.push(m);
  } else if ('to' in order) while (wanted < order.to) ask(wanted++);
  else void measure(order.measure.seconds, order.measure.load).then((r) => process.send!(r));
});
process.on('disconnect', () => process.exit());
setInterval(() => process.send?.({ up, refused } satisfies Report), 100);
