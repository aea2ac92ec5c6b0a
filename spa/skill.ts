// What a skill's window shows: its view and state documents, live; or why they cannot be shown.
import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Answer } from '../firmware/protocol/endpoint/endpoint.ts';
import { IngleError, toIngleError } from '../firmware/protocol/errors.ts';
import type { skillsApi } from '../firmware/skills/api.ts';
import { overlayState } from '../firmware/ui/overlay.ts';
import { type Act, type Path, TREE_VERSION, type Tree, type Value } from '../firmware/ui/tree.ts';
import { evaluate, plainText, type Scope } from '../firmware/ui/value.ts';
import { currentLink } from './current.ts';
import { bounds, type Done, type Drawing } from './drawing.ts';
import { Elevate } from './elevate.ts';
import { failed } from './entrance.ts';
import { type Glyph, glyph } from './glyphs.ts';
import { changes } from './icons.ts';
import type { Link } from './link.ts';
import { began } from './op.ts';
import { Bones, openSkill } from './open.ts';
import { View } from './render.ts';
import { Stale } from './stale.ts';
import { app, follow, type Icon, toast, useApp } from './store.ts';
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

export function Skill({ icon }: { icon: Icon }) {
  const { link, heardAt } = useApp();
  const [gate, setGate] = useState<Gate>('opening');
  const [preview] = useState(() => app().open?.preview);
  const [, draw] = useState(0);
  const opened = useRef<Opened | null>(null);
  const seen = useRef({
    ...{ tree: null as Tree | null, state: {} as unknown, at: 0, raw: '' },
    isForged: false,
  });
  /** What was set here and nowhere else. */
  const local = useRef<unknown>({});
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
    const stored = o.stateRooms.reduce<unknown>((s, r) => overlayState(s, r.content()), {});
    seen.current.state = overlayState(stored, local.current);
    if (o.rooms.every((r) => r.live)) seen.current.at = Date.now();
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
    if (ok) seen.current.tree = known(tree);
    seen.current.isForged = !ok;
    draw((n) => n + 1);
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
  const refused = (e: IngleError) => {
    if (e.code === 'assertion_required') setGate('elevate');
    else if (e.code === 'forbidden') setGate('forbidden');
    else if (preview && e.code === 'not_found') setGate('over');
    else if (e.code === 'not_found' || e.code === 'unavailable') setGate('missing');
  };

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
    async act(act, scope, o) {
      if (act.do === 'set') {
        local.current = overlayState(local.current, placed(act.at, evaluate(act.value, scope)));
        changed();
        return { done: true };
      }
      try {
        return await does(icon, act, { ...scope, budget: { steps: bounds.steps } }, o);
      } catch (e) {
        failed(e);
        return undone(e);
      }
    },
  };
  if (gate === 'elevate') return html`<${Elevate} title=${titleOf(icon)} done=${() => setGate('opening')} />`;
  if (gate === 'forbidden')
    return html`<${Message} glyph="lock" title=${t('skill_forbidden', { title: titleOf(icon) })} lead=${t('skill_forbidden_lead')} />`;
  if (gate === 'over')
    return html`<${Message} glyph="info" title=${t('preview_over')} lead=${t('preview_over_lead')} />`;
  if (seen.current.isForged)
    return html`<${Message} glyph="lock" title=${t('view_forged', { title: titleOf(icon) })} lead=${t('view_forged_lead')} />`;
  if (gate === 'missing' && !tree)
    return html`<${Message} glyph="pulse" title=${t('skill_missing', { title: titleOf(icon) })} lead=${t('skill_missing_lead')} />`;
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

/** A value at its place in the state, as what lies over it. */
function placed({ path: [root, ...steps] }: Path, value: unknown): unknown {
  // Items of arrays are the document's.
  if (root !== 'state' || steps.some((s) => typeof s !== 'string')) return {};
  return steps.reduceRight((inner: unknown, step) => ({ [step as string]: inner }), value);
}

const undone = (e: unknown): Done => {
  const fields = e instanceof IngleError ? e.details?.['fields'] : undefined;
  return fields !== null && typeof fields === 'object' && !Array.isArray(fields)
    ? { done: false, fields: fields as Record<string, unknown> }
    : { done: false };
};

/** The act as a command takes it. */
function commandOf(icon: Icon, act: Act, scope: Scope) {
  const text = (v: Value) => plainText(evaluate(v, scope));
  const data = (v: Value | undefined) => evaluate(v ?? { object: {} }, scope);
  switch (act.do) {
    case 'get':
      return { type: 'http.get', path: text(act.path) };
    case 'post':
      return { type: 'http.post', path: text(act.path), body: data(act.body) };
    case 'publish':
      return { type: 'bus.publish', topic: act.topic, payload: data(act.payload) };
    case 'action': {
      const given = { ...(data(act.payload) as object), ...(act.form ? (scope.form as object) : {}) };
      const payload = {
        type: 'ui.action',
        action_id: act.id,
        payload: given,
        context: { skill: icon.skill_id },
      };
      return { type: 'bus.publish', topic: 'ui.action', payload };
    }
    default:
      return undefined;
  }
}

/**
 * Does an act: as a command, which waits in the outbox until the hub has done it. A secret is asked for at once, so that
 * neither outbox nor document has it.
 */
async function does(
  icon: Icon,
  act: Act,
  scope: Scope,
  { secret = false, control = '' }: { secret?: boolean; control?: string } = {},
): Promise<Done> {
  if (act.do === 'go') {
    const to = app().icons?.find((i) => i.skill_id === act.skill);
    if (to) openSkill(to, act.mode, app().link === 'up');
    else if (/^https?:/.test(act.href ?? '')) window.open(act.href, '_blank', 'noopener,noreferrer');
    return { done: true };
  }
  const action = commandOf(icon, act, scope);
  if (!action) throw new IngleError('not_supported', 'This application does not know the action.');
  if (secret && action.type === 'http.post') {
    const link = currentLink();
    if (!link?.up) throw new IngleError('hub_offline', 'A secret does not wait for the hub.');
    await link.request('POST', action.path ?? '', action.body);
    return { done: true };
  }
  const box = await changes();
  const { id, done } = await box.enqueue({
    method: 'COMMAND',
    path: control || (action.path ?? action.topic ?? ''),
    body: { skill_id: icon.skill_id, action },
  });
  if (control) began(control, id, done);
  // Of what the hub refuses the outbox tells.
  const ended = done.then((): Done => ({ done: true }), undone);
  if (app().link === 'up') box.online();
  const result = await Promise.race([ended, unreached()]);
  if (app().link !== 'up') toast(t('queued'));
  return result ?? { done: true };
}

/** Settles when the hub is not reached: at once, or when it falls silent. */
function unreached(): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (app().link === 'up') return;
      stop();
      resolve();
    };
    const stop = follow(look);
    look();
  });
}

function Message(o: { glyph: Glyph; title: string; lead: string }) {
  return html`<div class="gate"><div class="hero">${glyph(o.glyph)}</div><h3>${o.title}</h3><p class="soft">${o.lead}</p></div>`;
}
