// Pages that ask for a passkey.
import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import type { SpaText } from '../firmware/text/spa.ts';
import { approve } from './connection.ts';
import { newCode, signOut } from './flow.ts';
import { Frame, hubName, Notices } from './frame.ts';
import { glyph } from './glyphs.ts';
import { browserName } from './name.ts';
import { session } from './sid.ts';
import { cancelWaiting, login, passkey, register } from './signin.ts';
import { type Page, show } from './store.ts';
import { t } from './text.ts';

/** A prompt that is open, or hangs, has a way back here too. */
export function Waiting(o: { busy?: SpaText | undefined }) {
  return (
    o.busy === 'passkey_waiting' &&
    html`<button class="button quiet" type="button" onClick=${cancelWaiting}>${t('cancel')}</button>`
  );
}

export function Register({ page }: { page: Extract<Page, { at: 'register' }> }) {
  return html`<${Frame} id="register" icon="finger" title=${t('register_title')} lead=${t('register_lead', { hub: hubName() })}>
    <p class="soft">${t('register_what')}</p>
    <div class="actions">
      <${Notices} notice=${page.notice} busy=${page.busy} />
      <button class="button wide" type="button" disabled=${Boolean(page.busy)} onClick=${() => register()}>
        ${glyph('key')}${t('register_do')}</button>
      <${Waiting} busy=${page.busy} />
      ${
        session()?.new_passkey &&
        !page.busy &&
        html`<button class="button quiet" type="button" onClick=${() => passkey({ own: true })}>${t('register_own')}</button>`
      }
    </div>
  <//>`;
}

export function Login({ page }: { page: Extract<Page, { at: 'login' }> }) {
  const title = page.out ? 'out_title' : 'login_title';
  return html`<${Frame} id="login" icon="finger" title=${t(title)}
    lead=${page.out ? t('out_lead') : t('login_lead', { hub: hubName() })}>
    <div class="actions">
      <${Notices} notice=${page.notice} busy=${page.busy} />
      <button class="button wide" type="button" disabled=${Boolean(page.busy)} onClick=${() => login()}>
        ${glyph('key')}${t('login_do')}</button>
      <${Waiting} busy=${page.busy} />
      <button class="button quiet" type="button" onClick=${() => show({ at: 'nopasskey' })}>${t('login_none')}</button>
      ${!session()?.owner_id && html`<button class="button quiet" type="button" onClick=${newCode}>${t('start_over')}</button>`}
    </div>
  <//>`;
}

export function Approve({ page }: { page: Extract<Page, { at: 'approve' }> }) {
  const [name, setName] = useState('');
  useEffect(() => {
    void browserName().then((suggested) => setName((n) => n || suggested));
  }, []);
  return html`<${Frame} id="approve" icon="lock" title=${t('approve_title')} lead=${t('approve_lead')}>
    <form class="actions" onSubmit=${(e: Event) => {
      e.preventDefault();
      void approve(name);
    }}>
      <div class="field">
        <label for="name">${t('approve_name')}</label>
        <input id="name" class="input" maxlength="64" autocomplete="off" value=${name} disabled=${Boolean(page.busy)}
          aria-describedby="name-hint" onInput=${(e: InputEvent & { currentTarget: HTMLInputElement }) => setName(e.currentTarget.value)} />
        <span class="soft small" id="name-hint">${t('approve_name_hint')}</span>
      </div>
      <${Notices} notice=${page.notice} busy=${page.busy} />
      <button class="button wide" type="submit" disabled=${Boolean(page.busy)}>${glyph('finger')}${t('approve_do')}</button>
      <${Waiting} busy=${page.busy} />
      ${!page.busy && html`<button class="button quiet" type="button" onClick=${() => signOut()}>${t('cancel')}</button>`}
    </form>
  <//>`;
}
