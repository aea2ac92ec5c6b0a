// The units of a hub and the bus name each takes, for those who show what runs. Pure.

export interface Unit {
  unit: string;
  /** Empty for a unit that takes none. */
  bus: string;
}

export const units: readonly Unit[] = [
  { unit: 'ingle-api', bus: '' },
  { unit: 'ingle-uplink', bus: 'io.ingle.Uplink1' },
  { unit: 'ingle-scenario', bus: 'io.ingle.Scenario1' },
  { unit: 'ingle-setup', bus: 'io.ingle.Setup1' },
  { unit: 'ingle-audio', bus: 'io.ingle.Audio1' },
  { unit: 'ingle-wifi', bus: 'io.ingle.Wifi1' },
  { unit: 'ingle-ble', bus: 'io.ingle.Ble1' },
  { unit: 'ingle-bot', bus: 'io.ingle.Bot1' },
  { unit: 'ingle-update', bus: 'io.ingle.Update1' },
];

const skillPrefix = 'io.ingle.Skill1.';

/** The units with what the bus says of them; skills that run come after. `names` are the bus names taken now. */
export function unitStates(names: readonly string[], apiRuns: boolean): (Unit & { running: boolean })[] {
  const taken = new Set(names);
  const fixed = units.map((u) => ({ ...u, running: u.bus === '' ? apiRuns : taken.has(u.bus) }));
  const skills = names
    .filter((n) => n.startsWith(skillPrefix))
    .sort()
    .map((bus) => ({ unit: `ingle-skill@${bus.slice(skillPrefix.length)}`, bus, running: true }));
  return [...fixed, ...skills];
}
