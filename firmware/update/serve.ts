// io.ingle.Update1 over an update: contract on one side, RAUC, disk and network on the other.
import type { Bus, Served } from '../system/bus.ts';
import type { Log } from '../system/log.ts';
import { update1 } from './contract.ts';
import type { UpdateParts } from './parts.ts';
import { createUpdate, type Update } from './update.ts';

/** Between checks nobody asked for, seconds. */
const CHECK_S = 20 * 3600;

export interface ServeOptions extends Omit<UpdateParts, 'events'> {
  onCall(): void;
  /** Between two looks for RAUC, which may still be on its way at boot, milliseconds. */
  retryMs: number;
}

export interface Serving {
  update: Update;
  /** Goes on where the last process stopped. Calls wait until the first look at RAUC is over. */
  begin(): Promise<void>;
}

export async function serveUpdate(bus: Bus, o: ServeOptions): Promise<Serving> {
  let served: Served<typeof update1> | undefined;
  const update = await createUpdate({
    ...o,
    events: {
      state(state, old, reason) {
        served?.emit('StateChanged', { state, old, reason });
        bus.publish('update.state', { state, old, reason });
      },
      progress(step, percent, bytes, total) {
        served?.emit('Progress', { step, percent, bytes: BigInt(bytes), total: BigInt(total) });
        bus.publish('update.progress', { step, percent, bytes, total });
      },
      result(r) {
        served?.emit('Result', { ok: r.ok, kind: r.kind, from: r.from, to: r.to, reason: r.reason });
        bus.publish('update.result', { ...r });
      },
    },
  });
  let looked: () => void = () => {};
  const first = new Promise<void>((resolve) => (looked = resolve));
  const done = async (work: () => Promise<unknown>): Promise<Record<string, never>> => {
    await first;
    await work();
    return {};
  };
  served = await bus.serve(
    update1,
    {
      async Status() {
        await first;
        return update.status();
      },
      Check: ({ channel }) => first.then(() => update.check(channel)),
      Download: () => done(() => update.download()),
      Verify: ({ source }) => first.then(() => update.verify(source)),
      Install: ({ source, restart }) => done(() => update.install(source, restart)),
      Restart: ({ when }) => done(() => update.restart(when)),
      Cancel: () => done(() => update.cancel()),
      Rollback: () => first.then(() => update.rollback()),
      Sticks: async () => ({
        bundles: (await update.sticks()).map((s) => ({ path: s.path, size: BigInt(s.size) })),
      }),
    },
    { onCall: o.onCall },
  );

  async function tryToBegin(): Promise<void> {
    try {
      await update.begin();
      o.onCall();
    } catch (cause) {
      o.log.warn('RAUC does not answer yet', { cause: cause as Error });
      setTimeout(tryToBegin, o.retryMs);
    }
  }
  return {
    update,
    async begin() {
      await tryToBegin();
      looked();
    },
  };
}

/** Checks for a new version where the last check is a day old. */
export async function checkDaily(update: Update, log: Log): Promise<void> {
  const { detail } = await update.status();
  const due = Date.now() / 1000 - detail.checked_at > CHECK_S;
  if (!due || !detail.can.includes('check')) return;
  const found = await update.check('', false).catch((cause: Error) => {
    log.info('no check today', { cause });
  });
  if (found) log.info('checked for updates', { available: found.available, version: found.version });
}
