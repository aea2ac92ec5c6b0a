// What the hub says of itself: the service, the machine, the units, setup.
import { arch, cpus, freemem, hostname, loadavg, release, totalmem, uptime } from 'node:os';
import type { Answer } from '../../firmware/protocol/endpoint/endpoint.ts';
import { bind, type Handlers } from '../../firmware/protocol/endpoint/router.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { setupApi } from '../../firmware/setup/api.ts';
import { setup1 } from '../../firmware/setup/contract.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import { systemApi } from '../../firmware/system/api.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import { type Config, version } from '../../firmware/system/config.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import { localDocument, localPage } from './areas.ts';
import type { Asked, LocalEndpoint } from './dispatch.ts';
import type { Response } from './http.ts';
import type { Server } from './server.ts';

/** How long what uplink said of the link is told again, milliseconds: many who ask at once ask it once. */
const LINK_MS = 250;

type Link = Answer<typeof systemApi.status>['link'];

/** @returns what was said within LINK_MS, at once; else a promise of what is said now */
function linkOf(bus: Bus): () => Link | Promise<Link> {
  let said: Link | Promise<Link> = null;
  let until = 0;
  return () => {
    if (performance.now() < until) return said;
    until = performance.now() + LINK_MS;
    const asked = bus
      .client(uplink1)
      .Status({}, 3000)
      .then(
        ({ connected, root, hub_id, subnet_id, browsers, channels }) => ({
          connected,
          root,
          hub_id,
          subnet_id,
          browsers,
          channels,
        }),
        () => null,
      )
      .then((link: Link) => {
        if (said === asked) said = link;
        return link;
      });
    said = asked;
    return asked;
  };
}

/** Answers of firmware/system/api.ts and firmware/setup/api.ts. */
export function aboutHub(o: {
  bus: Bus;
  config: Config;
  isDeveloper(): boolean;
  isMcp(): boolean;
  skills: Skills;
  sqlite: string;
  isReady(): boolean;
  counts: Server['counts'];
}): LocalEndpoint[] {
  const askLink = linkOf(o.bus);
  function statusWith(link: Link): Answer<typeof systemApi.status> {
    const known = o.skills.known();
    let available = 0;
    for (const k of known.values()) if (k.available) available++;
    const { requests, streams, sockets } = o.counts();
    return {
      name: o.config.name,
      model: o.config.model,
      version,
      node_version: process.versions.node,
      sqlite_version: o.sqlite,
      uptime_s: Math.floor(process.uptime()),
      link,
      skills: { known: known.size, available },
      developer_mode: o.isDeveloper(),
      mcp: o.isMcp(),
      requests,
      streams,
      sockets,
    };
  }
  const system: Handlers<typeof systemApi, Asked, Response> = {
    live: () => ({ ok: true }),
    ready() {
      if (!o.isReady()) throw new IngleError('unavailable', 'Not ready: it stops, or takes no changes now.');
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
    status() {
      const link = askLink();
      return link instanceof Promise ? link.then(statusWith) : statusWith(link);
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
