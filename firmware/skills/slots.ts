// Which skill lives in which slot of the pool. Pure.
//
// A hub has a fixed pool of sandboxed instances, as a read-only root can take neither users nor bus policy for a new
// skill. A table on the data partition says which skill has which slot; the root's own pins win over it.
import { isSkillId } from '../documents/key.ts';
import { IngleError } from '../protocol/errors.ts';

/** Slots are numbered from 1. Users, policy, activation files and units are there for each (image/slots.ts). */
export const SLOTS = 16;
/** A table is written by us and is small; more is not read. */
const MAX_BYTES = 64 * 1024;

/** One row of the table; a slot without a row was never used. */
export type Row =
  | {
      state: 'used';
      skill_id: string;
      /** Folder below `<data>/skills/bundles`; without it the read-only root has the skill. */
      bundle?: string;
      /** Drawn for this stay: a slot's state folder that carries another is wiped before the skill starts. */
      tag: string;
    }
  /** What is left in its state folder is to be wiped. */
  | { state: 'freed' };
export type Table = ReadonlyMap<number, Row>;

/** What the read-only root says. */
export interface Root {
  /** Skills it has bundles of. */
  builtin: readonly string[];
  /** Skill to slot, for those with privileges of their own. No other skill ever gets these slots. */
  pins: ReadonlyMap<string, number>;
}

/** A slot with a skill. */
export interface Slot {
  slot: number;
  skill_id: string;
  bundle: string | undefined;
  tag: string;
}

export const isSlot = (n: unknown): n is number =>
  typeof n === 'number' && Number.isInteger(n) && n >= 1 && n <= SLOTS;

/** One folder name: no path leads out of where bundles are, whatever the table says. */
const isBundle = (v: unknown): v is string =>
  typeof v === 'string' && /^[a-z0-9][A-Za-z0-9_.+-]{0,127}$/.test(v);
const isTag = (v: unknown): v is string => typeof v === 'string' && /^[0-9a-f]{32}$/.test(v);

const fail = (what: string): never => {
  throw new IngleError('invalid_request', `The table of skills ${what}.`);
};
const objectIn = (v: unknown, what: string): Record<string, unknown> =>
  v !== null && typeof v === 'object' && !Array.isArray(v) ? (v as Record<string, unknown>) : fail(what);

function rowOf(value: unknown, at: string): Row {
  const { state, skill_id, bundle, tag, ...more } = objectIn(value, `has no object for ${at}`);
  if (Object.keys(more).length > 0) fail(`has fields for ${at} that nobody knows`);
  if (state === 'freed') {
    if (skill_id !== undefined || bundle !== undefined || tag !== undefined)
      fail(`says that ${at} is both used and free`);
    return { state };
  }
  if (state !== 'used') return fail(`has no state for ${at}`);
  if (typeof skill_id !== 'string' || !isSkillId(skill_id)) return fail(`has no skill id for ${at}`);
  if (!isTag(tag)) return fail(`has no tag for ${at}`);
  if (bundle === undefined) return { state, skill_id, tag };
  return isBundle(bundle) ? { state, skill_id, bundle, tag } : fail(`names no folder of bundles for ${at}`);
}

/**
 * Reads `slots.json`. One fault makes all of it worthless, as nobody else writes it.
 * @throws IngleError `invalid_request`
 */
export function parseTable(text: string): Table {
  if (text.length > MAX_BYTES) return fail('is too large');
  let whole: unknown;
  try {
    whole = JSON.parse(text);
  } catch {
    return fail('is no JSON');
  }
  const { slots, ...more } = objectIn(whole, 'is no object');
  if (Object.keys(more).length > 0) fail('has fields that nobody knows');
  const table = new Map<number, Row>();
  const seen = new Set<string>();
  for (const [key, value] of Object.entries(objectIn(slots, 'has no slots'))) {
    const n = Number(key);
    if (!isSlot(n) || key !== String(n)) return fail(`has a slot "${key.slice(0, 20)}", which is none`);
    const row = rowOf(value, `slot ${n}`);
    if (row.state === 'used' && seen.has(row.skill_id)) return fail(`has ${row.skill_id} twice`);
    if (row.state === 'used') seen.add(row.skill_id);
    table.set(n, row);
  }
  return table;
}

export function printTable(table: Table): string {
  const slots = Object.fromEntries([...table].sort(([a], [b]) => a - b));
  return `${JSON.stringify({ slots }, null, 2)}\n`;
}

/**
 * Reads the pins of the root.
 * @throws IngleError `invalid_request`: they are verified at each boot, so this is a fault of who built it
 */
export function parsePins(text: string): ReadonlyMap<string, number> {
  const pins = Object.entries(objectIn(JSON.parse(text), 'has pins that are no object'));
  for (const [id, n] of pins) if (!isSkillId(id) || !isSlot(n)) fail(`cannot pin ${id} to ${n}`);
  if (new Set(pins.map(([, n]) => n)).size !== pins.length) fail('pins two skills to one slot');
  return new Map(pins as [string, number][]);
}

/** The slots with a skill: the root's pins, then what the table adds. Nothing in the table reaches a pinned slot. */
export function occupied(table: Table, root: Root): ReadonlyMap<number, Slot> {
  const found = new Map<number, Slot>();
  const pinned = new Set(root.pins.values());
  for (const [skill_id, slot] of root.pins)
    if (root.builtin.includes(skill_id))
      found.set(slot, { slot, skill_id, bundle: undefined, tag: 'pinned' });
  for (const [slot, row] of table) {
    if (row.state !== 'used' || pinned.has(slot) || root.pins.has(row.skill_id)) continue;
    const { skill_id, tag } = row;
    // The root's own code cannot be replaced under its name.
    if (root.builtin.includes(skill_id)) found.set(slot, { slot, skill_id, bundle: undefined, tag });
    else if (row.bundle) found.set(slot, { slot, skill_id, bundle: row.bundle, tag });
  }
  return found;
}

/**
 * Gives a skill a slot, or a new bundle in the slot it has. A slot that was never used comes before a freed one.
 * @param tag 32 hexadecimal digits, random: what a skill leaves behind must not fit the next stay
 * @throws IngleError `conflict` when every slot is taken, `forbidden` for a skill the root pins
 */
export function assign(
  table: Table,
  root: Root,
  skill: { skill_id: string; bundle?: string },
  tag: string,
): Table {
  const { skill_id, bundle } = skill;
  if (root.pins.has(skill_id))
    throw new IngleError('forbidden', `The skill "${skill_id}" is part of the image.`);
  const has = [...table].find(([, row]) => row.state === 'used' && row.skill_id === skill_id);
  const pinned = new Set(root.pins.values());
  const open = Array.from({ length: SLOTS }, (_, i) => i + 1).filter((n) => !pinned.has(n));
  const slot =
    has && !pinned.has(has[0])
      ? has[0]
      : (open.find((n) => !table.has(n)) ?? open.find((n) => table.get(n)?.state === 'freed'));
  if (slot === undefined)
    throw new IngleError(
      'conflict',
      `There is no room for another skill: all ${open.length} places are taken. Remove one first.`,
    );
  const before = table.get(slot);
  const kept = before?.state === 'used' ? before.tag : tag;
  const next = new Map(table);
  if (has) next.delete(has[0]);
  return next.set(slot, { state: 'used', skill_id, ...(bundle ? { bundle } : {}), tag: kept });
}

/** Takes a skill out of its slot; what it leaves in its state folder is marked to be wiped. */
export function free(table: Table, skill_id: string): Table {
  const next = new Map(table);
  for (const [slot, row] of table)
    if (row.state === 'used' && row.skill_id === skill_id) next.set(slot, { state: 'freed' });
  return next;
}

/**
 * The table for this root: its skills have slots, and those it has no longer have none.
 * @param tag draws one
 * @returns also the skills for which there was no room
 */
export function settle(table: Table, root: Root, tag: () => string): { table: Table; homeless: string[] } {
  let now = table;
  for (const row of table.values())
    if (
      row.state === 'used' &&
      (root.pins.has(row.skill_id) || !(row.bundle || root.builtin.includes(row.skill_id)))
    )
      now = free(now, row.skill_id);
  const homeless: string[] = [];
  const housed = new Set([...now.values()].map((row) => (row.state === 'used' ? row.skill_id : '')));
  for (const skill_id of root.builtin.filter((id) => !root.pins.has(id) && !housed.has(id)))
    try {
      now = assign(now, root, { skill_id }, tag());
    } catch {
      homeless.push(skill_id);
    }
  return { table: now, homeless };
}
