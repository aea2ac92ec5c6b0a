// A tree that needs more than a column of nodes: its slots, its queries, and what is not here fitted away.
export { sheet } from './nodes.css';

import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { treeText } from '../firmware/text/tree.ts';
import { fit, insteadOfVega } from '../firmware/ui/fit.ts';
import { heightOf } from '../firmware/ui/frame.ts';
import type { Capability, Node, Tree } from '../firmware/ui/tree.ts';
import { holds } from '../firmware/ui/value.ts';
import { bounds, type Drawing, type Of, type Part, say } from './drawing.ts';
import { keepInside } from './focus.ts';
import { glyph } from './glyphs.ts';
import { useApp } from './store.ts';
import { shown, t } from './text.ts';
import { vegaHeight } from './vega-height.ts';

type Draw = (n: Node, d: Drawing) => unknown;
type Query = NonNullable<Drawing['scope']['query']>;

const always: readonly Capability[] = ['chart', 'input', 'lazy', 'modal', 'tabs', 'toast', 'vega'];
/** An aside is a column from this width of the screen on, pixels. */
const WIDE = 640;
/** A toast goes by itself, milliseconds. */
const TOAST = 8000;
/** Looks at data that all queries of one drawing may take. */
const LOOKS = 100_000;

/** Queries of one drawing; null while their library is on its way. */
function useQueries(needed: boolean): (() => Query) | 'missing' | null {
  const [library, setLibrary] = useState<typeof import('../firmware/ui/query.ts') | 'missing' | null>(null);
  useEffect(() => {
    if (needed && library === null)
      import('../firmware/ui/query.ts').then(setLibrary, () => setLibrary('missing'));
  }, [needed]);
  if (library === null || library === 'missing') return library;
  return () => {
    const left = { looks: LOOKS };
    return (text, data) => library.runQuery(text, data, left);
  };
}

/**
 * What comes with the first of its kind; a bone of its height stands there until then, and what is said instead of it
 * where it cannot be loaded, which is tried again once the hub is reached.
 */
function withFirst<K extends 'frame' | 'vega'>(
  load: () => Promise<Part<K>>,
  height: (n: Of<K>) => number,
  instead: (n: Of<K>) => Node | undefined,
): Part<K> {
  let here: Part<K> | undefined;
  return (o) => {
    const { link } = useApp();
    const [came, come] = useState<boolean | null>(here ? true : null);
    useEffect(() => {
      if (!here)
        load().then(
          (part) => {
            here = part;
            come(true);
          },
          () => come(false),
        );
    }, [link === 'up']);
    if (here) return html`<${here} ...${o} />`;
    const other = came === false && instead(o.n);
    if (came === false) return html`<div class="v-stack">${other && o.draw(other, o.d)}</div>`;
    return html`<div class="bone" aria-busy="true" style=${{ height: `${height(o.n)}px`, minHeight: 0 }}></div>`;
  };
}
/** A skill's own page. */
const Frame = withFirst<'frame'>(
  () => import('./framed.ts').then((m) => m.Framed),
  heightOf,
  (n) => n.instead,
);
const Vega = withFirst<'vega'>(
  () => import('./vega.ts').then((m) => m.loadVega()),
  vegaHeight,
  insteadOfVega,
);

export function Beyond({ tree, drawing, draw }: { tree: Tree; drawing: Drawing; draw: Draw }) {
  const box = useRef<HTMLDivElement>(null);
  const [wide, setWide] = useState(false);
  useLayoutEffect(() => {
    const look = () => box.current && setWide(box.current.clientWidth >= WIDE);
    // Not within the observer's own turn, where a change of size counts as a fault.
    const watch = new ResizeObserver(() => setTimeout(look));
    watch.observe(box.current!);
    look();
    return () => watch.disconnect();
  }, []);
  const needed = tree.needs.includes('jsonpath');
  const queries = useQueries(needed);
  const has = [...always, ...(wide ? ['aside' as const] : [])];
  if (drawing.skill) has.push('frame');
  if (typeof queries === 'function') has.push('jsonpath');
  const waits = needed && queries === null;
  const fitted = useMemo(() => fit(tree, has), [tree, has.join()]);
  // It is drawn again by itself, so each drawing has bounds of its own.
  const d: Drawing = {
    ...drawing,
    left: { parts: bounds.parts },
    more: new Map<string, (n: never, d: Drawing) => unknown>([
      ['frame', (n: Of<'frame'>, of: Drawing) => html`<${Frame} n=${n} d=${of} draw=${draw} />`],
      ['vega', (n: Of<'vega'>, of: Drawing) => html`<${Vega} n=${n} d=${of} draw=${draw} />`],
    ]),
    scope: {
      ...drawing.scope,
      budget: { steps: bounds.steps },
      ...(typeof queries === 'function' ? { query: queries() } : {}),
    },
  };
  const all = (nodes: readonly Node[] = []) => nodes.map((n) => draw(n, d));
  // What a condition hides until its query has come is not shown meanwhile.
  if (waits) return html`<div ref=${box} class="bone v-bone-chart" aria-busy="true"></div>`;
  const { header = [], main, aside, modal, toast } = fitted;
  return html`<div ref=${box} class="v-stack">
    ${all(header)}
    ${aside ? html`<div class="v-columns"><div class="v-stack">${all(main)}</div><aside class="v-stack" aria-label=${shown(treeText('aside'))}>${all(aside)}</aside></div>` : all(main)}
    ${modal && html`<${Modal} key="modal" label=${say(tree.title, d) || shown(treeText('dialog'))} stamp=${stampOf(modal, d)}>${all(modal)}<//>`}
    ${toast && html`<${Toast} key="toast">${all(toast)}<//>`}
  </div>`;
}

/** Which of the nodes are shown now; empty for none. */
const stampOf = (nodes: readonly Node[], d: Drawing): string =>
  nodes.flatMap((n, i) => (holds(n.when, d.scope) ? [i] : [])).join();

/**
 * A dialog over the window, open while it has something to show. Once it was closed it opens again when something else is
 * shown in it, or by its button.
 */
function Modal({ stamp, label, children }: { stamp: string; label: string; children: ComponentChildren }) {
  const [closed, setClosed] = useState('');
  const dialog = useRef<HTMLDialogElement>(null);
  const open = stamp !== '' && closed !== stamp;
  // What is gone and comes again is new.
  useLayoutEffect(() => {
    if (stamp === '') setClosed('');
  }, [stamp]);
  useLayoutEffect(() => {
    const it = dialog.current;
    if (!open || !it) return;
    it.showModal();
    // Closing gives the focus back to where it was.
    return () => it.close();
  }, [open]);
  const close = () => setClosed(stamp);
  const onKeyDown = (e: KeyboardEvent) => {
    // The window below has its own say on these keys.
    e.stopPropagation();
    if (e.key === 'Tab') keepInside(e, dialog.current!);
    if (e.key !== 'Escape') return;
    e.preventDefault();
    close();
  };
  const onCancel = (e: Event) => {
    e.preventDefault();
    close();
  };
  // It stays in the page while it is closed, as only then it can give the focus back.
  return html`<dialog class="v-modal" aria-label=${label} ref=${dialog} onKeyDown=${onKeyDown} onCancel=${onCancel}>
      ${open && html`<button type="button" class="icon-button" aria-label=${t('close')} onClick=${close}>${glyph('close')}</button><div class="v-stack">${children}</div>`}
    </dialog>
    ${!open && stamp !== '' && html`<button type="button" class="button second" onClick=${() => setClosed('')}>${shown(treeText('open'))}</button>`}`;
}

/** Words at the foot of the window: said when they change, gone after a while, unless they are being used. */
function Toast({ children }: { children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  const said = useRef('');
  const [hidden, hide] = useState(true);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const wait = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      if (box.current?.matches(':hover, :focus-within')) wait();
      else hide(true);
    }, TOAST);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  useLayoutEffect(() => {
    const text = box.current!.textContent ?? '';
    if (text === said.current) return;
    said.current = text;
    hide(text === '');
    wait();
  });
  return html`<div role="status" class="v-foot"><div class="v-toast" hidden=${hidden}>
    <div class="v-stack" ref=${box}>${children}</div>
    <button type="button" class="icon-button" aria-label=${t('close')} onClick=${() => hide(true)}>${glyph('close')}</button>
  </div></div>`;
}
