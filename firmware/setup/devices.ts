// What the channels need of the machine, as it comes and goes: radios, and the adapters of single channels.
import type { Ports } from './ports.ts';

export interface Devices {
  radios: number;
  /** Names of the channels whose device is there, or that need none. */
  ready: string[];
}

export const noDevices: Devices = { radios: 0, ready: [] };

/** What is there now. A Wi-Fi service that is just starting again does not answer: then the radios are as `before`. */
export async function seeDevices(ports: Ports, before: Devices): Promise<Devices> {
  const radios = await ports.wifi.radios().catch(() => before.radios);
  const ready: string[] = [];
  for (const c of ports.channels)
    if (await (c.present?.() ?? Promise.resolve(true)).catch(() => false)) ready.push(c.name);
  return { radios, ready };
}

export const sameDevices = (a: Devices, b: Devices) =>
  a.radios === b.radios && a.ready.join() === b.ready.join();
