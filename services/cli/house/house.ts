// Root and hub on this computer: every process, in order, kept running, and ended as one.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetch1 } from '../../../firmware/fetch/contract.ts';
import { IngleError } from '../../../firmware/protocol/errors.ts';
import { scenario1 } from '../../../firmware/scenario/contract.ts';
import { granting } from '../../../firmware/skills/grants.ts';
import { type Slots, settleSlots, skillNames } from '../../../firmware/skills/table.ts';
import { type Supervises, serveSupervisor } from '../../../firmware/supervisor/serve.ts';
import type { Bus } from '../../../firmware/system/bus.ts';
import { readConfig } from '../../../firmware/system/config.ts';
import type { Caller, Values } from '../../../firmware/system/contract.ts';
import { run } from '../../../firmware/system/exec.ts';
import { logger } from '../../../firmware/system/log.ts';
import { unitOf } from '../../../firmware/system/units.ts';
import { uplink1 } from '../../../firmware/uplink/contract.ts';
import type { Say } from '../say.ts';
import { activate, busDaemon, openConnection } from './bus-daemon.ts';
import {
  dist,
  environmentOf,
  type HouseOptions,
  type Plan,
  planOf,
  rootEnvironmentOf,
  skills,
} from './plan.ts';
import { openProcesses, type Processes, upWithinMs } from './processes.ts';
import { apiPort, arrived, claim, findRunning, makeData, portState, unclaim } from './runtime.ts';
import { openSandbox, type Sandbox } from './sandbox.ts';
import { type Called, calledSlots, hosts, leaveSlots } from './slots.ts';
import type { Supervised } from './supervised.ts';
import { houseSupervisor } from './supervisor.ts';

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

/**
 * Starts a house from dist/ and settles when the hub is up.
 * @throws IngleError `conflict` (port taken, already running), `not_supported` (no dbus-daemon), `unavailable` (a
 * process does not come up); the message is for a person.
 */
export async function startHouse(o: HouseOptions = {}): Promise<House> {
  const say: Say = o.say ?? { text: (key) => key, line: () => {}, event: () => {} };
  const plan = planOf(o);
  const { data, hub, origin } = plan;
  await check(plan, say);

  const runtime = mkdtempSync(join(process.env['XDG_RUNTIME_DIR'] || tmpdir(), 'ingle-'));
  const daemon = busDaemon(runtime);
  const apiAt = plan.apiPort ?? (await apiPort(data));
  const api = plan.apiOf(apiAt);
  mkdirSync(hub, { recursive: true, mode: 0o700 });
  try {
    claim(data, { origin, root: plan.rootUrl, bus: daemon.address, api, hub, skills });
  } catch (e) {
    rmSync(runtime, { recursive: true, force: true });
    throw alreadyRuns(e, say);
  }

  // The API does the same when it starts; here it tells which processes there are to start.
  const { slots } = await settleSlots({ skills, data: hub }, logger('house'));
  const { logOf } = plan;
  const guard = join(dist, 'services/cli/guard.js');
  const processes = openProcesses({ guard, hub, runtime, say, logOf });
  let powerOff: () => void = () => {};
  const poweredOff = new Promise<void>((resolve) => (powerOff = resolve));
  const called = calledSlots(slots, logOf);
  const supervisor = supervisorOf(processes, slots, called, logOf('fetch'), () => powerOff());
  const { connection, close } = openConnection(daemon.address, async (b) => {
    const mayRead = granting(b, { skills, data: hub }, 'journal');
    await serveSupervisor(b, supervisor, { log: logger('house'), mayRead });
  });
  const uplink = async () => (await connection()).client(uplink1);

  const kept = [uplink1.bus, scenario1.bus, ...skillNames(slots).keys()];
  const common = environmentOf(plan, { bus: daemon.address, runtime, apiPort: apiAt, kept }, o.env);
  const sandbox = await openSandbox({
    ...{ dist, skills, hub, socket: join(runtime, 'bus') },
    // The configuration may hold secrets, and is not seen from inside.
    env: { ...common, INGLE_LANG: readConfig(common).language, TZ: timeZone() },
  });
  if (sandbox.fault) common['INGLE_UNCONFINED'] = sandbox.fault.reason;
  const hostOf = await hosts();

  const stop = () =>
    processes.stop(
      // The bus goes last, so that services can say goodbye.
      () => close((b) => leaveSlots(b, called)),
      () => {
        rmSync(runtime, { recursive: true, force: true });
        unclaim(data);
      },
    );
  const launch = (name: string, command: readonly string[], env?: Record<string, string>) => {
    const [program, ...args] = command as [string, ...string[]];
    processes.launch({ name, program, args, env: { ...common, ...env } });
  };
  const service = (name: string, folder: string, env?: Record<string, string>) =>
    launch(name, [process.execPath, join(dist, folder, 'main.js')], env);
  const answers = (url: string) => async () => (await fetch(url, { redirect: 'manual' })).status < 500;
  const owned = (name: string) => async () => (await (await connection()).listNames()).includes(name);

  try {
    // The others wait for a skill that is installed; its process lives with the bus.
    for (const [name, { slot, log }] of called)
      activate(runtime, name, log, sandbox.around(slot, hostOf(slot), { newSession: true }));
    activate(runtime, fetch1.bus, logOf('fetch'), [process.execPath, join(dist, 'services/fetch/main.js')]);
    launch('dbus', ['dbus-daemon', ...daemon.args]);
    await processes.until('dbus', async () => (await connection()).name !== '');
    if (plan.isRootHere) service('root', 'root', rootEnvironmentOf(plan, o));
    service('uplink', 'services/uplink');
    service('api', 'services/api');
    // Whatever the table says later, a package's skill has its sandbox or is refused.
    for (const { slot, skill_id, bundle } of slots.values())
      if (bundle === undefined) launch(`skill ${skill_id}`, hostOf(slot), { INGLE_UNCONFINED: 'unusable' });
      else launch(`skill ${skill_id}`, sandbox.around(slot, hostOf(slot)));
    if (plan.isRootHere) await processes.until('root', answers(plan.local));
    await processes.until('uplink', owned(uplink1.bus));
    await processes.until('api', answers(`${api}/health/live`));
    // It asks the local API for what skills do.
    service('scenario', 'services/scenario');
    for (const [name, id] of skillNames(slots)) await processes.until(`skill ${id}`, owned(name));
    await processes.until('scenario', owned(scenario1.bus));
    arrived(data);
  } catch (e) {
    await stop();
    throw e;
  }
  return {
    ...{ origin, api, bus: daemon.address, data, unconfined: sandbox.fault },
    ...{ uplink, connection, poweredOff, stop },
    ...orders(processes),
    issueCode: ({ newPasskey = false } = {}) => issueCode(uplink, newPasskey, () => processes.stopping),
    async status() {
      return {
        uplink: await (await uplink()).Status({}),
        processes: processes.all().map(({ name, pid, restarts }) => ({ name, pid, restarts })),
      };
    },
  };
}

/** What keeps a house from being started here. @throws IngleError */
async function check(p: Plan, say: Say): Promise<void> {
  const { data, port, apiHost, apiPort } = p;
  try {
    makeData(data);
  } catch (e) {
    const why = (e as Error).message;
    throw new IngleError('invalid_request', say.text('dataUnusable', { data, why }));
  }
  const other = findRunning(data);
  if (other) throw alreadyRuns(new IngleError('conflict', '', { pid: other.pid, origin: other.origin }), say);
  if (p.isRootHere) {
    const state = await portState(port, p.host);
    const next = port < 1024 ? 8080 : port >= 65535 ? 8080 : port + 1;
    if (state === 'EACCES') throw new IngleError('conflict', say.text('portForbidden', { port, next }));
    if (state) throw new IngleError('conflict', say.text('portTaken', { port, next }));
  }
  if (apiPort !== undefined) {
    const state = await portState(apiPort, apiHost);
    if (state)
      throw new IngleError('conflict', say.text('apiTaken', { host: apiHost, port: apiPort, why: state }));
  }
  await run('dbus-daemon', ['--version']).catch(() => {
    throw new IngleError('not_supported', say.text('noBus'));
  });
}

function alreadyRuns(e: unknown, say: Say): unknown {
  if (!(e instanceof IngleError)) return e;
  const { pid, origin: at } = e.details as { pid: number; origin: string };
  return new IngleError('conflict', say.text('running', { pid, origin: at }), e.details);
}

/** The hub's own processes by the unit each is on a hub; root and the bus are not the hub's. */
function supervisorOf(
  processes: Processes,
  slots: Slots['slots'],
  called: Called,
  fetchLog: string,
  powerOff: () => void,
): Supervises {
  const supervisor = houseSupervisor({
    logs: new Map([
      ...[...called].map(([name, { log }]): [string, string] => [unitOf(name)!, log]),
      ['ingle-fetch', fetchLog],
    ]),
    processes() {
      const units = new Map([
        ['ingle-api', 'api'],
        ['ingle-uplink', 'uplink'],
        ['ingle-scenario', 'scenario'],
        ...[...skillNames(slots)].map(([at, id]): [string, string] => [unitOf(at)!, `skill ${id}`]),
      ]);
      return new Map(
        [...units].flatMap(([unit, name]): [string, Supervised][] => {
          const p = processes.find(name);
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
  return supervisor;
}

async function issueCode(
  uplink: House['uplink'],
  new_passkey: boolean,
  isStopping: () => boolean,
): Promise<Code> {
  const last = Date.now() + upWithinMs;
  for (;;)
    try {
      await (await uplink()).Enrol({});
      const calls = await uplink();
      // For a further device, as the owner's browser asks for it.
      return await (new_passkey ? calls.InviteBrowser({}) : calls.IssueCode({ new_passkey }));
    } catch (e) {
      if (isStopping() || !(e instanceof IngleError) || e.code !== 'unavailable' || Date.now() > last)
        throw e;
      await new Promise((done) => setTimeout(done, 100));
    }
}

/** Orders to single processes. */
function orders({ all, get }: Processes) {
  return {
    names: () => all().map(({ name }) => name),
    pid: (name: string) => get(name).pid,
    kill: (name: string, signal: NodeJS.Signals = 'SIGKILL') => get(name).kill(signal),
    async restart(name: string) {
      await get(name).hold();
      get(name).release();
    },
    hold: (name: string) => get(name).hold(),
    release: (name: string) => get(name).release(),
    log: (name: string, lines = 200) => get(name).tail(lines),
  };
}
