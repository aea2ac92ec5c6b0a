// The icon manager as the desktop knows it: records, their order, and the changes of the owner.

import type { peopleApi } from '../firmware/people/api.ts';
import type { Answer } from '../firmware/protocol/endpoint/endpoint.ts';
import { IngleError } from '../firmware/protocol/errors.ts';
import { type Outbox, openOutbox } from '../firmware/protocol/tunnel/outbox.ts';
import type { Brand } from '../firmware/text/brand.ts';
import { takeBrand } from './brand.ts';
import { currentLink } from './current.ts';
import { erase, readAll, write } from './database.ts';
import { failed } from './entrance.ts';
import { openPreview } from './open.ts';
import { session } from './sid.ts';
import { app, follow, type Icon, set, toast } from './store.ts';
import { errorText, t, titleOf } from './text.ts';

/** How often icons are read again, milliseconds. */
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
    onChange: (pending) => set({ pending }),
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
  (await commands)?.closeCommands();
}

const place = (i: Icon) => i.order ?? Number.MAX_SAFE_INTEGER;

export function sorted(icons: readonly Icon[]): Icon[] {
  return [...icons].sort(
    (a, b) =>
      Number(b.pinned) - Number(a.pinned) || place(a) - place(b) || titleOf(a).localeCompare(titleOf(b)),
  );
}

async function keep(icons: Icon[], at = Date.now()): Promise<void> {
  set({ icons, iconsAt: at });
  const hub = session()?.hub_id;
  // What is kept only shortens the next start.
  if (hub) await write('icons', hub, { icons, at, role: app().role, mine: app().mine }).catch(() => {});
}

export async function loadIcons(): Promise<void> {
  const link = currentLink();
  if (!link?.up) return;
  try {
    const got = await link.request<Icon[]>('GET', '/v1/icons');
    // What the owner has changed and the hub does not know yet stays as the owner sees it.
    if ((await changes()).pending.length === 0) await keep(got);
    openPreview(got);
  } catch (e) {
    // A hub that is away or stands still is asked again.
    if (!(e instanceof IngleError) || !['unavailable', 'timeout'].includes(e.code)) throw e;
  }
}

/** Follows the link: icons are read each time the hub is reached, and waiting changes are sent. */
export async function startIcons(): Promise<void> {
  const onChange = async () => {
    const up = app().link === 'up';
    if (up === wasUp) return;
    wasUp = up;
    const box = await changes();
    if (!up) return box.offline();
    box.online();
    // A hub that is older knows of no brand.
    currentLink()
      ?.request<Partial<Brand>>('GET', '/v1/brand')
      .then(takeBrand, () => {});
    // An older hub knows of nobody but its owner.
    await currentLink()
      ?.request<Answer<typeof peopleApi.me>>('GET', '/v1/me')
      .then(
        ({ id, role }) => set({ role, mine: id }),
        () => {},
      );
    await loadIcons();
  };
  if (!started) {
    started = true;
    follow(() => void onChange().catch(failed));
    // Skills come, go and are changed from other devices.
    setInterval(() => {
      if (wasUp && document.visibilityState === 'visible') void loadIcons().catch(() => {});
    }, REFRESH);
  } else wasUp = false;
  set({ pending: (await changes()).pending.length });
  await onChange();
}

export async function pin(icon: Icon, pinned: boolean): Promise<void> {
  const icons = (app().icons ?? []).map((i) => (i.skill_id === icon.skill_id ? { ...i, pinned } : i));
  const box = await changes();
  await box.enqueue({ method: 'POST', path: '/v1/icons/pin', body: { skill_id: icon.skill_id, pinned } });
  await keep(icons, app().iconsAt ?? Date.now());
  if (app().link === 'up') box.online();
}

/** Moves an icon to place `to` (0 = first) among those shown. */
export async function move(skillId: string, to: number): Promise<void> {
  const list = sorted(app().icons ?? []);
  const from = list.findIndex((i) => i.skill_id === skillId);
  const [icon] = list.splice(from, 1);
  if (!icon) return;
  list.splice(Math.max(0, Math.min(list.length, to)), 0, icon);
  const box = await changes();
  await box.enqueue({
    method: 'POST',
    path: '/v1/icons/order',
    body: { order: list.map((i) => i.skill_id) },
  });
  await keep(
    list.map((i, order) => ({ ...i, order })),
    app().iconsAt ?? Date.now(),
  );
  if (app().link === 'up') box.online();
  const now = sorted(app().icons ?? []).findIndex((i) => i.skill_id === skillId);
  toast(t('moved', { title: titleOf(icon), n: now + 1, total: list.length }));
}
