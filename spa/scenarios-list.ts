// The scenarios of the hub: what needs somebody first, then each with its switch and a way to run it now.
import { html } from 'htm/preact';
import { glyph } from './glyphs.ts';
import { faceOf } from './scenarios-face.ts';
import { hub, isHousehold, type Scenario, say } from './scenarios-hub.ts';
import type { Page } from './scenarios-page.ts';
import { isOver, problemOf } from './scenarios-told.ts';
import { mayRun, nextOf, startsOf, timeOf, words } from './scenarios-words.ts';
import { toast } from './store.ts';

/** Something of it waits for a decision. */
const isWanting = (s: Scenario) => s.unbound.length > 0 || s.problems.length > 0;

/** What a problem of an update is about: a parameter, a slot, a step. */
const aboutOf = (pointer: string) => pointer.split('/').pop() ?? '';

/**
 * What keeps a scenario from running, or what an update has left to decide.
 * @param o.isHere its settings are below
 */
export function Wants({ of: s, page, isHere = false }: { of: Scenario; page: Page; isHere?: boolean }) {
  const slots = s.unbound.map((slot) => words(s.slots?.[slot]?.title) || slot);
  const may = isHousehold();
  const settings = (key: 'choose_skill' | 'decide') =>
    !isHere &&
    html`<button type="button" class="button second" id=${`${key}-${s.id}`} onClick=${() => page.go({ at: 'one', id: s.id })}>${say(key)}<span class="sr">: ${words(s.name)}</span></button>`;
  // A change of nothing says that somebody has looked at it.
  const accept = () => page.order(() => hub.change(s.id, {}));
  return html`${
    slots.length > 0 &&
    html`<div class="note warn">${glyph('info')}<div class="v-stack tight"><span>${say(may ? 'unbound' : 'unbound_guest', { slots: slots.join(', ') })}</span>
      ${may && html`<div>${settings('choose_skill')}</div>`}</div></div>`
  }
  ${
    s.problems.length > 0 &&
    html`<div class="note warn" data-problems>${glyph('info')}<div class="v-stack tight"><span>${say('problems')}</span>
      <ul class="plain">${s.problems.map((p) => html`<li><b>${aboutOf(p.pointer)}</b> ${problemOf(p)}</li>`)}</ul>
      ${
        may &&
        html`<div class="v-row">${settings('decide')}
          <button type="button" class="button quiet" id=${`accept-${s.id}`} disabled=${page.still} onClick=${accept}>${say('accept')}<span class="sr">: ${words(s.name)}</span></button></div>`
      }</div></div>`
  }`;
}

/** Whether its triggers may be turned on or off here: what begins by itself and cannot run would only fail. */
export const isSwitched = (s: Scenario): boolean =>
  isHousehold() && (s.triggers ?? []).length > 0 && (s.enabled || s.unbound.length === 0);

/** Turns its triggers on or off. */
export function Switch({ of: s, page }: { of: Scenario; page: Page }) {
  const turn = () =>
    page.order(async () => {
      await hub.change(s.id, { enabled: !s.enabled });
      toast(say(s.enabled ? 'turned_off' : 'turned_on', { name: words(s.name) }));
    });
  return html`<input type="checkbox" class="switch" role="switch" id=${`on-${s.id}`} checked=${s.enabled} disabled=${page.still}
    aria-label=${say('by_itself', { name: words(s.name) })} onChange=${turn} />`;
}

/** The button that runs it, or leads to the run that goes on. */
export function RunNow({ of: s, page }: { of: Scenario; page: Page }) {
  const open = page.known.runs.find((r) => r.scenario_id === s.id && !isOver(r));
  if (s.unbound.length > 0) return null;
  return html`${
    open &&
    html`<button type="button" class="button second" id=${`watch-${s.id}`} onClick=${() => page.go({ at: 'run', id: open.run_id })}>
      <span class="spin"></span>${say('watch')}<span class="sr">: ${words(s.name)}</span></button>`
  }${
    !(open && s.policy === 'single') &&
    html`<button type="button" class="button second" id=${`run-${s.id}`} disabled=${page.still} onClick=${() => page.start(s.id)}>
      ${glyph('play')}${say('run_now')}<span class="sr">: ${words(s.name)}</span></button>`
  }`;
}

function Item({ of: s, page }: { of: Scenario; page: Page }) {
  const next = nextOf(page.known.jobs, s.id);
  const starts = startsOf(s);
  return html`<li class="v-card" data-scenario=${s.id} data-on=${s.enabled}>
    <div class="scene">${faceOf(s.icon)}<div><h4>${words(s.name)}</h4><p>${words(s.doc)}</p></div>
      ${isSwitched(s) && html`<${Switch} of=${s} page=${page} />`}</div>
    <dl class="facts">
      <div><dt>${say('starts')}</dt><dd>${starts.length > 0 ? starts.join('; ') : say('by_hand')}</dd></div>
      <div><dt>${say('may_run')}</dt><dd>${mayRun(s)}</dd></div>
      ${isHousehold() && html`<div><dt>${say('next')}</dt><dd data-next>${next ? timeOf(next) : s.enabled || starts.length === 0 ? say('next_none') : say('is_off')}</dd></div>`}
    </dl>
    <${Wants} of=${s} page=${page} />
    <div class="v-row"><${RunNow} of=${s} page=${page} />
      ${
        // What needs somebody leads there already.
        !(isWanting(s) && isHousehold()) &&
        html`<button type="button" class="button quiet" id=${`open-${s.id}`} onClick=${() => page.go({ at: 'one', id: s.id })}>${say(
          isHousehold() ? 'settings_open' : 'open',
        )}<span class="sr">: ${words(s.name)}</span></button>`
      }</div>
  </li>`;
}

export function List({ page }: { page: Page }) {
  const all = [...page.known.scenarios].sort((a, b) => words(a.name).localeCompare(words(b.name)));
  const [wanting, ready] = [all.filter(isWanting), all.filter((s) => !isWanting(s))];
  // Who can decide nothing is asked nothing.
  const groups = isHousehold()
    ? ([
        ['list_wanting', wanting],
        ['list_others', ready],
      ] as const)
    : ([
        ['list_others', ready],
        ['list_unready', wanting],
      ] as const);
  if (all.length === 0)
    return html`<div class="v-empty"><div class="face">${glyph('play')}</div><h3>${say('none')}</h3><p>${say('none_lead')}</p></div>`;
  return html`<p class="soft">${say('lead')}</p>${groups.map(
    ([key, some]) =>
      some.length > 0 &&
      html`<section class="v-stack" aria-labelledby=${key} key=${key}><h3 id=${key}>${say(key)}</h3>
        <ul class="v-stack">${some.map((s) => html`<${Item} key=${s.id} of=${s} page=${page} />`)}</ul></section>`,
  )}`;
}
