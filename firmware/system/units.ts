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
  /** Id of the skill in it; empty for a unit that has none. */
  skill: string;
  running: boolean;
}

/** What a unit is called for a person: a slot's number says nothing. */
export const labelOf = (u: Pick<Unit, 'unit' | 'skill'>) => (u.skill ? `${u.skill} (${u.unit})` : u.unit);

/** It answers who asks for units, and takes no bus name. */
const api = 'ingle-api';
const supervisor = 'ingle-supervisor';

/** The unit that takes a bus name of ours: `io.ingle.Uplink1` is ingle-uplink, `io.ingle.Skill1.slot3` is ingle-skill@3. */
export function unitOf(name: string): string | undefined {
  const [, slot] = /^io\.ingle\.Skill1\.slot(\d+)$/.exec(name) ?? [];
  if (slot) return `ingle-skill@${slot}`;
  const [, service] = /^io\.ingle\.([A-Z][A-Za-z]*)1$/.exec(name) ?? [];
  return service && `ingle-${service.toLowerCase()}`;
}

/**
 * The units there are, sorted, skills last: those the bus can start (on a hub each has a file for it), those that run,
 * and those that this hub runs by other means. A slot of the pool without a skill is none.
 * @param o.taken bus names taken now
 * @param o.startable bus names the daemon starts when they are called
 * @param o.kept bus names of processes that somebody else keeps running (`npm start`)
 * @param o.skills bus name of a slot to the id of its skill
 * @param o.api whether ingle-api runs
 */
export function unitStates(o: {
  taken: readonly string[];
  startable: readonly string[];
  kept: readonly string[];
  skills: ReadonlyMap<string, string>;
  api: boolean;
}): Unit[] {
  const taken = new Set(o.taken);
  const startable = new Set(o.startable);
  const units: Unit[] = [{ unit: api, bus: '', skill: '', running: o.api }];
  for (const bus of new Set([...o.startable, ...o.kept, ...o.taken])) {
    const unit = unitOf(bus);
    const skill = o.skills.get(bus) ?? '';
    if (!unit || (unit.startsWith('ingle-skill@') && !skill)) continue;
    // Where the bus cannot start it, the house of `npm start` supervises, which is no service.
    if (unit === supervisor && !startable.has(bus)) continue;
    units.push({ unit, bus, skill, running: taken.has(bus) });
  }
  const order = (u: Unit) => `${u.skill && '~'}${u.skill || u.unit}`;
  return units.sort((a, b) => (order(a) < order(b) ? -1 : 1));
}
