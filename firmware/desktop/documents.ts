// What the documents of a person's desktop hold. The hub alone writes them, so its clients only read. Pure.
import { desktopSkills } from '../documents/key.ts';
import { appPath } from '../ui/app.ts';
import type { Arrangement, DesktopState, DesktopView, IconFace, ManagerView } from '../ui/arranged.ts';
import type { Glance, GlanceForm } from '../ui/glance.ts';
import { seenOf } from './arrangement.ts';
import type { Effective, Given } from './effective.ts';
import type { Scenario } from './scenario.ts';

/** Bytes all icons may take, so that their document fits whatever skills are installed. */
const ROOM = 600_000;

function faceOf({ manifest, ownerOnly }: Given): IconFace {
  const ui = manifest.capabilities.ui!;
  return {
    skill_id: manifest.id,
    title: ui.title,
    ...(ui.titles ? { titles: ui.titles } : {}),
    icon: ui.icon ?? 'app',
    entrypoint: ui.app ? appPath(manifest.id) : (ui.entrypoint ?? ''),
    modes: ui.modes,
    sizeHints: ui.sizeHints ?? { w: 400, h: 500 },
    schema: ui.schema ?? null,
    ownerOnly,
    ...(ui.pages === 'root' ? { pages: ui.pages } : {}),
  };
}

/** Bytes all glances may take; those of skills beyond it are not shown. */
const GLANCES_ROOM = 96_000;

/**
 * What a tile of a desktop may tell: of a skill that is shown there and declares it. One that the owner has closed behind
 * the passkey tells nothing before; the author of one that is always closed has declared what is seen.
 */
export const glancing = ({ skills }: Effective): { skill_id: string; form: GlanceForm }[] =>
  skills.flatMap(({ manifest, ownerOnly, shown }) => {
    const form = manifest.capabilities.ui?.glance;
    const isOpen = !ownerOnly || manifest.permissions?.ownerOnly === true;
    return shown && form && isOpen ? [{ skill_id: manifest.id, form }] : [];
  });

/** Those that fit. */
export function roomed(glances: Record<string, Glance>): Record<string, Glance> {
  let left = GLANCES_ROOM;
  return Object.fromEntries(
    Object.entries(glances).filter(([, g]) => {
      left -= Buffer.byteLength(JSON.stringify(g));
      return left >= 0;
    }),
  );
}

/** The icons of a desktop. One that takes more than its share of the room goes without its own drawing and titles. */
export function facesOf({ skills }: Effective): IconFace[] {
  const shown = skills.filter((s) => s.shown).map(faceOf);
  const share = Math.floor(ROOM / Math.max(1, shown.length));
  return shown
    .map(({ titles, ...face }) => {
      const whole = titles ? { ...face, titles } : face;
      return Buffer.byteLength(JSON.stringify(whole)) > share ? { ...face, icon: 'app' } : whole;
    })
    .sort((a, b) => (a.skill_id < b.skill_id ? -1 : 1));
}

const [desktop, manager] = desktopSkills;

/** The documents, by what their keys end with. Lists have one order, so that nothing is written that did not change. */
export function documentsOf(
  { id, version, behavior }: Scenario,
  given: Effective,
  arrangement: Arrangement,
  answers: (skill_id: string) => boolean,
  glances: DesktopState['glances'],
) {
  const icons = facesOf(given);
  const ids = icons.map((i) => i.skill_id);
  return {
    [`${desktop}/view:main`]: {
      ...{ schema: 'desktop/v0', id, version, behavior },
      layout: given.layout,
    } satisfies DesktopView,
    [`${desktop}/state:main`]: { available: ids.filter(answers), glances } satisfies DesktopState,
    [`${manager}/view:main`]: { schema: 'desktop/v0', icons } satisfies ManagerView,
    [arrangementDocument]: seenOf(arrangement, (skill_id) => ids.includes(skill_id)),
  };
}

/** The document that goes with the rows of an arrangement. */
export const arrangementDocument = `${manager}/state:main`;
