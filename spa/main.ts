// Starts the application: language, the tab's lock, the service worker, the first page.
import { html } from 'htm/preact';
import { type FunctionComponent, render } from 'preact';
import { startBrand } from './brand.ts';
import { begin, signOut, takeover } from './flow.ts';
import { PageOf } from './pages.ts';
import { set, useApp } from './store.ts';
import { startLanguage } from './text.ts';
import { registerWorker } from './worker.ts';

let Desktop: FunctionComponent<{ signOut: typeof signOut }> | null = null;

function App() {
  const { page, toast } = useApp();
  if (page.at === 'desktop' && !Desktop)
    void import('./desktop.ts').then((m) => {
      Desktop = m.Desktop;
      set({});
    });
  return html`${page.at === 'desktop' && Desktop ? html`<${Desktop} signOut=${signOut} />` : html`<${PageOf} page=${page.at === 'desktop' ? { at: 'boot' } : page} />`}
    <div aria-live="polite" role="status">${
      toast &&
      html`<div class="toast"><span>${toast.text}</span>${
        toast.way && html`<button type="button" onClick=${toast.way.act}>${toast.way.text}</button>`
      }</div>`
    }</div>`;
}

startLanguage();
startBrand();
render(html`<${App} />`, document.getElementById('app')!);
void takeover(false).then((here) => (here ? begin() : undefined));
registerWorker();
