// The processes of a hub by their units, when they have settled, and what makes one count differ from another. Pure.

export interface Unit {
  /** Proportional set size of its processes together, bytes. */
  pss: number;
  /** Names of its processes, sorted. */
  names: string[];
}
export type Units = Record<string, Unit>;

/** PipeWire's units and wpa_supplicant run for us alone; so do the programs ours start. */
const isOurs = (unit: string) => /^(ingle-(?!lab)|wpa_supplicant)/.test(unit);

/**
 * @param groups a line a unit: its name and its processes' ids
 * @param processes a line a process: its id, its PSS in KiB, its name
 */
export function unitsOf(groups: string, processes: string): Units {
  const known = new Map<string, { pss: number; name: string }>();
  for (const line of processes.split('\n')) {
    const [, pid, kb, name] = /^(\d+) (\d+) (.+)$/.exec(line) ?? [];
    if (pid) known.set(pid, { pss: Number(kb) * 1024, name: name! });
  }
  const units: Units = {};
  for (const line of groups.split('\n')) {
    const [unit = '', ...pids] = line.split(' ');
    const alive = pids.flatMap((p) => known.get(p) ?? []);
    if (!isOurs(unit) || alive.length === 0) continue;
    units[unit] = { pss: alive.reduce((n, p) => n + p.pss, 0), names: alive.map((p) => p.name).sort() };
  }
  return units;
}

export const count = (units: Units): number => Object.values(units).reduce((n, u) => n + u.names.length, 0);

/** A unit, what systemd says of it (`running`, `auto-restart`, ...); from `systemctl list-units --plain --no-legend`. */
export function statesOf(listed: string): Record<string, string> {
  const lines = listed.split('\n').map((line) => line.trim().split(/\s+/));
  return Object.fromEntries(lines.flatMap(([unit, , , sub]) => (unit && sub ? [[unit, sub]] : [])));
}

export interface Wanted {
  /** The state of the hub that is measured. */
  state: string;
  /** Units that a hub in it always has, each with a process. */
  stay: readonly string[];
  /** What else of ours may have processes then; every other unit leaves. */
  may: RegExp;
}

export interface Found {
  state: string;
  units: Units;
  /** What systemd says of each of our units. */
  states: Readonly<Record<string, string>>;
}

/** Why this is not yet what is to be measured; '' when it is. */
export function unsettled({ state, units, states }: Found, wanted: Wanted): string {
  if (state !== wanted.state) return `the hub is in ${state}, to be measured in ${wanted.state}`;
  for (const unit of wanted.stay) {
    const said = states[unit] ?? 'not there';
    if (said !== 'running') return `${unit} is ${said}, and a hub in ${wanted.state} has it running`;
    if (!units[unit]) return `${unit} has no process`;
  }
  // What starts, ends, waits for its restart or has failed is in no state that lasts.
  for (const [unit, said] of Object.entries(states))
    if (!['running', 'exited', 'dead'].includes(said)) return `${unit} is ${said}`;
  for (const [unit, { names }] of Object.entries(units)) {
    if (!wanted.stay.includes(unit) && !wanted.may.test(unit)) return `${unit} has not left yet`;
    // A console nobody is at is a shell.
    if (unit.startsWith('ingle-serial@') && names.includes('node')) return `${unit} still talks`;
    // It speaks for a service for a moment.
    if (names.includes('systemd-notify')) return `${unit} just tells systemd something`;
  }
  return '';
}

/** What of one count is more or less than of another, a line a unit. Each is names of processes by unit. */
export function differences(
  before: Record<string, readonly string[]>,
  now: Record<string, readonly string[]>,
): string[] {
  const lines: string[] = [];
  for (const unit of [...new Set([...Object.keys(before), ...Object.keys(now)])].sort()) {
    const [a, b] = [[...(before[unit] ?? [])], [...(now[unit] ?? [])]];
    const more = b.filter((name) => !taken(a, name));
    if (more.length > 0) lines.push(`+${more.length} ${unit}: ${more.join(', ')}`);
    if (a.length > 0) lines.push(`-${a.length} ${unit}: ${a.join(', ')}`);
  }
  return lines;
}

/** Takes one such name out of the list. */
function taken(list: string[], name: string): boolean {
  const at = list.indexOf(name);
  if (at >= 0) list.splice(at, 1);
  return at >= 0;
}
