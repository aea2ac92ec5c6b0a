// What a skill's window shows: its view and state documents, live; or why they cannot be shown.
import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { JsonObject } from '../firmware/documents/content.ts';
import type { Answer } from '../firmware/protocol/endpoint/endpoint.ts';
import { IngleError, toIngleError } from '../firmware/protocol/errors.ts';
import type { skillsApi } from '../firmware/skills/api.ts';
import { evaluateAll } from '../firmware/ui/binding.ts';
import { overlayState } from '../firmware/ui/overlay.ts';
import type { Action, View as ViewDocument } from '../firmware/ui/schema.ts';
import { currentLink } from './current.ts';
import { Elevate } from './elevate.ts';
import { failed } from './entrance.ts';
import { type Glyph, glyph } from './glyphs.ts';
import { changes } from './icons.ts';
import type { Link } from './link.ts';
import { began } from './op.ts';
import { Bones, openSkill } from './open.ts';
import { type Drawing, View } from './render.ts';
import { Stale } from './stale.ts';
import { app, follow, type Icon, toast, useApp } from './store.ts';
import { joinRoom, type Room } from './sync.ts';
import { t, titleOf } from './text.ts';

/** How a skill without a view yet, or without the right, stands. */
type Gate = 'opening' | 'open' | 'elevate' | 'forbidden' | 'missing';

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
  const stateRooms = [join(keys.state), ...(keys.prefs ? [join(keys.prefs)] : [])];
  const check = import('./signed.ts').then((m) => m.signatures(link, keys.view));
  check.catch(() => {});
  return { check, viewRoom, stateRooms, rooms: [viewRoom, ...stateRooms] };
}

export function Skill({ icon }: { icon: Icon }) {
  const { link, heardAt } = useApp();
  const [gate, setGate] = useState<Gate>('opening');
  const [, draw] = useState(0);
  const opened = useRef<Opened | null>(null);
  const seen = useRef<{
    view: ViewDocument | null;
    state: unknown;
    at: number;
    raw: string;
    isForged: boolean;
  }>({
    isForged: false,
    view: null,
    state: {},
    at: 0,
    raw: '',
  });
  const queued = useRef(false);

  const read = () => {
    const o = opened.current;
    if (!o) return;
    const content = o.viewRoom.content();
    if (content['layout'] !== undefined) {
      const raw = JSON.stringify(content);
      if (raw !== seen.current.raw) {
        seen.current.raw = raw;
        void check(o, raw, content);
      }
    }
    seen.current.state = o.stateRooms.reduce<unknown>((s, r) => overlayState(s, r.content()), {});
    if (o.rooms.every((r) => r.live)) seen.current.at = Date.now();
  };
  /** Shows a view once the hub's signature on it is checked; how it may look is the hub's to check. */
  const check = async (o: Opened, raw: string, content: Record<string, unknown>) => {
    const ok = await o.check.then((c) => c(content as JsonObject)).catch(() => null);
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
    if (ok) seen.current.view = content as unknown as ViewDocument;
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
        const keys = await l.request<OpenAnswer>('POST', '/v1/open', { skill_id: icon.skill_id, mode });
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

  const drawing: Drawing = {
    scope: { state: seen.current.state, meta: seen.current.view?.meta ?? {} },
    act: (action, given, o) =>
      act(icon, action, drawing, given, o).then(
        (isRefused) => !isRefused,
        (e) => {
          failed(e);
          return false;
        },
      ),
  };
  const { view } = seen.current;
  if (gate === 'elevate') return html`<${Elevate} title=${titleOf(icon)} done=${() => setGate('opening')} />`;
  if (gate === 'forbidden')
    return html`<${Message} glyph="lock" title=${t('skill_forbidden', { title: titleOf(icon) })} lead=${t('skill_forbidden_lead')} />`;
  if (seen.current.isForged)
    return html`<${Message} glyph="lock" title=${t('view_forged', { title: titleOf(icon) })} lead=${t('view_forged_lead')} />`;
  if (gate === 'missing' && !view)
    return html`<${Message} glyph="pulse" title=${t('skill_missing', { title: titleOf(icon) })} lead=${t('skill_missing_lead')} />`;
  if (!view) return html`<${Bones} title=${titleOf(icon)} />`;
  const joined = opened.current?.rooms.every((r) => r.live);
  const missing =
    icon.available === false && `${t('skill_missing', { title: titleOf(icon) })}. ${t('skill_missing_lead')}`;
  const live = link === 'up' && joined && !missing;
  // Documents that are joined are as true as the hub's last sign of life; of a skill that stopped, as its last word.
  // While nothing serves them the hub's own signs of life say nothing of them.
  if (joined && !missing && link !== 'unserved') seen.current.at = Math.max(seen.current.at, heardAt ?? 0);
  return html`<div aria-busy=${live ? undefined : 'true'} data-live=${live ? 'yes' : 'no'}>
    ${link !== 'connecting' && html`<${Stale} at=${seen.current.at} why=${missing} />`}
    <${View} layout=${view.layout} drawing=${drawing} />
  </div>`;
}

/**
 * Does an action of a view: as a command, which waits in the outbox until the hub has done it. A secret is asked for
 * at once, so that neither outbox nor document has it.
 * @returns whether the hub has refused it
 */
async function act(
  icon: Icon,
  action: Action,
  drawing: Drawing,
  given: Record<string, string> = {},
  { secret = false, control = '' }: { secret?: boolean; control?: string } = {},
): Promise<boolean> {
  if (action.type === 'navigate') {
    const to = app().icons?.find((i) => i.skill_id === action.path?.replace(/^skill:/, ''));
    if (to) openSkill(to, action.mode, app().link === 'up');
    return false;
  }
  const fill = (o: Record<string, unknown> | undefined) => ({
    ...(evaluateAll(o ?? {}, drawing.scope) as Record<string, unknown>),
    ...given,
  });
  if (secret && action.type === 'http.post') {
    const link = currentLink();
    if (!link?.up) throw new IngleError('hub_offline', 'A secret does not wait for the hub.');
    await link.request('POST', action.path ?? '', fill(action.body));
    return false;
  }
  const filled =
    action.type === 'http.get'
      ? { type: action.type, path: action.path }
      : action.type === 'http.post'
        ? { type: action.type, path: action.path, body: fill(action.body) }
        : { type: action.type, topic: action.topic, payload: fill(action.payload) };
  const box = await changes();
  const { id, done } = await box.enqueue({
    method: 'COMMAND',
    path: control || (action.path ?? action.topic ?? ''),
    body: { skill_id: icon.skill_id, action: filled },
  });
  began(control, id, done);
  if (app().link === 'up') box.online();
  const outcome = done.then(
    () => false,
    () => true,
  );
  const isRefused = await Promise.race([outcome, unreached()]);
  if (app().link !== 'up') toast(t('queued'));
  return isRefused === true;
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
