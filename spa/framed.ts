// A page of the skill itself (UMF), on an origin of its own in a frame: held by /frame.html, or opened at root, and what
// the skill says instead of it where it cannot be shown.
import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { translator } from '../firmware/text/i18n.ts';
import { spaFrameTexts } from '../firmware/text/spa-frame.ts';
import { heightOf } from '../firmware/ui/frame.ts';
import { sizeWithin } from '../firmware/ui/page/messages.ts';
import { type Part, say } from './drawing.ts';
import { loadPage, type Page } from './framed-load.ts';
import { talk } from './framed-talk.ts';
import { app, useApp } from './store.ts';
import { isDark } from './theme.ts';

type Why = 'silent' | 'flood' | 'missing';

const t = (key: keyof (typeof spaFrameTexts)['en']) => translator(spaFrameTexts, app().language)(key);

export const Framed: Part<'frame'> = ({ n, d, draw }) => {
  const { link } = useApp();
  const frame = useRef<HTMLIFrameElement>(null);
  const [page, setPage] = useState<Page | Why | null>(null);
  const [greeted, setGreeted] = useState(false);
  const [size, setSize] = useState({ w: n.w, h: heightOf(n) });
  const skill = d.skill!;
  const up = link === 'up';
  // A page that is there outlives a moment without the hub, and nothing longer.
  const away = !up && (page === null || link !== 'connecting');
  const title = say(n.title, d) || t('untitled');

  useEffect(() => {
    setPage(null);
    setSize({ w: n.w, h: heightOf(n) });
  }, [n.page, n.w, n.h, away]);
  useEffect(() => {
    if (!up || page !== null) return;
    const stop = new AbortController();
    loadPage(skill, n.page, stop.signal).then(setPage, () => stop.signal.aborted || setPage('missing'));
    return () => stop.abort();
  }, [up, page === null, n.page]);
  useEffect(() => {
    const it = frame.current;
    if (!it || page === null || typeof page === 'string') return;
    setGreeted(false);
    const events = {
      greeted: () => setGreeted(true),
      resize: (asked: Parameters<typeof sizeWithin>[0]) => setSize((now) => sizeWithin(asked, now)),
      shut: setPage,
    };
    const context = () => ({ language: app().language, w: it.clientWidth, h: it.clientHeight });
    return talk(it, skill, page.ticket, events, context).close;
  }, [page]);

  const height = `${size.h}px`;
  const instead = n.instead && draw(n.instead, d);
  if (away)
    return html`<div class="v-stack" data-frame="away">${instead ?? html`<p class="v-note">${t('away')}</p>`}</div>`;
  if (page === null)
    return html`<div class="bone" aria-busy="true" style=${{ height }} data-frame="loads"></div>`;
  if (typeof page === 'string')
    return html`<div class="v-stack" data-frame=${page}>
      <div class="note warn" role="status"><span>${t(page)}</span></div>
      <div class="v-row"><button type="button" class="button second" onClick=${() => setPage(null)}>${t('again')}</button></div>
      ${instead}
    </div>`;
  const hand = () => {
    if (page.html === null) return;
    const theme = isDark() ? 'dark' : 'light';
    frame.current?.contentWindow?.postMessage({ page: page.html, title, theme }, '*');
  };
  // What root answers instead of a page is not shown to anybody.
  const visibility = page.html !== null || greeted ? 'visible' : 'hidden';
  const style = { height, maxWidth: size.w ? `${size.w}px` : '100%', visibility };
  return html`<iframe class="v-frame" title=${title} sandbox="allow-scripts" referrerpolicy="no-referrer"
    src=${page.src} ref=${frame} onLoad=${hand} style=${style} data-frame=${greeted ? 'shown' : 'waits'}></iframe>`;
};
