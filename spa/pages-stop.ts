// Pages of a visit that does not go on by itself: a link, trouble, a refusal, an alarm, another tab.
import { html } from 'htm/preact';
import { backToHub, newCode, tryAgain, useLink, useThisTab } from './flow.ts';
import { Command, Frame, hubName, Notices } from './frame.ts';
import { root } from './root.ts';
import { app, type Page } from './store.ts';
import { noticeText, suspicionText, t } from './text.ts';

/** A pairing link where a hub is known: what it is, and both ways on. */
export function LinkPage({ page }: { page: Extract<Page, { at: 'link' }> }) {
  const hub = hubName();
  const useIt = { same: t('link_again'), other: t('link_other_do'), spent: null, bad: null }[page.is];
  return html`<${Frame} id="link" icon="hub" title=${t(`link_${page.is}_title`, { hub })} lead=${t(`link_${page.is}`, { hub })}>
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

export function TroublePage({ page }: { page: Extract<Page, { at: 'trouble' }> }) {
  return html`<${Frame} id="trouble" icon="alarm" bad title=${t('trouble_title')} lead=${noticeText(page.notice)}>
    <div class="actions">
      <button class="button wide" type="button" onClick=${tryAgain}>${t('retry')}</button>
      <button class="button quiet" type="button" onClick=${newCode}>${t('start_over')}</button>
    </div>
  <//>`;
}

export function Refused({ page }: { page: Extract<Page, { at: 'refused' }> }) {
  return html`<${Frame} id="refused" icon="lock" bad title=${t('refused_title')} lead=${noticeText(page.notice)}>
    <p class="soft"><${Command} text="entry_where_1" /></p>
    <div class="actions"><button class="button wide" type="button" onClick=${newCode}>${t('nopasskey_new_code')}</button></div>
  <//>`;
}

/** Somebody who was invited, and is no more. */
export function Ended() {
  return html`<${Frame} id="ended" icon="lock" title=${t('ended_title')} lead=${t('ended_lead')}>
    <div class="actions">
      <button class="button wide" type="button" onClick=${tryAgain}>${t('retry')}</button>
      <button class="button second wide" type="button" onClick=${newCode}>${t('invited_again')}</button>
    </div>
  <//>`;
}

/** An invitation that was opened in a browser of somebody else's. */
export function Taken() {
  return html`<${Frame} id="taken" icon="hub" title=${t('taken_title')} lead=${t('taken_lead')}>
    <div class="actions"><button class="button wide" type="button" onClick=${tryAgain}>${t('back_to_hub')}</button></div>
  <//>`;
}

export function Unknown() {
  const { role } = app();
  const invited = role !== null && role !== 'owner';
  return html`<${Frame} id="unknown" icon="lock" bad title=${t('unknown_title')} lead=${t('unknown_lead')}>
    <p class="soft"><${Command} text=${invited ? 'unknown_invited' : 'unknown_do'} /></p>
    <div class="actions">
      <button class="button wide" type="button" onClick=${tryAgain}>${t('retry')}</button>
      <button class="button second wide" type="button" onClick=${newCode}>${t(invited ? 'invited_again' : 'unknown_pair')}</button>
    </div>
  <//>`;
}

export function Alarm({ page }: { page: Extract<Page, { at: 'alarm' }> }) {
  return html`<${Frame} id="alarm" icon="alarm" bad title=${t('alarm_title')} lead=${t('alarm_lead')}>
    <ol class="how">
      <li><span>${t('alarm_do_1')}</span></li>
      <li><${Command} text="alarm_do_2" /></li>
      <li><span>${t('alarm_do_3', { host: new URL(root || location.origin).host })}</span></li>
    </ol>
    <p class="soft small" data-reason=${page.reason}>${t('alarm_detail', { reason: suspicionText(page.reason) })}</p>
    <div class="actions"><button class="button wide" type="button" onClick=${newCode}>${t('alarm_again')}</button></div>
  <//>`;
}

export function Elsewhere() {
  return html`<${Frame} id="elsewhere" icon="tabs" title=${t('elsewhere_title')} lead=${t('elsewhere_lead')}>
    <div class="actions"><button class="button wide" type="button" onClick=${useThisTab}>${t('elsewhere_do')}</button></div>
  <//>`;
}
