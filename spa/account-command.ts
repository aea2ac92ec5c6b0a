// Lets a command line in: the owner types its code, sees what asks, and allows it by the passkey or sends it away.
import { html } from 'htm/preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Asking } from '../firmware/protocol/account.ts';
import { commandContext } from '../firmware/protocol/pairing/command.ts';
import { account, moment, say } from './account-root.ts';
import { groupCode } from './code.ts';
import { loaded, noticeOf } from './entrance.ts';
import { glyph } from './glyphs.ts';
import { session } from './sid.ts';
import { toast } from './store.ts';
import { errorText, noticeText } from './text.ts';

/** @param changed what the page shows is no longer all */
export function LetIn({ changed }: { changed(): void }) {
  const [code, write] = useState('');
  const [asking, setAsking] = useState<Asking | null>(null);
  const [trouble, setTrouble] = useState('');
  const [busy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const head = useRef<HTMLHeadingElement>(null);
  const was = useRef(false);
  useLayoutEffect(() => {
    // What was in the focus is gone.
    if (asking || was.current) (asking ? head : field).current?.focus();
    was.current = asking !== null;
  }, [asking]);
  const work = async (what: () => Promise<void>) => {
    // A button that is out of order while it works would lose the focus.
    if (busy) return;
    setBusy(true);
    setTrouble('');
    try {
      await what();
    } catch (e) {
      const notice = noticeOf(e);
      const error = 'error' in notice ? notice.error : null;
      if (error === 'invalid_device_code') setTrouble(say('no_code'));
      else if (error === 'not_found' || error === 'assertion_failed') {
        setAsking(null);
        setTrouble(say('no_more'));
      } else if (error === 'rate_limited') setTrouble(say('no_rate_limited'));
      else setTrouble('error' in notice ? errorText(notice.error) : noticeText(notice));
    }
    setBusy(false);
  };
  const look = (e: Event) => {
    e.preventDefault();
    work(async () => setAsking(await account.whoAsks(code)));
  };
  const over = (done: 'is_in' | 'is_away', name: string) => {
    setAsking(null);
    write('');
    toast(say(done, { name }));
    changed();
  };
  const allow = ({ id, name, publicKeyCredentialRequestOptions: options }: Asking) =>
    work(async () => {
      const { signInAtRoot } = await loaded(import('./passkey.ts'));
      await account.letIn(id, await signInAtRoot(options, commandContext(session()!.sid, id)));
      over('is_in', name);
    });
  const deny = ({ id, name }: Asking) =>
    work(async () => {
      await account.sendAway(id);
      over('is_away', name);
    });
  return html`<section class="v-card" aria-labelledby="let-in-title"><h3 id="let-in-title">${say('let_in')}</h3>
    ${
      asking
        ? html`<h4 tabindex="-1" ref=${head} data-asking=${asking.name}>${say('let_in_who', { name: asking.name })}</h4>
      <p class="soft small">${say(asking.place ? 'let_in_from' : 'let_in_near', { when: moment(asking.asked_at), place: asking.place })}</p>
      <p class="note warn">${glyph('alarm')}<span>${say('let_in_only')}</span></p>
      <div class="v-row"><button type="button" class="button" aria-busy=${busy} onClick=${() => allow(asking)}>${glyph('finger')}${say('let_in_yes')}</button>
      <button type="button" class="button second" aria-busy=${busy} onClick=${() => deny(asking)}>${say('let_in_no')}</button></div>`
        : html`<p class="soft small" id="let-in-hint">${say('let_in_lead')}</p>
      <form class="field" onSubmit=${look}><label for="let-in">${say('let_in_code')}</label>
      <div class="with"><input class="input" id="let-in" inputmode="numeric" autocomplete="off" required ref=${field} value=${code}
        aria-describedby="let-in-hint" onInput=${(e: Event) => write(groupCode((e.target as HTMLInputElement).value, 6))} />
      <button type="submit" class="button second" disabled=${code.length < 7} aria-busy=${busy}>${say('let_in_look')}</button></div></form>`
    }
    ${trouble && html`<div class="note bad" role="alert">${glyph('info')}<span>${trouble}</span></div>`}
  </section>`;
}
