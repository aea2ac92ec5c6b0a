// The page of people: the owner invites, sees who is here, changes and ends.
import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { encode } from 'uqr';
import { failed } from './entrance.ts';
import { useFocusInside } from './focus.ts';
import { useGate } from './gate.ts';
import { glyph } from './glyphs.ts';
import { Bones } from './open.ts';
import { hub, type Invitation, type Person, say, type Wished } from './people-hub.ts';
import { List, PersonForm } from './people-list.ts';
import { app, toast, useApp } from './store.ts';
import { t } from './text.ts';

/** How often the hub is asked while somebody is awaited, and otherwise, milliseconds. */
const SOON = 1000;
const LATER = 10_000;

interface Awaited {
  person: Person;
  invitation: Invitation;
}

const local = /^(localhost|.*\.localhost|127\..*|\[::1\])$/;

/** The link as a picture; an address that no other device has gets none. */
function Picture({ link }: { link: string }) {
  if (local.test(new URL(link).hostname)) return null;
  const { data, size } = encode(link, { ecc: 'L', border: 2 });
  const path = data
    .flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : [])))
    .join('');
  return html`<svg class="qr" viewBox=${`0 0 ${size} ${size}`} role="img" aria-label=${say('qr')} shape-rendering="crispEdges">
    <rect width=${size} height=${size} fill="#fff" /><path d=${path} fill="#000" /></svg>`;
}

function Code({ of: { person, invitation }, close }: { of: Awaited; close: () => void }) {
  const { link, code, verify_uri, expires_at } = invitation;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [link]);
  const copy = () =>
    void navigator.clipboard
      .writeText(link)
      .then(() => toast(say('copied')))
      .catch(failed);
  const time = new Intl.DateTimeFormat(app().language, { timeStyle: 'short' }).format(expires_at * 1000);
  return html`<section class="v-card" data-invitation=${person.id} aria-labelledby="code-title">
    <h3 id="code-title" tabindex="-1" ref=${heading}>${say('code_title', { name: person.name })}</h3>
    <p>${say('code_lead')}</p>
    <${Picture} link=${link} />
    <p class="small"><a class="link" href=${link} target="_blank" rel="noreferrer">${link}</a></p>
    <p>${say('code_or', { page: verify_uri })}<br /><strong class="code" data-code>${code}</strong></p>
    <p class="soft small">${say('code_until', { time })}</p>
    <div class="v-row"><button class="button second" type="button" onClick=${copy}>${say('copy')}</button>
      <button class="button quiet" type="button" onClick=${close}>${say('done')}</button></div>
  </section>`;
}

export function People() {
  const { link } = useApp();
  const [people, setPeople] = useState<Person[] | null>(null);
  const [awaited, wait] = useState<Awaited | null>(null);
  const [trouble, setTrouble] = useState('');
  const [busy, setBusy] = useState(false);
  const gate = useGate(t('people'));
  const box = useFocusInside();

  const show = (next: Person[]) => {
    setPeople(next);
    wait((a) => {
      const now = a && next.find((p) => p.id === a.person.id);
      if (a && now && now.browsers.length <= a.person.browsers.length) return a;
      if (now) toast(say('came', { name: now.name }));
      return null;
    });
  };
  const load = async () => show(await gate.ask(hub.list));
  const order = (work: () => Promise<unknown>) => {
    setBusy(true);
    setTrouble('');
    void gate
      .ask(work)
      .then(load)
      .catch(failed)
      .finally(() => setBusy(false));
  };
  useEffect(() => {
    if (link !== 'up' || gate.shut) return;
    const quiet = () => void load().catch(() => {});
    quiet();
    const timer = setInterval(quiet, awaited ? SOON : LATER);
    return () => clearInterval(timer);
  }, [link, gate.shut, awaited !== null]);

  if (!people) return gate.question || html`<${Bones} title=${t('people')} />`;
  const still = link !== 'up' || busy;
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
    end(p: Person) {
      if (confirm(say('end_sure', { name: p.name })))
        order(() => hub.change(p.id, { until: Math.floor(Date.now() / 1000) - 1 }));
    },
    remove(p: Person) {
      if (confirm(say('remove_sure', { name: p.name })))
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
    ${link !== 'up' && html`<div class="note warn" role="status">${glyph('offline')}<span>${say('offline')}</span></div>`}
    ${trouble && html`<div class="note bad" role="alert">${glyph('info')}<span>${trouble}</span></div>`}
    ${awaited && html`<${Code} of=${awaited} close=${() => wait(null)} />`}
    <${List} people=${people} orders=${orders} />
    <section class="v-stack" aria-labelledby="invite-title"><h3 id="invite-title">${say('invite_title')}</h3>
      <${PersonForm} id="invite" still=${still} submit=${say('invite')} send=${add} /></section>
  </div>`;
}
