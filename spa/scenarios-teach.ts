// Phrases that nothing understood: the owner chooses what begins with them, and sees what was taught.
import { html } from 'htm/preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { glyph } from './glyphs.ts';
import { Bones } from './open.ts';
import { hub, type Phrases, say } from './scenarios-hub.ts';
import { useLive } from './scenarios-live.ts';
import type { Page } from './scenarios-page.ts';
import { nameOf, timeOf, words } from './scenarios-words.ts';
import { toast } from './store.ts';
import { errorText, t } from './text.ts';

type Order = (work: () => Promise<unknown>, done: string) => void;
type Unmatched = Phrases['unmatched'][number];

function Unknown({ of: u, page, order }: { of: Unmatched; page: Page; order: Order }) {
  const { phrase } = u;
  const [id, setId] = useState('');
  const { scenarios } = page.known;
  const all = [...scenarios].sort((a, b) => words(a.name).localeCompare(words(b.name)));
  const teach = (e: Event) => {
    e.preventDefault();
    if (id !== '')
      order(() => hub.teach(phrase, id), say('teach_done', { phrase, name: nameOf(scenarios, id) }));
  };
  const about = html`<span class="sr">: ${phrase}</span>`;
  return html`<li class="v-card" data-phrase=${phrase}>
    <div><h3>${say('step_says', { text: phrase })}</h3><p class="soft small">${say('teach_said', { n: u.count, when: timeOf(u.at) })}</p></div>
    <form class="with" onSubmit=${teach}>
      <select class="input" id=${`what-${phrase}`} aria-label=${say('teach_for', { phrase })} value=${id} onChange=${(e: Event) => setId((e.target as HTMLSelectElement).value)}>
        <option value="">${say('teach_choose')}</option>
        ${all.map((s) => html`<option key=${s.id} value=${s.id}>${words(s.name)}</option>`)}</select>
      <button class="button second" id=${`teach-${phrase}`} disabled=${page.still || id === ''}>${say('teach_do')}${about}</button>
      <button type="button" class="button quiet" id=${`dismiss-${phrase}`} disabled=${page.still}
        onClick=${() => order(() => hub.forget(phrase), say('teach_dismissed'))}>${say('teach_dismiss')}${about}</button>
    </form></li>`;
}

export function Teach({ page }: { page: Page }) {
  const [now, setNow] = useState<Phrases | null>(null);
  const { again, error } = useLive('phrases', async () => setNow(await hub.phrases()), false);
  const order: Order = (work, done) =>
    page.order(async () => {
      try {
        await work();
        toast(done);
      } finally {
        await again();
      }
    });
  // What had the focus may have gone with its phrase: it goes on with the list.
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (!page.still && document.activeElement?.matches('body, .window')) box.current?.focus();
  }, [now, page.still]);
  if (!now)
    return error
      ? html`<div class="note bad" role="alert">${glyph('info')}<div class="v-stack tight"><span>${errorText(error.code)}</span>
          <div><button type="button" class="button second" onClick=${again}>${t('retry')}</button></div></div></div>`
      : html`<${Bones} title=${say('tab_teach')} />`;
  const { unmatched, taught } = now;
  return html`<div class="v-stack" tabindex="-1" ref=${box} id="phrases">${
    unmatched.length === 0
      ? html`<div class="v-empty"><div class="face">${glyph('check')}</div><h3>${say('teach_none')}</h3><p>${say('teach_none_lead')}</p></div>`
      : html`<p class="soft">${say('teach_lead')}</p>
        <ul class="v-stack">${[...unmatched].reverse().map((u) => html`<${Unknown} key=${u.phrase} of=${u} page=${page} order=${order} />`)}</ul>`
  }
  ${
    taught.length > 0 &&
    html`<section class="v-stack" aria-labelledby="taught"><h3 id="taught">${say('taught')}</h3>
      <ul class="v-stack">${taught.map(
        ({
          phrase,
          scenario_id,
        }) => html`<li class="v-card" key=${phrase} data-taught=${phrase}><div class="scene">
          <div><h4>${say('step_says', { text: phrase })}</h4><p class="soft small">${say('teach_begins', { name: nameOf(page.known.scenarios, scenario_id) })}</p></div>
          <button type="button" class="button quiet danger" id=${`forget-${phrase}`} disabled=${page.still}
            onClick=${() => order(() => hub.forget(phrase), say('teach_forgotten', { phrase }))}>${say('forget')}<span class="sr">: ${phrase}</span></button></div></li>`,
      )}</ul></section>`
  }</div>`;
}
