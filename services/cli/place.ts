// Where `ingle doctor` and its kin look: the house of `npm start` hereabouts, or the hub's own system. Never throws,
// as a hub without a bus is what a doctor is called for.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Bus, connect } from '../../firmware/system/bus.ts';
import { readConfig } from '../../firmware/system/config.ts';
import type { Place } from './facts.ts';
import { findHouse } from './find.ts';

export interface Here extends Place {
  /** Folder with the logs of a house. */
  logs: string | undefined;
}

export async function here(): Promise<Here> {
  const given = process.env['INGLE_BUS_ADDRESS'];
  const house = given ? undefined : findHouse();
  const data = house?.hub;
  const file = house && join(dirname(house.hub), 'config.json');
  const config = readConfig({
    ...process.env,
    ...(house ? { INGLE_ROOT: house.root, INGLE_DATA: house.hub } : {}),
    ...(file && existsSync(file) ? { INGLE_CONFIG: file } : {}),
  });
  let bus: Bus | undefined;
  let why = '';
  try {
    bus = await connect(given ?? house?.bus);
  } catch (e) {
    why = (e as Error).message;
  }
  return {
    config,
    bus,
    why,
    data: data ?? config.data,
    api: house?.api ?? `http://${config.api.host}:${config.api.port}`,
    isHub: !given && !house,
    logs: house && join(dirname(house.hub), 'log'),
  };
}
