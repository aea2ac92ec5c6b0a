// Pages that must stand whatever the network does: trouble, and an alarm.
import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import type { Suspicion } from '../firmware/text/channel.ts';
import { newCode, tryAgain } from './flow.ts';
import { Command, Frame } from './frame.ts';
import { root } from './root.ts';
import { app, type Page } from './store.ts';
import { noticeText, t } from './text.ts';

export function TroublePage({ page }: { page: Extract<Page, { at: 'trouble' }> }) {
  return html`<${Frame} id="trouble" icon="alarm" bad title=${t('trouble_title')} lead=${noticeText(page.notice)}>
    <div class="actions">
      <button class="button wide" type="button" onClick=${tryAgain}>${t('retry')}</button>
      <button class="button quiet" type="button" onClick=${newCode}>${t('start_over')}</button>
    </div>
  <//>`;
}

/** What was seen, in words that come a moment later; the warning itself waits for nothing. */
function Seen({ reason }: { reason: Suspicion }) {
  const { language } = app();
  const [words, setWords] = useState<string>(reason);
  useEffect(() => {
    import('../firmware/text/channel.ts').then(
      (m) => setWords(m.channelTexts[language][reason] as string),
      () => {},
    );
  }, [reason, language]);
  return html`<p class="soft small" data-reason=${reason}>${t('alarm_detail', { reason: words })}</p>`;
}

export function Alarm({ page }: { page: Extract<Page, { at: 'alarm' }> }) {
  return html`<${Frame} id="alarm" icon="alarm" bad title=${t('alarm_title')} lead=${t('alarm_lead')}>
    <ol class="how">
      <li><span>${t('alarm_do_1')}</span></li>
      <li><${Command} text=${t('alarm_do_2')} /></li>
      <li><span>${t('alarm_do_3', { host: new URL(root || location.origin).host })}</span></li>
    </ol>
    <${Seen} reason=${page.reason} />
    <div class="actions"><button class="button wide" type="button" onClick=${newCode}>${t('alarm_again')}</button></div>
  <//>`;
}
