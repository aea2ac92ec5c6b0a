// `ingle skill dev`: a skill that is being written, in the hub of `npm start`, anew at each save.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { IngleError } from '../../../firmware/protocol/errors.ts';
import { skillBusName } from '../../../firmware/skills/contract.ts';
import type { Manifest } from '../../../firmware/skills/manifest.ts';
import { assign, parsePins, parseTable, printTable, type Table } from '../../../firmware/skills/slots.ts';
import { writeWhole } from '../../../firmware/system/atomic.ts';
import { connect } from '../../../firmware/system/bus.ts';
import { type Language, languages } from '../../../firmware/text/i18n.ts';
import { nearestHouse } from '../find.ts';
import type { Running } from '../house/runtime.ts';
import type { Say } from '../say.ts';
import { plain } from '../show.ts';
import { buildSkill, manifestIn } from './build.ts';
import { type DevText, devTextOf } from './text.ts';

const LOOK_MS = 300;
const UP_MS = 20_000;
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** Sizes and times of a folder's files, but for what is built and installed. */
function stampOf(folder: string): string {
  const all = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  return all
    .filter((e) => !e.name.startsWith('.') && e.name !== 'dist' && e.name !== 'node_modules')
    .map((e) => {
      const path = join(folder, e.name);
      if (e.isDirectory()) return stampOf(path);
      const s = statSync(path, { throwIfNoEntry: false });
      return s ? `${path} ${s.size} ${s.mtimeMs}` : '';
    })
    .join('\n');
}

/** The manifest with a title by which a person sees what this is. */
export function marked(m: Manifest): Manifest {
  const { ui } = m.capabilities;
  if (!ui) return m;
  const mark = (title: string, l: Language) => devTextOf(l)('titled', { title: title.slice(0, 50) });
  const titles = Object.fromEntries(languages.map((l) => [l, mark(ui.titles?.[l] ?? ui.title, l)]));
  return { ...m, capabilities: { ...m.capabilities, ui: { ...ui, title: mark(ui.title, 'en'), titles } } };
}

/** Its own words for its title would hide the mark. */
const entry = `import { skill as written } from './skill.ts';
export const skill = { ...written, title: undefined };`;

/** Gives the skill its place in the hub's table. @returns slot, and whether the hub has to be started again to see it */
async function place(house: Running, id: string, t: DevText): Promise<{ slot: number; isNew: boolean }> {
  if (existsSync(join(house.skills, id))) throw new IngleError('conflict', t('ofImage', { id }));
  const file = join(house.hub, 'skills/slots.json');
  const pins = join(house.skills, 'slots.json');
  const table: Table = existsSync(file) ? parseTable(readFileSync(file, 'utf8')) : new Map();
  const root = { builtin: [], pins: existsSync(pins) ? parsePins(readFileSync(pins, 'utf8')) : new Map() };
  const tag = crypto.randomUUID().replaceAll('-', '');
  const next = assign(table, root, { skill_id: id, bundle: `${id}-dev` }, tag);
  const isNew = printTable(next) !== printTable(table);
  if (isNew) {
    mkdirSync(dirname(file), { recursive: true });
    await writeWhole(file, printTable(next), 0o644);
  }
  const slot = [...next].find(([, row]) => row.state === 'used' && row.skill_id === id)![0];
  return { slot, isNew };
}

/** The process that serves a slot of the hub that runs now; 0: none. */
async function pidOf(slot: number): Promise<number> {
  const house = nearestHouse();
  if (!house) return 0;
  const bus = await connect(house.bus).catch(() => undefined);
  if (!bus) return 0;
  const daemon = 'org.freedesktop.DBus';
  try {
    const path = '/org/freedesktop/DBus';
    const [pid] = await bus.call(daemon, path, daemon, 'GetConnectionUnixProcessID', 's', [
      skillBusName(slot),
    ]);
    return Number(pid);
  } catch {
    return 0;
  } finally {
    bus.close();
  }
}

/** Waits until another process than `old` serves the slot. */
async function arrived(slot: number, old: number, ms: number): Promise<boolean> {
  for (const last = Date.now() + ms; Date.now() < last; await pause(LOOK_MS)) {
    const pid = await pidOf(slot);
    if (pid !== 0 && pid !== old) return true;
  }
  return false;
}

/**
 * Runs until it is interrupted.
 * @throws IngleError `unavailable` without a hub of npm start; what is wrong with the skill at the beginning
 */
export async function dev(what: string, say: Say, t: DevText): Promise<void> {
  const folder = resolve(what);
  const house = nearestHouse();
  if (!house) throw new IngleError('unavailable', t('noHouse'));
  const { id } = manifestIn(folder, t);
  const out = join(house.hub, 'skills/bundles', `${id}-dev`);
  const log = join(dirname(house.hub), 'log', `skill-${id}.log`);
  const make = async () =>
    (await buildSkill(folder, out, t, { entry, manifest: marked(manifestIn(folder, t)) })).manifest;
  let { version } = await make();
  const { slot, isNew } = await place(house, id, t);
  let pid = isNew ? 0 : await pidOf(slot);
  if (pid === 0) {
    say.line(t('placed', { id, slot }));
    while (!(await arrived(slot, 0, UP_MS)));
  } else await renew();
  const live = () => {
    say.event({ id, version, slot, origin: house.origin, log });
    say.line(t('live', { id, version, origin: house.origin, log }));
  };
  live();

  /** Ends the skill's process; the hub starts it again, with what is built. */
  async function renew(): Promise<void> {
    pid = await pidOf(slot);
    if (pid !== 0) process.kill(pid, 'SIGTERM');
    if (!(await arrived(slot, pid, UP_MS))) say.line(t('slow', { id, log }));
  }
  for (let before = stampOf(folder); ; await pause(LOOK_MS)) {
    const now = stampOf(folder);
    if (now === before) continue;
    before = now;
    try {
      version = (await make()).version;
      say.line(t('reloading', { id }));
      await renew();
      live();
    } catch (e) {
      if (!(e instanceof IngleError)) throw e;
      say.event({ error: e.code, message: e.message });
      for (const line of e.message.split('\n')) say.line(plain(line, 500));
    }
  }
}
