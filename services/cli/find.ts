// Which hub this command speaks to: INGLE_BUS_ADDRESS, a house of `npm start` hereabouts, or the system's.
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { type Bus, connect } from '../../firmware/system/bus.ts';
import { readConfig } from '../../firmware/system/config.ts';
import { findRunning, type Running } from './runtime.ts';
import type { Say } from './say.ts';

/** The running house whose data lies in `.ingle` here or in a folder above. */
export function findHouse(from = process.cwd()): Running | undefined {
  for (let dir = resolve(from); ; dir = dirname(dir)) {
    const found = findRunning(join(dir, '.ingle'));
    if (found || dir === dirname(dir)) return found;
  }
}

export interface Hub {
  bus: Bus;
  /** Folder of the hub's state. */
  data: string;
}

const systemSocket = '/run/dbus/system_bus_socket';

/** @throws IngleError `unavailable` when no hub runs here. */
export async function findHub(say: Say): Promise<Hub> {
  const given = process.env['INGLE_BUS_ADDRESS'];
  const house = given ? undefined : findHouse();
  if (!given && !house && !existsSync(systemSocket)) throw new IngleError('unavailable', say.text('noHouse'));
  const bus = await connect(given ?? house?.bus).catch(() => {
    throw new IngleError('unavailable', say.text('noHouse'));
  });
  return { bus, data: house?.hub ?? readConfig().data };
}

/** A call's failure for want of a hub, told as that. */
export function asNoHub(e: unknown, say: Say): unknown {
  const dbus = e instanceof IngleError ? e.details?.['dbus'] : undefined;
  return dbus === 'org.freedesktop.DBus.Error.ServiceUnknown' ||
    dbus === 'org.freedesktop.DBus.Error.NameHasNoOwner'
    ? new IngleError('unavailable', say.text('noHouse'))
    : e;
}
