// Where `ingle doctor` and its kin look: the house of `npm start` hereabouts, or the hub's own system. Never throws,
// as a hub without a bus is what a doctor is called for.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Bus, connect } from '../../firmware/system/bus.ts';
import { readConfig } from '../../firmware/system/config.ts';
import { findData, nearestHouse } from './find.ts';
import type { Place } from './hub/facts.ts';

export interface Here extends Place {
  /** Folder with the logs of a house. */
  logs: string | undefined;
}

/** A flashed hub has its device file; a house of `npm start` is never looked for there. */
export const isFlashed = () => existsSync('/usr/share/ingle/device.json');

export async function here(): Promise<Here> {
  const given = process.env['INGLE_BUS_ADDRESS'];
  const house = given || isFlashed() ? undefined : nearestHouse();
  const folder = house ? dirname(house.hub) : given || isFlashed() ? undefined : findData();
  const file = folder && join(folder, 'config.json');
  const config = readConfig({
    ...process.env,
    ...(folder ? { INGLE_DATA: join(folder, 'hub') } : {}),
    ...(house ? { INGLE_ROOT: house.root, INGLE_SKILLS: house.skills } : {}),
    ...(file && existsSync(file) ? { INGLE_CONFIG: file } : {}),
  });
  const port =
    folder && existsSync(join(folder, 'api-port')) && readFileSync(join(folder, 'api-port'), 'utf8');
  let bus: Bus | undefined;
  let why = '';
  if (folder && !house) why = `npm start does not run (${folder})`;
  else
    try {
      bus = await connect(given ?? house?.bus);
    } catch (e) {
      why = (e as Error).message;
    }
  return {
    config,
    bus,
    why,
    data: config.data,
    api: house?.api ?? `http://${config.api.host}:${port || config.api.port}`,
    isHub: !given && !folder,
    starting: house?.up === false,
    logs: folder && join(folder, 'log'),
  };
}
