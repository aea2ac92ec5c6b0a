// /api/admin/update/*: the owner's orders about updates, passed on to ingle-update.
import { IngleError } from '../../firmware/protocol/errors.ts';
import { parseObject, shape } from '../../firmware/protocol/json.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import { version } from '../../firmware/system/config.ts';
import { fromVariant } from '../../firmware/system/contract.ts';
import { update1 } from '../../firmware/update/contract.ts';

export interface Updates {
  /** As Update1.Status; `unsupported` where there is no ingle-update. */
  status(): Promise<Record<string, unknown>>;
  /** One order by its path's last word; answers what there is to tell. */
  order(what: Order, body: Uint8Array | string): Promise<Record<string, unknown>>;
  /** Refuses what changes something while the hub is about to restart. @throws IngleError `unavailable` */
  admit(method: string, path: string): void;
}

export const orders = ['check', 'download', 'verify', 'install', 'restart', 'cancel', 'rollback'] as const;
export type Order = (typeof orders)[number];

/** States in which nothing new begins. */
const ending = new Set(['draining', 'restarting']);
const RETRY_S = 60;

export async function updates(bus: Bus): Promise<Updates> {
  const update = bus.client(update1);
  let draining = false;
  await bus.onSignal(update1, 'StateChanged', ({ state }) => {
    draining = ending.has(state);
  });
  // A service that went without a word has restarted nothing.
  await bus.watchName(update1.bus, (owner) => {
    if (!owner) draining = false;
  });

  const absent = (e: unknown) =>
    e instanceof IngleError && e.details?.['dbus'] === 'org.freedesktop.DBus.Error.ServiceUnknown';
  const none = (e: unknown): never => {
    throw absent(e)
      ? new IngleError('not_supported', 'This hub runs from a checkout; updates come with git.')
      : e;
  };

  async function give(what: Order, body: Uint8Array | string): Promise<Record<string, unknown>> {
    const given = parseObject(body);
    if (what === 'check') {
      const { channel = '' } = shape(given, { channel: 'string?' });
      const found = await update.Check({ channel }, 60_000);
      return { ...found, size: Number(found.size) };
    }
    if (what === 'verify') {
      const { source = '' } = shape(given, { source: 'string?' });
      return update.Verify({ source }, 200_000);
    }
    if (what === 'install') {
      const { source = '', restart = '' } = shape(given, { source: 'string?', restart: 'string?' });
      return update.Install({ source, restart }, 60_000);
    }
    if (what === 'restart') {
      const { when = 'now' } = shape(given, { when: 'string?' });
      return update.Restart({ when });
    }
    shape(given, {});
    if (what === 'rollback') return update.Rollback({});
    return what === 'download' ? update.Download({}) : update.Cancel({});
  }

  return {
    async status() {
      try {
        const { state, version: running, slot, detail } = await update.Status({}, 10_000);
        return { state, version: running, slot, ...(fromVariant(detail) as object) };
      } catch (e) {
        if (absent(e)) return { state: 'unsupported', version, slot: '', can: [] };
        throw e;
      }
    },
    async order(what, body) {
      const said = await give(what, body).catch(none);
      return { ok: true, ...said };
    },
    admit(method, path) {
      if (!draining || method === 'GET' || path.startsWith('/api/admin/update/')) return;
      throw new IngleError('unavailable', 'The hub is restarting for an update. Try again in a minute.', {
        retry_after: RETRY_S,
      });
    },
  };
}
