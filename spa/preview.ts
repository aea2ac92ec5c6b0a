// The page of `ingle ui preview`: a shell with four frames, each of which draws the document as the application would.
import { html } from 'htm/preact';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { IngleError } from '../firmware/protocol/errors.ts';
import { translator } from '../firmware/text/i18n.ts';
import { previewTexts } from '../firmware/text/preview.ts';
import type { Previewed } from '../firmware/ui/previewed.ts';
import type { Rows } from './drawing.ts';
import { Sample } from './sample.ts';
import { chooseLanguage } from './text.ts';

const frames = ['phone_light', 'phone_dark', 'desk_light', 'desk_dark'] as const;
const themeOf = (frame: (typeof frames)[number]) => (frame.endsWith('dark') ? 'dark' : 'light');
const say = (p: Previewed) => translator(previewTexts, p.language);
const root = document.getElementById('app')!;

/** A frame: draws what the shell gives it, and tells it what a tap asks for. */
function frame(): void {
  let now: Previewed | undefined;
  const asks = (what: unknown) => parent.postMessage({ asks: what }, location.origin);
  const page: Rows['page'] = async () => {
    throw new IngleError('not_supported', now ? say(now)('noRows') : '');
  };
  function draw(): void {
    if (!now?.tree) return;
    const { tree, state } = now;
    render(
      html`<main class="preview-screen"><${Sample} tree=${tree} state=${state} asks=${asks} page=${page} /></main>`,
      root,
    );
  }
  addEventListener('message', (e) => {
    // Others speak to frames, too: tools in a browser that look at a page.
    if (e.origin !== location.origin || e.source !== parent || !Object(e.data).draw) return;
    now = e.data.draw as Previewed;
    chooseLanguage(now.language);
    draw();
  });
  parent.postMessage({ ready: true }, location.origin);
}

function Shell() {
  const [shown, setShown] = useState<Previewed | null>(null);
  const [asks, setAsks] = useState<unknown>(null);
  const [isGone, setGone] = useState(false);
  useEffect(() => {
    const changes = new EventSource('/changes');
    changes.onmessage = async () => {
      const r = await fetch('/document').catch(() => null);
      if (!r?.ok) return;
      setGone(false);
      setShown((await r.json()) as Previewed);
    };
    changes.onerror = () => setGone(true);
    return () => changes.close();
  }, []);
  useEffect(() => {
    if (!shown) return;
    chooseLanguage(shown.language);
    const give = (to: Window | null) => to?.postMessage({ draw: shown }, location.origin);
    const windows = () => [...document.querySelectorAll('iframe')].map((f) => f.contentWindow);
    const heard = (e: MessageEvent) => {
      const from = windows().find((w) => w === e.source);
      if (e.origin !== location.origin || !from) return;
      const { ready, asks: asked } = Object(e.data);
      if (ready) give(from);
      else if (asked) setAsks(asked);
    };
    addEventListener('message', heard);
    for (const w of windows()) give(w);
    return () => removeEventListener('message', heard);
  }, [shown]);
  if (!shown) return null;
  const t = say(shown);
  document.title = t('title', { file: shown.file });
  return html`<header class="preview-head">
      <h1>${t('title', { file: shown.file })}</h1>
      <p class="soft">${shown.kind}</p>
    </header>
    <main class="preview-page">
      <section class="preview-said">
        <div role="status">
          ${isGone && html`<p class="preview-fault">${t('gone', { file: shown.file })}</p>`}
          ${shown.fault && html`<p class="preview-fault">${shown.fault}</p>`}
          <h2>${shown.problems.length > 0 ? t('problems', { count: shown.problems.length }) : t('none')}</h2>
        </div>
        <ol>${shown.problems.map((p) => html`<li><code>${p.pointer || '/'}</code> ${p.hint} <span class="soft">${p.code}</span></li>`)}</ol>
        <h2>${asks === null ? t('taps') : t('asks')}</h2>
        <pre role="status" tabindex="0" hidden=${asks === null}>${asks === null ? '' : JSON.stringify(asks, null, 2)}</pre>
      </section>
      ${frames.map(
        (f) => html`<figure class=${`preview-${f.split('_')[0]}`} key=${f}>
          <figcaption>${t(f)}</figcaption>
          <div><iframe src=${`/${themeOf(f)}`} title=${t(f)}></iframe></div>
        </figure>`,
      )}
    </main>`;
}

if (location.pathname === '/') render(html`<${Shell} />`, root);
else frame();
