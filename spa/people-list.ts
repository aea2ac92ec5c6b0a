// The people of the household: each with role, end and last visit, and what can be done.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { personRoles } from '../firmware/protocol/roles.ts';
import { glyph } from './glyphs.ts';
import { dateText, dayOf, endOf, type Person, roleText, say, type Wished } from './people-hub.ts';
import { ago } from './text.ts';

export interface Orders {
  /** Nothing can be asked of the hub now. */
  still: boolean;
  invite(p: Person): void;
  change(p: Person, wished: Partial<Wished>): void;
  end(p: Person): void;
  remove(p: Person): void;
}

/** Name, role and last day; the words of the form are what the hub is asked. */
export function PersonForm(o: {
  id: string;
  of?: Person;
  still: boolean;
  submit: string;
  send(wished: Wished): void;
  cancel?: () => void;
}) {
  const [name, setName] = useState(o.of?.name ?? '');
  const [role, setRole] = useState<Person['role']>(o.of?.role ?? 'guest');
  const [day, setDay] = useState(dayOf(o.of?.until ?? 0));
  const send = (e: Event) => {
    e.preventDefault();
    o.send({ name: name.trim(), role, until: endOf(day) });
    if (!o.of) {
      setName('');
      setDay('');
    }
  };
  const at = (field: string) => `${o.id}-${field}`;
  return html`<form class="v-stack" id=${o.id} onSubmit=${send}>
    <div class="field"><label for=${at('name')}>${say('name')}</label>
      <input class="input" id=${at('name')} required maxlength="64" autocomplete="off" value=${name}
        onInput=${(e: Event) => setName((e.target as HTMLInputElement).value)} /></div>
    <div class="field"><label for=${at('role')}>${say('role')}</label>
      <select class="select" id=${at('role')} aria-describedby=${at('about')} value=${role}
        onChange=${(e: Event) => setRole((e.target as HTMLSelectElement).value as Person['role'])}>
        ${personRoles.map((r) => html`<option value=${r} selected=${r === role}>${roleText(r)}</option>`)}
      </select><p class="soft small" id=${at('about')}>${say(`role_${role}`)}</p></div>
    <div class="field"><label for=${at('until')}>${say('until')}</label>
      <input class="input" type="date" id=${at('until')} min=${dayOf(Date.now() / 1000)} value=${day} aria-describedby=${at('hint')}
        onInput=${(e: Event) => setDay((e.target as HTMLInputElement).value)} />
      <p class="soft small" id=${at('hint')}>${say('until_hint')}</p></div>
    <div class="v-row">
      <button class="button" type="submit" disabled=${o.still || name.trim() === ''}>${o.submit}</button>
      ${o.cancel && html`<button class="button quiet" type="button" onClick=${o.cancel}>${say('cancel')}</button>`}
    </div>
  </form>`;
}

function One({ person, orders }: { person: Person; orders: Orders }) {
  const [changing, setChanging] = useState(false);
  const { name, role, until, ended, browsers } = person;
  const seen = Math.max(0, ...browsers.map((b) => b.seen_at));
  const about = [
    roleText(role),
    ended ? say('ended') : until === 0 ? say('no_end') : say('until_day', { day: dateText(until) }),
    seen === 0 ? say('new_one') : say('seen', { when: ago(seen * 1000) }),
  ];
  const button = (what: 'again' | 'end' | 'remove', go: (p: Person) => void, kind: string) =>
    html`<button type="button" class=${`button ${kind}`} disabled=${orders.still} aria-label=${say(`${what}_of`, { name })}
      onClick=${() => go(person)}>${say(what)}</button>`;
  return html`<li class="v-card" data-person=${person.id} data-ended=${ended}>
    <div><h4>${name}</h4><p class="soft">${about.join(' · ')}</p></div>
    ${
      changing
        ? html`<${PersonForm} id=${`change-${person.id}`} of=${person} still=${orders.still} submit=${say('save')}
          cancel=${() => setChanging(false)} send=${(wished: Wished) => {
            setChanging(false);
            orders.change(person, wished);
          }} />`
        : html`<div class="v-row">
          ${!ended && button('again', orders.invite, 'second')}
          <button type="button" class="button second" disabled=${orders.still} aria-label=${say('change_of', { name })}
            onClick=${() => setChanging(true)}>${say('change')}</button>
          ${!ended && button('end', orders.end, 'quiet')}
          ${button('remove', orders.remove, 'quiet danger')}
        </div>`
    }
  </li>`;
}

export function List({ people, orders }: { people: readonly Person[]; orders: Orders }) {
  return html`<section class="v-stack" aria-labelledby="people-title">
    <h3 id="people-title">${say('list_title')}</h3>
    ${
      people.length === 0
        ? html`<p class="soft">${glyph('info')} ${say('nobody')}</p>`
        : html`<ul class="v-stack">${people.map((p) => html`<${One} key=${p.id} person=${p} orders=${orders} />`)}</ul>`
    }
  </section>`;
}
