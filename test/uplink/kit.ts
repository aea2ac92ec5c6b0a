// A real uplink process on a private bus, a local API of plain parts, and the browser's end of it all.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect as connectTo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import type { Test } from 'uvu';
import { WebSocketServer } from 'ws';
import { fromBase64url, toBase64url, utf8 } from '../../firmware/protocol/bytes.ts';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import type { Access, Alarm, Channel, Lost } from '../../firmware/protocol/noise/channel.ts';
import { decodeControl, encodeControl } from '../../firmware/protocol/noise/control.ts';
import { followRotation } from '../../firmware/protocol/noise/follow.ts';
import { initiator } from '../../firmware/protocol/noise/initiator.ts';
import { unseal } from '../../firmware/protocol/noise/seal.ts';
import { generate, type KeyPair } from '../../firmware/protocol/noise/x25519.ts';
import { challengeOf } from '../../firmware/protocol/pairing/assertion.ts';
import { tunnelClient } from '../../firmware/protocol/tunnel/client.ts';
import type { TunnelClient } from '../../firmware/protocol/tunnel/tunnel.ts';
import type { Control, RelayMessage, RouteStatus } from '../../firmware/protocol/wire.ts';
import { type Bus, connect } from '../../firmware/system/bus.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import { privateBus } from '../lab/bus.ts';
import { ended as end, child as tether } from '../lab/child.ts';
import { programOf } from '../lab/program.ts';
import { newTab, type RootProcess, startRoot, until } from '../root/kit.ts';

type Tab = Awaited<ReturnType<typeof newTab>>;
type RootAt = { url: string; origin: string };
export type Welcome = Control & { t: 'welcome' };

/**
 * A local API that notes what reaches it: POST /once does an Idempotency-Key once, /echo answers, /ws echoes.
 * @param o.sockets port of another API, to which WebSockets go on
 */
export async function localApi(token = 'local-token', o: { sockets?: number } = {}) {
  const done = new Map<string, string>();
  const seen: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = [];
  let runs = 0;
  let answer = async (q: IncomingMessage, s: ServerResponse, body: string): Promise<void> => {
    s.end(`${q.method} ${q.url} ${body}`);
  };
  const server = createServer(async (q, s) => {
    // What uplink asks for browsers.
    if (q.url === '/health/live') return void s.end('{}');
    if (q.headers['x-service-token'] !== token) {
      s.writeHead(401).end('{}');
      return;
    }
    const parts: Buffer[] = [];
    try {
      for await (const p of q) parts.push(p as Buffer);
    } catch {
      return;
    }
    const body = Buffer.concat(parts).toString();
    seen.push({ method: q.method!, url: q.url!, headers: q.headers, body });
    if (q.url !== '/once') return void (await answer(q, s, body));
    const id = String(q.headers['idempotency-key']);
    if (!done.has(id)) {
      runs++;
      done.set(id, body);
    }
    s.setHeader('content-type', 'application/json');
    s.end(JSON.stringify({ id, stored: done.get(id) }));
  });
  const wss = new WebSocketServer(o.sockets ? { noServer: true } : { server });
  if (o.sockets)
    server.on('upgrade', ({ method, url, rawHeaders }, from) => {
      const to = connectTo(o.sockets!, '127.0.0.1');
      const head = rawHeaders.map((word, i) => word + (i % 2 ? '\r\n' : ': ')).join('');
      to.write(`${method} ${url} HTTP/1.1\r\n${head}\r\n`);
      pipeline(from, to, from, () => {});
    });
  wss.on('connection', (ws) => ws.on('message', (d, binary) => ws.send(d, { binary })));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    token,
    seen,
    done,
    get runs() {
      return runs;
    },
    /** Other answers, for one test. */
    use(f: typeof answer) {
      answer = f;
    },
    async stop() {
      for (const ws of wss.clients) ws.terminate();
      server.closeAllConnections();
      server.close();
    },
  };
}

/** What `phone` made. */
const phones = new Set<{ close(): void }>();

export type UplinkProcess = Awaited<ReturnType<typeof startUplink>>;

/** Starts services/uplink as its unit does; `kill` is kill -9, `again` starts it on the same data. */
export async function startUplink(o: {
  root: string;
  apiPort: number;
  token: string;
  config?: object;
  /** Another's bus and data: those of a hub that runs. */
  beside?: { bus: string; data: string };
}) {
  const own = o.beside ? undefined : await privateBus({ quiet: true });
  const daemon = own ?? { address: o.beside!.bus, stop: async () => {} };
  const dir = o.beside?.data ?? mkdtempSync(join(tmpdir(), 'ingle-uplink-'));
  mkdirSync(join(dir, 'api'), { recursive: true });
  writeFileSync(join(dir, 'api', 'token'), o.token);
  writeFileSync(join(dir, 'config.json'), JSON.stringify(o.config ?? {}));
  const bus: Bus = await connect(daemon.address);
  let child: ChildProcess;
  let log = '';
  let root = o.root;
  async function launch() {
    child = tether(process.execPath, programOf('services/uplink/main.ts'), {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        ...process.env,
        INGLE_BUS_ADDRESS: daemon.address,
        INGLE_CONFIG: join(dir, 'config.json'),
        INGLE_DATA: dir,
        INGLE_ROOT: root,
        INGLE_API_HOST: '127.0.0.1',
        INGLE_API_PORT: String(o.apiPort),
        INGLE_NAME: 'Test hub',
        // Most suites are about the way through root.
        INGLE_DIRECT: 'off',
      },
    });
    child.stderr!.on('data', (d: Buffer) => {
      log += d.toString();
    });
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`uplink ended: ${log}`);
      return (await bus.listNames()).includes(uplink1.bus);
    }, 'uplink on the bus');
  }
  async function ended(signal: NodeJS.Signals) {
    await end(child, signal, 'uplink');
    await until(async () => !(await bus.listNames()).includes(uplink1.bus), 'the name to be free');
    return child.exitCode;
  }
  await launch();
  const calls = bus.client(uplink1);
  return {
    bus,
    daemon,
    calls,
    data: join(dir, 'uplink'),
    log: () => log,
    exit: () => child.exitCode,
    again: launch,
    kill: () => ended('SIGKILL'),
    terminate: () => ended('SIGTERM'),
    setRoot(url: string) {
      root = url;
    },
    async enrolled() {
      const e = await calls.Enrol({});
      await until(async () => (await calls.Status({})).connected, 'the hub to be connected');
      return e;
    },
    async stop() {
      // Also those of a test that failed before it closed them: they would keep the file from ending.
      for (const p of phones) p.close();
      phones.clear();
      child.kill('SIGKILL');
      bus.close();
      await daemon.stop();
      if (own) rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** What the link's fragment says. */
export function accessOf(link: string): { code: string; access: Access & { mode: 'link' } } {
  const [version, code, hub, psk] = new URL(link).hash.slice(1).split('.');
  if (version !== 'v1') throw new Error(link);
  return { code: code!, access: { mode: 'link', hubStatic: fromBase64url(hub!), psk: fromBase64url(psk!) } };
}

/** Signs a tab in at root: with a device code and a new passkey the first time, by its passkey later. */
export async function signIn(root: RootAt, code: string, o: { keys?: Tab['keys'] } = {}): Promise<Tab> {
  const tab = await newTab(root, o);
  const passed = (r: { status: number; body: unknown }) => {
    if (r.status !== 200) throw new Error(JSON.stringify(r.body));
  };
  passed(await tab.verify(code));
  if (tab.keys.keys.length === 0) passed(await tab.register());
  passed(await tab.login());
  return tab;
}

/** Frame numbers a sid has used, as a browser keeps them over a page load. */
const numbers = new Map<string, number>();

export type Phone = Awaited<ReturnType<typeof phone>>;

/** The browser's end, as the owner's application has it: socket, channel, tunnel, answers to the hub. */
export async function phone(
  root: RootAt,
  tab: Tab,
  hubId: string,
  /** `sealed`: by the secret the hub sends in its insecure debug mode. */
  access: Access | 'sealed',
  o: { key?: KeyPair; silent?: boolean; handshake?: number } = {},
) {
  const key = o.key ?? (await generate());
  let generation = -1;
  let channel: Channel | undefined;
  let tunnel: TunnelClient | undefined;
  let hubStatic: Uint8Array | undefined;
  let signPub: string | undefined;
  const heard = {
    controls: [] as Control[],
    lost: [] as Lost[],
    alarms: [] as Alarm[],
    failed: [] as IngleError[],
    rotations: 0,
  };
  let admitted = false;
  /** The handshake each welcome belongs to. */
  const handshakes = new Map<Control, Uint8Array>();
  /** The sealed secrets that came, with each binding of the route. */
  const statuses: (string | undefined)[] = [];
  const socket = tab.socket();
  // As the application does: what got lost on a busy machine is asked again, while there is somebody to ask for.
  const offer = (): void =>
    void tab
      .offer({ e2e_pubkey: toBase64url(key.publicKey) })
      .catch(() => setTimeout(() => socket.connected && offer(), 200));
  socket.on('connect', () => {
    generation = -1;
    offer();
  });
  socket.on('status', (m: RouteStatus) => {
    if (m.route !== 'bound' || !m.hub_online || m.generation === generation) return;
    generation = m.generation;
    if (access === 'sealed') void unsealed(m.sealed_secret);
    else if (channel) channel.restart();
    else start(access);
  });
  socket.on('relay.to_browser', (m: RelayMessage) => channel?.receive(new Uint8Array(m.frame), m.ctr));
  socket.on('disconnect', () => {
    admitted = false;
  });

  async function unsealed(given: string | undefined) {
    statuses.push(given);
    if (channel?.current) return channel.restart();
    if (given === undefined) return;
    const secret = await unseal(fromBase64url(given), key, tab.sid, hubId);
    channel?.close();
    start({ mode: 'sealed', ...secret });
  }
  function start(access: Access) {
    channel = initiator({
      ...{ sid: tab.sid, hubId, key, access },
      counters: {
        async reserve(count) {
          const first = numbers.get(tab.sid) ?? 1;
          numbers.set(tab.sid, first + count);
          return first;
        },
      },
      // A test that loses frames waits less for those that never come.
      timing: { handshake: o.handshake ?? 10_000, backoff: 100, backoffMax: 1000 },
      send: (frame, ctr) =>
        void socket.emit('relay.to_hub', { sid: tab.sid, frame: Buffer.from(frame), ctr }),
    });
    tunnel = tunnelClient(channel);
    channel.on('open', (at) => {
      hubStatic = at.remoteStatic;
    });
    channel.on('lost', (why) => {
      admitted = false;
      heard.lost.push(why);
    });
    channel.on('alarm', (a) => heard.alarms.push(a));
    channel.on('failed', (e) => heard.failed.push(e));
    channel.on('message', (m) => {
      const c = decodeControl(m);
      if (c) void control(c);
    });
  }
  async function control(c: Control) {
    heard.controls.push(c);
    if (c.t === 'admitted') admitted = true;
    if (c.t === 'welcome') {
      handshakes.set(c, channel!.current!.hash);
      admitted = c.admitted;
      signPub ??= c.sign_pub;
      if (c.need && !o.silent) await p.assert(c);
    }
    if (c.t === 'rotate' && signPub) {
      const next = await followRotation(c, hubId, signPub);
      if (toBase64url(next) === toBase64url(hubStatic!)) return;
      heard.rotations++;
      channel!.rekey(next);
    }
  }
  const p = {
    key,
    tab,
    heard,
    statuses,
    socket,
    id: toBase64url(key.publicKey),
    get channel() {
      return channel!;
    },
    get hubStatic() {
      return hubStatic!;
    },
    get admitted() {
      return admitted && channel?.state === 'open';
    },
    get tunnel() {
      return tunnel!;
    },
    welcome: () => heard.controls.findLast((c): c is Welcome => c.t === 'welcome'),
    /** The first welcome: a channel that had to begin anew has a later one. */
    greeting: () => heard.controls.find((c): c is Welcome => c.t === 'welcome'),
    last: () => heard.controls.at(-1),
    /** Sends an assertion over a welcome's handshake; `wrong` spoils it. */
    async assert(w: Welcome, wrong: Parameters<Tab['keys']['get']>[1] = {}) {
      const rpId = new URL(root.origin).hostname;
      const bytes = handshakes.get(w) ?? channel!.current!.hash;
      const challenge = await challengeOf({ purpose: 'hub', context: hubId, bytes });
      const credential = tab.keys.get({ challenge, rpId }, wrong);
      const used = tab.keys.keys.find((k) => k.id === credential.id)!;
      const m: Control = { t: 'assertion', credential, label: 'Phone', public_key: used.cose };
      await channel!.send(encodeControl(m));
    },
    say: (c: Control) => channel!.send(encodeControl(c)),
    async get(path: string, headers: Record<string, string> = {}) {
      const r = await tunnel!.request({ method: 'GET', path, headers });
      return { ...r, text: new TextDecoder().decode(await r.body()) };
    },
    /** A read asked again while the channel is lost, as the application does (ARCHITECTURE D1). */
    async read(path: string) {
      for (;;) {
        await p.up();
        try {
          return await p.get(path);
        } catch (e) {
          if (!['unavailable', 'assertion_required'].includes((e as IngleError).code)) throw e;
        }
      }
    },
    async post(path: string, body: string, headers: Record<string, string> = {}) {
      const r = await tunnel!.request({ method: 'POST', path, headers, body: utf8(body) });
      return { ...r, text: new TextDecoder().decode(await r.body()) };
    },
    /** Waits until the hub has let this browser in. After a kill this may still be the channel of before; `read` is not. */
    up: () => until(() => p.admitted, 'the browser to be admitted'),
    close() {
      tunnel?.close();
      channel?.close();
      socket.close();
    },
  };
  phones.add(p);
  return p;
}

/** What `withHub` gives a suite. */
export interface Home {
  root: RootProcess;
  api: Awaited<ReturnType<typeof localApi>>;
  hub: UplinkProcess;
  hubId: string;
}

/** A root and a hub that has enrolled there, from before a suite's first test until after its last. @param env root's */
export function withHub<C extends Home>(test: Test<C>, env: Record<string, string> = {}): void {
  test.before(async (c) => {
    c.root = await startRoot(env);
    c.api = await localApi();
    c.hub = await startUplink({ root: c.root.origin, apiPort: c.api.port, token: c.api.token });
    c.hubId = (await c.hub.enrolled()).hub_id;
  });
  test.after(async (c) => {
    await c.hub?.stop();
    await c.root?.stop();
    await c.api?.stop();
  });
}
