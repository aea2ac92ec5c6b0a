// What the hub says of itself: the service, the machine, the units, setup.
import { arch, cpus, freemem, hostname, loadavg, release, totalmem, uptime } from 'node:os';
import { bind, type Handlers } from '../../firmware/protocol/endpoint/router.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { setupApi } from '../../firmware/setup/api.ts';
import { setup1 } from '../../firmware/setup/contract.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import { systemApi } from '../../firmware/system/api.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import { type Config, version } from '../../firmware/system/config.ts';
import { unitStates } from '../../firmware/system/units.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import { localDocument, localPage } from './areas.ts';
import type { Asked, LocalEndpoint } from './dispatch.ts';
import type { Response } from './server.ts';

/** Answers of firmware/system/api.ts and firmware/setup/api.ts. */
export function aboutHub(o: {
  bus: Bus;
  config: Config;
  /** Bus name of a slot -> its skill. */
  slots: ReadonlyMap<string, string>;
  skills: Skills;
  sqlite: string;
  isReady(): boolean;
  counts(): { requests: number; sockets: number };
}): LocalEndpoint[] {
  const system: Handlers<typeof systemApi, Asked, Response> = {
    live: () => ({ ok: true }),
    ready() {
      if (!o.isReady()) throw new IngleError('unavailable', 'Not ready.');
      return { ok: true };
    },
    openapi: () => ({ ...localDocument() }),
    docs() {
      const { body, policy } = localPage();
      return {
        status: 200,
        headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy },
        body,
      };
    },
    brand: () => ({ ...o.config.brand }),
    async status() {
      const link = await o.bus
        .client(uplink1)
        .Status({}, 3000)
        .then(
          (s) => ({
            connected: s.connected,
            root: s.root,
            hub_id: s.hub_id,
            subnet_id: s.subnet_id,
            browsers: s.browsers,
            channels: s.channels,
          }),
          () => null,
        );
      const known = [...o.skills.known().values()];
      return {
        name: o.config.name,
        model: o.config.model,
        version,
        node_version: process.versions.node,
        sqlite_version: o.sqlite,
        uptime_s: Math.floor(process.uptime()),
        link,
        skills: { known: known.length, available: known.filter((k) => k.available).length },
        ...o.counts(),
      };
    },
    node: () => ({
      hostname: hostname(),
      arch: arch(),
      kernel: release(),
      cpus: cpus().length,
      uptime_s: Math.floor(uptime()),
      load: loadavg(),
      memory: { total_bytes: totalmem(), free_bytes: freemem() },
    }),
    async services() {
      const [taken, startable] = await Promise.all([o.bus.listNames(), o.bus.listActivatableNames()]);
      return {
        services: unitStates({
          taken,
          startable,
          kept: o.config.kept,
          skills: o.slots,
          api: true,
        }).map((u) => ({
          unit: u.unit,
          skill_id: u.skill || null,
          bus_name: u.bus || null,
          state: u.running ? 'running' : startable.includes(u.bus) ? 'activatable' : 'stopped',
        })),
      };
    },
  };
  const setup: Handlers<typeof setupApi, Asked, Response> = {
    async status() {
      const { state, mode, attempts, detail } = await o.bus.client(setup1).Status({});
      return { state, mode, attempts, ...detail };
    },
    async restart() {
      await o.bus.client(setup1).Restart({ channel: 'api' });
      return { ok: true };
    },
  };
  return [...bind(systemApi, system), ...bind(setupApi, setup)];
}
