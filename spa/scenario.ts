// A scenario app at /s/<id>/…: its header, menu and pages. Its address is the browser's, so links, reload and history work.
import { html } from 'htm/preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Texts, translator } from '../firmware/text/i18n.ts';
import { spaScenarioTexts } from '../firmware/text/spa-scenario.ts';
import { type App, appPath, viewModelOf } from '../firmware/ui/app.ts';
import { pathTo } from '../firmware/ui/route.ts';
import type { Told } from '../firmware/ui/topic-names.ts';
import type { Act, Value } from '../firmware/ui/tree.ts';
import { evaluate, type Scope } from '../firmware/ui/value.ts';
import { openActs } from './acts.ts';
import { LinkPill, Update } from './desktop.ts';
import { bounds, type Drawing } from './drawing.ts';
import { Elevate } from './elevate.ts';
import { Insecure } from './frame.ts';
import { type Glyph, glyph } from './glyphs.ts';
import { Bones, goTo } from './open.ts';
import { View } from './render.ts';
import { setRouter } from './routed.ts';
import { Over, Side } from './scenario-areas.ts';
import { type Gate, openApp } from './scenario-open.ts';
import { type AreaName, enter, type Place, pathOf, placeNow, type Shown, shownAt } from './scenario-place.ts';
import { openWaiting } from './scenario-waiting.ts';
import { Message } from './skill-shut.ts';
import { Stale } from './stale.ts';
import { set, app as state, useApp } from './store.ts';
import { shown as inWords, t, titleOf } from './text.ts';

export { sheet } from './scenario.css';

type Key = typeof spaScenarioTexts extends Texts<infer K> ? K : never;
const say = (key: Key, values?: Record<string, string>) =>
  translator(spaScenarioTexts, state().language)(key, values);

/** The app that the address names; another app is another component. */
export function Scenario() {
  const [place, setPlace] = useState(placeNow);
  const look = () => setPlace(placeNow());
  useEffect(() => {
    const onPop = () => {
      look();
      // Outside of apps the desktop is drawn, by who draws this.
      if (!placeNow()) set({ open: null, managing: null });
    };
    window.addEventListener('popstate', onPop);
    return () => window.removeEventListener('popstate', onPop);
  }, []);
  return place && html`<${AppOf} key=${place.id} place=${place} moved=${look} />`;
}

const words = (v: Value, scope: Scope = {}) => inWords(evaluate(v, scope) ?? '');

function AppOf({ place, moved }: { place: Place; moved: () => void }) {
  const { id } = place;
  const { link, icons, brand, language } = useApp();
  const [, draw] = useState(0);
  const queued = useRef(false);
  // Updates come in bursts; a frame's worth of them is one drawing.
  const changed = () => {
    if (queued.current) return;
    queued.current = true;
    setTimeout(() => {
      queued.current = false;
      draw((n) => n + 1);
    }, 30);
  };
  const [opened] = useState(() => openApp(id, changed));
  const [waiting] = useState(() => openWaiting(changed));
  const stored = useRef<unknown>({});
  const { app } = opened;

  const go = (to: string, params: unknown, area: AreaName): boolean => {
    const path = opened.app && pathOf(opened.app, to, params);
    if (!path) return false;
    enter(id, path, area);
    moved();
    return true;
  };
  const areaOf = { modal: 'modal', panel: 'side' } as const;
  const page = (act: Extract<Act, { do: 'go' }>, scope: Scope) =>
    go(act.page ?? '', evaluate(act.params, scope), act.mode ? areaOf[act.mode] : 'main');
  const icon = {
    ...{ skill_id: id, title: id, icon: 'app', entrypoint: '', modes: [], pinned: false, order: null },
    ...icons?.find((i) => i.skill_id === id),
  };
  const [acts] = useState(() => openActs(icon, () => stored.current, changed, { page, rows: opened.page }));

  useEffect(() => opened.look(), [link]);
  useEffect(() => {
    setRouter(({ skill_id, payload }: Told) => {
      const { area, to, params } = payload as { area: AreaName; to: string; params?: unknown };
      const isItsOwn = skill_id === id || opened.app?.skills.includes(skill_id);
      return Boolean(isItsOwn) && ['main', 'side', 'modal'].includes(area) && go(to, params, area);
    });
    return () => {
      setRouter(null);
      opened.close();
    };
  }, []);

  const title = app ? words(app.title) : titleOf(icon);
  const kept = waiting.over(app ? viewModelOf(app, undefined, opened.contents()) : {});
  const areas = (['main', 'side', 'modal'] as const).map((area) => {
    const path = place[area];
    if (!app || path === undefined) return null;
    return shownAt(app, path, { viewModel: kept });
  });
  const [main, side, modal] = areas as [Shown | null, Shown | null, Shown | null];
  stored.current = { viewModel: app ? viewModelOf(app, main?.route.tree, kept) : {} };
  const gate: Gate | 'away' | 'none' =
    opened.gate === 'open' && !main
      ? 'none'
      : opened.gate === 'opening' && link !== 'up' && link !== 'connecting'
        ? 'away'
        : opened.gate;
  const heading = main && gate === 'open' ? words(main.route.title) : title;
  useEffect(() => {
    const of = gate === 'none' ? say('none_title') : heading;
    document.title = of === title ? `${title} · ${brand.name}` : `${of} · ${title}`;
  }, [heading, title, gate, brand, language]);

  const back = () => history.back();
  const areaFor = (of: Shown | null, Area: typeof Side) =>
    of &&
    html`<${Area} label=${words(of.route.title)} close=${say('close_side')} onClose=${back}>
      <${Screen} ...${{ of, acts, app: app!, kept }} /><//>`;
  const home = (e: Event) => {
    e.preventDefault();
    goTo('/');
  };
  const missing = icon.available === false && `${t('skill_missing', { title })}. ${t('skill_missing_lead')}`;
  const body =
    gate === 'open' && main
      ? html`<div class=${side ? 'app-with-side' : ''} data-live=${link === 'up' && opened.live ? 'yes' : 'no'}>
            <div>${
              opened.filled
                ? html`<${Screen} key=${place.main} ...${{ of: main, acts, app: app!, kept }} />`
                : html`<${Bones} title=${title} />`
            }</div>
            ${areaFor(side, Side)}
          </div><${Stale} at=${opened.at} why=${missing}><${Update} /><//>${areaFor(modal, Over)}`
      : gate === 'opening'
        ? html`<${Bones} title=${title} />`
        : gate === 'elevate'
          ? html`<${Elevate} title=${title} done=${() => opened.look(true)} />`
          : html`<${No} gate=${gate} id=${id} app=${app} go=${go} home=${home} />`;
  return html`<div class="desk app" data-page="app" data-app=${id} data-tokens=${app?.tokens}>
    <header class="bar">
      <a class="icon-button" href="/" aria-label=${say('home')} onClick=${home}>${glyph('left')}</a>
      <div class="brand"><span>${title}</span></div>
      <${LinkPill} />
    </header>
    <main>
      <${Heading} text=${gate === 'none' ? title : heading} at=${place.main} />
      <${Insecure} />${gate !== 'open' && html`<${Update} />`}
      ${app && gate !== 'forbidden' && html`<${Pages} app=${app} main=${main} go=${go} />`}
      ${body}
    </main>
  </div>`;
}

/** It takes the focus on each page, so that a screen reader hears where it is. */
function Heading({ text, at }: { text: string; at: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus(), [at]);
  return html`<div class="head"><h1 tabindex="-1" ref=${heading}>${text}</h1></div>`;
}

type Go = (to: string, params: unknown, area: AreaName) => boolean;

function Pages({ app, main, go }: { app: App; main: Shown | null; go: Go }) {
  // One entry alone leads nowhere else.
  if (app.menu.length < 2) return null;
  return html`<nav class="app-menu" aria-label=${say('menu')}>${app.menu.map((name) => {
    const route = app.routes.find((r) => r.name === name)!;
    const path = pathTo(route)!;
    const onClick = (e: MouseEvent) => {
      // Another tab or window is the browser's to open.
      if (e.ctrlKey || e.metaKey || e.shiftKey) return;
      e.preventDefault();
      go(path, undefined, 'main');
    };
    return html`<a href=${appPath(app.id) + path.slice(1)} aria-current=${main?.route === route ? 'page' : undefined} onClick=${onClick}>${words(route.title)}</a>`;
  })}</nav>`;
}

/** One page of the app, in whichever area. */
function Screen(o: {
  of: Shown;
  acts: ReturnType<typeof openActs>;
  app: App;
  kept: Record<string, unknown>;
}) {
  const { of, acts, app, kept } = o;
  const { link } = useApp();
  const { tree, prefetch } = of.route;
  const viewModel = viewModelOf(app, tree, kept);
  const scope: Scope = {
    ...{ state: acts.over({ viewModel }), meta: tree.meta ?? {}, route: of.params },
    budget: { steps: bounds.steps },
  };
  useEffect(() => {
    const stop = new AbortController();
    for (const { query, target, params, pageSize } of prefetch) {
      const asked = { query, target, params: evaluate(params ?? { object: {} }, scope), page: 0, pageSize };
      // The table says what went wrong.
      acts.rows!.page(asked, stop.signal).catch(() => {});
    }
    return () => stop.abort();
  }, [of.route, JSON.stringify(of.params), link === 'up']);
  const drawing: Drawing = { scope, left: { parts: bounds.parts }, act: acts.act, rows: acts.rows! };
  return html`<${View} tree=${tree} drawing=${drawing} />`;
}

const faces: Record<'missing' | 'forbidden' | 'away' | 'forged', Glyph> = {
  ...{ missing: 'app', forbidden: 'lock', away: 'offline', forged: 'lock' },
};

/** Why there is no page, with a way on. */
function No(o: { gate: string; id: string; app: App | null; go: Go; home: (e: Event) => void }) {
  const { gate, app } = o;
  const title = app ? words(app.title) : '';
  const entry = app?.routes.find((r) => r.name === app.entry);
  const first = (e: Event) => {
    e.preventDefault();
    o.go(app!.entry, undefined, 'main');
  };
  const isNone = gate === 'none';
  const key = gate as keyof typeof faces;
  return html`<div data-gate=${gate}>
    <${Message} glyph=${isNone ? 'info' : faces[key]} title=${isNone ? say('none_title') : say(`${key}_title`)}
      lead=${isNone ? say('none_lead', { title }) : say(`${key}_lead`, { id: o.id })}>
      ${isNone && entry && html`<a class="button" href=${appPath(o.id) + pathTo(entry)!.slice(1)} onClick=${first}>${say('to_entry', { title })}</a>`}
      <a class="button second" href="/" onClick=${o.home}>${say('home')}</a>
    <//>
  </div>`;
}
