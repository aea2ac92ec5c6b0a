// The icon manager as the desktop knows it: its documents, and the changes of their person.

import type { peopleApi } from '../firmware/people/api.ts';
import type { Answer } from '../firmware/protocol/endpoint/endpoint.ts';
import { IngleError } from '../firmware/protocol/errors.ts';
import { type Outbox, openOutbox } from '../firmware/protocol/tunnel/outbox.ts';
import type { Brand } from '../firmware/text/brand.ts';
import {
  type Arrangement,
  type DesktopState,
  type DesktopView,
  type ManagerView,
  placed,
} from '../firmware/ui/arranged.ts';
import type { Told } from '../firmware/ui/topic-names.ts';
import { takeBrand } from './brand.ts';
import { currentLink } from './current.ts';
import { erase, readAll, write } from './database.ts';
import { failed } from './entrance.ts';
import { openLinked } from './open.ts';
import { rise } from './rising.ts';
import { session } from './sid.ts';
import { type App, app, follow, type Icon, set, toast } from './store.ts';
import type { Room } from './sync.ts';
import { errorText, t } from './text.ts';

/** How often it is written down how true the icons are, milliseconds. */
const REFRESH = 10_000;

let outbox: Promise<Outbox> | null = null;
/** The hub they are meant for. */
let outboxOf = '';
let commands: Promise<typeof import('./commands.ts')> | null = null;
let wasUp = false;
let started = false;

/** The owner's changes on their way, kept in IndexedDB until the hub says done. */
export function changes(): Promise<Outbox> {
  const hub = session()?.hub_id ?? '';
  // What was meant for one hub is never sent to another.
  if (outbox && outboxOf !== hub) {
    void outbox.then((o) => o.close());
    outbox = null;
  }
  outboxOf = hub;
  outbox ??= openOutbox({
    storage: {
      load: async () => (await readAll('ops_outbox')).filter((op) => (op.hub ?? hub) === hub),
      put: (op) => write('ops_outbox', op.id, { ...op, hub }),
      remove: (id) => erase('ops_outbox', id),
    },
    async send(op) {
      const link = currentLink();
      if (!link?.up) throw new IngleError('unavailable', 'The hub is not reached.');
      if (op.method === 'COMMAND') {
        commands ??= import('./commands.ts');
        return (await commands).sendCommand(link, op);
      }
      return link.request(op.method, op.path, op.body, { 'idempotency-key': op.id });
    },
    onFailed: (_op, e) => toast(t('action_failed', { message: errorText(e.code) })),
    onChange(pending) {
      set({ pending });
      // The documents may come a moment after the answer.
      if (pending === 0) readSoon(300);
    },
  });
  outbox.catch(() => {
    outbox = null;
  });
  return outbox;
}

/** Lets go of what waits, as the hub it was meant for is forgotten. */
export async function forgetChanges(): Promise<void> {
  (await outbox)?.close();
  outbox = null;
  leave();
  (await commands)?.closeCommands();
}

/** What `icons` and the layout come from, while the desktop is looked at; first what changes most, which tiles tell. */
const documents = [
  'desktop/state:main',
  'desktop/view:main',
  'icon_manager/view:main',
  'icon_manager/state:main',
];
let rooms: Room[] = [];
let due: ReturnType<typeof setTimeout> | undefined;
/** What skills tell was read since the documents were joined. */
let hasRead = false;

/** In which what belongs together comes, milliseconds. */
const SOON = 30;

/** Reads the documents when nothing came for a moment, so that what belongs together shows together. */
function readSoon(after = SOON): void {
  clearTimeout(due);
  due = setTimeout(() => void read().catch(failed), after);
}

async function read(): Promise<void> {
  const [state, view, manager, arrangement] = rooms.map((r) => r.content()) as unknown as [
    Partial<DesktopState> & { said?: Told[]; read?: number },
    Partial<DesktopView>,
    Partial<ManagerView>,
    Partial<Arrangement>,
  ];
  if (isTold()) rise();
  if (isLive()) hear(state.said ?? []);
  if (state?.available)
    set({
      glances: state.glances ?? {},
      said: state.said ?? [],
      readTo: Math.max(state.read ?? 0, app().readTo),
    });
  if (!view?.layout || !view.behavior || !state.available || !manager.icons || !arrangement.order) return;
  // What the person has changed and the hub does not know yet stays as they see it.
  if ((await changes()).pending.length > 0) return;
  // While not all documents are joined anew, one of them may still lack what the hub has said done to.
  if (app().icons && !isJoined()) return;
  const icons = placed(manager.icons, arrangement as Arrangement, state.available);
  await keep(icons, isLive() ? Date.now() : (app().iconsAt ?? 0), {
    ...view.layout,
    panel: view.behavior.onIconClick.endsWith('panel'),
  });
  if (isLive()) openLinked(icons);
}

/** What skills tell comes with the first line of it, and where notices may be shown at once: one may be tapped. */
function hear(lines: Told[]): void {
  const isFirst = !hasRead;
  hasRead = true;
  const hub = session()?.hub_id;
  const mayTell = isFirst && globalThis.Notification?.permission === 'granted';
  if (hub && (lines.length > 0 || mayTell))
    import('./said.ts').then((m) => m.heard(lines, hub, isFirst)).catch(() => {});
}

const isJoined = () => rooms.length > 0 && rooms.every((r) => r.live);
/** What there is to draw at once: what tiles tell, where these are known, and else all of it. */
const isTold = () => (app().icons ? rooms[0]?.live : isJoined());
const isLive = () => isJoined() && app().link !== 'unserved';

export async function keep(
  icons: Icon[],
  at: number,
  look = app().look,
  more: Partial<App> = {},
): Promise<void> {
  set({ icons, iconsAt: at, look, ...more });
  const hub = session()?.hub_id;
  // What is kept only shortens the next start.
  if (!hub) return;
  const { role, mine, glances, said, readTo } = app();
  await write('icons', hub, { icons, at, look, role, mine, glances, said, readTo }).catch(() => {});
}

/** Writes down what is known now. */
function keepOn(): void {
  const { icons, iconsAt } = app();
  if (icons && iconsAt) void keep(icons, iconsAt);
}

/** Asks the hub who this is, until it says so: people's documents are each under an id of their own. */
async function meet(): Promise<void> {
  const link = currentLink();
  if (!link?.up) return;
  try {
    const { id, role } = await link.request<Answer<typeof peopleApi.me>>('GET', '/v1/me');
    const { mine } = app();
    // A hub that is older does not know who `me` is.
    if (id !== mine && (mine || !isJoined())) leave();
    set({ mine: id, role });
    keepOn();
    await join();
  } catch (e) {
    if (e instanceof IngleError && ['unavailable', 'timeout'].includes(e.code))
      setTimeout(() => void meet().catch(failed), 1000);
    else throw e;
  }
}

/** Joins the desktop's documents; the hub knows whose they are. */
export async function join(): Promise<void> {
  const { joinRoom } = await import('./sync.ts');
  const { mine, page } = app();
  if (rooms.length > 0 || page.at !== 'desktop') return;
  const changed = () => readSoon(!hasRead && isTold() ? 0 : SOON);
  rooms = documents.map((doc) => joinRoom(`${mine ?? 'me'}/${doc}`, currentLink, changed));
}

function leave(): void {
  for (const r of rooms) r.close();
  rooms = [];
  hasRead = false;
}

async function onChange(): Promise<void> {
  const { link, heardAt, iconsAt, page } = app();
  if (page.at !== 'desktop') leave();
  // Documents that are joined are as true as the hub's last sign of life.
  else if (heardAt && heardAt > (iconsAt ?? heardAt) && isLive()) set({ iconsAt: heardAt });
  const up = link === 'up' && page.at === 'desktop';
  if (up === wasUp) return;
  wasUp = up;
  const box = await changes();
  if (!up) return box.offline();
  box.online();
  // What came before it was live is read once more.
  readSoon();
  // A hub that is older knows of no brand.
  currentLink()
    ?.request<Partial<Brand>>('GET', '/v1/brand')
    .then(takeBrand, () => {});
  await join();
  await meet();
}

/** Follows the link: the desktop's documents are joined once the hub is reached, and waiting changes are sent. */
export async function startIcons(): Promise<void> {
  leave();
  if (!started) {
    started = true;
    follow(() => void onChange().catch(failed));
    // So that what is kept says how old it is.
    setInterval(() => {
      if (isLive() && !document.hidden) keepOn();
    }, REFRESH);
  } else wasUp = false;
  if (currentLink()?.near()) await join();
  set({ pending: (await changes()).pending.length });
  await onChange();
}
