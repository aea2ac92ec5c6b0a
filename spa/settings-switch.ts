// The hubs this browser knows and further ones of the owner: which one is shown, and one tap to another.
import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { failed, loginCommand } from './entrance.ts';
import { Command } from './frame.ts';
import { glyph } from './glyphs.ts';
import { hubsHere } from './hubs-here.ts';
import type { HubHere } from './hubs-offered.ts';
import { toAnother } from './leave.ts';
import { say } from './settings-text.ts';
import { useApp } from './store.ts';
import { ago } from './text.ts';

/** How often root is asked while this is looked at, milliseconds. */
const AGAIN = 30_000;

/** What is to be known before one goes there. */
function aboutOf(h: HubHere, alike: boolean): string {
  const { online, last_seen_at } = h;
  const standing =
    online === null
      ? ''
      : online
        ? say('online')
        : `${say('away')}${last_seen_at ? `, ${say('seen', { when: ago(last_seen_at * 1000) })}` : ''}`;
  const ways =
    h.current || !h.paired ? '' : h.mine ? online === false && say('away_hint') : say('other_account');
  return [alike && h.hub_id.slice(0, 12), standing, ways].filter(Boolean).join(' · ');
}

const go = async (h: HubHere) => (await toAnother()).switchTo(h);

function Row({ hub: h, alike }: { hub: HubHere; alike: boolean }) {
  const about = html`<span><b>${h.name}</b><span class="soft small">${aboutOf(h, alike)}</span></span>`;
  if (h.current)
    return html`<li data-hub=${h.hub_id} aria-current="true">${about}<div class="pill ok">${say('shown')}</div></li>`;
  if (h.paired)
    return html`<li data-hub=${h.hub_id}><button type="button" class="way" onClick=${() => void go(h).catch(failed)}>
      ${glyph('hub')}${about}${glyph('right')}</button></li>`;
  return html`<li data-hub=${h.hub_id}><span><b>${h.name}</b>
    <span class="soft small">${say('unpaired')}</span>
    <span class="small"><${Command} text=${say('unpaired_do', { name: h.name })} command=${loginCommand} /></span></span></li>`;
}

/** Shown where there is more than one. */
export function Switch() {
  const { hubName } = useApp();
  const [all, setAll] = useState<HubHere[]>([]);
  useEffect(() => {
    let gone = false;
    const look = () =>
      void hubsHere().then(
        (next) => gone || setAll(next),
        () => {},
      );
    look();
    const timer = setInterval(look, AGAIN);
    return () => {
      gone = true;
      clearInterval(timer);
    };
  }, [hubName]);
  if (all.length < 2) return null;
  const isAlike = (h: HubHere) => all.some((o) => o !== h && o.name === h.name);
  return html`<section class="v-card" aria-labelledby="switch-title"><h3 id="switch-title">${say('hubs')}</h3>
    ${all.some((h) => h.paired && !h.current) && html`<p class="soft small">${say('hubs_here')}</p>`}
    <ul class="rows">${all.map((h) => html`<${Row} key=${h.hub_id} hub=${h} alike=${isAlike(h)} />`)}</ul>
  </section>`;
}
