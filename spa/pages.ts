// The pages that ask one thing each, before the desktop.
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { languages } from '../firmware/protocol/text/i18n.ts';
import type { SpaText } from '../firmware/protocol/text/spa.ts';
import { groupCode, readCode } from './code.ts';
import {
  approve,
  backToHub,
  login,
  loginCommand,
  newCode,
  register,
  second,
  signOut,
  tryAgain,
  useThisTab,
  verify,
} from './flow.ts';
import { type Glyph, glyph } from './glyphs.ts';
import { root } from './root.ts';
import { session } from './session.ts';
import { app, type Notice, type Page, show } from './store.ts';
import { chooseLanguage, noticeText, suspicionText, t } from './text.ts';

export function LanguageSwitch() {
  return html`<div class="language" role="group" aria-label=${t('language')}>
    ${languages.map(
      (l) => html`<button
        type="button"
        lang=${l}
        aria-pressed=${app().language === l ? 'true' : 'false'}
        aria-label=${l === 'en' ? 'EN, English' : 'РУ, Русский'}
        onClick=${() => chooseLanguage(l, true)}
      >${l === 'en' ? 'EN' : 'РУ'}</button>`,
    )}
  </div>`;
}

/** Stays wherever the pairing rests on the hub's insecure debug mode. */
export function Insecure() {
  return (
    app().insecure &&
    html`<div class="note bad banner" role="alert" data-insecure>${glyph('alarm')}<span>${t('insecure')}</span></div>`
  );
}

/** Frame of a page. Its heading takes the focus, so that a screen reader hears where it is. */
function Frame(o: {
  id: string;
  icon?: Glyph;
  bad?: boolean;
  title: string;
  lead?: string;
  children?: ComponentChildren;
  keepFocus?: boolean;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${o.title} · ${app().brand.name}`;
  }, [o.title]);
  useEffect(() => {
    if (!o.keepFocus) heading.current?.focus();
  }, [o.id]);
  return html`<div class="page" data-page=${o.id}>
    <header><div class="brand"><img src="/icon.svg" alt="" width="32" height="32" />${app().brand.name}</div><${LanguageSwitch} /></header>
    <main>
      <${Insecure} />
      <div>
        ${o.icon && html`<div class=${`hero${o.bad ? ' bad' : ''}`}>${glyph(o.icon)}</div>`}
        <h1 tabindex="-1" ref=${heading}>${o.title}</h1>
        ${o.lead && html`<p class="lead">${o.lead}</p>`}
      </div>
      ${o.children}
    </main>
    <footer></footer>
  </div>`;
}

/** The place of notices keeps its height, so that a message moves nothing. */
function Notices(o: { notice?: Notice | undefined; busy?: SpaText | undefined }) {
  return html`<div class="slot" aria-live="polite">
    ${
      o.busy
        ? html`<div class="note" role="status"><span class="spin"></span><span>${t(o.busy)}</span></div>`
        : o.notice &&
          html`<div class="note bad" role="alert">${glyph('info')}<span>${noticeText(o.notice)}</span></div>`
    }
  </div>`;
}

/** A text with `{command}` in it as code. */
function Command(o: { text: SpaText; command?: string; values?: Record<string, string> }) {
  const [before, after] = t(o.text, o.values).split('{command}');
  return html`<span>${before}${after !== undefined && html`<code>${o.command ?? loginCommand}</code>`}${after}</span>`;
}

function hubName(): string {
  return app().hubName || t('hub_yours');
}

function CodeField(o: {
  id: string;
  max: 6 | 12;
  label: SpaText;
  hint: SpaText;
  invalid: boolean;
  value: string;
  onValue: (v: string) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (matchMedia('(hover: hover)').matches) input.current?.focus();
  }, []);
  const onInput = (e: InputEvent & { currentTarget: HTMLInputElement }) => {
    const field = e.currentTarget;
    // Digits before the caret stay before it while separators come and go.
    const before = field.value.slice(0, field.selectionStart ?? 0).replace(/\D/g, '').length;
    const grouped = groupCode(field.value, o.max);
    field.value = grouped;
    let at = 0;
    for (let n = 0; at < grouped.length && n < before; at++) if (/\d/.test(grouped[at]!)) n++;
    field.setSelectionRange(at, at);
    o.onValue(grouped);
  };
  return html`<div class="field">
    <label for=${o.id}>${t(o.label)}</label>
    <input
      id=${o.id}
      ref=${input}
      class="input code"
      name="one-time-code"
      inputmode="numeric"
      autocomplete="one-time-code"
      enterkeyhint="go"
      spellcheck=${false}
      maxlength="40"
      aria-describedby=${`${o.id}-hint`}
      aria-invalid=${o.invalid ? 'true' : 'false'}
      value=${o.value}
      onInput=${onInput}
    />
    <span class="soft small" id=${`${o.id}-hint`}>${t(o.hint)}</span>
  </div>`;
}

function Entry({ page }: { page: Extract<Page, { at: 'entry' }> }) {
  const [value, setValue] = useState('');
  const submit = (e: Event) => {
    e.preventDefault();
    if (page.busy) return;
    const read = readCode(value);
    if (read) void verify(read.code, read.secret);
    else show({ at: 'entry', notice: { text: 'entry_short' } });
  };
  return html`<${Frame} id="entry" icon="hub" title=${t('entry_title')} lead=${t('entry_lead')} keepFocus>
    <form class="actions" onSubmit=${submit} novalidate>
      <${CodeField} id="code" max=${12} label="entry_label" hint="entry_hint" value=${value} onValue=${setValue}
        invalid=${Boolean(page.notice)} />
      <${Notices} notice=${page.notice} busy=${page.busy} />
      <button class="button wide" type="submit" disabled=${Boolean(page.busy)}>${t('continue')}</button>
      ${app().paired && html`<button class="button quiet" type="button" onClick=${backToHub}>${t('back_to_hub')}</button>`}
    </form>
    <section>
      <h2>${t('entry_where')}</h2>
      <ol class="how soft where">
        <li><${Command} text="entry_where_1" /></li>
        <li>${t('entry_where_2')}</li>
        <li>${t('entry_where_3')}</li>
      </ol>
    </section>
  <//>`;
}

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
    title=${t(page.title ?? 'entry_second_title')} lead=${t(wrong ? 'code_wrong_lead' : 'entry_second_lead')}>
    <form class="actions" onSubmit=${submit} novalidate>
      <${CodeField} id="second" max=${6} label="entry_second_label" hint="entry_second_hint" value=${value}
        onValue=${setValue} invalid=${short} />
      <${Notices} notice=${short ? { text: 'entry_short' } : page.notice} busy=${page.busy} />
      <button class="button wide" type="submit">${t('continue')}</button>
      <button class="button quiet" type="button" onClick=${newCode}>${t(wrong ? 'start_over' : 'entry_change_first')}</button>
    </form>
  <//>`;
}

function Register({ page }: { page: Extract<Page, { at: 'register' }> }) {
  return html`<${Frame} id="register" icon="finger" title=${t('register_title')} lead=${t('register_lead', { hub: hubName() })}>
    <p class="soft">${t('register_what')}</p>
    <div class="actions">
      <${Notices} notice=${page.notice} busy=${page.busy} />
      <button class="button wide" type="button" disabled=${Boolean(page.busy)} onClick=${() => register()}>
        ${glyph('key')}${t('register_do')}</button>
    </div>
  <//>`;
}

function Login({ page }: { page: Extract<Page, { at: 'login' }> }) {
  const title = page.out ? 'out_title' : 'login_title';
  return html`<${Frame} id="login" icon="finger" title=${t(title)}
    lead=${page.out ? t('out_lead') : t('login_lead', { hub: hubName() })}>
    <div class="actions">
      <${Notices} notice=${page.notice} busy=${page.busy} />
      <button class="button wide" type="button" disabled=${Boolean(page.busy)} onClick=${() => login()}>
        ${glyph('key')}${t('login_do')}</button>
      <button class="button quiet" type="button" onClick=${() => show({ at: 'nopasskey' })}>${t('login_none')}</button>
      ${!session()?.owner_id && html`<button class="button quiet" type="button" onClick=${newCode}>${t('start_over')}</button>`}
    </div>
  <//>`;
}

function NoPasskey({ page }: { page: Extract<Page, { at: 'nopasskey' }> }) {
  return html`<${Frame} id="nopasskey" icon="key" title=${t('nopasskey_title')} lead=${t('nopasskey_lead')}>
    <section><h2>${t('nopasskey_other_title')}</h2><p class="soft">${t('nopasskey_other')}</p></section>
    <section><h2>${t('nopasskey_hub_title')}</h2>
      <p class="soft"><${Command} text="nopasskey_hub" command=${`${loginCommand} --new-passkey`} /></p></section>
    <div class="actions">
      ${(page.notice || page.busy) && html`<${Notices} notice=${page.notice} busy=${page.busy} />`}
      ${
        session()?.owner_id &&
        html`<button class="button wide" type="button" disabled=${Boolean(page.busy)} onClick=${() => register('nopasskey')}>
          ${t('nopasskey_register')}</button>`
      }
      <button class="button second wide" type="button" onClick=${newCode}>${t('nopasskey_new_code')}</button>
      <button class="button quiet" type="button" onClick=${() => show({ at: 'login' })}>${t('back')}</button>
    </div>
  <//>`;
}

const steps = ['passkey', 'hub', 'prove', 'open'] as const;
function Connecting({ page }: { page: Extract<Page, { at: 'connecting' }> }) {
  const now = steps.indexOf(page.step);
  const waits = app().link === 'offline' || app().link === 'down';
  return html`<${Frame} id="connecting" icon="hub" title=${t('connect_title')}>
    <ol class="steps">
      ${steps.map(
        (
          s,
          i,
        ) => html`<li data-is=${i < now ? 'done' : i === now ? 'now' : 'next'} aria-current=${i === now ? 'step' : undefined}>
          <span class="dot">${i < now && glyph('check')}</span>${t(`step_${s}`)}</li>`,
      )}
    </ol>
    <div class="slot" aria-live="polite">
      ${waits && html`<div class="note warn">${glyph('offline')}<span>${t(app().link === 'down' ? 'no_root_banner' : 'connect_wait')}</span></div>`}
    </div>
    <div class="actions"><button class="button second wide" type="button" onClick=${() => signOut()}>${t('cancel')}</button></div>
  <//>`;
}

function Approve({ page }: { page: Extract<Page, { at: 'approve' }> }) {
  return html`<${Frame} id="approve" icon="lock" title=${t('approve_title')} lead=${t('approve_lead')}>
    <div class="actions">
      <${Notices} notice=${page.notice} busy=${page.busy} />
      <button class="button wide" type="button" disabled=${Boolean(page.busy)} onClick=${approve}>
        ${glyph('finger')}${t('approve_do')}</button>
      <button class="button quiet" type="button" onClick=${() => signOut()}>${t('cancel')}</button>
    </div>
  <//>`;
}

function Refused({ page }: { page: Extract<Page, { at: 'refused' }> }) {
  return html`<${Frame} id="refused" icon="lock" bad title=${t('refused_title')} lead=${noticeText(page.notice)}>
    <p class="soft"><${Command} text="entry_where_1" /></p>
    <div class="actions"><button class="button wide" type="button" onClick=${newCode}>${t('nopasskey_new_code')}</button></div>
  <//>`;
}

function Unknown() {
  return html`<${Frame} id="unknown" icon="lock" bad title=${t('unknown_title')} lead=${t('unknown_lead')}>
    <p class="soft"><${Command} text="unknown_do" /></p>
    <div class="actions">
      <button class="button wide" type="button" onClick=${tryAgain}>${t('retry')}</button>
      <button class="button second wide" type="button" onClick=${newCode}>${t('unknown_pair')}</button>
    </div>
  <//>`;
}

function Alarm({ page }: { page: Extract<Page, { at: 'alarm' }> }) {
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

function Elsewhere() {
  return html`<${Frame} id="elsewhere" icon="tabs" title=${t('elsewhere_title')} lead=${t('elsewhere_lead')}>
    <div class="actions"><button class="button wide" type="button" onClick=${useThisTab}>${t('elsewhere_do')}</button></div>
  <//>`;
}

function Boot() {
  return html`<div class="page" data-page="boot" aria-busy="true">
    <header><div class="brand"><img src="/icon.svg" alt="" width="32" height="32" />${app().brand.name}</div></header>
    <main><p class="soft" role="status"><span class="sr">${t('loading')}</span></p></main>
  </div>`;
}

/** The page the state asks for, but the desktop, which comes when it is needed. */
export function PageOf({ page }: { page: Page }) {
  switch (page.at) {
    case 'entry':
      return html`<${Entry} page=${page} />`;
    case 'second':
      return html`<${Second} page=${page} />`;
    case 'register':
      return html`<${Register} page=${page} />`;
    case 'login':
      return html`<${Login} page=${page} />`;
    case 'nopasskey':
      return html`<${NoPasskey} page=${page} />`;
    case 'connecting':
      return html`<${Connecting} page=${page} />`;
    case 'approve':
      return html`<${Approve} page=${page} />`;
    case 'refused':
      return html`<${Refused} page=${page} />`;
    case 'unknown':
      return html`<${Unknown} />`;
    case 'alarm':
      return html`<${Alarm} page=${page} />`;
    case 'elsewhere':
      return html`<${Elsewhere} />`;
    default:
      return html`<${Boot} />`;
  }
}
