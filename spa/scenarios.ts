// The page of scenarios: what there is, the week, what ran, what failed; one scenario and one run.
import { html } from 'htm/preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useFocusInside } from './focus.ts';
import { glyph } from './glyphs.ts';
import { Bones } from './open.ts';
import { sheet as owner } from './owner.css';
import { sheet } from './scenarios.css';
import { Ask } from './scenarios-ask.ts';
import { Letters } from './scenarios-dead.ts';
import { hub, isHousehold, isManager, isOwner, type Known, say } from './scenarios-hub.ts';
import { List } from './scenarios-list.ts';
import { useLive } from './scenarios-live.ts';
import { One } from './scenarios-one.ts';
import { startsOf, useOrders } from './scenarios-orders.ts';
import type { Page, Tab, Trouble, View } from './scenarios-page.ts';
import { OneRun, Runs } from './scenarios-run.ts';
import { Teach } from './scenarios-teach.ts';
import { isOver } from './scenarios-told.ts';
import { Week } from './scenarios-week.ts';
import { useApp } from './store.ts';
import { errorText, t } from './text.ts';

function Tabs({ at, known, go }: { at: Tab; known: Known; go(to: Tab): void }) {
  const open = known.letters.filter((l) => l.replayed_by === null).length;
  const all: Tab[] = [
    'list',
    ...(isHousehold() ? ['week' as const] : []),
    'runs',
    ...(isManager() ? ['dead' as const] : []),
    ...(isOwner() ? ['teach' as const] : []),
  ];
  // On a phone not all of them are in sight.
  useEffect(() => {
    document.getElementById(`scenarios-${at}`)?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [at]);
  const onKeyDown = (e: KeyboardEvent & { currentTarget: HTMLElement }) => {
    const now = all.indexOf(at);
    const to = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: all.length - 1 }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    const next = (to + all.length) % all.length;
    go(all[next]!);
    (e.currentTarget.children[next] as HTMLElement).focus();
  };
  return html`<div class="v-tabs"><div role="tablist" aria-label=${t('scenarios')} onKeyDown=${onKeyDown}>${all.map(
    (
      tab,
    ) => html`<button key=${tab} type="button" role="tab" id=${`scenarios-${tab}`} aria-controls="scenarios-panel"
      aria-selected=${tab === at ? 'true' : 'false'} tabindex=${tab === at ? 0 : -1} onClick=${() => go(tab)}>${say(`tab_${tab}`)}${
        tab === 'dead' && open > 0 && html` <span class="tally">${open}</span>`
      }</button>`,
  )}</div></div>`;
}

function Told({ trouble }: { trouble: Trouble }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), [trouble]);
  return html`<div class="note bad" role="alert" ref=${box}>${glyph('info')}<div class="v-stack tight"><span>${trouble.text}</span>
    ${trouble.way && html`<div><button type="button" class="button second" onClick=${trouble.way.go}>${trouble.way.text}</button></div>`}</div></div>`;
}

/** Where the focus goes when a part of the page takes the place of another. */
function useWay(pressed: { current: string }) {
  const [way, setWay] = useState<{ views: View[]; from: string[]; back: string | null }>({
    ...{ views: [{ at: 'list' }], from: [], back: null },
  });
  const view = way.views.at(-1)!;
  const key = JSON.stringify(way.views);
  const first = useRef(true);
  useLayoutEffect(() => {
    if (first.current) first.current = false;
    else if (way.back !== null)
      (document.getElementById(way.back) ?? document.getElementById('scenarios-head'))?.focus();
    else if (way.views.length > 1) {
      const head = document.getElementById('scenarios-head');
      head?.closest('.body')?.scrollTo(0, 0);
      head?.focus();
    }
  }, [key]);
  return {
    view,
    /** The name of what one goes back to. */
    before: way.views.at(-2),
    go: (next: View) =>
      setWay(({ views, from }) =>
        ['one', 'run'].includes(next.at)
          ? {
              views: [...views, next],
              from: [...from, document.activeElement?.id || pressed.current],
              back: null,
            }
          : { views: [next], from: [], back: null },
      ),
    goBack: () =>
      setWay(({ views, from }) => ({
        ...{ views: views.slice(0, -1), from: from.slice(0, -1), back: from.at(-1) ?? '' },
      })),
  };
}

export function Scenarios() {
  const { link, role } = useApp();
  const [known, setKnown] = useState<Known | null>(null);
  const now = useRef<Known | null>(null);
  const box = useFocusInside();
  const isSoon = known?.runs.some((r) => !isOver(r)) ?? false;
  const ask = async () => {
    const [all] = await Promise.all([hub.known(), owner, sheet]);
    now.current = all;
    setKnown(all);
  };
  const { again, error } = useLive(`all ${role}`, ask, isSoon);
  const { order, busy, trouble, forget, pressed } = useOrders(again);
  const { view, before, go: goTo, goBack } = useWay(pressed);
  const away = link !== 'up';
  const offline =
    away &&
    html`<div class="note warn" role="status">${glyph('offline')}<span>${say('offline')}</span></div>`;

  if (!known)
    return html`<div class="v-stack" ref=${box}>${offline}${
      error && !away
        ? html`<${Told} trouble=${{ text: errorText(error.code), way: { text: t('retry'), go: () => void again() } }} />`
        : html`<${Bones} title=${t('scenarios')} />`
    }</div>`;

  const go = (next: View) => {
    forget();
    goTo(next);
  };
  const back = () => {
    forget();
    goBack();
  };
  const page: Page = {
    ...{ known, go, order },
    again: () => void again(),
    still: away || busy,
    ...startsOf({ order, go, again, known: () => now.current! }),
  };
  const isTab = view.at !== 'one' && view.at !== 'run';
  const backTo = before
    ? before.at === 'one' || before.at === 'run'
      ? say('back')
      : say(`tab_${before.at}`)
    : '';
  return html`<div class="v-stack manage scenarios" ref=${box}>
    ${offline}
    ${
      isTab
        ? html`<${Tabs} at=${view.at} known=${known} go=${(at: Tab) => go({ at })} />`
        : html`<div><button type="button" class="button quiet" onClick=${back}>${glyph('left')}${backTo}</button></div>`
    }
    ${trouble && html`<${Told} trouble=${trouble} />`}
    ${
      isTab
        ? html`<div role="tabpanel" id="scenarios-panel" class="v-stack" aria-labelledby=${`scenarios-${view.at}`} key=${view.at}>
          ${view.at === 'list' && html`<${Ask} page=${page} /><${List} page=${page} />`}
          ${view.at === 'week' && html`<${Week} page=${page} />`}
          ${view.at === 'runs' && html`<${Runs} page=${page} />`}
          ${view.at === 'dead' && html`<${Letters} page=${page} />`}
          ${view.at === 'teach' && html`<${Teach} page=${page} />`}
        </div>`
        : view.at === 'one'
          ? html`<${One} key=${view.id} id=${view.id} page=${page} />`
          : view.at === 'run' && html`<${OneRun} key=${view.id} id=${view.id} page=${page} />`
    }
  </div>`;
}
