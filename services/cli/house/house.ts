// Root and hub on this computer: every process, in order, kept running, and ended as one.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetch1 } from '../../../firmware/fetch/contract.ts';
import { IngleError } from '../../../firmware/protocol/errors.ts';
import { skill1, skillBusName } from '../../../firmware/skills/contract.ts';
import { granting } from '../../../firmware/skills/grants.ts';
import { SLOTS } from '../../../firmware/skills/slots.ts';
import { settleSlots, skillNames } from '../../../firmware/skills/table.ts';
import { serveSupervisor } from '../../../firmware/supervisor/serve.ts';
import { type Bus, connect } from '../../../firmware/system/bus.ts';
import { readConfig } from '../../../firmware/system/config.ts';
import type { Caller, Values } from '../../../firmware/system/contract.ts';
import { run, start } from '../../../firmware/system/exec.ts';
import { logger } from '../../../firmware/system/log.ts';
import { unitOf } from '../../../firmware/system/units.ts';
import { uplink1 } from '../../../firmware/uplink/contract.ts';
import type { Say } from '../say.ts';
import { activate, busDaemon } from './bus-daemon.ts';
import { apiPort, arrived, claim, findRunning, makeData, portState, unclaim } from './runtime.ts';
import { openSandbox, type Sandbox } from './sandbox.ts';
import { hostFlags } from './snapshot.ts';
import { type Program, type Supervised, supervise } from './supervised.ts';
import { houseSupervisor } from './supervisor.ts';

export interface HouseOptions {
  /** Folder of all state; default `.ingle` in the present folder. */
  data?: string;
  /** Port of root on this computer; default 8080. */
  port?: number;
  /** Address root listens on; default 127.0.0.1, and 0.0.0.0 when `origin` or `api` is given. */
  host?: string;
  /** Address browsers use; default `http://localhost:<port>`. */
  origin?: string;
  /** Public origin of root's API where a host of its own serves the application; default `origin`. */
  api?: string;
  /** Use a root elsewhere and start none here. */
  root?: string;
  /** Where the local API listens: default 127.0.0.1, and the port of last time. */
  apiAt?: { host?: string | undefined; port?: number | undefined };
  /** Added to every process's environment. */
  env?: Record<string, string>;
  say?: Say;
}

type Out<M extends keyof (typeof uplink1)['methods']> = Values<(typeof uplink1)['methods'][M]['out']>;
export type Code = Out<'IssueCode'>;

export interface House {
  readonly origin: string;
  /** Base address of the local API. */
  readonly api: string;
  /** Why skills from packages have no sandbox. */
  readonly unconfined: Sandbox['fault'];
  readonly bus: string;
  readonly data: string;
  /** A pairing code; waits while the hub is still on its way to root. */
  issueCode(o?: { newPasskey?: boolean }): Promise<Code>;
  status(): Promise<{
    uplink: Out<'Status'>;
    processes: { name: string; pid: number | undefined; restarts: number }[];
  }>;
  /** A caller of Uplink1 on a connection that is made anew when the daemon was. */
  uplink(): Promise<Caller<typeof uplink1>>;
  connection(): Promise<Bus>;
  names(): string[];
  pid(name: string): number | undefined;
  /** Sends a signal (SIGKILL by default) to one process; it is started again. */
  kill(name: string, signal?: NodeJS.Signals): void;
  /** Ends one process in order and starts it again. */
  restart(name: string): Promise<void>;
  /** Ends one process and keeps it down until `release`. */
  hold(name: string): Promise<void>;
  release(name: string): void;
  log(name: string, lines?: number): string;
  /** Settles when the owner ended it through the API. */
  readonly poweredOff: Promise<void>;
  stop(): Promise<void>;
}

const timeZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

// dist/ lies beside services/ in a checkout; this file runs from either.
const here = dirname(fileURLToPath(import.meta.url));
const top = resolve(here, '../../..');
const dist = join(top, 'dist');
const upWithinMs = 60_000;

/** Where a client reaches what listens at `host`; an IPv6 address stands in brackets (RFC 3986, 3.2.2). */
const hostOf = (host: string) =>
  host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;

/**
 * Starts a house from dist/ and settles when the hub is up.
 * @throws IngleError `conflict` (port taken, already running), `not_supported` (no dbus-daemon), `unavailable` (a
 * process does not come up); the message is for a person.
 */
export async function startHouse(o: HouseOptions = {}): Promise<House> {
  const say: Say = o.say ?? { text: (key) => key, line: () => {}, event: () => {} };
  const data = resolve(o.data ?? '.ingle');
  const port = o.port ?? 8080;
  const host = o.host ?? (o.origin || o.api ? '0.0.0.0' : '127.0.0.1');
  const local = `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${port}`;
  const origin = o.root ?? o.origin ?? `http://localhost:${port}`;
  const rootApi = o.api ?? origin;
  await check();

  const run_ = mkdtempSync(join(process.env['XDG_RUNTIME_DIR'] || tmpdir(), 'ingle-'));
  const daemon = busDaemon(run_);
  const apiHost = o.apiAt?.host ?? '127.0.0.1';
  const apiAt = o.apiAt?.port ?? (await apiPort(data));
  const hub = join(data, 'hub');
  mkdirSync(hub, { recursive: true, mode: 0o700 });
  const skills = join(dist, 'skills');
  const rootUrl = o.root ?? `http://localhost:${port}`;
  const api = `http://${hostOf(apiHost)}:${apiAt}`;
  try {
    claim(data, { origin, root: rootUrl, bus: daemon.address, api, hub, skills });
  } catch (e) {
    rmSync(run_, { recursive: true, force: true });
    throw alreadyRuns(e);
  }

  // The API does the same when it starts; here it tells which processes there are to start.
  const { slots } = await settleSlots({ skills, data: hub }, logger('house'));
  const guard = start(process.execPath, [join(dist, 'services/cli/guard.js')], {
    env: { INGLE_DATA: hub },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.stdin!.on('error', () => {});
  guard.stdin!.write(`!${run_}\n`);

  const running = new Map<string, Supervised>();
  let stopping = false;
  let bus: Promise<Bus> | undefined;
  let powerOff: () => void = () => {};
  const poweredOff = new Promise<void>((resolve) => (powerOff = resolve));
  const logOf = (name: string) => join(data, 'log', `${name.replace(/\W+/g, '-')}.log`);
  /** Slots whose process comes when the bus calls it, by its name there. */
  const called = new Map(
    Array.from({ length: SLOTS }, (_, i) => i + 1)
      .filter((slot) => !slots.has(slot))
      .map((slot) => [skillBusName(slot), { slot, log: logOf(`slot ${slot}`) }]),
  );
  /** The hub's own processes by the unit each is on a hub; root and the bus are not the hub's. */
  const supervisor = houseSupervisor({
    logs: new Map([
      ...[...called].map(([name, { log }]): [string, string] => [unitOf(name)!, log]),
      ['ingle-fetch', logOf('fetch')],
    ]),
    processes() {
      const units = new Map([
        ['ingle-api', 'api'],
        ['ingle-uplink', 'uplink'],
        ...[...skillNames(slots)].map(([at, id]): [string, string] => [unitOf(at)!, `skill ${id}`]),
      ]);
      return new Map(
        [...units].flatMap(([unit, name]): [string, Supervised][] => {
          const p = running.get(name);
          return p ? [[unit, p]] : [];
        }),
      );
    },
    async shutdown(what) {
      if (what === 'poweroff') return powerOff();
      const all = supervisor.own().flatMap(({ unit, orders }) => (orders ? [unit] : []));
      await Promise.all(all.map((unit) => supervisor.order(unit, 'restart')));
    },
  });
  const common: Record<string, string> = {
    NODE_ENV: 'production',
    INGLE_BUS_ADDRESS: daemon.address,
    INGLE_CONFIG: join(data, 'config.json'),
    INGLE_DATA: hub,
    INGLE_RUNTIME: run_,
    INGLE_ROOT: rootUrl,
    INGLE_API_HOST: apiHost,
    INGLE_API_PORT: String(apiAt),
    INGLE_SKILLS: skills,
    INGLE_KEPT: [uplink1.bus, ...skillNames(slots).keys()].join(' '),
    ...(process.env['INGLE_LOG'] ? { INGLE_LOG: process.env['INGLE_LOG'] } : {}),
    ...(process.env['INGLE_LANG'] ? { INGLE_LANG: process.env['INGLE_LANG'] } : {}),
    ...(process.env['INGLE_NAME'] ? { INGLE_NAME: process.env['INGLE_NAME'] } : {}),
    ...o.env,
  };
  const sandbox = await openSandbox({
    ...{ dist, skills, hub, socket: join(run_, 'bus') },
    // The configuration may hold secrets, and is not seen from inside.
    env: { ...common, INGLE_LANG: readConfig(common).language, TZ: timeZone() },
  });
  const flags = await hostFlags(dist);
  if (sandbox.fault) common['INGLE_UNCONFINED'] = sandbox.fault.reason;
  const rootEnv = {
    INGLE_ROOT_PORT: String(port),
    INGLE_ROOT_HOST: host,
    INGLE_ROOT_ORIGIN: origin,
    INGLE_ROOT_API: rootApi,
    // The hub reaches root on this computer, whatever browsers call it.
    INGLE_ROOT_AUDIENCE: [rootUrl, o.env?.['INGLE_ROOT']].filter(Boolean).join(','),
    INGLE_ROOT_DATA: join(data, 'root'),
    INGLE_ROOT_SPA: rootApi === origin ? join(dist, 'spa') : '',
    // This server speaks plain HTTP; where browsers use https, a proxy stands in front.
    INGLE_ROOT_PROXIES: (o.api ?? o.origin)?.startsWith('https:') ? '1' : '0',
  };

  function launch(p: Pick<Program, 'name' | 'program' | 'args'> & { env?: Record<string, string> }): void {
    say.line(say.text('starting', { name: p.name }));
    running.set(
      p.name,
      supervise(
        { ...p, env: { ...common, ...p.env }, log: logOf(p.name) },
        {
          spawned: (pid) => guard.stdin!.write(`+${pid}\n`),
          gone: (pid) => guard.stdin!.write(`-${pid}\n`),
          died: (how) => {
            if (!stopping) say.line(say.text('died', { name: p.name, how }));
          },
        },
      ),
    );
  }
  const slotHost = (slot: number) => [
    ...[process.execPath, ...flags],
    ...[join(dist, 'services/skill-host/main.js'), `${slot}`],
  ];
  const service = (name: string, folder: string, args: string[] = [], env?: Record<string, string>) =>
    launch({ name, program: process.execPath, args: [join(dist, folder, 'main.js'), ...args], env });

  async function check(): Promise<void> {
    try {
      makeData(data);
    } catch (e) {
      const why = (e as Error).message;
      throw new IngleError('invalid_request', say.text('dataUnusable', { data, why }));
    }
    const other = findRunning(data);
    if (other) throw alreadyRuns(new IngleError('conflict', '', { pid: other.pid, origin: other.origin }));
    if (!o.root) {
      const state = await portState(port, host);
      const next = port < 1024 ? 8080 : port >= 65535 ? 8080 : port + 1;
      if (state === 'EACCES') throw new IngleError('conflict', say.text('portForbidden', { port, next }));
      if (state) throw new IngleError('conflict', say.text('portTaken', { port, next }));
    }
    const { host: apiHost = '127.0.0.1', port: apiPort } = o.apiAt ?? {};
    if (apiPort !== undefined) {
      const state = await portState(apiPort, apiHost);
      if (state)
        throw new IngleError('conflict', say.text('apiTaken', { host: apiHost, port: apiPort, why: state }));
    }
    await run('dbus-daemon', ['--version']).catch(() => {
      throw new IngleError('not_supported', say.text('noBus'));
    });
  }
  function alreadyRuns(e: unknown): unknown {
    if (!(e instanceof IngleError)) return e;
    const { pid, origin: at } = e.details as { pid: number; origin: string };
    return new IngleError('conflict', say.text('running', { pid, origin: at }), e.details);
  }

  function connection(): Promise<Bus> {
    bus ??= connect(daemon.address).then(async (b) => {
      b.closed.then(() => {
        bus = undefined;
        comeBack();
      });
      const mayRead = granting(b, { skills, data: hub }, 'journal');
      await serveSupervisor(b, supervisor, { log: logger('house'), mayRead });
      return b;
    });
    bus.catch(() => (bus = undefined));
    return bus;
  }
  /** The daemon's successor is to know the supervisor, too. */
  function comeBack(): void {
    if (!stopping) setTimeout(() => stopping || connection().catch(comeBack), 500).unref();
  }
  const uplink = async () => (await connection()).client(uplink1);

  /** Asks until `ask` is true; a process that is not up in time is an error with its last words. */
  async function until(name: string, ask: () => Promise<boolean>): Promise<void> {
    const last = Date.now() + upWithinMs;
    for (;;) {
      if (stopping) throw new IngleError('unavailable', say.text('stopping'));
      if (await ask().catch(() => false)) return;
      const p = running.get(name)!;
      if (Date.now() > last || p.restarts >= 8) {
        throw new IngleError(
          'unavailable',
          say.text('notStarted', { name, log: p.tail(12), file: logOf(name) }),
        );
      }
      await new Promise((done) => setTimeout(done, 50));
    }
  }
  const answers = (url: string) => async () => (await fetch(url, { redirect: 'manual' })).status < 500;
  const owned = (name: string) => async () => (await (await connection()).listNames()).includes(name);

  /** Signals do not reach what the bus started in a sandbox of its own. */
  async function leaveSlots(b: Bus): Promise<void> {
    const there = new Set(await b.listNames());
    const names = [...called.keys()].filter((name) => there.has(name));
    await Promise.all(
      names.map((busName) =>
        b
          .client(skill1, { busName })
          .Leave({}, 1000)
          .catch(() => {}),
      ),
    );
  }

  async function stop(): Promise<void> {
    if (stopping) return;
    stopping = true;
    await bus?.then(leaveSlots).catch(() => {});
    await bus?.then((b) => b.close()).catch(() => {});
    // The bus goes last, so that services can say goodbye.
    const [first, ...others] = [...running.values()];
    await Promise.all(others.map((p) => p.hold()));
    await first?.hold();
    rmSync(run_, { recursive: true, force: true });
    unclaim(data);
    const gone = new Promise((done) => guard.once('close', done));
    guard.stdin!.end();
    if (guard.exitCode === null) await gone;
  }

  try {
    // The others wait for a skill that is installed; its process lives with the bus.
    for (const [name, { slot, log }] of called)
      activate(run_, name, log, sandbox.around(slot, slotHost(slot), { newSession: true }));
    activate(run_, fetch1.bus, logOf('fetch'), [process.execPath, join(dist, 'services/fetch/main.js')]);
    launch({ name: 'dbus', program: 'dbus-daemon', args: daemon.args });
    await until('dbus', async () => (await connection()).name !== '');
    if (!o.root) service('root', 'root', [], rootEnv);
    service('uplink', 'services/uplink');
    service('api', 'services/api');
    for (const { slot, skill_id, bundle } of slots.values()) {
      const name = `skill ${skill_id}`;
      // Whatever the table says later, a package's skill has its sandbox or is refused.
      if (bundle === undefined) {
        const [program, ...args] = slotHost(slot) as [string, ...string[]];
        launch({ name, program, args, env: { INGLE_UNCONFINED: 'unusable' } });
      } else {
        const [program, ...args] = sandbox.around(slot, slotHost(slot)) as [string, ...string[]];
        launch({ name, program, args });
      }
    }
    if (!o.root) await until('root', answers(local));
    await until('uplink', owned(uplink1.bus));
    await until('api', answers(`${api}/health/live`));
    for (const [name, id] of skillNames(slots)) await until(`skill ${id}`, owned(name));
    arrived(data);
  } catch (e) {
    await stop();
    throw e;
  }

  const get = (name: string): Supervised => {
    const p = running.get(name);
    if (!p)
      throw new IngleError('not_found', `No process "${name}"; there are ${[...running.keys()].join(', ')}.`);
    return p;
  };
  return {
    origin,
    api,
    bus: daemon.address,
    data,
    unconfined: sandbox.fault,
    uplink,
    connection,
    async issueCode({ newPasskey = false } = {}) {
      const last = Date.now() + upWithinMs;
      for (;;)
        try {
          await (await uplink()).Enrol({});
          return await (await uplink()).IssueCode({ new_passkey: newPasskey });
        } catch (e) {
          if (stopping || !(e instanceof IngleError) || e.code !== 'unavailable' || Date.now() > last)
            throw e;
          await new Promise((done) => setTimeout(done, 100));
        }
    },
    async status() {
      return {
        uplink: await (await uplink()).Status({}),
        processes: [...running.values()].map(({ name, pid, restarts }) => ({ name, pid, restarts })),
      };
    },
    names: () => [...running.keys()],
    pid: (name) => get(name).pid,
    kill: (name, signal = 'SIGKILL') => get(name).kill(signal),
    async restart(name) {
      await get(name).hold();
      get(name).release();
    },
    hold: (name) => get(name).hold(),
    release: (name) => get(name).release(),
    log: (name, lines = 200) => get(name).tail(lines),
    poweredOff,
    stop,
  };
}
