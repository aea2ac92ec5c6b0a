// What a skill's window shows: its view and state documents, live; or why they cannot be shown.
import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { type IngleError, toIngleError } from '../firmware/protocol/errors.ts';
import { currentLink } from './current.ts';
import { bounds, type Drawing } from './drawing.ts';
import { Elevate } from './elevate.ts';
import { Bones } from './open.ts';
import { part } from './part.ts';
import { View } from './render.ts';
import { type OpenAnswer, openScreen } from './screen.ts';
import type { Why } from './skill-shut.ts';
import { Stale } from './stale.ts';
import { app, type Icon, useApp } from './store.ts';
import { t, titleOf } from './text.ts';

/** How a skill without a view yet, or without the right, stands. */
type Gate = 'opening' | 'open' | 'elevate' | 'forbidden' | 'missing' | 'over';

export function Skill({ icon }: { icon: Icon }) {
  const { link, heardAt } = useApp();
  const [gate, setGate] = useState<Gate>('opening');
  const [preview] = useState(() => app().open?.preview);
  const [, draw] = useState(0);
  const [screen] = useState(() => openScreen(icon, () => draw((n) => n + 1)));
  const refused = (e: IngleError) => {
    if (e.code === 'assertion_required') setGate('elevate');
    else if (e.code === 'forbidden') setGate('forbidden');
    else if (preview && e.code === 'not_found') setGate('over');
    else if (e.code === 'not_found' || e.code === 'unavailable') setGate('missing');
  };

  useEffect(() => {
    if (!currentLink()?.up) screen.recall();
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
        screen.join(l, keys, icon.ownerOnly === false && !preview, refused);
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
  useEffect(() => screen.close, []);

  const { tree, acts } = screen;
  const drawing: Drawing = {
    scope: { state: screen.state, meta: tree?.meta ?? {}, budget: { steps: bounds.steps } },
    left: { parts: bounds.parts },
    act: screen.isKept ? () => import('./kept.ts').then((m) => m.onlyKept()) : acts.act,
    rows: acts.rows,
    skill: icon.skill_id,
  };
  if (gate === 'elevate') return html`<${Elevate} title=${titleOf(icon)} done=${() => setGate('opening')} />`;
  const why: Why | false =
    gate === 'forbidden' || gate === 'over'
      ? gate
      : screen.isForged
        ? 'forged'
        : gate === 'missing' && !tree && gate;
  if (why) return html`<${Shut} why=${why} title=${titleOf(icon)} />`;
  if (!tree) return html`<${Bones} title=${titleOf(icon)} />`;
  const joined = screen.isLive();
  const missing =
    icon.available === false && `${t('skill_missing', { title: titleOf(icon) })}. ${t('skill_missing_lead')}`;
  const live = link === 'up' && joined && !missing;
  // Documents that are joined are as true as the hub's last sign of life; of a skill that stopped, as its last word.
  // While nothing serves them the hub's own signs of life say nothing of them.
  if (joined && !missing && link !== 'unserved') screen.at = Math.max(screen.at, heardAt ?? 0);
  return html`<div aria-busy=${live ? undefined : 'true'} data-live=${live ? 'yes' : 'no'}>
    ${preview && html`<p class="note small" role="status">${t('preview_is')}</p>`}
    <${View} tree=${tree} drawing=${drawing} />
    <${Stale} at=${screen.at} why=${missing} />
  </div>`;
}

const Shut = part<{ title: string; why: Why }>(() => import('./skill-shut.ts').then((m) => m.Shut));
