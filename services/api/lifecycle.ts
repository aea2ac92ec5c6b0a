// /api/admin: draining, and the end of everything by the supervisor.
import { bind, type Handlers } from '../../firmware/protocol/endpoint/router.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { adminApi } from '../../firmware/supervisor/admin.ts';
import { supervisor1 } from '../../firmware/supervisor/contract.ts';
import type { Lifecycle } from '../../firmware/supervisor/lifecycle.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import type { Log } from '../../firmware/system/log.ts';
import type { Asked, LocalEndpoint } from './dispatch.ts';
import type { Response } from './http.ts';
import type { Server } from './server.ts';
import { isSupervised } from './services.ts';

const DRAIN_S = 600;
/** What runs has this time to come to its end before a shutdown, milliseconds. */
const GRACE_MS = 10_000;
/** A shutdown of which nothing came is taken back, milliseconds. */
const LOST_MS = 120_000;

export function adminEndpoints(o: {
  bus: Bus;
  log: Log;
  life: Lifecycle;
  counts: Server['counts'];
  /** Commands under way. */
  commands(): number;
}): LocalEndpoint[] {
  const { bus, life } = o;

  function work(mine: number) {
    const { requests, streams, sockets } = o.counts();
    return { requests: Math.max(0, requests - streams - mine), streams, sockets, commands: o.commands() };
  }
  /** For who asks: its own request is none that still runs. */
  const view = () => ({ ...life.view(), work: work(1) });

  async function end(what: string): Promise<void> {
    const last = performance.now() + GRACE_MS;
    for (;;) {
      const { requests, commands } = work(0);
      if (requests + commands === 0 || performance.now() > last) break;
      await new Promise((done) => setTimeout(done, 50));
    }
    await bus.client(supervisor1).Shutdown({ what }, 60_000);
    o.log.notice('the hub ends', { what });
  }

  const handlers: Handlers<typeof adminApi, Asked, Response> = {
    lifecycle: view,
    drain({ body: { on, seconds = DRAIN_S } }) {
      if (on) life.drain('owner', seconds * 1000);
      else life.resume('owner');
      return { ok: true, ...view() };
    },
    async shutdown({ body: { what } }) {
      if (!(await isSupervised(bus)))
        throw new IngleError('not_supported', 'Nobody here can restart or end the hub. End what started it.');
      if (life.view().why === 'shutdown')
        throw new IngleError('conflict', 'The hub is shutting down already. See: GET /api/admin/lifecycle.');
      life.drain('shutdown', LOST_MS);
      end(what).catch((cause) => {
        o.log.error('the hub could not be ended', { what, cause });
        life.resume('shutdown');
      });
      return { ok: true, ...view() };
    },
  };
  return bind(adminApi, handlers);
}
