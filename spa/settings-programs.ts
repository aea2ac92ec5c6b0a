// Whether programs may use what skills offer, over MCP: which, as whom, how one is set up, and what turning it off ends.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { translator } from '../firmware/text/i18n.ts';
import { spaProgramsTexts } from '../firmware/text/spa-programs.ts';
import { useAsked } from './asked.ts';
import { failed } from './entrance.ts';
import { glyph } from './glyphs.ts';
import { hub, type Programs as State } from './settings-hub.ts';
import { app, toast, useApp } from './store.ts';
import { titleOf } from './text.ts';

type Key = keyof (typeof spaProgramsTexts)['en'];
const say = (key: Key, values?: Record<string, string | number>) =>
  translator(spaProgramsTexts, app().language)(key, values);

/** Every action with the skill whose it is, in words of the reader. */
function Offered({ actions }: Pick<State, 'actions'>) {
  const { icons, language } = useApp();
  if (actions.length === 0) return html`<p class="soft">${glyph('info')} ${say('nothing')}</p>`;
  const skill = (id: string) => {
    const icon = icons?.find((i) => i.skill_id === id);
    return icon ? titleOf(icon) : id;
  };
  return html`<h4 id="programs-what">${say('what')}</h4>
    <ul class="rows" aria-labelledby="programs-what">${actions.map(
      (a) => html`<li key=${`${a.skill_id}.${a.id}`} data-action=${`${a.skill_id}.${a.id}`}><span>
        <b>${skill(a.skill_id)}: ${a.titles?.[language] ?? a.title}</b>
        <span class="soft small">${a.docs?.[language] ?? a.doc}</span></span></li>`,
    )}</ul>`;
}

/** What another program has to be told. */
function SetUp({ url, token_file }: State) {
  const copy = () =>
    void navigator.clipboard
      .writeText(url)
      .then(() => toast(say('copied')))
      .catch(failed);
  return html`<div class="v-stack" data-set-up>
    <h4>${say('set_up')}</h4>
    <p>${say('address')}</p>
    <p><code class="command" data-url>${url}</code></p>
    <div><button type="button" class="button second" onClick=${copy}>${say('copy')}</button></div>
    <p>${say('token')}</p>
    <p><code class="command">X-Service-Token</code></p>
    <p>${say('token_file')}</p>
    <p><code class="command">${token_file}</code></p>
    <div class="note warn">${glyph('alarm')}<span>${say('trust')}</span></div>
    <p class="soft small">${say('as_whom')}</p>
  </div>`;
}

export function Programs() {
  const [state, show] = useState<State | null>(null);
  const { gate, away, still, order } = useAsked({
    ...{ title: say('title'), list: hub.programs, show, soon: false },
  });
  const isOn = state?.on === true;
  // A switch that is out of order while it works would lose the focus.
  const turn = () =>
    still ||
    order(async () => {
      await hub.letPrograms(!isOn);
      toast(say(isOn ? 'is_off' : 'is_on'));
    });
  return html`<section class="v-card" aria-labelledby="programs-title"><h3 id="programs-title">${say('title')}</h3>
    ${gate.question}
    <div class="v-stack" hidden=${gate.shut}>
      <label class="setting"><span>${say('allow')}</span>
        <input type="checkbox" class="switch" role="switch" checked=${isOn} disabled=${away || state === null}
          aria-busy=${still} aria-describedby="programs-hint" onChange=${turn} /></label>
      <p class="soft small" id="programs-hint" role="status">${state && say(isOn ? 'on' : 'off')}</p>
      ${state && html`<${Offered} actions=${state.actions} />`}
      ${state && isOn && html`<${SetUp} ...${state} /><p class="soft small">${say('ends')}</p>`}
    </div>
  </section>`;
}
