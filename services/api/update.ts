// /api/admin/update/*: the owner's orders about updates, passed on to ingle-update.
import { bind, type Handlers } from '../../firmware/protocol/endpoint/router.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { Lifecycle } from '../../firmware/supervisor/lifecycle.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import { isAbsent } from '../../firmware/system/bus-errors.ts';
import { version } from '../../firmware/system/config.ts';
import { updateApi } from '../../firmware/update/api.ts';
import { update1 } from '../../firmware/update/contract.ts';
import type { Asked, LocalEndpoint } from './dispatch.ts';
import type { Response } from './http.ts';
import type { Observe } from './observe.ts';

/** States in which nothing new begins. */
const ending = new Set(['draining', 'restarting']);
/** Whoever asks may be the one the service is started for, on a slow machine; milliseconds. */
const STATUS_MS = 25_000;

export async function updates(
  bus: Bus,
  stream: Observe['stream'],
  life: Lifecycle,
): Promise<LocalEndpoint[]> {
  const update = bus.client(update1);
  await bus.onSignal(update1, 'StateChanged', ({ state }) => {
    if (ending.has(state)) life.drain('update');
    else life.resume('update');
  });
  // A service that went without a word has restarted nothing.
  await bus.watchName(update1.bus, (owner) => {
    if (!owner) life.resume('update');
  });

  const none = (e: unknown): never => {
    throw isAbsent(e)
      ? new IngleError('not_supported', 'This hub runs from a checkout; updates come with git.')
      : e;
  };

  /** An order, with `ok` beside what ingle-update answers. */
  const order = async (said: Promise<object>) => ({ ok: true as const, ...(await said.catch(none)) });
  const handlers: Handlers<typeof updateApi, Asked, Response> = {
    async status() {
      try {
        const { state, version: running, slot, detail } = await update.Status({}, STATUS_MS);
        return { state, version: running, slot, ...detail };
      } catch (e) {
        if (isAbsent(e)) return { state: 'unsupported', version, slot: '', can: [] };
        throw e;
      }
    },
    stream: (asked) => stream('update.', asked),
    check: ({ body: { channel = '' } }) =>
      order(update.Check({ channel }, 60_000).then((found) => ({ ...found, size: Number(found.size) }))),
    download: () => order(update.Download({})),
    verify: ({ body: { source = '' } }) => order(update.Verify({ source }, 200_000)),
    install: ({ body: { source = '', restart = '' } }) => order(update.Install({ source, restart }, 60_000)),
    restart: ({ body: { when = 'now' } }) => order(update.Restart({ when })),
    cancel: () => order(update.Cancel({})),
    rollback: () => order(update.Rollback({})),
  };
  return bind(updateApi, handlers);
}
