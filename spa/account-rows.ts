// Rows of the page of access: browsers that are signed in, passkeys and hubs, each with what can be done about it.
import { html } from 'htm/preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { OwnedHub, Passkey, SignIn } from '../firmware/protocol/account.ts';
import { type Account, account, day, hubName, moment, passkeyName, say } from './account-root.ts';
import { glyph } from './glyphs.ts';
import { leave } from './leave.ts';
import { ask } from './question.ts';
import { toast } from './store.ts';
import { ago } from './text.ts';

/** Does something at root and then shows what is so now. */
export interface Orders {
  still: boolean;
  /** @returns whether it was done; why not is told */
  order(work: () => Promise<unknown>): Promise<boolean>;
}
type Row<T> = Orders & { of: T };

const line = (...parts: (string | false)[]) => parts.filter(Boolean).join(' · ');

/** A button that becomes a field for a name, and back once it is named so; each has the focus when it comes. */
function Name(o: { name: string; of: string; still: boolean; send(name: string): Promise<boolean> }) {
  const [value, write] = useState<string | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const isOpen = value !== null;
  const wasOpen = useRef(false);
  useLayoutEffect(() => {
    if (isOpen || wasOpen.current) (isOpen ? field : button).current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  if (value === null)
    return html`<button type="button" class="button quiet" ref=${button} disabled=${o.still} aria-label=${say('rename_of', { name: o.of })}
      onClick=${() => write(o.name)}>${say('rename')}</button>`;
  const send = async (e: Event) => {
    e.preventDefault();
    if (!o.still && (await o.send(value.trim()))) write(null);
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key !== 'Escape') return;
    // The window would close.
    e.stopPropagation();
    write(null);
  };
  return html`<form class="with" onSubmit=${send} onKeyDown=${onKeyDown}><input class="input" maxlength="64" autocomplete="off"
      aria-label=${say('name_of', { name: o.of })} value=${value} ref=${field} onInput=${(e: Event) => write((e.target as HTMLInputElement).value)} />
    <button type="submit" class="button second" disabled=${o.still}>${say('save')}</button></form>`;
}

function Browser({ of: s, by, still, order }: Row<SignIn> & { by: Passkey | undefined }) {
  const name = s.name || s.command || (by ? passkeyName(by) : say('browser'));
  const signOut = async () => {
    const question = {
      title: say('sign_out_title', { name }),
      text: say(s.command ? 'command_out_sure' : 'sign_out_sure'),
      yes: say('sign_out'),
    };
    if (await ask(question))
      order(async () => {
        await account.signOut(s.id);
        toast(say('is_out', { name }));
      });
  };
  const seen = s.connected ? say('open_now') : say('seen', { when: ago(s.last_seen_at * 1000) });
  return html`<li data-session=${s.id}><span><b>${name}</b>
    <span class="soft small">${line(s.command !== '' && say('command_line'), s.current && say('here'), s.guest && say('guest'), seen, s.place && say('from', { place: s.place }))}</span></span>
    <div class="v-row"><${Name} name=${s.name} of=${name} still=${still}
      send=${(wished: string) => order(() => account.nameSignIn(s.id, wished))} />
    ${
      !s.current &&
      html`<button type="button" class="button quiet" disabled=${still} aria-label=${say('sign_out_of', { name })}
        onClick=${signOut}>${say('sign_out')}</button>`
    }</div></li>`;
}

function Key({ of: p, isLast, still, order }: Row<Passkey> & { isLast: boolean }) {
  const name = passkeyName(p);
  const remove = async () => {
    const text = say(isLast ? 'remove_last_sure' : 'remove_key_sure');
    if (!(await ask({ title: say('remove_title', { name }), text, yes: say('remove') }))) return;
    order(async () => {
      await account.removePasskey(p.id);
      // Without a passkey nothing is left to come back by but a new code.
      if (isLast || p.current) return leave(isLast);
      toast(say('removed', { name }));
    });
  };
  const about = line(
    p.current && say('here'),
    p.guest && say('guest'),
    say('used', { when: ago(p.last_used_at * 1000) }),
  );
  return html`<li class="v-card" data-passkey=${p.browser_key_id}><h4>${name}</h4><p class="soft small">${about}</p>
    ${
      p.sign_count_went_back &&
      html`<p class="note warn small">${glyph('alarm')}<span>${say('went_back', { when: moment(p.sign_count_went_back) })}</span></p>`
    }
    <div class="v-row"><${Name} name=${p.name} of=${name} still=${still}
      send=${(wished: string) => order(() => account.namePasskey(p.id, wished))} />
    <button type="button" class="button quiet danger" disabled=${still} aria-label=${say('remove_of', { name })}
      onClick=${remove}>${say('remove')}</button></div></li>`;
}

/** How a hub changes hands: offered and taken back. */
function Handover({ of: h, still, order }: Row<OwnedHub>) {
  const name = hubName(h);
  const offer = async () => {
    const question = { title: say('offer_title', { name }), text: say('offer_sure'), yes: say('offer') };
    if (await ask(question)) order(() => account.offer(h.hub_id));
  };
  if (h.offered_until === null)
    return html`<button type="button" class="button quiet" disabled=${still} aria-label=${say('offer_of', { name })}
      onClick=${offer}>${say('offer')}</button>`;
  return html`<button type="button" class="button second" disabled=${still} aria-label=${say('keep_of', { name })}
    onClick=${() => order(() => account.keep(h.hub_id))}>${say('keep')}</button>`;
}

function Hub(o: Row<OwnedHub> & { of: OwnedHub; only: boolean; leads: string }) {
  const { of: h, still, order } = o;
  const name = hubName(h);
  const remove = async () => {
    const text = say(o.only ? 'remove_only_sure' : 'remove_hub_sure');
    if (!(await ask({ title: say('remove_title', { name }), text, yes: say('remove') }))) return;
    order(async () => {
      await account.removeHub(h.hub_id);
      if (h.current || o.only) return leave(h.hub_id);
      toast(say('removed', { name }));
    });
  };
  const facts = [
    !h.online && (h.last_seen_at ? say('seen', { when: ago(h.last_seen_at * 1000) }) : say('unseen')),
    h.certificate_expires_at && say('certificate', { day: day(h.certificate_expires_at) }),
    h.keys_changed_at && say('keys', { day: day(h.keys_changed_at) }),
    o.leads && say('led', { name: o.leads }),
    h.members.length > 0 && say('members', { n: h.members.length }),
  ];
  const isBound = h.via !== null || h.members.length > 0;
  return html`<li class="v-card" data-hub=${h.hub_id}>
    <div class="node"><div><h4>${name}</h4><p class="soft small">${line(h.current && say('this_hub'), h.hub_id)}</p></div>
      <span class=${`pill ${h.online ? 'ok' : ''}`}>${say(h.online ? 'online' : 'offline')}</span></div>
    <ul class="plain small">${facts.filter(Boolean).map((f) => html`<li>${f}</li>`)}</ul>
    ${h.offered_until && html`<div class="note" role="status">${glyph('info')}<span>${say('offered', { until: moment(h.offered_until) })}</span></div>`}
    <div class="v-row"><${Name} name=${h.name} of=${name} still=${still}
      send=${(wished: string) => order(() => account.nameHub(h.hub_id, wished))} />
    ${
      !isBound &&
      html`<${Handover} of=${h} still=${still} order=${order} />
      <button type="button" class="button quiet danger" disabled=${still} aria-label=${say('remove_of', { name })}
        onClick=${remove}>${say('remove')}</button>`
    }</div>
    ${isBound && html`<p class="soft small">${say('bound')}</p>`}
  </li>`;
}

/** Takes a hub that is offered; only the first six digits of what was typed leave the browser. */
function Take({ still, order }: Orders) {
  const [code, write] = useState('');
  const digits = code.replace(/\D/g, '').slice(0, 6);
  const send = (e: Event) => {
    e.preventDefault();
    order(async () => {
      await account.take(digits);
      write('');
      toast(say('taken'));
    });
  };
  return html`<form class="field" onSubmit=${send}><label for="take">${say('take_code')}</label>
    <div class="with"><input class="input" id="take" inputmode="numeric" autocomplete="off" required value=${code}
      aria-describedby="take-hint" onInput=${(e: Event) => write((e.target as HTMLInputElement).value)} />
    <button type="submit" class="button second" disabled=${still || digits.length < 6}>${say('take')}</button></div>
    <p class="soft small" id="take-hint">${say('take_hint')}</p></form>`;
}

export function Rows({ of, ...orders }: Row<Account>) {
  const { sessions, passkeys, hubs } = of;
  const own = passkeys.filter((p) => !p.guest);
  const leads = (h: OwnedHub) => {
    const via = hubs.find((other) => other.hub_id === h.via);
    return via ? hubName(via) : '';
  };
  return html`<section class="v-card" aria-labelledby="in-title"><h3 id="in-title">${say('browsers')}</h3>
      <p class="soft small">${say('browsers_lead')}</p>
      <ul class="rows">${sessions.map((s) => html`<${Browser} key=${s.id} of=${s} by=${passkeys.find((p) => p.browser_key_id === s.browser_key_id)} ...${orders} />`)}</ul></section>
    <section class="v-stack" aria-labelledby="keys-title"><h3 id="keys-title">${say('passkeys')}</h3>
      <ul class="v-stack">${passkeys.map(
        (p) => html`<${Key} key=${p.id} of=${p} isLast=${own.length === 1 && !p.guest} ...${orders} />`,
      )}</ul>
      ${own.length === 1 && html`<p class="soft small">${glyph('info')} ${say('one_passkey')}</p>`}</section>
    <section class="v-stack" aria-labelledby="all-hubs-title"><h3 id="all-hubs-title">${say('hubs')}</h3>
      <ul class="v-stack">${hubs.map(
        (h) =>
          html`<${Hub} key=${h.hub_id} of=${h} only=${hubs.length === 1} leads=${leads(h)} ...${orders} />`,
      )}</ul>
      <${Take} ...${orders} /></section>`;
}
