// A real ingle-api and real skill hosts as processes on a private bus, and a small client of theirs.
import type { ChildProcess } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import WebSocket from 'ws';
import type { Principal } from '../../firmware/documents/acl.ts';
import { toBase64url, utf8 } from '../../firmware/protocol/bytes.ts';
import { skillBusName } from '../../firmware/skills/contract.ts';
import { parsePins, SLOTS } from '../../firmware/skills/slots.ts';
import { settleSlots } from '../../firmware/skills/table.ts';
import { type Bus, connect } from '../../firmware/system/bus.ts';
import { start, stop } from '../../firmware/system/exec.ts';
import { logger } from '../../firmware/system/log.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import { freePort } from '../../services/cli/house/runtime.ts';
import { privateBus } from '../lab/bus.ts';
import { ended, tethered } from '../lab/child.ts';
import { type InstalledSkill, install } from '../lab/installed.ts';
import { programOf } from '../lab/program.ts';
import { tried, until, within } from '../lab/wait.ts';

export const owner: Principal = { owner_id: 'o1', browser: 'phone1', role: 'owner', elevated_until: 4e9 };

export const principal = (p: Partial<Principal> = {}): string =>
  toBase64url(utf8(JSON.stringify({ ...owner, ...p })));

/** Stands in for ingle-uplink, which says whose hub it is and who was invited. */
export const serveUplink = (bus: Bus, people: { id: string; role: string; name: string }[] = []) =>
  bus.serve(uplink1, {
    Status: () => ({
      ...{
        connected: true,
        root: '',
        owner_id: owner.owner_id,
        subnet_id: '',
        hub_id: '',
        keys: '',
        last_error: '',
      },
      ...{ expires_at: 0n, browsers: 0, channels: 0, pending: 0, insecure: false },
    }),
    ListPeople: () => ({
      people: people.map((p) => ({
        ...p,
        created_at: 0n,
        until: 0n,
        ended: false,
        invited_by: '',
        browsers: [],
      })),
    }),
    ListBrowsers: () => ({ browsers: [] }),
  } as never);

export interface Answered {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came
  body: any;
}

/** A read-only root with these skills, built when a source changed, and the slots of all. */
async function root(
  at: string,
  data: string,
  o: { skills?: string[]; startable?: string[]; installed?: InstalledSkill[] },
): Promise<{ skills: string; slots: Map<string, number> }> {
  const { build } = await import('../../services/cli/build.mjs' as string);
  await build();
  const skills = join(at, 'skills');
  mkdirSync(skills, { recursive: true });
  // Bundles find machine code beside them.
  symlinkSync(resolve('dist/native'), join(at, 'native'));
  cpSync('dist/skills/slots.json', join(skills, 'slots.json'));
  const added = new Set(o.installed?.map((s) => s.manifest.id));
  for (const id of new Set([...(o.skills ?? []), ...(o.startable ?? [])]))
    if (!added.has(id)) cpSync(join('dist/skills', id), join(skills, id), { recursive: true });
  const slots = new Map(parsePins(readFileSync(join(skills, 'slots.json'), 'utf8')));
  for (const s of o.installed ?? []) slots.set(s.manifest.id, await install(skills, data, s));
  // Those of the image that nothing pins get one as at a start.
  const settled = await settleSlots({ skills, data }, logger('test'));
  for (const [slot, { skill_id }] of settled.slots) slots.set(skill_id, slot);
  return { skills, slots };
}

export type TestHub = Awaited<ReturnType<typeof startHub>>;

/**
 * Starts a bus, ingle-api and the given skills; those of `startable` are what the bus starts when they are called. It
 * believes that it can start the bus names of `services`, too. The image has these skills alone; those of `installed`
 * have a bundle and a slot, and are started like the others.
 */
export async function startHub(
  o: {
    skills?: string[];
    startable?: string[];
    installed?: InstalledSkill[];
    services?: string[];
    /** The bus starts whatever lives in any slot, as on a hub. */
    pool?: boolean;
    env?: Record<string, string>;
    /** ingle-api runs with the Node flags of its unit, which keep it small. */
    asUnit?: boolean;
    /** A bus that is there already, as that of a sound lab; whoever made it stops it. */
    on?: Awaited<ReturnType<typeof privateBus>>;
  } = {},
) {
  const activation = mkdtempSync(join(tmpdir(), 'ingle-activation-'));
  const data = mkdtempSync(join(tmpdir(), 'ingle-api-'));
  const { skills, slots } = await root(join(data, '.root'), data, o);
  const slotOf = (id: string): number => {
    const slot = slots.get(id);
    if (!slot) throw new Error(`no slot for ${id}`);
    return slot;
  };
  const pool = o.pool ? Array.from({ length: SLOTS }, (_, i) => i + 1) : [];
  for (const n of new Set([...(o.startable ?? []).map(slotOf), ...pool]))
    writeFileSync(
      join(activation, `${skillBusName(n)}.service`),
      `[D-BUS Service]\nName=${skillBusName(n)}\nExec=/bin/sh ${activation}/start ${n}\n`,
    );
  for (const name of o.services ?? [])
    writeFileSync(join(activation, `${name}.service`), `[D-BUS Service]\nName=${name}\nExec=/bin/false\n`);
  const own = o.on ? undefined : await privateBus({ servicedir: activation });
  const bus = o.on ?? own!;
  const port = await freePort('127.0.0.1');
  const env = {
    INGLE_BUS_ADDRESS: bus.address,
    INGLE_DATA: data,
    INGLE_RUNTIME: join(data, '.run'),
    INGLE_SKILLS: skills,
    INGLE_API_PORT: String(port),
    INGLE_CONFIG: '/nonexistent',
    INGLE_SCENARIOS: resolve('dist/services/scenario/scenarios.json'),
    INGLE_LOG: process.env['INGLE_LOG'] ?? 'error',
    ...o.env,
  };
  const values = Object.entries(env).map(([name, value]) => `export ${name}='${value}'\n`);
  writeFileSync(
    join(activation, 'start'),
    `${values.join('')}cd '${process.cwd()}' && exec '${process.execPath}' ${programOf('services/skill-host/main.ts').join(' ')} "$1"\n`,
  );
  const base = `http://127.0.0.1:${port}`;
  const children = new Map<string, ChildProcess>();
  const unit = readFileSync('systemd/units/ingle-.service.d/node.conf', 'utf8');
  const flags = o.asUnit ? /LASTING_FLAGS=([^"]+)/.exec(unit)![1]!.split(' ') : [];

  function spawn(name: string, args: string[]): ChildProcess {
    const [first, ...rest] = [...tethered, process.execPath, ...flags, ...args];
    const child = start(first!, rest, {
      env,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    children.set(name, child);
    return child;
  }
  const tokenOf = (): string => readFileSync(join(data, 'api/token'), 'utf8').trim();
  const hub = {
    bus,
    data,
    slotOf,
    /** Where the bus finds how a skill is started (`start`). */
    activation,
    base,
    env,
    children,
    token: tokenOf,
    /** A request with the service token; `as` names a principal. */
    async ask(
      method: string,
      path: string,
      a: {
        body?: unknown;
        raw?: string | Uint8Array;
        as?: Partial<Principal>;
        headers?: Record<string, string>;
      } = {},
    ): Promise<Answered> {
      const asked = fetch(base + path, {
        method,
        headers: {
          'x-service-token': tokenOf(),
          ...(a.as ? { 'x-ingle-principal': principal(a.as) } : {}),
          ...a.headers,
        },
        ...(a.raw !== undefined
          ? { body: a.raw as string }
          : a.body !== undefined
            ? { body: JSON.stringify(a.body) }
            : {}),
      });
      const r = await within(asked, `the answer to ${method} ${path}`);
      const text = await within(r.text(), `the body of the answer to ${method} ${path}`);
      return {
        status: r.status,
        headers: r.headers,
        body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text,
      };
    },
    async startApi(): Promise<void> {
      spawn('api', programOf('services/api/main.ts'));
      await until(
        tried(async () => (await fetch(`${base}/health/ready`)).status === 200),
        'the API',
      );
    },
    startSkill(id: string, slot = slotOf(id)): void {
      spawn(slot === slots.get(id) ? id : `slot ${slot}`, [
        ...programOf('services/skill-host/main.ts'),
        `${slot}`,
      ]);
    },
    /** Starts another service of the hub, and waits for its bus name. */
    async startService(name: string, busName: string): Promise<void> {
      spawn(name, programOf(`services/${name}/main.ts`));
      const asker = await connect(bus.address);
      await until(
        tried(async () => (await asker.listNames()).includes(busName)),
        `the service ${name}`,
      );
      asker.close();
    },
    async kill(name: string): Promise<void> {
      const child = children.get(name);
      if (child) await ended(child, 'SIGKILL', name);
    },
    /** Settles when a skill has its name on the bus. */
    async named(id: string): Promise<void> {
      const asker = await connect(bus.address);
      await until(
        tried(async () => (await asker.listNames()).includes(skillBusName(slotOf(id)))),
        `the name of skill ${id}`,
      );
      asker.close();
    },
    /** Settles when a skill serves the owner. */
    async available(id: string, as: Partial<Principal> = owner): Promise<void> {
      await until(
        tried(async () => {
          const icons: Answered = await hub.ask('GET', '/v1/icons', { as });
          return icons.body.some(
            (i: { skill_id: string; available: boolean }) => i.skill_id === id && i.available,
          );
        }),
        `skill ${id}`,
      );
    },
    /** The class y-websocket's provider opens sockets with: it adds what uplink would. */
    webSocket(as?: Partial<Principal>, token: string | null = tokenOf()): typeof globalThis.WebSocket {
      const headers: Record<string, string> = {};
      if (token !== null) headers['x-service-token'] = token;
      if (as) headers['x-ingle-principal'] = principal(as);
      return class extends WebSocket {
        constructor(url: string, protocols?: string[]) {
          super(url, protocols, { headers });
        }
      } as unknown as typeof globalThis.WebSocket;
    },
    async stop(): Promise<void> {
      await Promise.all([...children.values()].map((c) => stop(c)));
      await own?.stop();
      rmSync(data, { recursive: true, force: true });
    },
  };
  await hub.startApi();
  for (const id of o.skills ?? []) {
    hub.startSkill(id);
    // Asked for before it has its name, the bus would start another one.
    if (o.startable?.includes(id)) await hub.named(id);
    await hub.available(id);
  }
  return hub;
}
