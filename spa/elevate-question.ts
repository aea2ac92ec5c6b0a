// The question for the passkey.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { IngleError } from '../firmware/protocol/errors.ts';
import { assertToHub } from './assert.ts';
import { failed } from './entrance.ts';
import { glyph } from './glyphs.ts';
import { say } from './settings-text.ts';
import { Trouble } from './store.ts';
import { errorText, noticeText, t } from './text.ts';

export function Question({ title, done }: { title: string; done(): void }) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState('');
  const ask = async () => {
    setBusy(true);
    setError('');
    try {
      await assertToHub();
      done();
    } catch (e) {
      if (e instanceof IngleError) setError(errorText(e.code));
      else if (e instanceof Trouble) setError(noticeText(e.notice));
      else failed(e);
    }
    setBusy(false);
  };
  return html`<div class="gate">
    <div class="hero">${glyph('finger')}</div>
    <h3>${say('elevate_title')}</h3>
    <p class="soft">${say('elevate_lead', { title })}</p>
    <div class="slot" aria-live="polite">${error && html`<div class="note bad" role="alert">${glyph('info')}<span>${error}</span></div>`}</div>
    <button type="button" class="button" disabled=${busy} onClick=${ask}>${busy ? html`<span class="spin"></span>` : glyph('finger')}${t('approve_do')}</button>
  </div>`;
}
