// The settings: how it looks here, this hub, who and what belongs to it, and this browser.
import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { failed } from './entrance.ts';
import { useFocusInside } from './focus.ts';
import { type Glyph, glyph } from './glyphs.ts';
import { leave } from './leave.ts';
import { openManager } from './open.ts';
import { sheet } from './owner.css';
import { ask } from './question.ts';
import { Browsers } from './settings-browsers.ts';
import { hub } from './settings-hub.ts';
import { Look } from './settings-look.ts';
import { Programs } from './settings-programs.ts';
import { Push } from './settings-push.ts';
import { Switch } from './settings-switch.ts';
import { say } from './settings-text.ts';
import { Way } from './settings-way.ts';
import { session } from './sid.ts';
import { type Managing, set, toast, useApp } from './store.ts';
import { shown, t } from './text.ts';

/** One text that the hub keeps. */
function OneText(o: {
  id: string;
  label: string;
  value: string;
  hint?: string;
  still: boolean;
  send(value: string): Promise<void>;
}) {
  const [value, setValue] = useState(o.value);
  const [busy, setBusy] = useState(false);
  useEffect(() => setValue(o.value), [o.value]);
  const wished = value.trim();
  const send = (e: Event) => {
    e.preventDefault();
    setBusy(true);
    void o
      .send(wished)
      .catch(failed)
      .finally(() => setBusy(false));
  };
  return html`<form class="field" onSubmit=${send}><label for=${o.id}>${o.label}</label>
    <div class="with"><input class="input" id=${o.id} required maxlength="64" autocomplete="off" value=${value}
      aria-describedby=${o.hint ? `${o.id}-hint` : undefined}
      onInput=${(e: Event) => setValue((e.target as HTMLInputElement).value)} />
    <button type="submit" class="button second" disabled=${o.still || busy || wished === '' || wished === o.value}>${say('save')}</button></div>
    ${o.hint && html`<p class="soft small" id=${`${o.id}-hint`}>${o.hint}</p>`}</form>`;
}

function Hub() {
  const { hubName, icons, glances, link } = useApp();
  const still = link !== 'up';
  const rename = async (value: string) => {
    await hub.name(value);
    set({ hubName: value });
    toast(say('named', { name: value }));
  };
  const move = async (value: string) => {
    const { name } = await hub.place(value);
    toast(say('placed', { name }));
  };
  const now = glances['weather']?.line;
  return html`<section class="v-card" aria-labelledby="hub-title"><h3 id="hub-title">${say('hub')}</h3>
    <${OneText} id="hub-name" label=${say('hub_name')} value=${hubName ?? ''} still=${still} send=${rename} />
    ${
      icons?.some((i) => i.skill_id === 'weather') &&
      html`<${OneText} id="hub-place" label=${say('place')} value="" still=${still} send=${move}
        hint=${say('place_hint', { now: now === undefined ? '–' : shown(now) })} />`
    }
  </section>`;
}

const pages = [
  ['manage', 'app'],
  ['people', 'people'],
  ['hubs', 'hub'],
  ['account', 'key'],
] as const satisfies readonly (readonly [Managing, Glyph])[];

function Home() {
  return html`<section class="v-card" aria-labelledby="home-title"><h3 id="home-title">${say('home')}</h3>
    <ul class="rows">${pages.map(
      ([
        page,
        icon,
      ]) => html`<li><button type="button" class="way" onClick=${() => openManager(page)}>${glyph(icon)}
        <span><b>${t(page)}</b><span class="soft small">${say(`${page}_lead`)}</span></span>${glyph('right')}</button></li>`,
    )}</ul></section>`;
}

function Here() {
  const { hubName } = useApp();
  const forget = async () => {
    const title = say('forget_title', { hub: hubName || t('hub_yours') });
    if (await ask({ title, text: say('forget_sure'), yes: say('forget') }))
      await leave(session()?.hub_id ?? true);
  };
  return html`<section class="v-card" aria-labelledby="here-title"><h3 id="here-title">${say('browser')}</h3>
    <ul class="rows">
      <li><button type="button" class="way" onClick=${() => leave()}>${glyph('out')}
        <span><b>${say('sign_out')}</b><span class="soft small">${say('sign_out_lead')}</span></span></button></li>
      <li><button type="button" class="way bad" onClick=${() => forget().catch(failed)}>${glyph('trash')}
        <span><b>${say('forget')}</b><span class="soft small">${say('forget_lead')}</span></span></button></li>
    </ul></section>`;
}

export function Settings() {
  const { role, link } = useApp();
  const [, draw] = useState(false);
  useEffect(() => void sheet.then(() => draw(true)), []);
  const box = useFocusInside();
  // Who was invited is offered nothing that the hub would refuse.
  const isOwner = role === null || role === 'owner';
  return html`<div class="v-stack manage" ref=${box}>
    ${isOwner && link !== 'up' && html`<div class="note warn" role="status">${glyph('offline')}<span>${say('offline')}</span></div>`}
    <${Switch} />
    <${Look} />
    ${role !== 'guest' && html`<${Push} />`}
    <${Way} />
    ${isOwner && html`<${Hub} /><${Browsers} /><${Home} /><${Programs} />`}
    <${Here} />
  </div>`;
}
