// The owner's browsers: each can be forgotten, and another one is let in by a picture or a link.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { useAsked } from './asked.ts';
import { glyph } from './glyphs.ts';
import { clock, Invited } from './invitation.ts';
import { Bones } from './open.ts';
import { Picture } from './qr.ts';
import { ask } from './question.ts';
import { type Browser, hub, type Invitation } from './settings-hub.ts';
import { say } from './settings-text.ts';
import { toast } from './store.ts';
import { ago, t } from './text.ts';

interface Awaited {
  invitation: Invitation;
  /** Who was there when it was made. */
  then: readonly string[];
}

function Code({ of: { link, code, verify_uri, expires_at }, close }: { of: Invitation; close: () => void }) {
  return html`<${Invited} id="browser" title=${say('add_title')} copies=${link} close=${close}
    words=${{ copy: say('copy'), copied: say('copied'), done: say('done') }}>
    <p>${say('add_scan')}</p>
    <${Picture} link=${link} label=${say('add_scan')} />
    <p class="small"><span class="link">${link}</span></p>
    <p>${say('add_or', { page: verify_uri })}<br /><strong class="code" data-code>${code}</strong></p>
    <p class="soft small">${say('add_until', { time: clock(expires_at) })}</p>
  <//>`;
}

export function Browsers() {
  const [all, setAll] = useState<Browser[] | null>(null);
  const [awaited, wait] = useState<Awaited | null>(null);
  const show = (next: Browser[]) => {
    setAll(next);
    wait((a) => {
      const came = a && next.find((b) => !a.then.includes(b.id));
      if (came) toast(say('came', { label: came.label }));
      return came ? null : a;
    });
  };
  const { gate, still, order } = useAsked({
    ...{ title: t('settings'), list: hub.browsers, show, soon: awaited !== null },
  });
  const forget = async ({ id, label }: Browser) => {
    const question = {
      title: say('forget_browser_title', { label }),
      text: say('forget_browser_sure'),
      yes: say('forget_browser'),
    };
    if (await ask(question))
      order(async () => {
        await hub.forget(id);
        toast(say('forgot', { label }));
      });
  };
  const invite = () =>
    order(async () => {
      const then = (await hub.browsers()).map((b) => b.id);
      wait({ invitation: await hub.invite(), then });
    });
  return html`<section class="v-card" aria-labelledby="browsers-title"><h3 id="browsers-title">${say('browsers')}</h3>
    ${gate.question}
    <div class="v-stack" hidden=${gate.shut}>
      ${all === null && html`<${Bones} title=${say('browsers')} />`}
      <ul class="rows">${all?.map(
        (b) => html`<li key=${b.id} data-browser=${b.label}><span><b>${b.label}</b>
          <span class="soft small">${b.here ? say('here') : say('seen', { when: ago(b.seen_at * 1000) })}</span></span>
          ${
            !b.here &&
            html`<button type="button" class="button quiet danger" disabled=${still} aria-label=${say('forget_of', { label: b.label })}
              onClick=${() => forget(b)}>${say('forget_browser')}</button>`
          }</li>`,
      )}</ul>
      ${awaited && html`<${Code} of=${awaited.invitation} close=${() => wait(null)} />`}
      <div><button type="button" class="button second" disabled=${still} onClick=${invite}>${glyph('phone')}${say('add')}</button>
        <p class="soft small">${say('add_lead')}</p></div>
    </div>
  </section>`;
}
