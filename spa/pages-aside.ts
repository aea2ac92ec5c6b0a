// Pages beside the way to the desktop: another tab, a second group that is typed, a link where a hub is known, no passkey here, and not let in.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { translator } from '../firmware/text/i18n.ts';
import { spaAsideTexts } from '../firmware/text/spa-aside.ts';
import { loginCommand } from './entrance.ts';
import { backToHub, newCode, tryAgain, useLink, useThisTab } from './flow.ts';
import { Command, Frame, hubName, Notices } from './frame.ts';
import { CodeField } from './pages-code.ts';
import { Waiting } from './pages-passkey.ts';
import { session } from './sid.ts';
import { register, second } from './signin.ts';
import { app, type Page, show } from './store.ts';
import { noticeText, t } from './text.ts';

const say = (key: keyof (typeof spaAsideTexts)['en'], values?: Record<string, string>) =>
  translator(spaAsideTexts, app().language)(key, values);

/** A pairing link where a hub is known: what it is, and both ways on. */
function LinkPage({ page }: { page: Extract<Page, { at: 'link' }> }) {
  const hub = hubName();
  const useIt = { same: say('link_again'), other: say('link_other_do'), spent: null, bad: null }[page.is];
  return html`<${Frame} id="link" icon="hub" title=${say(`link_${page.is}_title`, { hub })} lead=${say(`link_${page.is}`, { hub })}>
    <div class="actions">
      <${Notices} notice=${page.notice} busy=${page.busy} />
      <button class="button wide" type="button" disabled=${Boolean(page.busy)} onClick=${backToHub}>${t('back_to_hub')}</button>
      ${
        useIt &&
        html`<button class="button second wide" type="button" disabled=${Boolean(page.busy)} onClick=${() => useLink(page.is)}>${useIt}</button>`
      }
    </div>
  <//>`;
}

function NoPasskey({ page }: { page: Extract<Page, { at: 'nopasskey' }> }) {
  return html`<${Frame} id="nopasskey" icon="key" title=${say('nopasskey_title')} lead=${say('nopasskey_lead')}>
    <section><h2>${say('nopasskey_other_title')}</h2><p class="soft">${say('nopasskey_other')}</p></section>
    <section><h2>${say('nopasskey_hub_title')}</h2>
      <p class="soft"><${Command} text=${say('nopasskey_hub')} command=${`${loginCommand} --new-passkey`} /></p></section>
    <div class="actions">
      ${(page.notice || page.busy) && html`<${Notices} notice=${page.notice} busy=${page.busy} />`}
      ${
        session()?.owner_id &&
        html`<button class="button wide" type="button" disabled=${Boolean(page.busy)} onClick=${() => register('nopasskey')}>
          ${say('nopasskey_register')}</button>`
      }
      <${Waiting} busy=${page.busy} />
      <button class="button second wide" type="button" onClick=${newCode}>${say('nopasskey_new_code')}</button>
      <button class="button quiet" type="button" onClick=${() => show({ at: 'login' })}>${say('back')}</button>
    </div>
  <//>`;
}

function Refused({ page }: { page: Extract<Page, { at: 'refused' }> }) {
  return html`<${Frame} id="refused" icon="lock" bad title=${say('refused_title')} lead=${page.notice === 'no_answer' ? say('no_answer') : noticeText(page.notice)}>
    <p class="soft"><${Command} text=${t('entry_where_1')} /></p>
    <div class="actions"><button class="button wide" type="button" onClick=${newCode}>${say('nopasskey_new_code')}</button></div>
  <//>`;
}

/** Somebody who was invited, and is no more. */
function Ended() {
  return html`<${Frame} id="ended" icon="lock" title=${say('ended_title')} lead=${say('ended_lead')}>
    <div class="actions">
      <button class="button wide" type="button" onClick=${tryAgain}>${t('retry')}</button>
      <button class="button second wide" type="button" onClick=${newCode}>${say('invited_again')}</button>
    </div>
  <//>`;
}

/** An invitation that was opened in a browser of somebody else's. */
function Taken() {
  return html`<${Frame} id="taken" icon="hub" title=${say('taken_title')} lead=${say('taken_lead')}>
    <div class="actions"><button class="button wide" type="button" onClick=${tryAgain}>${t('back_to_hub')}</button></div>
  <//>`;
}

function Unknown() {
  const { role } = app();
  const invited = role !== null && role !== 'owner';
  return html`<${Frame} id="unknown" icon="lock" bad title=${say('unknown_title')} lead=${say('unknown_lead')}>
    <p class="soft"><${Command} text=${say(invited ? 'unknown_invited' : 'unknown_do')} /></p>
    <div class="actions">
      <button class="button wide" type="button" onClick=${tryAgain}>${t('retry')}</button>
      <button class="button second wide" type="button" onClick=${newCode}>${say(invited ? 'invited_again' : 'unknown_pair')}</button>
    </div>
  <//>`;
}

/** The second group, once the first has found the hub. */
function Second({ page }: { page: Extract<Page, { at: 'second' }> }) {
  const [value, setValue] = useState('');
  const [short, setShort] = useState(false);
  const submit = (e: Event) => {
    e.preventDefault();
    const digits = value.replace(/\D/g, '');
    setShort(digits.length !== 6);
    if (digits.length === 6) void second(digits);
  };
  const wrong = page.title === 'code_wrong_title';
  return html`<${Frame} id="second" icon="lock" bad=${wrong} keepFocus
    title=${say(wrong ? 'code_wrong_title' : 'second_title')} lead=${say(wrong ? 'code_wrong_lead' : 'second_lead')}>
    <form class="actions" onSubmit=${submit} novalidate>
      <${CodeField} id="second" max=${6} label=${say('second_label')} hint=${say('second_hint')} value=${value}
        onValue=${setValue} invalid=${short} />
      <${Notices} notice=${short ? { text: 'entry_short' } : page.notice} busy=${page.busy} />
      <button class="button wide" type="submit">${t('continue')}</button>
      <button class="button quiet" type="button" onClick=${newCode}>${wrong ? t('start_over') : say('change_first')}</button>
    </form>
  <//>`;
}

/** Where a visit stands beside its way. */
export type AsidePage = Extract<
  Page,
  { at: 'elsewhere' | 'second' | 'link' | 'nopasskey' | 'refused' | 'ended' | 'taken' | 'unknown' }
>;

function Elsewhere() {
  return html`<${Frame} id="elsewhere" icon="tabs" title=${say('elsewhere_title')} lead=${say('elsewhere_lead')}>
    <div class="actions"><button class="button wide" type="button" onClick=${useThisTab}>${say('elsewhere_do')}</button></div>
  <//>`;
}

export function Aside({ page }: { page: AsidePage }) {
  switch (page.at) {
    case 'elsewhere':
      return html`<${Elsewhere} />`;
    case 'link':
      return html`<${LinkPage} page=${page} />`;
    case 'second':
      return html`<${Second} page=${page} />`;
    case 'nopasskey':
      return html`<${NoPasskey} page=${page} />`;
    case 'refused':
      return html`<${Refused} page=${page} />`;
    case 'ended':
      return html`<${Ended} />`;
    case 'taken':
      return html`<${Taken} />`;
    default:
      return html`<${Unknown} />`;
  }
}
