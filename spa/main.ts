// Starts the application: language, the tab's lock, the service worker, the first page.
import { html } from 'htm/preact';
import { render } from 'preact';
import { startBrand } from './brand.ts';
import { begin, signOut, takeover } from './flow.ts';
import { later } from './later.ts';
import { wayOut } from './leave.ts';
import { Boot, PageOf } from './pages.ts';
import { app, follow, useApp } from './store.ts';
import { startLanguage } from './text.ts';
import { startTheme } from './theme.ts';
import { registerWorker } from './worker.ts';

const Desktop = later(() => import('./desktop.ts').then((m) => m.Desktop), Boot);
const Scenario = later(() => import('./scenario.ts').then((m) => m.sheet.then(() => m.Scenario)), Boot);

function App() {
  const { page, toast } = useApp();
  return html`${page.at === 'desktop' ? html`<${location.pathname.startsWith('/s/') ? Scenario : Desktop} />` : html`<${PageOf} page=${page} />`}
    <div aria-live="polite" role="status">${
      toast &&
      html`<div class="toast"><span>${toast.text}</span>${
        toast.way && html`<button type="button" onClick=${toast.way.act}>${toast.way.text}</button>`
      }</div>`
    }</div>`;
}

wayOut(signOut, () => import('./switch.ts'));
startTheme();
startLanguage();
startBrand();
render(html`<${App} />`, document.getElementById('app')!);
void takeover(false).then((here) => (here ? begin() : undefined));
// It brings the whole application for the next visit, and so waits until this one has what it came for.
if (navigator.serviceWorker?.controller) registerWorker();
else {
  const stop = follow(() => {
    if (app().link !== 'up' && app().page.at !== 'entry') return;
    stop();
    setTimeout(registerWorker, 2000);
  });
}
