// The units of a hub, as the bus knows them. Pure.
import { contract } from './contract.ts';

/** The message bus itself (D-Bus specification, "Message bus messages"): what a skill asks it. */
export const messageBus = contract({
  name: 'org.freedesktop.DBus',
  bus: 'org.freedesktop.DBus',
  path: '/org/freedesktop/DBus',
  doc: 'The message bus.',
  methods: {
    ListActivatableNames: {
      doc: 'Names whose services the daemon starts when they are called.',
      in: {},
      out: { names: 'as' },
      errors: [],
    },
  },
  signals: {},
  properties: {},
});

export interface Unit {
  unit: string;
  /** Empty for a unit that takes none. */
  bus: string;
  running: boolean;
}

/** It answers who asks for units, and takes no bus name. */
const api = 'ingle-api';
const skills = 'io.ingle.Skill1.';

/** The unit that takes a bus name of ours: `io.ingle.Uplink1` is ingle-uplink, `io.ingle.Skill1.x` is ingle-skill@x. */
export function unitOf(name: string): string | undefined {
  if (name.startsWith(skills)) return `ingle-skill@${name.slice(skills.length)}`;
  const [, service] = /^io\.ingle\.([A-Z][A-Za-z]*)1$/.exec(name) ?? [];
  return service && `ingle-${service.toLowerCase()}`;
}

/**
 * The units there are, sorted, skills last: those the bus can start (on a hub each has a file for it), those that run,
 * and those that this hub runs by other means.
 * @param o.taken bus names taken now
 * @param o.startable bus names the daemon starts when they are called
 * @param o.kept bus names of processes that somebody else keeps running (`npm start`)
 * @param o.api whether ingle-api runs
 */
export function unitStates(o: {
  taken: readonly string[];
  startable: readonly string[];
  kept: readonly string[];
  api: boolean;
}): Unit[] {
  const taken = new Set(o.taken);
  const units: Unit[] = [{ unit: api, bus: '', running: o.api }];
  for (const bus of new Set([...o.startable, ...o.kept, ...o.taken])) {
    const unit = unitOf(bus);
    if (unit) units.push({ unit, bus, running: taken.has(bus) });
  }
  const isSkill = (u: Unit) => Number(u.bus.startsWith(skills));
  return units.sort((a, b) => isSkill(a) - isSkill(b) || (a.unit < b.unit ? -1 : 1));
}
