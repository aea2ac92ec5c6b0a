// Which hub this command speaks to: INGLE_BUS_ADDRESS, a house of `npm start` hereabouts, or the system's.
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { type Bus, connect } from '../../firmware/system/bus.ts';
import { isAbsent } from '../../firmware/system/bus-errors.ts';
import { readConfig } from '../../firmware/system/config.ts';
import { findRunning, type Running } from './house/runtime.ts';
import type { Say } from './say.ts';

/** The first thing found in `.ingle` here or in a folder above. */
function inData<T>(look: (data: string) => T | undefined, from = process.cwd()): T | undefined {
  for (let dir = resolve(from); ; dir = dirname(dir)) {
    const found = look(join(dir, '.ingle'));
    if (found !== undefined || dir === dirname(dir)) return found;
  }
}

/** The running house whose data lies in `.ingle` here or in a folder above. */
export const findHouse = (from?: string): Running | undefined => inData(findRunning, from);

/**
 * The house to speak to: that of here or of a folder above, else that of the checkout this command comes from, as who
 * writes a skill does so in a folder of their own. What ends or begins a house asks `findHouse`.
 */
export const nearestHouse = (): Running | undefined =>
  findHouse() ?? findHouse(dirname(fileURLToPath(import.meta.url)));

/** Data of a house of `npm start` hereabouts, running or not. */
export const findData = (from?: string): string | undefined =>
  inData((data) => (existsSync(join(data, 'hub')) ? data : undefined), from);

export interface Hub {
  bus: Bus;
  /** Folder of the hub's state. */
  data: string;
}

const systemSocket = '/run/dbus/system_bus_socket';

/** @throws IngleError `unavailable` when no hub runs here. */
export async function findHub(say: Say): Promise<Hub> {
  const given = process.env['INGLE_BUS_ADDRESS'];
  const house = given ? undefined : nearestHouse();
  if (!given && !house && !existsSync(systemSocket)) throw new IngleError('unavailable', say.text('noHouse'));
  const bus = await connect(given ?? house?.bus).catch(() => {
    throw new IngleError('unavailable', say.text('noHouse'));
  });
  return { bus, data: house?.hub ?? readConfig().data };
}

/** A call's failure for want of a hub, or of the service that does it where a house of `npm start` runs without one. */
export function asNoHub(e: unknown, say: Say): unknown {
  if (!isAbsent(e)) return e;
  const house = process.env['INGLE_BUS_ADDRESS'] ? undefined : nearestHouse();
  return house
    ? new IngleError('not_supported', say.text('notInHouse'))
    : new IngleError('unavailable', say.text('noHouse'));
}
