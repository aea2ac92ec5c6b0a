// What the hub says of itself: the service, the machine, the units.
import { arch, cpus, freemem, hostname, loadavg, release, totalmem, uptime } from 'node:os';
import type { Brand } from '../../firmware/protocol/brand.ts';
import { setup1 } from '../../firmware/setup/contract.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import { type Config, version } from '../../firmware/system/config.ts';
import { fromVariant } from '../../firmware/system/contract.ts';
import { unitStates } from '../../firmware/system/units.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';

export interface Status {
  /** The maker's name, colours and words. */
  brand: Brand;
  hub(): Promise<Record<string, unknown>>;
  node(): Record<string, unknown>;
  services(): Promise<Record<string, unknown>>;
  /** Where first-run setup stands, as every channel sees it. */
  setup(): Promise<Record<string, unknown>>;
  /** Starts setup again. @throws IngleError `conflict`, or `unavailable` where setup does not run */
  restartSetup(): Promise<void>;
}

export function statusOf(o: {
  bus: Bus;
  config: Config;
  skills: Skills;
  sqlite: string;
  counts: () => { requests: number; sockets: number };
}): Status {
  return {
    brand: o.config.brand,
    async hub() {
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
    async setup() {
      const { state, mode, attempts, detail } = await o.bus.client(setup1).Status({});
      return { state, mode, attempts, ...(fromVariant(detail) as object) };
    },
    restartSetup: async () => void (await o.bus.client(setup1).Restart({ channel: 'api' })),
    async services() {
      const [names, [activatable]] = await Promise.all([
        o.bus.listNames(),
        o.bus.call(
          'org.freedesktop.DBus',
          '/org/freedesktop/DBus',
          'org.freedesktop.DBus',
          'ListActivatableNames',
        ),
      ]);
      const startable = new Set(activatable as string[]);
      return {
        services: unitStates(names, true).map((u) => ({
          unit: u.unit,
          bus_name: u.bus || null,
          state: u.running ? 'running' : startable.has(u.bus) ? 'activatable' : 'stopped',
        })),
      };
    },
  };
}
