// Runs that failed and wait for a decision: run anew, go on, or let go.
import { html } from 'htm/preact';
import { glyph } from './glyphs.ts';
import { ask } from './question.ts';
import { hub, type Letter, say } from './scenarios-hub.ts';
import type { Page } from './scenarios-page.ts';
import { helpOf, stepName, whyOf } from './scenarios-told.ts';
import { nameOf, timeOf } from './scenarios-words.ts';
import { toast } from './store.ts';

function One({ of: l, page }: { of: Letter; page: Page }) {
  const name = nameOf(page.known.scenarios, l.scenario_id);
  const discard = async () => {
    if (await ask({ title: say('discard_title', { name }), text: say('discard_sure'), yes: say('discard') }))
      page.order(async () => {
        await hub.discard(l.id);
        toast(say('discarded'));
      });
  };
  const about = html`<span class="sr">: ${name}, ${timeOf(l.at)}</span>`;
  return html`<li class="v-card" data-letter=${l.id}>
    <div><h3>${name}</h3><p class="soft small">${timeOf(l.at)}${l.step && ` · ${say('failed_in', { step: stepName(l.step) })}`}</p></div>
    <p>${whyOf(l.error)} ${helpOf(l.error)}</p>
    <div class="v-row">
      ${
        l.replayed_by
          ? html`<button type="button" class="button second" id=${`by-${l.id}`} onClick=${() => page.go({ at: 'run', id: l.replayed_by! })}>${say('watch_replay')}${about}</button>`
          : html`${l.from_step && html`<button type="button" class="button second" id=${`step-${l.id}`} disabled=${page.still} onClick=${() => page.replay(l.id, 'step')}>${say('replay_step')}${about}</button>`}
            <button type="button" class="button second" id=${`start-${l.id}`} disabled=${page.still} onClick=${() => page.replay(l.id, 'start')}>${say('replay_start')}${about}</button>`
      }
      <button type="button" class="button quiet" id=${`see-${l.id}`} onClick=${() => page.go({ at: 'run', id: l.run_id })}>${say('see_run')}${about}</button>
      <button type="button" class="button quiet danger" disabled=${page.still} onClick=${discard}>${say('discard')}${about}</button>
    </div>
  </li>`;
}

export function Letters({ page }: { page: Page }) {
  const { letters } = page.known;
  if (letters.length === 0)
    return html`<div class="v-empty"><div class="face">${glyph('check')}</div><h3>${say('dead_none')}</h3><p>${say('dead_none_lead')}</p></div>`;
  return html`<p class="soft">${say('dead_lead')}</p>
    <ul class="v-stack">${letters.map((l) => html`<${One} key=${l.id} of=${l} page=${page} />`)}</ul>`;
}
