// The desktops of all people: the scenario document in force, and the documents made of it, of the skills there are and
// of what each person made of the icons. They are written here alone, and made again at each start.
import { arranged, type Parts, pinned } from '../../firmware/desktop/arrangement.ts';
import type { Effective } from '../../firmware/desktop/effective.ts';
import type { Library } from '../../firmware/documents/library.ts';
import { desktopKey } from '../../firmware/documents/said.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { openQueue } from '../../firmware/protocol/queue.ts';
import type { CallerRole, Role } from '../../firmware/protocol/roles.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import type { Manifest } from '../../firmware/skills/manifest.ts';
import type { Log } from '../../firmware/system/log.ts';
import type { Store } from '../../firmware/system/store.ts';
import type { Placed } from '../../firmware/ui/arranged.ts';
import { type DesktopDocuments, openDesktopDocuments } from './desktop-documents.ts';
import { openGlances } from './glances.ts';
import { forgetIcons } from './icons.ts';
import { openScenario, type ScenarioStore } from './scenario.ts';
import { openThrottle } from './throttle.ts';

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
  const documents = openDesktopDocuments({ store, library, skills, scenario, glances });
  const line = openQueue();
  const tiles = openThrottle({
    isSeen: (owner_id) => Boolean(library.peek(desktopKey(owner_id))?.members.size),
    tell: (owner_id) =>
      line
        .add(async () => {
          const role = roles.get(owner_id);
          // Who was forgotten meanwhile gets no documents again.
          if (role) await documents.tell(owner_id, role);
        })
        .catch((cause) => o.log.warn('the tiles of a desktop are not up to date', { cause })),
  });
  let isDue = false;

  function stirred(key: string): void {
    const [owner_id = '', skill_id = '', doc] = key.split('/');
    if (doc !== 'state:main' || !skills.known().get(skill_id)?.manifest.capabilities.ui?.glance) return;
    glances.stale(owner_id, skill_id);
    if (roles.has(owner_id)) tiles.stirred(owner_id);
  }

  function changed(): void {
    if (isDue) return;
    isDue = true;
    const all = async () => {
      isDue = false;
      glances.forget();
      for (const [owner_id, role] of roles) await documents.make(owner_id, role);
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
        await documents.make(owner_id, role);
      } catch (e) {
        roles.delete(owner_id);
        throw e;
      }
    });
  }

  async function change(
    owner_id: string,
    role: Role,
    next: Parameters<DesktopDocuments['arrange']>[2],
  ): Promise<void> {
    await serve({ owner_id, role });
    await line.add(() => documents.arrange(owner_id, role, next));
  }

  for (const row of await store.all<{ owner_id: string; role: Role }>('SELECT * FROM desktops'))
    roles.set(row.owner_id, row.role);
  changed();

  return {
    scenario,
    of: documents.of,
    icons: documents.icons,
    serve,
    changed,
    stirred,
    looked: tiles.looked,
    roleOf: (owner_id) => roles.get(owner_id),
    owners: () => [...roles.keys()],
    forget: (owner_id) =>
      line.add(async () => {
        roles.delete(owner_id);
        await store.transaction((tx) => forgetIcons(tx, owner_id));
      }),
    pin: (owner_id, role, skill_id, on) =>
      change(owner_id, role, (now, has) => {
        if (!has(skill_id))
          throw new IngleError('not_found', `There is no skill "${skill_id.slice(0, 60)}".`);
        return pinned(now, skill_id, on);
      }),
    async read(owner_id, role, to) {
      await serve({ owner_id, role });
      await documents.read(owner_id, to);
    },
    arrange: (owner_id, role, parts) => change(owner_id, role, (now, has) => arranged(now, parts, has)),
    close() {
      tiles.close();
      return line.idle();
    },
  };
}
