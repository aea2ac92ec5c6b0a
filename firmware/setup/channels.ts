// The ways into setup together: opened and closed one after another, as their devices come and go.
import { toIngleError } from '../protocol/errors.ts';
import { openQueue } from '../protocol/queue.ts';
import { type Durable, openDurable } from '../system/durable.ts';
import type { Log } from '../system/log.ts';
import type { Store } from '../system/store.ts';
import {
  type ChannelEvent,
  type ChannelMemory,
  type ChannelState,
  channelTable,
  isOpen,
  newChannel,
} from './channel.ts';
import type { ChannelPort, OpenFor } from './ports.ts';

/** Looks at which a channel whose device has come, or that fell, is tried again. */
const TRIES = 6;

export interface ChannelsOptions {
  ports: readonly ChannelPort[];
  store: Store;
  log: Log;
  /** How long a channel stays to hand over the pairing link, milliseconds. */
  linger: number;
  /** The window it is opened for. */
  window(): OpenFor;
  onOpen(name: ChannelPort['name']): void;
  onFailed(name: ChannelPort['name'], reason: string): void;
}

export type Channels = Awaited<ReturnType<typeof openChannels>>;

type Row = Durable<ChannelState, ChannelEvent, ChannelMemory>;

/** One channel: its port and its row. */
interface Channel {
  port: ChannelPort;
  row: Row;
}

export async function openChannels(o: ChannelsOptions) {
  // Starting and stopping are slow; one after another, never crossed.
  const steps = openQueue();
  const rounds = openQueue();
  const port = new Map(o.ports.map((p) => [p.name as string, p]));
  const rows = await openDurable<ChannelState, ChannelEvent, ChannelMemory>({
    name: 'channels',
    store: o.store,
    table: channelTable,
    initial: 'closed',
    memory: newChannel,
    log: o.log,
    anew: true,
    // A hub whose disk is full can be set up all the same.
    volatile: true,
    async act(row, here) {
      const c = port.get(row.key)!;
      if (here.state === 'handing_over') here.after(o.linger, 'close');
      else if (here.state === 'closing') {
        await steps.add(() => c.stop()).catch(() => {});
        await here.move('closed');
      } else if (here.state === 'opening') {
        const w = o.window();
        const error = await steps.add(() => c.start(w)).then(() => undefined, toIngleError);
        if (error) o.log.warn('a setup channel does not start', { channel: c.name, error });
        const started_at = new Date().toISOString();
        const moved = await (error
          ? here.move('refused')
          : here.move('opened', { ssid: w.ssid, started_at }));
        if (!moved) return;
        if (error) o.onFailed(c.name, error.code);
        else o.onOpen(c.name);
      }
    },
  });
  const all: Channel[] = o.ports.map((p) => ({ port: p, row: rows.row(p.name) }));
  for (const { row } of all) if ((rows.stored(row.key) ?? 'closed') !== 'closed') await row.move('found');

  const opened = (name?: string) => all.filter((c) => isOpen(c.row.state) && (!name || c.port.name === name));
  const close = (which: readonly Channel[]) =>
    Promise.all(
      which.map(async ({ row }) => {
        await row.move('close');
        await row.acted();
      }),
    );

  return {
    /** Names of those that are open. */
    names: (): string[] => opened().map((c) => c.port.name),
    /** The way in that a person is told of first; undefined when none is open. */
    first: () => (['softap', 'ble'] as const).find((name) => opened(name).length > 0),
    /** What an open channel remembers; null when it is not open. */
    memory: (name: ChannelPort['name']): ChannelMemory | null => opened(name)[0]?.row.memory ?? null,
    port: (name: ChannelPort['name']): ChannelPort | undefined => opened(name)[0]?.port,
    /**
     * Opens what is not open and can be, and drops what has gone with its device.
     * @param fresh the window is new: those whose device is missing are told of
     */
    open: (given: { fresh: boolean; asked: boolean; signal: AbortSignal }): Promise<void> =>
      rounds.add(async () => {
        const found: string[] = [];
        for (const c of all) found.push(await refresh(c, given.asked, o.onFailed));
        for (const [i, { port, row }] of all.entries()) {
          if (given.signal.aborted) return;
          if (found[i]) {
            if ((await row.move('open')) !== undefined) await row.acted();
          } else if (given.fresh && port.name !== 'softap') o.onFailed(port.name, 'unavailable');
        }
      }),
    close: async (): Promise<void> => void (await close(all)),
    /** Those that stay hand over the pairing link; the others close. */
    async leave(stays: (name: string) => boolean): Promise<void> {
      const staying = opened().filter((c) => stays(c.port.name));
      const leaving = close(all.filter((c) => !staying.includes(c)));
      for (const { row } of staying) await row.move('hand_over');
      await leaving;
    },
    /** Whether opening again would change anything, and what could be opened. */
    async look(asked: boolean): Promise<{ changed: boolean; can: string[] }> {
      let changed = false;
      const can: string[] = [];
      for (const c of all) {
        const device = await deviceOf(c, asked);
        if (device) can.push(c.port.name);
        if (await look(c, device)) changed = true;
      }
      return { changed, can };
    },
    /** A channel has closed by itself; `again`: it is worth starting anew. */
    async ended(name: string, again: boolean): Promise<void> {
      const [c] = opened(name);
      if (c && (await c.row.move('ended')) && again) await c.row.remember({ tries: TRIES });
    },
    /** Resolves when nothing is being opened or closed. */
    async idle(): Promise<void> {
      await rounds.idle();
      await steps.idle();
    },
    stop: rows.stop,
  };
}

/** A service that is just starting again does not answer: then the device is as it was. */
const deviceOf = ({ port, row }: Channel, asked: boolean): Promise<string> =>
  port.device(asked || isOpen(row.state)).catch(() => row.memory.device);

/** Drops a channel whose device has gone, or that fell. @returns the device it can be opened on */
async function refresh(c: Channel, asked: boolean, onFailed: ChannelsOptions['onFailed']): Promise<string> {
  const { port, row } = c;
  const device = await deviceOf(c, asked);
  if (device !== row.memory.device) await row.remember({ device });
  if (!isOpen(row.state)) return device;
  if (!device) {
    await row.move('close');
    await row.acted();
    onFailed(port.name, port.name === 'softap' ? 'no_radio' : 'unavailable');
  }
  // After a failed join it is back already; another start would throw the phone out again.
  else if (!((await port.serving?.().catch(() => false)) ?? true)) await row.move('ended');
  return device;
}

async function look({ port, row }: Channel, device: string): Promise<boolean> {
  const is = isOpen(row.state);
  const fell = is && device !== '' && !((await port.serving?.().catch(() => true)) ?? true);
  const changed = fell || device !== row.memory.device;
  // Not for ever: a radio that cannot be an access point stays one.
  const tries = changed ? TRIES : row.memory.tries;
  const again = device !== '' && !is && tries > 0;
  const left = again ? tries - 1 : tries;
  if (changed || left !== row.memory.tries) await row.remember({ device, tries: left });
  return changed || again;
}
