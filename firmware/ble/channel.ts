// Setup over BLE as a channel of the ladder: io.ingle.Ble1, which the bus starts.
import { readdirSync } from 'node:fs';
import type { ChannelPort } from '../setup/ports.ts';
import type { Bus } from '../system/bus.ts';
import { ble1 } from './contract.ts';

/** It ends by itself after this without a central, seconds: as long as the ladder keeps channels open. */
const IDLE_S = 600;

/** The first adapter's name; empty: there is none. */
function adapter(sys: string): string {
  try {
    return readdirSync(`${sys}/class/bluetooth`).find((name) => /^hci\d+$/.test(name)) ?? '';
  } catch {
    // The folder is there once an adapter was.
    return '';
  }
}

/** @param o.unlabelled the maker has printed no PIN on the device */
export function bleChannel(
  bus: Pick<Bus, 'client' | 'onSignal' | 'watchName'>,
  o: { unlabelled: boolean; sys?: string },
): ChannelPort {
  const ble = bus.client(ble1);
  return {
    name: 'ble',
    device: async () => adapter(o.sys ?? '/sys'),
    start: async () => void (await ble.Start({ idle_timeout: IDLE_S, unlabelled: o.unlabelled }, 30_000)),
    approve: async () => void (await ble.Approve({})),
    stop: async () => void (await ble.Stop({})),
    async onEnded(f) {
      await bus.onSignal(ble1, 'Ended', ({ reason }) => {
        if (reason === 'idle') f(false);
      });
      // Ended for any other cause: its adapter went, it died, or another service took its place.
      await bus.watchName(ble1.bus, (owner) => owner === '' && f(true));
    },
  };
}
