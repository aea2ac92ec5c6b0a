// The page of people: the owner invites, sees who is here, changes and ends.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { useAsked } from './asked.ts';
import { useFocusInside } from './focus.ts';
import { glyph } from './glyphs.ts';
import { clock, Invited } from './invitation.ts';
import { Bones } from './open.ts';
import { hub, type Invitation, type Person, say, type Wished } from './people-hub.ts';
import { List, PersonForm } from './people-list.ts';
import { Picture } from './qr.ts';
import { ask } from './question.ts';
import { toast } from './store.ts';
import { t } from './text.ts';

interface Awaited {
  person: Person;
  invitation: Invitation;
}

function Code({ of: { person, invitation }, close }: { of: Awaited; close: () => void }) {
  const { link, code, verify_uri, expires_at } = invitation;
  return html`<${Invited} id=${person.id} title=${say('code_title', { name: person.name })} copies=${link}
    words=${{ copy: say('copy'), copied: say('copied'), done: say('done') }} close=${close}>
    <p>${say('code_lead')}</p>
    <${Picture} link=${link} label=${say('qr')} />
    <p class="small"><a class="link" href=${link} target="_blank" rel="noreferrer">${link}</a></p>
    <p>${say('code_or', { page: verify_uri })}<br /><strong class="code" data-code>${code}</strong></p>
    <p class="soft small">${say('code_until', { time: clock(expires_at) })}</p>
  <//>`;
}

export function People() {
  const [people, setPeople] = useState<Person[] | null>(null);
  const [awaited, wait] = useState<Awaited | null>(null);
  const [trouble, setTrouble] = useState('');
  const box = useFocusInside(trouble);

  const show = (next: Person[]) => {
    setPeople(next);
    wait((a) => {
      const now = a && next.find((p) => p.id === a.person.id);
      if (a && now && now.browsers.length <= a.person.browsers.length) return a;
      if (now) toast(say('came', { name: now.name }));
      return null;
    });
  };
  const asked = useAsked({ title: t('people'), list: hub.list, show, soon: awaited !== null });
  const { gate, still } = asked;
  const order = (work: () => Promise<unknown>) => {
    setTrouble('');
    asked.order(work);
  };

  if (!people) return gate.question || html`<${Bones} title=${t('people')} />`;
  const question = (what: 'end' | 'remove', { name }: Person) => ({
    ...{ title: say(`${what}_of`, { name }), text: say(`${what}_sure`, { name }), yes: say(what) },
  });
  const orders = {
    still,
    invite: (person: Person) =>
      order(async () => {
        const invitation = await hub.invite(person.id);
        wait({ person, invitation });
      }),
    change: (p: Person, wished: Partial<Wished>) =>
      order(async () => {
        const { name } = await hub.change(p.id, wished);
        toast(say('changed', { name }));
      }),
    async end(p: Person) {
      if (await ask(question('end', p)))
        order(() => hub.change(p.id, { until: Math.floor(Date.now() / 1000) - 1 }));
    },
    async remove(p: Person) {
      if (await ask(question('remove', p)))
        order(async () => {
          await hub.remove(p.id);
          toast(say('removed', { name: p.name }));
        });
    },
  };
  const add = (wished: Wished) =>
    order(async () => {
      const { person, invitation, trouble: why } = await hub.add(wished);
      if (invitation) wait({ person, invitation });
      else setTrouble(say('no_code', { name: person.name, message: why ?? '' }));
    });
  return html`${gate.question}<div class="v-stack manage" ref=${box} hidden=${gate.shut}>
    <p class="soft">${say('lead')}</p>
    ${asked.away && html`<div class="note warn" role="status">${glyph('offline')}<span>${say('offline')}</span></div>`}
    ${trouble && html`<div class="note bad" role="alert">${glyph('info')}<span>${trouble}</span></div>`}
    ${awaited && html`<${Code} of=${awaited} close=${() => wait(null)} />`}
    <${List} people=${people} orders=${orders} />
    <section class="v-stack" aria-labelledby="invite-title"><h3 id="invite-title">${say('invite_title')}</h3>
      <${PersonForm} id="invite" still=${still} submit=${say('invite')} send=${add} /></section>
  </div>`;
}
