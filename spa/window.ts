// A skill's window: a modal dialog, or a panel docked beside the desktop where there is room.
import { html } from 'htm/preact';
import type { FunctionComponent } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { keepInside } from './focus.ts';
import { face, glyph } from './glyphs.ts';
import { Bones, pageNames } from './open.ts';
import { stay, wide } from './place.ts';
import { type Icon, type Managing, set } from './store.ts';
import { t, titleOf } from './text.ts';

type Screen = FunctionComponent<{ icon: Icon }>;
/** What a window can show: a skill, or a page of the owner's. Each comes when it is first opened. */
const screens = {
  skill: (): Promise<Screen> => import('./skill.ts').then((m) => m.Skill),
  manage: (): Promise<Screen> => import('./manage.ts').then((m) => m.Manage),
  people: (): Promise<Screen> => import('./people.ts').then((m) => m.People),
  hubs: (): Promise<Screen> => import('./hubs.ts').then((m) => m.Hubs),
  account: (): Promise<Screen> => import('./account.ts').then((m) => m.Account),
  settings: (): Promise<Screen> => import('./settings.ts').then((m) => m.Settings),
  notices: (): Promise<Screen> => import('./notices.ts').then((m) => m.Notices),
  scenarios: (): Promise<Screen> => import('./scenarios.ts').then((m) => m.Scenarios),
};
const loaded: { [of in keyof typeof screens]?: Screen } = {};
/** Where the focus goes when the last window closes; one window may lead to the next. */
let opener: Element | null = null;

/** The way every window closes, so that the browser's back button and ours are one. */
export function closeWindow(): void {
  // A skill's own page may have added to the history, where one step back would be its own.
  if (document.querySelector('[data-frame]')) set({ open: null });
  else history.back();
}

/** What the skill wishes for its window, as the style sheet reads it; the screen sets the bounds. */
function sizeOf(icon: Icon | null): Record<string, string> {
  const sizeHints = icon?.sizeHints;
  return sizeHints ? { '--w': `${sizeHints.w}px`, '--h': `${sizeHints.h}px` } : {};
}

/** @param o.icon the skill; without it `page` of the owner's */
export function Window(o: { icon: Icon | null; page?: Managing; docked: boolean }) {
  const page = o.page ?? 'manage';
  const of = o.icon ? 'skill' : page;
  const title = o.icon ? titleOf(o.icon) : t(page);
  const [Skill, setSkill] = useState<Screen | null>(() => loaded[of] ?? null);
  const dialog = useRef<HTMLDivElement>(null);
  // While it is drawn first: once the desktop is inert, the focus is gone from there.
  useState(() => {
    if (document.activeElement?.closest('.desk')) opener = document.activeElement;
  });
  useEffect(() => {
    if (!loaded[of])
      void screens[of]().then((screen) => {
        loaded[of] = screen;
        setSkill(() => screen);
      });
  }, []);
  const name = o.icon?.skill_id ?? pageNames[page];
  useLayoutEffect(() => (o.docked ? undefined : stay(dialog.current!, name)), [o.docked]);
  const still = useRef<(() => void) | null>(null);
  /** What moves it comes with the first approach to its header. */
  const approach = () => {
    if (o.docked || !wide.matches || still.current) return;
    still.current = () => {};
    import('./drag.ts').then(
      (m) => {
        if (dialog.current) still.current = m.movable(dialog.current, name);
      },
      () => {
        still.current = null;
      },
    );
  };
  useEffect(() => () => still.current?.(), []);
  useLayoutEffect(() => {
    dialog.current?.focus();
    return () => {
      const back = opener;
      // The desktop stops being inert in the same turn; focus can move only after that.
      queueMicrotask(() => {
        if (back instanceof HTMLElement && back.isConnected && !document.querySelector('.window'))
          back.focus();
      });
    };
  }, []);
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key === 'Escape') {
      e.preventDefault();
      closeWindow();
    }
    if (e.key === 'Tab' && !o.docked) keepInside(e, dialog.current!);
  };
  const onVeil = (e: Event) => {
    if (e.target === e.currentTarget) closeWindow();
  };
  return html`<div class=${`veil ${o.docked ? 'panel' : 'modal'}`} onClick=${o.docked ? undefined : onVeil}>
    <div class="window" style=${sizeOf(o.icon)} role="dialog" aria-modal=${o.docked ? undefined : 'true'} aria-labelledby="window-title"
      tabindex="-1" ref=${dialog} onKeyDown=${onKeyDown} data-window=${name}>
      <header onPointerEnter=${approach} onFocusIn=${approach}>
        <span class="sr">${face(o.icon?.icon ?? 'app')}</span>
        <h2 id="window-title">${title}</h2>
        ${!o.docked && html`<button type="button" class="icon-button grip" aria-label=${t('grip')} title=${t('grip')}>${glyph('grip')}</button>`}
        <button type="button" class="icon-button" aria-label=${t('close')} onClick=${closeWindow}>${glyph('close')}</button>
      </header>
      <div class="body">${Skill ? html`<${Skill} icon=${o.icon} />` : html`<${Bones} title=${title} />`}</div>
      ${!o.docked && html`<span class="corner" aria-hidden="true"></span>`}
    </div>
  </div>`;
}
