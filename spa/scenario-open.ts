// One scenario app on this browser: what the hub says of it, the documents of its view model, and what is kept of both so
// that it opens without the hub.
import { type ErrorCode, toIngleError } from '../firmware/protocol/errors.ts';
import type { App } from '../firmware/ui/app.ts';
import { currentLink } from './current.ts';
import type { Rows } from './drawing.ts';
import { pageOf } from './paged.ts';
import { type AppAnswer, isOurs, type Kept, openCopy } from './scenario-kept.ts';
import { openRows } from './scenario-rows.ts';
import { session } from './sid.ts';
import { app, type Icon } from './store.ts';
import { joinRoom, type Room } from './sync.ts';

export type Gate = 'opening' | 'open' | 'missing' | 'forbidden' | 'elevate' | 'forged';

export interface Opened {
  readonly gate: Gate;
  /** Null until it is known, by the hub or from an earlier visit. */
  readonly app: App | null;
  readonly at: number;
  /** The documents are joined. */
  readonly live: boolean;
  /** Something of the state is known. */
  readonly filled: boolean;
  contents(): Record<string, unknown>;
  /** Rows of a query; those of an earlier time where the hub is not reached. */
  page: Rows['page'];
  /** Asks the hub, where it is reached and was not asked yet. */
  look(again?: boolean): void;
  close(): void;
}

const RETRY = 2000;

/** An app asks for its rows as its skill's screen does. */
const iconOf = (id: string): Icon => ({
  skill_id: id,
  title: id,
  icon: 'app',
  entrypoint: '',
  modes: [],
  pinned: false,
  order: null,
});

/** The state documents of an app's skills. @param heard is told when one of them changed */
function openDocuments(heard: () => void) {
  const rooms = new Map<string, Room>();
  return {
    /** @param documents their keys by skill */
    join(documents: AppAnswer['documents']): void {
      for (const [skill, key] of Object.entries(documents))
        if (!rooms.has(skill)) rooms.set(skill, joinRoom(key, currentLink, heard));
    },
    isLive: (): boolean => rooms.size > 0 && [...rooms.values()].every((r) => r.live),
    /** The state of a skill; undefined until something of it is there. */
    of(skill: string): Record<string, unknown> | undefined {
      const room = rooms.get(skill);
      const now = room?.content() ?? {};
      return room?.live || Object.keys(now).length > 0 ? now : undefined;
    },
    close(): void {
      for (const r of rooms.values()) r.close();
    },
  };
}

/** How an app stands that the hub does not give; undefined where it may in a moment. */
function shutBy(code: ErrorCode): Gate | undefined {
  if (code === 'assertion_required') return 'elevate';
  if (code === 'forbidden') return 'forbidden';
  return ['not_found', 'not_supported', 'invalid_request'].includes(code) ? 'missing' : undefined;
}

export function openApp(id: string, changed: () => void): Opened {
  const hub = session()?.hub_id ?? '';
  let kept: Kept | undefined;
  let gate: Gate = 'opening';
  let asking = false;
  let asked = false;
  let closed = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const documents = openDocuments(heard);
  const copy = openCopy(hub, id, () => {
    if (!kept || gate !== 'open') return undefined;
    const at = documents.isLive() ? Date.now() : kept.at;
    kept = { ...kept, contents: contents(), rows: rows.entries(), at };
    return kept;
  });
  const icon = iconOf(id);
  const rows = openRows((of, stop) => pageOf(icon, of, stop), copy.saveSoon);

  function contents(): Record<string, unknown> {
    const names = [id, ...(kept?.answer.app.skills ?? [])];
    return Object.fromEntries(
      names.map((skill) => [skill, documents.of(skill) ?? kept?.contents[skill] ?? {}]),
    );
  }

  function heard(): void {
    copy.saveSoon();
    changed();
  }

  async function begin(): Promise<void> {
    const found = await copy.read();
    if (!found || closed || kept || gate !== 'opening') return;
    kept = found;
    rows.fill(found.rows);
    gate = 'open';
    changed();
  }

  async function ask(): Promise<void> {
    const link = currentLink();
    if (asking || asked || closed || !link?.up) return;
    asking = true;
    try {
      const answer = await link.request<AppAnswer>('GET', `/v1/apps/${encodeURIComponent(id)}`);
      await began;
      if (closed) return;
      asked = true;
      if (!(await isOurs(hub, id, answer, true))) return end('forged');
      kept = { contents: {}, rows: [], at: 0, ...kept, answer };
      gate = 'open';
      documents.join(answer.documents);
      heard();
    } catch (e) {
      const why = shutBy(toIngleError(e).code);
      if (why) end(why);
      else if (!closed) timer = setTimeout(ask, RETRY);
    } finally {
      asking = false;
    }
  }

  /** What the hub does not give any more is not kept either. */
  function end(why: Gate): void {
    asked = true;
    gate = why;
    if (why !== 'elevate') copy.erase();
    changed();
  }

  const began = begin();
  return {
    get gate() {
      return gate;
    },
    get app() {
      return kept?.answer.app ?? null;
    },
    get at() {
      if (kept && documents.isLive() && app().link !== 'unserved')
        kept.at = Math.max(kept.at, app().heardAt ?? 0);
      return kept?.at ?? 0;
    },
    get live() {
      return documents.isLive();
    },
    get filled() {
      return documents.isLive() || Object.keys(kept?.contents ?? {}).length > 0;
    },
    contents,
    page: rows.page,
    look(again = false) {
      if (again) {
        asked = false;
        gate = kept ? 'open' : 'opening';
      }
      void ask();
    },
    close() {
      closed = true;
      clearTimeout(timer);
      copy.close();
      documents.close();
    },
  };
}
