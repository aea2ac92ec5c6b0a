// What a skill's window shows: its view and state documents, live; or why they cannot be shown.
import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Answer } from '../firmware/protocol/endpoint/endpoint.ts';
import { type IngleError, toIngleError } from '../firmware/protocol/errors.ts';
import type { skillsApi } from '../firmware/skills/api.ts';
import { overlayState } from '../firmware/ui/overlay.ts';
import { TREE_VERSION, type Tree } from '../firmware/ui/tree.ts';
import { openActs } from './acts.ts';
import { currentLink } from './current.ts';
import { bounds, type Drawing } from './drawing.ts';
import { Elevate } from './elevate.ts';
import type { Link } from './link.ts';
import { Bones } from './open.ts';
import { part } from './part.ts';
import { View } from './render.ts';
import type { Why } from './skill-shut.ts';
import { Stale } from './stale.ts';
import { app, type Icon, useApp } from './store.ts';
import { joinRoom, type Room } from './sync.ts';
import { t, titleOf } from './text.ts';

/** How a skill without a view yet, or without the right, stands. */
type Gate = 'opening' | 'open' | 'elevate' | 'forbidden' | 'missing' | 'over';

/** What the hub says on opening: the documents that make the screen of this person on this browser. */
type OpenAnswer = Answer<typeof skillsApi.open>;

interface Opened {
  check: Promise<ReturnType<typeof import('./signed.ts').signatures>>;
  rooms: Room[];
  viewRoom: Room;
  stateRooms: Room[];
}

function joinSkill(
  link: Link,
  keys: OpenAnswer,
  changed: () => void,
  refused: (e: IngleError) => void,
): Opened {
  const join = (key: string) => joinRoom(key, currentLink, changed, refused);
  const viewRoom = join(keys.view);
  const over = [keys.own, keys.prefs].flatMap((key) => (key ? [key] : []));
  const stateRooms = [keys.state, ...over].map(join);
  const check = import('./signed.ts').then((m) => m.signatures(link, keys.view));
  check.catch(() => {});
  return { check, viewRoom, stateRooms, rooms: [viewRoom, ...stateRooms] };
}

/** A screen is kept at most so often, milliseconds. */
const KEEP_MS = 5000;

export function Skill({ icon }: { icon: Icon }) {
  const { link, heardAt } = useApp();
  const [gate, setGate] = useState<Gate>('opening');
  const [preview] = useState(() => app().open?.preview);
  const [, draw] = useState(0);
  const opened = useRef<Opened | null>(null);
  const seen = useRef({
    ...{ tree: null as Tree | null, state: {} as unknown, at: 0, raw: '' },
    isForged: false,
    /** What is shown was kept here, and nothing has come from the hub yet. */
    isKept: false,
    keptAt: 0,
  });
  const stored = useRef<unknown>({});
  const queued = useRef(false);

  const read = () => {
    const o = opened.current;
    if (!o) return;
    const content = o.viewRoom.content();
    const tree = content['tree'] ?? (content['layout'] === undefined ? undefined : unknownTree('ui/v0'));
    if (tree !== undefined) {
      const raw = JSON.stringify(content);
      if (raw !== seen.current.raw) {
        seen.current.raw = raw;
        void check(o, raw, content, tree as Tree);
      }
    }
    // What was kept stays whole until the hub has told all of what is there now.
    if (seen.current.isKept && !o.rooms.every((r) => r.live)) return;
    const first = seen.current.tree?.state ?? {};
    stored.current = o.stateRooms.reduce<unknown>((s, r) => overlayState(s, r.content()), first);
    seen.current.state = acts.over(stored.current);
    if (!o.rooms.every((r) => r.live)) return;
    seen.current.at = Date.now();
    keep();
  };
  /** A screen that needs no passkey can be read while the hub is away. */
  const keep = () => {
    const { tree, at, keptAt } = seen.current;
    if (!tree || seen.current.isForged || icon.ownerOnly !== false || preview || at - keptAt < KEEP_MS)
      return;
    seen.current.keptAt = at;
    const state = stored.current;
    import('./kept.ts').then((m) => m.keepScreen(icon.skill_id, { tree, state, at })).catch(() => {});
  };
  /** Shows a view once the hub's signature on it and its tree is checked; the hub has compiled the one to the other. */
  const check = async (o: Opened, raw: string, content: Record<string, unknown>, tree: Tree) => {
    const ok = await o.check.then((c) => c(content)).catch(() => null);
    if (seen.current.raw !== raw) return;
    if (!ok)
      // On its way, or the hub is not reached: what is shown stays until that is known. What is wrong may be put right.
      setTimeout(
        () => {
          if (seen.current.raw === raw) seen.current.raw = '';
          changed();
        },
        ok === null ? 300 : 3000,
      );
    if (ok === null) return;
    // What this application does not know yet is drawn as a note.
    if (ok) Object.assign(seen.current, { tree: known(tree), isKept: false });
    seen.current.isForged = !ok;
    // A tree may bring the first state.
    changed();
  };
  // Updates come in bursts; a frame's worth of them is one drawing.
  const changed = () => {
    if (queued.current) return;
    queued.current = true;
    setTimeout(() => {
      queued.current = false;
      read();
      draw((n) => n + 1);
    }, 30);
  };
  const [acts] = useState(() => openActs(icon, () => stored.current, changed));
  const refused = (e: IngleError) => {
    if (e.code === 'assertion_required') setGate('elevate');
    else if (e.code === 'forbidden') setGate('forbidden');
    else if (preview && e.code === 'not_found') setGate('over');
    else if (e.code === 'not_found' || e.code === 'unavailable') setGate('missing');
  };

  useEffect(() => {
    if (currentLink()?.up) return;
    import('./kept.ts')
      .then((m) => m.screenOf(icon.skill_id))
      .then((kept) => {
        if (!kept || seen.current.tree) return;
        Object.assign(seen.current, { ...kept, tree: known(kept.tree), isKept: true });
        draw((n) => n + 1);
      })
      .catch(() => {});
  }, []);
  useEffect(() => {
    if (gate !== 'opening' && gate !== 'missing') return;
    let gone = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const open = async () => {
      const l = currentLink();
      if (!l?.up) return;
      try {
        const mode = app().open?.mode ?? icon.modes[0] ?? 'modal';
        const asked = { skill_id: icon.skill_id, mode, ...(preview ? { preview } : {}) };
        const keys = await l.request<OpenAnswer>('POST', '/v1/open', asked);
        if (gone) return;
        opened.current ??= joinSkill(l, keys, changed, refused);
        setGate('open');
      } catch (e) {
        const error = toIngleError(e);
        if (gone) return;
        refused(error);
        timer = setTimeout(open, 2000);
      }
    };
    void open();
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [gate, link]);
  useEffect(
    () => () => {
      for (const r of opened.current?.rooms ?? []) r.close();
      opened.current = null;
    },
    [],
  );

  const { tree } = seen.current;
  const drawing: Drawing = {
    scope: { state: seen.current.state, meta: tree?.meta ?? {}, budget: { steps: bounds.steps } },
    left: { parts: bounds.parts },
    act: seen.current.isKept ? () => import('./kept.ts').then((m) => m.onlyKept()) : acts.act,
    rows: acts.rows,
    skill: icon.skill_id,
  };
  if (gate === 'elevate') return html`<${Elevate} title=${titleOf(icon)} done=${() => setGate('opening')} />`;
  const why: Why | false =
    gate === 'forbidden' || gate === 'over'
      ? gate
      : seen.current.isForged
        ? 'forged'
        : gate === 'missing' && !tree && gate;
  if (why) return html`<${Shut} why=${why} title=${titleOf(icon)} />`;
  if (!tree) return html`<${Bones} title=${titleOf(icon)} />`;
  const joined = opened.current?.rooms.every((r) => r.live);
  const missing =
    icon.available === false && `${t('skill_missing', { title: titleOf(icon) })}. ${t('skill_missing_lead')}`;
  const live = link === 'up' && joined && !missing;
  // Documents that are joined are as true as the hub's last sign of life; of a skill that stopped, as its last word.
  // While nothing serves them the hub's own signs of life say nothing of them.
  if (joined && !missing && link !== 'unserved') seen.current.at = Math.max(seen.current.at, heardAt ?? 0);
  return html`<div aria-busy=${live ? undefined : 'true'} data-live=${live ? 'yes' : 'no'}>
    ${preview && html`<p class="note small" role="status">${t('preview_is')}</p>`}
    ${link !== 'connecting' && html`<${Stale} at=${seen.current.at} why=${missing} />`}
    <${View} tree=${tree} drawing=${drawing} />
  </div>`;
}

/** What stands in place of a tree that cannot be drawn here. */
const unknownTree = (what: string): Tree =>
  ({ tree: TREE_VERSION, from: what, main: [{ is: what }], needs: [] }) as unknown as Tree;
const known = (tree: Tree): Tree =>
  tree.tree === TREE_VERSION && Array.isArray(tree.main) ? tree : unknownTree(`tree ${tree.tree}`);

const Shut = part<{ title: string; why: Why }>(() => import('./skill-shut.ts').then((m) => m.Shut));
