// Whether skills may be heard on this browser while nobody looks.
import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { failed } from './entrance.ts';
import { openLinked } from './open.ts';
import { heedTaps, type Standing, standing, turnOff, turnOn } from './push.ts';
import { say } from './settings-text.ts';
import { app, useApp } from './store.ts';

export function Push() {
  const { link, language } = useApp();
  const [now, setNow] = useState<Standing | null>(null);
  const [busy, setBusy] = useState(false);
  const still = link !== 'up';
  const set = (work: Promise<Standing>) => {
    setBusy(true);
    // Who has gone to another hub meanwhile is told nothing of this one.
    const tell = (e: unknown) => app().page.at === 'desktop' && failed(e);
    void work.then(setNow, tell).finally(() => setBusy(false));
  };
  useEffect(() => heedTaps(openLinked), []);
  useEffect(() => {
    if (!still) set(standing());
  }, [still]);
  // What is told is told in the language that is read here.
  useEffect(() => {
    if (now === 'on' && !still) set(turnOn());
  }, [language]);
  const isOn = now === 'on';
  // A switch that is out of order while it works would lose the focus.
  const turn = () => !busy && set(isOn ? turnOff() : turnOn());
  const hint = say(`push_${now ?? 'off'}`);
  return html`<section class="v-card" aria-labelledby="push-title"><h3 id="push-title">${say('push')}</h3>
    <label class="setting"><span>${say('push_do')}</span>
      <input type="checkbox" class="switch" role="switch" checked=${isOn} disabled=${still || now === null || now === 'none'} aria-busy=${busy} aria-describedby="push-hint"
        onChange=${turn} /></label>
    <p class="soft small" id="push-hint" role="status">${hint}</p>
  </section>`;
}
