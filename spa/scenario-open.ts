// One scenario app on this browser: what the hub says of it, the documents of its view model, and what is kept of both so
// that it opens without the hub.
import type { Answer } from '../firmware/protocol/endpoint/endpoint.ts';
import { toIngleError } from '../firmware/protocol/errors.ts';
import type { appsApi } from '../firmware/scenario-app/api.ts';
import { APP_VERSION, type App } from '../firmware/ui/app.ts';
import { currentLink } from './current.ts';
import { erase, read, write } from './database.ts';
import type { Asked, Rows } from './drawing.ts';
import { pageOf } from './paged.ts';
import { session } from './sid.ts';
import { isHubs } from './signed.ts';
import { app, type Icon } from './store.ts';
import { joinRoom, type Room } from './sync.ts';

type Page = Awaited<ReturnType<Rows['page']>>;
type AppAnswer = Omit<Answer<typeof appsApi.read>, 'app'> & { app: App };

/** What is kept of an app between visits. */
interface Kept {
  answer: AppAnswer;
  /** State by skill. */
  contents: Record<string, unknown>;
  rows: [string, Page][];
  /** When it was last true, milliseconds. */
  at: number;
}

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

/** Pages of rows that are kept. */
const ROWS = 40;
/** Rows that were asked for when a page opened are as good as new for its table, milliseconds. */
const FRESH = 3000;
const SAVE = 500;
const RETRY = 2000;

/** Pages of rows of one app; those used last stay. */
function openRows(ask: Rows['page'], changed: () => void) {
  const known = new Map<string, { page: Page; at: number }>();
  const nameOf = ({ query, target, params, page, pageSize, sort, search }: Asked) =>
    JSON.stringify([query, target, params ?? {}, page, pageSize, sort ?? null, search ?? '']);
  return {
    entries: (): [string, Page][] => [...known].map(([name, { page }]) => [name, page]),
    fill(rows: readonly [string, Page][]) {
      for (const [name, page] of rows) if (!known.has(name)) known.set(name, { page, at: 0 });
    },
    async page(asked: Asked, stop: AbortSignal): Promise<Page> {
      const name = nameOf(asked);
      const kept = known.get(name);
      if (kept && (Date.now() - kept.at < FRESH || !currentLink()?.up)) return kept.page;
      try {
        const page = await ask(asked, stop);
        known.delete(name);
        known.set(name, { page, at: Date.now() });
        if (known.size > ROWS) known.delete(known.keys().next().value!);
        changed();
        return page;
      } catch (e) {
        // A hub that has just gone is as one that is not there; what a skill refuses is told.
        if (kept && ['unavailable', 'timeout', 'hub_offline'].includes(toIngleError(e).code))
          return kept.page;
        throw e;
      }
    },
  };
}

export function openApp(id: string, changed: () => void): Opened {
  const hub = session()?.hub_id ?? '';
  const name = `app ${hub} ${id}`;
  const icon: Icon = {
    skill_id: id,
    title: id,
    icon: 'app',
    entrypoint: '',
    modes: [],
    pinned: false,
    order: null,
  };
  const rooms = new Map<string, Room>();
  let kept: Kept | undefined;
  let gate: Gate = 'opening';
  let asking = false;
  let asked = false;
  let closed = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let saving: ReturnType<typeof setTimeout> | undefined;

  const isLive = () => rooms.size > 0 && [...rooms.values()].every((r) => r.live);
  const rows = openRows((of, stop) => pageOf(icon, of, stop), saveSoon);

  function contents(): Record<string, unknown> {
    const names = [id, ...(kept?.answer.app.skills ?? [])];
    return Object.fromEntries(
      names.map((skill) => {
        const room = rooms.get(skill);
        const now = room?.content() ?? {};
        return [skill, room?.live || Object.keys(now).length > 0 ? now : (kept?.contents[skill] ?? {})];
      }),
    );
  }

  function saveSoon(): void {
    if (closed) return;
    saving ??= setTimeout(() => {
      saving = undefined;
      if (!kept || gate !== 'open') return;
      kept = { ...kept, contents: contents(), rows: rows.entries(), ...(isLive() ? { at: Date.now() } : {}) };
      // What is kept only helps the next visit.
      write('prefs', name, kept).catch(() => {});
    }, SAVE);
  }

  function heard(): void {
    saveSoon();
    changed();
  }

  function join({ documents }: AppAnswer): void {
    for (const [skill, key] of Object.entries(documents))
      if (!rooms.has(skill)) rooms.set(skill, joinRoom(key, currentLink, heard));
  }

  const isOurs = async (answer: AppAnswer, isNew: boolean) =>
    answer.key === `apps/${id}` &&
    answer.app.id === id &&
    (await isHubs(hub, answer, answer.app as unknown as Record<string, unknown>, isNew));

  /** Whether what is kept is of who is here now, as far as that is known. */
  const isMine = ({ documents }: AppAnswer) => {
    const { mine } = app();
    return mine === null || Object.values(documents).every((key) => key.startsWith(`${mine}/`));
  };

  async function begin(): Promise<void> {
    const found = (await read('prefs', name).catch(() => undefined)) as Kept | undefined;
    if (found && !isMine(found.answer)) return;
    if (closed || kept || found?.answer.app.app !== APP_VERSION || !(await isOurs(found.answer, false)))
      return;
    if (closed || kept || gate !== 'opening') return;
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
      if (!(await isOurs(answer, true))) return end('forged');
      kept = { contents: {}, rows: [], at: 0, ...kept, answer };
      gate = 'open';
      join(answer);
      heard();
    } catch (e) {
      const { code } = toIngleError(e);
      if (code === 'assertion_required') end('elevate');
      else if (code === 'forbidden') end('forbidden');
      else if (['not_found', 'not_supported', 'invalid_request'].includes(code)) end('missing');
      else if (!closed) timer = setTimeout(ask, RETRY);
    } finally {
      asking = false;
    }
  }

  /** What the hub does not give any more is not kept either. */
  function end(why: Gate): void {
    asked = true;
    gate = why;
    if (why !== 'elevate') void erase('prefs', name).catch(() => {});
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
      if (kept && isLive() && app().link !== 'unserved') kept.at = Math.max(kept.at, app().heardAt ?? 0);
      return kept?.at ?? 0;
    },
    get live() {
      return isLive();
    },
    get filled() {
      return isLive() || Object.keys(kept?.contents ?? {}).length > 0;
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
      clearTimeout(saving);
      for (const r of rooms.values()) r.close();
    },
  };
}
