// Pages that must stand whatever the network does: trouble, an alarm, another tab.
import { html } from 'htm/preact';
import { newCode, tryAgain, useThisTab } from './flow.ts';
import { Command, Frame } from './frame.ts';
import { root } from './root.ts';
import type { Page } from './store.ts';
import { noticeText, suspicionText, t } from './text.ts';

export function TroublePage({ page }: { page: Extract<Page, { at: 'trouble' }> }) {
  return html`<${Frame} id="trouble" icon="alarm" bad title=${t('trouble_title')} lead=${noticeText(page.notice)}>
    <div class="actions">
      <button class="button wide" type="button" onClick=${tryAgain}>${t('retry')}</button>
      <button class="button quiet" type="button" onClick=${newCode}>${t('start_over')}</button>
    </div>
  <//>`;
}

export function Alarm({ page }: { page: Extract<Page, { at: 'alarm' }> }) {
  return html`<${Frame} id="alarm" icon="alarm" bad title=${t('alarm_title')} lead=${t('alarm_lead')}>
    <ol class="how">
      <li><span>${t('alarm_do_1')}</span></li>
      <li><${Command} text=${t('alarm_do_2')} /></li>
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
