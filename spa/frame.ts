// What every page is made of.
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { languages } from '../firmware/text/i18n.ts';
import type { SpaText } from '../firmware/text/spa.ts';
import { loginCommand } from './entrance.ts';
import { type Glyph, glyph } from './glyphs.ts';
import { app, type Notice } from './store.ts';
import { chooseLanguage, noticeText, t } from './text.ts';

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
export function Frame(o: {
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
  useLayoutEffect(() => {
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
export function Notices(o: { notice?: Notice | undefined; busy?: SpaText | undefined }) {
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
export function Command(o: { text: string; command?: string }) {
  const [before, after] = o.text.split('{command}');
  return html`<span>${before}${after !== undefined && html`<code>${o.command ?? loginCommand}</code>`}${after}</span>`;
}

export function hubName(): string {
  return app().hubName || t('hub_yours');
}
