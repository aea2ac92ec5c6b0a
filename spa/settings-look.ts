// How the application looks on this browser.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { paintBrand } from './brand.ts';
import { LanguageSwitch } from './frame.ts';
import { say } from './settings-text.ts';
import { type Choice, chooseTheme, theme, themes } from './theme.ts';

export function Look() {
  const [now, draw] = useState(theme());
  const choose = (choice: Partial<Choice>) => {
    chooseTheme(choice);
    paintBrand();
    draw(theme());
  };
  return html`<section class="v-card" aria-labelledby="look-title"><h3 id="look-title">${say('look')}</h3>
    <div class="setting"><span>${say('language')}</span><${LanguageSwitch} /></div>
    <div class="setting"><span id="theme-label">${say('theme')}</span>
      <div class="language themes" role="group" aria-labelledby="theme-label">${themes.map(
        (t) => html`<button type="button" aria-pressed=${now.theme === t ? 'true' : 'false'}
          onClick=${() => choose({ theme: t })}>${say(`theme_${t}`)}</button>`,
      )}</div></div>
    <label class="setting"><span>${say('contrast')}</span>
      <input type="checkbox" class="switch" role="switch" checked=${now.contrast}
        onChange=${(e: Event) => choose({ contrast: (e.target as HTMLInputElement).checked })} /></label>
  </section>`;
}
