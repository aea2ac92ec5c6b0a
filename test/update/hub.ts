// A real ingle-update as a process on a private bus, beside the stand-in of RAUC and an update server of this test.
import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bus, connect } from '../../firmware/system/bus.ts';
import { start, stop } from '../../firmware/system/exec.ts';
import { update1 } from '../../firmware/update/contract.ts';
import type { UpdateState } from '../../firmware/update/machine.ts';
import { privateBus } from '../lab/bus.ts';
import { programOf } from '../lab/program.ts';
import { tried, until } from '../lab/wait.ts';
import { bundleText, type FakeBundle, type FakeRauc, fakeRauc, freshMachine } from './rauc.ts';

export interface Detail {
  channel: string;
  checked_at: number;
  offer?: { version: string; size: number; notes: string };
  target: string;
  percent: number;
  step: string;
  error?: { reason: string; text: string; at: number };
  result?: { ok: boolean; kind: string; from: string; to: string; reason: string; text: string };
  previous?: { slot: string; version: string };
  restart_at: number;
  can: string[];
}

/** An update server whose answers a test bends. */
export async function updateServer() {
  const files = new Map<string, Buffer>();
  let bend: ((req: IncomingMessage, res: ServerResponse, body: Buffer) => boolean) | undefined;
  const asked: { path: string; range: string }[] = [];
  const server: Server = createServer((req, res) => {
    const path = (req.url ?? '').split('?')[0]!;
    const range = String(req.headers.range ?? '');
    asked.push({ path, range });
    const body = files.get(path);
    if (!body) return void res.writeHead(404).end();
    if (bend?.(req, res, body)) return;
    serveFile(req, res, body);
  });
  await new Promise<void>((ok) => server.listen(0, '127.0.0.1', ok));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    files,
    asked,
    /** Puts a bundle and the index that offers it. */
    offer(b: FakeBundle, o: { size?: number; more?: Record<string, unknown>; pad?: number } = {}): Buffer {
      const body = Buffer.from(bundleText(b) + ' '.repeat(o.pad ?? 0));
      files.set(`/${b.version}.raucb`, body);
      const index = {
        version: b.version,
        url: `${url}/${b.version}.raucb`,
        size: o.size ?? body.length,
        sha256: createHash('sha256').update(body).digest('hex'),
        notes: `What is new in ${b.version}`,
        ...o.more,
      };
      files.set('/stable/generic.json', Buffer.from(JSON.stringify(index)));
      return body;
    },
    /** `f` answers instead where it returns true. */
    bend(f: typeof bend): void {
      bend = f;
    },
    stop: () =>
      new Promise<void>((ok) => {
        server.close(() => ok());
        server.closeAllConnections();
      }),
  };
}

/** A file with ranges, as servers do it (RFC 9110 14). */
export function serveFile(req: IncomingMessage, res: ServerResponse, body: Buffer, tag?: string): void {
  const etag = tag ?? `"${createHash('sha256').update(body).digest('hex').slice(0, 16)}"`;
  const m = /^bytes=(\d+)-$/.exec(String(req.headers.range ?? ''));
  const held = req.headers['if-range'];
  const from = m && (held === undefined || held === etag) ? Number(m[1]) : 0;
  if (from >= body.length)
    return void res.writeHead(416, { 'content-range': `bytes */${body.length}` }).end();
  const rest = body.subarray(from);
  if (from > 0)
    res.writeHead(206, {
      etag,
      'content-length': rest.length,
      'content-range': `bytes ${from}-${body.length - 1}/${body.length}`,
    });
  else res.writeHead(200, { etag, 'content-length': rest.length });
  res.end(rest);
}

/** A time zone in which it is noon now, so that no test meets the hub's night. */
function noon(): string {
  const east = 12 - new Date().getUTCHours();
  // Signs as POSIX has them: west is positive.
  return `Etc/GMT${east > 0 ? '-' : '+'}${Math.abs(east)}`;
}

export type UpdateHub = Awaited<ReturnType<typeof startUpdate>>;

/** A bus (or the one given), the stand-in of RAUC (unless `rauc` is false), an update server, and ingle-update. */
export async function startUpdate(
  o: {
    rauc?: boolean;
    env?: Record<string, string>;
    address?: string;
    raucName?: string;
    serve?: boolean;
  } = {},
) {
  const daemon = o.address ? { address: o.address, stop: async () => {} } : await privateBus();
  const dir = mkdtempSync(join(tmpdir(), 'ingle-update-'));
  const server = await updateServer();
  const machine = freshMachine();
  const runtime = join(dir, 'run');
  mkdirSync(runtime);
  writeFileSync(join(dir, 'os-release'), 'IMAGE_VERSION=1.0.0\n');
  writeFileSync(
    join(dir, 'config.json'),
    JSON.stringify({ update: { url: server.url, channel: 'stable', min_version: '0.9.0' } }),
  );
  const env: Record<string, string> = {
    INGLE_BUS_ADDRESS: daemon.address,
    INGLE_CONFIG: join(dir, 'config.json'),
    INGLE_DEVICE: '/nonexistent',
    INGLE_DATA: join(dir, 'data'),
    INGLE_RUNTIME: runtime,
    INGLE_OS_RELEASE: join(dir, 'os-release'),
    INGLE_STICKS: join(dir, 'media'),
    INGLE_STICK_MS: '200',
    INGLE_BOOT_ID: 'boot-1',
    INGLE_DRAIN_MS: '50',
    INGLE_POLL_MS: '50',
    TZ: noon(),
    // This machine may be up for long; the hub of the test is not.
    INGLE_PROVED_S: '1e9',
    INGLE_LOG: process.env['INGLE_LOG'] ?? 'error',
    ...(o.raucName ? { INGLE_RAUC: o.raucName } : {}),
    ...o.env,
  };
  let child: ChildProcess | undefined;
  let rauc: FakeRauc | undefined =
    o.rauc === false ? undefined : await fakeRauc(daemon.address, machine, o.raucName);
  const bus: Bus = await connect(daemon.address);
  const client = bus.client(update1);
  const states: { state: string; old: string; reason: string }[] = [];
  await bus.onSignal(update1, 'StateChanged', (s) => void states.push(s));

  const hub = {
    dir,
    runtime,
    server,
    machine,
    bus,
    client,
    states,
    address: daemon.address,
    env,
    get rauc() {
      return rauc!;
    },
    restartFile: join(runtime, 'update', 'restart'),
    async begin(): Promise<void> {
      child = start(process.execPath, programOf('services/update/main.ts'), {
        env,
        stdio: ['ignore', 'inherit', 'inherit'],
      });
      await until(
        tried(async () => (await bus.listNames()).includes(update1.bus)),
        'the update service',
      );
    },
    /** Settles with the exit status of a service that ends by itself. */
    ended: () => new Promise<number | null>((ok) => child!.once('exit', (code) => ok(code))),
    async kill(): Promise<void> {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise<void>((ok) => child!.once('close', () => ok()));
      child.kill('SIGKILL');
      await gone;
      await until(
        tried(async () => !(await bus.listNames()).includes(update1.bus)),
        'the name to be free',
      );
    },
    /** The machine goes down and comes up: the service is new, so is the boot. */
    async reboot(b: { broken?: boolean; committed?: boolean; version?: string } = {}): Promise<void> {
      await hub.kill();
      const { bootMachine } = await import('./rauc.ts');
      bootMachine(machine, b.broken);
      rmSync(hub.restartFile, { force: true });
      const committed = join(runtime, 'committed');
      if (b.committed === false) rmSync(committed, { force: true });
      else writeFileSync(committed, '');
      const running = b.version ?? (machine.slots[machine.booted].version || '1.0.0');
      writeFileSync(join(dir, 'os-release'), `IMAGE_VERSION=${running}\n`);
      env['INGLE_BOOT_ID'] = `boot-${Number(env['INGLE_BOOT_ID']!.split('-')[1]) + 1}`;
      await hub.begin();
    },
    status: () => client.Status({}),
    /** Settles when the state is one of `wanted`. */
    async state(...wanted: (UpdateState | 'unsupported')[]) {
      return until(
        tried(async () => {
          const s = await hub.status();
          return wanted.includes(s.state as UpdateState) ? s : undefined;
        }),
        `state ${wanted}`,
      );
    },
    /** The bundles' folder. */
    bundles: join(dir, 'data/update/bundles'),
    restartAsked: () =>
      until(
        tried(() => existsSync(hub.restartFile)),
        'the restart to be asked for',
      ),
    async raucAgain(): Promise<void> {
      await rauc!.again();
    },
    async stop(): Promise<void> {
      if (child) await stop(child);
      rauc?.stop();
      rauc = undefined;
      bus.close();
      await server.stop();
      await daemon.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
  if (o.serve !== false) await hub.begin();
  return hub;
}

/** An update to 1.1.0 dies on trial; what its health check left is of `version`, and what it found. */
export async function dies(
  hub: UpdateHub,
  version: string,
  failures = ['io.ingle.Audio1 does not answer'],
): Promise<void> {
  hub.server.offer({ version: '1.1.0' });
  await hub.client.Check({ channel: '' });
  await hub.client.Install({ source: '', restart: 'now' });
  await hub.restartAsked();
  mkdirSync(join(hub.dir, 'data/health'), { recursive: true });
  writeFileSync(join(hub.dir, 'data/health/last.json'), JSON.stringify({ version, failures }));
  await hub.reboot({ broken: true, version: '1.0.0' });
}
