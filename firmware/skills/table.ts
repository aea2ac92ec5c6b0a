// The table of skills on disk: the pins and bundles of the read-only root, what the data partition adds, who lives where.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, renameSync } from 'node:fs';
import { join, sep } from 'node:path';
import { isSkillId } from '../documents/key.ts';
import { IngleError } from '../protocol/errors.ts';
import { writeWhole } from '../system/atomic.ts';
import type { Config } from '../system/config.ts';
import type { Log } from '../system/log.ts';
import { skillBusName } from './contract.ts';
import type { Manifest } from './manifest.ts';
import {
  occupied,
  parsePins,
  parseTable,
  printTable,
  type Root,
  type Slot,
  settle,
  type Table,
} from './slots.ts';

type Folders = Pick<Config, 'skills' | 'data'>;

const tableOf = (c: Folders) => join(c.data, 'skills', 'slots.json');

/** What the root carries: every folder with a manifest, and its pins. */
function readRoot({ skills }: Folders): Root {
  if (!existsSync(skills)) return { builtin: [], pins: new Map() };
  const builtin = readdirSync(skills)
    .filter((id) => isSkillId(id) && existsSync(join(skills, id, 'manifest.json')))
    .sort();
  const pins = join(skills, 'slots.json');
  return { builtin, pins: existsSync(pins) ? parsePins(readFileSync(pins, 'utf8')) : new Map() };
}

/** The table, empty where there is none. @throws IngleError `invalid_request` for one that cannot be used */
function readTable(c: Folders): Table {
  try {
    return parseTable(readFileSync(tableOf(c), 'utf8'));
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw e;
  }
}

export interface Slots {
  /** Slots with a skill, by number. */
  slots: ReadonlyMap<number, Slot>;
  /** Slots whose state folder waits to be wiped. */
  freed: readonly number[];
  /** Why the table counts for nothing; the pinned skills are there all the same. */
  fault: Error | undefined;
}

/** Who lives in which slot. */
export function readSlots(c: Folders): Slots {
  const root = readRoot(c);
  try {
    const table = readTable(c);
    const freed = [...table].filter(([, row]) => row.state === 'freed').map(([n]) => n);
    return { slots: occupied(table, root), freed, fault: undefined };
  } catch (e) {
    return { slots: occupied(new Map(), root), freed: [], fault: e as Error };
  }
}

/**
 * Brings the table in line with the root and answers who lives where. A table that cannot be used is put aside, and
 * the root's own skills begin anew. Only one process of a hub may do this: ingle-api, or `npm start` before it.
 */
export async function settleSlots(c: Folders, log: Log): Promise<Slots> {
  const root = readRoot(c);
  const file = tableOf(c);
  let before: Table = new Map();
  let bad = false;
  try {
    before = readTable(c);
  } catch (cause) {
    log.error('the table of skills cannot be used; it is put aside', { file, cause: cause as Error });
    bad = true;
  }
  const { table, homeless } = settle(before, root, () => randomBytes(16).toString('hex'));
  for (const skill of homeless) log.error('there is no slot for a skill of the image', { skill });
  try {
    if (bad) renameSync(file, `${file}.bad`);
    mkdirSync(join(c.data, 'skills'), { recursive: true, mode: 0o755 });
    if (printTable(table) !== printTable(before)) await writeWhole(file, printTable(table), 0o644);
  } catch (cause) {
    // A full disk must not take the desktop with it.
    log.error('the table of skills cannot be written', { file, cause: cause as Error });
  }
  return readSlots(c);
}

/** What the root carries, and the table beside it. @throws IngleError `invalid_request` for a table with a fault */
export function readPlaces(c: Folders): { root: Root; table: Table } {
  return { root: readRoot(c), table: readTable(c) };
}

/**
 * Replaces the table; it is on the disk when this settles. Only ingle-api may do this.
 * @throws IngleError what `change` throws, or `invalid_request` for a table with a fault
 */
export async function changeTable(c: Folders, change: (table: Table, root: Root) => Table): Promise<void> {
  const { root, table } = readPlaces(c);
  const next = printTable(change(table, root));
  if (next === printTable(table)) return;
  mkdirSync(join(c.data, 'skills'), { recursive: true, mode: 0o755 });
  await writeWhole(tableOf(c), next, 0o644);
}

/** Bus name of a slot -> id of the skill that lives there. */
export function skillNames(slots: ReadonlyMap<number, Slot>): ReadonlyMap<string, string> {
  return new Map([...slots.values()].map((s) => [skillBusName(s.slot), s.skill_id]));
}

/** A slot's folder of state. */
export function stateOf(c: Pick<Config, 'data'>, slot: number): string {
  return join(c.data, `skill-${slot}`);
}

/**
 * The folder a slot's skill is loaded from.
 * @throws IngleError `not_found`, or `forbidden` for a link that leads out of where bundles are
 */
export function bundleOf(c: Folders, { skill_id, bundle }: Slot): string {
  const above = bundle === undefined ? c.skills : join(c.data, 'skills', 'bundles');
  const folder = join(above, bundle ?? skill_id);
  if (!existsSync(folder)) throw new IngleError('not_found', `The skill "${skill_id}" has no bundle.`);
  for (const file of ['', 'manifest.json', 'skill.js'])
    if (
      existsSync(join(folder, file)) &&
      !realpathSync(join(folder, file)).startsWith(realpathSync(above) + sep)
    )
      throw new IngleError('forbidden', `The bundle of the skill "${skill_id}" leads elsewhere.`);
  return folder;
}

/**
 * What the manifest of a slot's skill says, unchecked but for whose it is: a skill's own process takes it as it is, as
 * nobody asks it before ingle-api has checked the same file (installed.ts).
 * @throws IngleError when it has none, or one of another skill; `SyntaxError`
 */
export function manifestOf(c: Folders, slot: Slot): Manifest {
  const manifest = JSON.parse(
    readFileSync(join(bundleOf(c, slot), 'manifest.json'), 'utf8'),
  ) as Manifest | null;
  if (manifest?.id !== slot.skill_id)
    throw new IngleError('invalid_request', `The bundle of "${slot.skill_id}" is of "${manifest?.id}".`);
  return manifest;
}
