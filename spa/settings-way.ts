// Whether this browser may speak straight with the hub, and how it does now.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { directKey, wantsDirect } from './direct-choice.ts';
import { say } from './settings-text.ts';
import { useApp } from './store.ts';

/** Holds at once, in this tab. */
function choose(wanted: boolean): void {
  try {
    localStorage.setItem(directKey, wanted ? 'on' : 'off');
  } catch {}
  dispatchEvent(new Event('direct'));
}

export function Way() {
  const { direct, link } = useApp();
  const [wanted, setWanted] = useState(wantsDirect());
  const turn = (on: boolean) => {
    choose(on);
    setWanted(on);
  };
  const now = link !== 'up' ? 'way_none' : direct ? 'way_direct' : 'way_relay';
  return html`<section class="v-card" aria-labelledby="way-title"><h3 id="way-title">${say('way')}</h3>
    <label class="setting"><span>${say('way_do')}</span>
      <input type="checkbox" class="switch" role="switch" checked=${wanted} aria-describedby="way-hint"
        onChange=${(e: Event) => turn((e.target as HTMLInputElement).checked)} /></label>
    <p class="soft small" id="way-hint" role="status">${say(wanted ? now : 'way_off')}</p>
  </section>`;
}
