// The desktops of all people: the scenario document in force, and the documents made of it, of the skills there are and
// of what each person made of the icons. They are written here alone, and made again at each start.
import { arranged, type Parts, pinned } from '../../firmware/desktop/arrangement.ts';
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
import { IngleError } from '../../firmware/protocol/errors.ts';
import { openQueue } from '../../firmware/protocol/queue.ts';
import type { CallerRole, Role } from '../../firmware/protocol/roles.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import type { Manifest } from '../../firmware/skills/manifest.ts';
import type { Log } from '../../firmware/system/log.ts';
import type { Store } from '../../firmware/system/store.ts';
import {
  type Arrangement,
  type DesktopState,
  inOrder,
  type Placed,
  placed,
} from '../../firmware/ui/arranged.ts';
import { openGlances } from './glances.ts';
import { forgetIcons, readArrangement, writeArrangement } from './icons.ts';
import { openScenario, type ScenarioStore } from './scenario.ts';

interface Served {
  owner_id: string;
  role: Role;
}

export interface Desktop {
  scenario: ScenarioStore;
  /** What a role has of these skills. */
  of(role: CallerRole, manifests: Iterable<Manifest>): Effective;
  icons(owner_id: string, role: Role): Promise<Placed[]>;
  pin(owner_id: string, role: Role, skill_id: string, on: boolean): Promise<void>;
  /** It is stored, and every device of the person is told, when this settles. */
  arrange(owner_id: string, role: Role, parts: Parts): Promise<void>;
  /** What skills have told somebody up to a time, milliseconds since 1970, was read. */
  read(owner_id: string, role: Role, to: number): Promise<void>;
  /** Settles when a person's documents are there, for the role they have now. */
  serve(person: Served): Promise<void>;
  /** For which role a person's documents are made. */
  roleOf(owner_id: string): Role | undefined;
  /** Whose desktops are kept. */
  owners(): string[];
  /** What somebody made of their desktop goes, and their documents are not made again. */
  forget(owner_id: string): Promise<void>;
  /** Skills came, went or changed. */
  changed(): void;
  /** Somebody has joined a document of a desktop. */
  looked(owner_id: string): void;
  /** Another state of a document is stored: a tile may tell something else. */
  stirred(key: string): void;
  close(): Promise<void>;
}

/** While somebody looks at a desktop its tiles are told anew at most so often, milliseconds. */
const GLANCE_MS = 1500;

export async function openDesktop(o: {
  store: Store;
  library: Library;
  skills: Pick<Skills, 'known'>;
  log: Log;
  /** Somebody may have lost a right. */
  narrowed: () => void;
}): Promise<Desktop> {
  const { store, library, skills } = o;
  const scenario = await openScenario(store, o.log, () => {
    o.narrowed();
    changed();
  });
  const roles = new Map<string, Role>();
  const glances = openGlances({ store, library });
  /** Whose tiles are told anew in a moment, and whose when somebody looks. */
  const soon = new Map<string, NodeJS.Timeout>();
  const unseen = new Set<string>();
  const line = openQueue();
  let isDue = false;

  const manifests = () => [...skills.known().values()].map((k) => k.manifest);
  const answers = (id: string) => skills.known().get(id)?.available ?? false;
  const of = (role: CallerRole, some: Iterable<Manifest>) => effective(scenario.now(), role, some);

  async function put(
    owner_id: string,
    doc: string,
    content: object,
    also?: WriteOptions['also'],
  ): Promise<void> {
    const room = await library.open(`${owner_id}/${doc}`);
    await room.write((d) => mergeContent(d, content as JsonObject), also ? { also } : {});
  }

  const roleNow = (owner_id: string): Role => roles.get(owner_id) ?? 'owner';
  const made = (role: Role, arrangement: Arrangement, told: DesktopState['glances']) =>
    documentsOf(scenario.now(), of(role, manifests()), arrangement, answers, told);
  const toldTo = async (owner_id: string) =>
    roomed(await glances.of(owner_id, glancing(of(roleNow(owner_id), manifests()))));

  async function make(owner_id: string): Promise<void> {
    const arrangement = await readArrangement(store, owner_id);
    const documents = made(roleNow(owner_id), arrangement, await toldTo(owner_id));
    for (const [doc, content] of Object.entries(documents)) await put(owner_id, doc, content);
  }

  /** Tells the tiles of somebody anew. */
  function tell(owner_id: string): void {
    soon.delete(owner_id);
    unseen.delete(owner_id);
    line
      .add(async () => put(owner_id, 'desktop/state:main', { glances: await toldTo(owner_id) }))
      .catch((cause) => o.log.warn('the tiles of a desktop are not up to date', { cause }));
  }

  function stirred(key: string): void {
    const [owner_id = '', skill_id = '', doc] = key.split('/');
    if (doc !== 'state:main' || !skills.known().get(skill_id)?.manifest.capabilities.ui?.glance) return;
    glances.stale(owner_id, skill_id);
    if (!roles.has(owner_id)) return;
    // Nobody looks: it is told to the next who does.
    if (!library.peek(desktopKey(owner_id))?.members.size) unseen.add(owner_id);
    else if (!soon.has(owner_id))
      soon.set(
        owner_id,
        setTimeout(() => tell(owner_id), GLANCE_MS),
      );
  }

  function changed(): void {
    if (isDue) return;
    isDue = true;
    const all = async () => {
      isDue = false;
      glances.forget();
      for (const owner_id of roles.keys()) await make(owner_id);
    };
    line.add(all).catch((cause) => o.log.error('the desktops are not up to date', { cause }));
  }

  function serve({ owner_id, role }: Served): Promise<void> {
    return line.add(async () => {
      if (roles.get(owner_id) === role) return;
      const before = roles.get(owner_id);
      roles.set(owner_id, role);
      // Whoever had them in another role has seen the last of them.
      if (before) o.narrowed();
      try {
        await store.run('INSERT OR REPLACE INTO desktops (owner_id, role) VALUES (?, ?)', owner_id, role);
        await make(owner_id);
      } catch (e) {
        roles.delete(owner_id);
        throw e;
      }
    });
  }

  /** Rows and document change in one transaction. */
  async function change(
    owner_id: string,
    role: Role,
    next: (now: Arrangement, has: (id: string) => boolean) => Arrangement,
  ): Promise<void> {
    await serve({ owner_id, role });
    await line.add(async () => {
      const mine = new Set(facesOf(of(role, manifests())).map((i) => i.skill_id));
      const arrangement = next(await readArrangement(store, owner_id), (id) => mine.has(id));
      const content = made(role, arrangement, {})[arrangementDocument]!;
      await put(owner_id, arrangementDocument, content, (tx) => writeArrangement(tx, owner_id, arrangement));
    });
  }

  for (const row of await store.all<{ owner_id: string; role: Role }>('SELECT * FROM desktops'))
    roles.set(row.owner_id, row.role);
  changed();

  return {
    scenario,
    of,
    serve,
    changed,
    stirred,
    looked(owner_id) {
      if (unseen.has(owner_id)) tell(owner_id);
    },
    roleOf: (owner_id) => roles.get(owner_id),
    owners: () => [...roles.keys()],
    forget: (owner_id) =>
      line.add(async () => {
        roles.delete(owner_id);
        await store.transaction((tx) => forgetIcons(tx, owner_id));
      }),
    async icons(owner_id, role) {
      const faces = facesOf(of(role, manifests()));
      const available = faces.map((f) => f.skill_id).filter(answers);
      const icons = placed(faces, await readArrangement(store, owner_id), available);
      return inOrder(icons, (i) => i.title);
    },
    pin: (owner_id, role, skill_id, on) =>
      change(owner_id, role, (now, has) => {
        if (!has(skill_id))
          throw new IngleError('not_found', `There is no skill "${skill_id.slice(0, 60)}".`);
        return pinned(now, skill_id, on);
      }),
    async read(owner_id, role, to) {
      await serve({ owner_id, role });
      const room = await library.open(desktopKey(owner_id));
      // A device that was away knows of less than another has read, and none reads what is still to come.
      await room.write((d) => {
        const before = Number(readContent(d)['read'] ?? 0);
        mergeContent(d, { read: Math.max(before, Math.min(to, Date.now())) });
      });
    },
    arrange: (owner_id, role, parts) => change(owner_id, role, (now, has) => arranged(now, parts, has)),
    close() {
      for (const timer of soon.values()) clearTimeout(timer);
      return line.idle();
    },
  };
}
