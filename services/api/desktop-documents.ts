// The documents of one person's desktop, made of the scenario in force, the skills there are and what the person made of
// the icons. When they are made, and one after the other, is for desktop.ts to say.
import {
  arrangementDocument,
  documentsOf,
  facesOf,
  glancing,
  roomed,
} from '../../firmware/desktop/documents.ts';
import { type Effective, effective } from '../../firmware/desktop/effective.ts';
import { type JsonObject, mergeContent, readContent } from '../../firmware/documents/content.ts';
import type { Library } from '../../firmware/documents/library.ts';
import type { WriteOptions } from '../../firmware/documents/line.ts';
import { desktopKey } from '../../firmware/documents/said.ts';
import type { CallerRole, Role } from '../../firmware/protocol/roles.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import type { Manifest } from '../../firmware/skills/manifest.ts';
import type { Store } from '../../firmware/system/store.ts';
import {
  type Arrangement,
  type DesktopState,
  inOrder,
  type Placed,
  placed,
} from '../../firmware/ui/arranged.ts';
import type { Glances } from './glances.ts';
import { readArrangement, writeArrangement } from './icons.ts';
import type { ScenarioStore } from './scenario.ts';

/** Each method of a person takes the role they have now, as that says which skills they have. */
export interface DesktopDocuments {
  /** What a role has of these skills. */
  of(role: CallerRole, manifests: Iterable<Manifest>): Effective;
  /** Writes all of a person's documents. */
  make(owner_id: string, role: Role): Promise<void>;
  /** Writes what their tiles tell. */
  tell(owner_id: string, role: Role): Promise<void>;
  /** Writes that what skills told them up to a time, milliseconds since 1970, was read. */
  read(owner_id: string, to: number): Promise<void>;
  /** Their icons in the order they see them. */
  icons(owner_id: string, role: Role): Promise<Placed[]>;
  /**
   * Changes what they made of the icons: rows and document in one transaction.
   * @param next what comes of the arrangement there is; `has` says which skills have an icon
   */
  arrange(
    owner_id: string,
    role: Role,
    next: (now: Arrangement, has: (id: string) => boolean) => Arrangement,
  ): Promise<void>;
}

export function openDesktopDocuments(o: {
  store: Store;
  library: Library;
  skills: Pick<Skills, 'known'>;
  scenario: ScenarioStore;
  glances: Glances;
}): DesktopDocuments {
  const { store, library, skills, scenario, glances } = o;

  const of = (role: CallerRole, some: Iterable<Manifest>) => effective(scenario.now(), role, some);
  const has = (role: Role) =>
    of(
      role,
      [...skills.known().values()].map((k) => k.manifest),
    );
  const answers = (id: string) => skills.known().get(id)?.available ?? false;
  const made = (role: Role, arrangement: Arrangement, told: DesktopState['glances']) =>
    documentsOf(scenario.now(), has(role), arrangement, answers, told);
  const toldTo = async (owner_id: string, role: Role) =>
    roomed(await glances.of(owner_id, glancing(has(role))));

  async function put(
    owner_id: string,
    doc: string,
    content: object,
    also?: WriteOptions['also'],
  ): Promise<void> {
    const room = await library.open(`${owner_id}/${doc}`);
    await room.write((d) => mergeContent(d, content as JsonObject), also ? { also } : {});
  }

  return {
    of,
    async make(owner_id, role) {
      const arrangement = await readArrangement(store, owner_id);
      const documents = made(role, arrangement, await toldTo(owner_id, role));
      for (const [doc, content] of Object.entries(documents)) await put(owner_id, doc, content);
    },
    async tell(owner_id, role) {
      await put(owner_id, 'desktop/state:main', { glances: await toldTo(owner_id, role) });
    },
    async read(owner_id, to) {
      const room = await library.open(desktopKey(owner_id));
      // A device that was away knows of less than another has read, and none reads what is still to come.
      await room.write((d) => {
        const before = Number(readContent(d)['read'] ?? 0);
        mergeContent(d, { read: Math.max(before, Math.min(to, Date.now())) });
      });
    },
    async icons(owner_id, role) {
      const faces = facesOf(has(role));
      const available = faces.map((f) => f.skill_id).filter(answers);
      const icons = placed(faces, await readArrangement(store, owner_id), available);
      return inOrder(icons, (i) => i.title);
    },
    async arrange(owner_id, role, next) {
      const mine = new Set(facesOf(has(role)).map((i) => i.skill_id));
      const arrangement = next(await readArrangement(store, owner_id), (id) => mine.has(id));
      const content = made(role, arrangement, {})[arrangementDocument]!;
      await put(owner_id, arrangementDocument, content, (tx) => writeArrangement(tx, owner_id, arrangement));
    },
  };
}
