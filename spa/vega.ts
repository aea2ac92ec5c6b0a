// A chart in Vega-Lite: checked once more, and drawn by a worker (vega-worker.ts). What it draws goes into the drawing that
// stands.
import { html } from 'htm/preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { inLanguage, translator } from '../firmware/text/i18n.ts';
import { spaChartTexts } from '../firmware/text/spa-chart.ts';
import { spaVegaTexts } from '../firmware/text/spa-vega.ts';
import { insteadOfVega, tableOfVega } from '../firmware/ui/fit.ts';
import { evaluate } from '../firmware/ui/value.ts';
import { safeRow, safeSpec, withTypes } from '../firmware/ui/vega.ts';
import { type Part, say } from './drawing.ts';
import { app, useApp } from './store.ts';
import { drawingHeight } from './vega-height.ts';
import { configFor } from './vega-look.ts';
import { patcher } from './vega-patch.ts';
import { type Order, openThread } from './vega-thread.ts';
import type { TrustedTypes } from './worker.ts';

/** Where the worker lies; the build puts it in. */
declare const INGLE_VEGA_WORKER: string;

const t = (key: keyof (typeof spaVegaTexts)['en'], values?: Record<string, string | number>) =>
  translator(spaVegaTexts, app().language)(key, values);

let address: string | undefined;
const thread = openThread(() => {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  address ??=
    trustedTypes
      ?.createPolicy('ingle-vega', { createScriptURL: () => INGLE_VEGA_WORKER })
      .createScriptURL('') ?? INGLE_VEGA_WORKER;
  return new Worker(address);
});

/** Texts in several languages in the reader's. */
function worded(v: unknown): unknown {
  if (Array.isArray(v)) return v.map(worded);
  if (v === null || typeof v !== 'object') return v;
  if (Object.hasOwn(v, 'i18n')) return inLanguage(v, app().language) ?? '';
  return Object.fromEntries(Object.entries(v).map(([k, one]) => [k, worded(one)]));
}

/** Draws into a box what was ordered last, one drawing after the other. */
function drawer(box: HTMLElement) {
  let wanted: { order: Order; fault: () => void } | undefined;
  let isGone = false;
  let isDrawing = false;
  const patch = patcher(box);
  const release = thread.hold();
  const gone = () => isGone;
  async function draw(): Promise<void> {
    isDrawing = true;
    box.setAttribute('aria-busy', 'true');
    while (wanted && !isGone) {
      const { order, fault } = wanted;
      wanted = undefined;
      try {
        await patch((await thread.drawn(order, gone)) ?? [], gone);
      } catch {
        if (!isGone) fault();
      }
    }
    isDrawing = false;
    box.removeAttribute('aria-busy');
  }
  return {
    order(order: Order, fault: () => void): void {
      wanted = { order, fault };
      if (!isDrawing) void draw();
    },
    close(): void {
      isGone = true;
      release();
    },
  };
}

/** Counts changes of how the page looks. */
function useLook(): number {
  const [look, draw] = useState(0);
  useEffect(() => {
    const changed = () => draw((n) => n + 1);
    const queries = ['(prefers-color-scheme: dark)', '(prefers-contrast: more)'].map((q) => matchMedia(q));
    addEventListener('look', changed);
    for (const q of queries) q.addEventListener('change', changed);
    return () => {
      removeEventListener('look', changed);
      for (const q of queries) q.removeEventListener('change', changed);
    };
  }, []);
  return look;
}

const listed = (v: unknown): readonly unknown[] => (Array.isArray(v) ? v : []);

const VegaOf: Part<'vega'> = ({ n, d, draw }) => {
  const { language } = useApp();
  const look = useLook();
  const box = useRef<HTMLDivElement>(null);
  const [isOpen, open] = useState(false);
  // A tree that came again is another object and the same drawing.
  const safe = useMemo(() => safeSpec(n.spec), [JSON.stringify(n.spec)]);
  const [broken, setBroken] = useState<unknown>(null);
  const isSafe = 'spec' in safe;
  const isDrawn = isSafe && broken !== safe;
  const own = isSafe ? (safe.spec['data'] as { values?: unknown } | undefined)?.values : undefined;
  const all = n.data === undefined ? listed(own) : listed(evaluate(n.data, d.scope));
  const rows = isSafe ? all.slice(0, safe.rows).map((row) => worded(safeRow(row))) : [];
  const told = JSON.stringify(rows);
  const spec = isSafe ? { ...withTypes(safe.spec, rows), data: null } : {};
  const stamp = JSON.stringify(spec);
  const height = drawingHeight(n);

  const into = useRef<ReturnType<typeof drawer>>(undefined);
  const order = () => {
    const width = box.current?.clientWidth ?? 0;
    const config = configFor(width);
    into.current?.order(
      {
        ...{ spec: worded(spec) as Record<string, unknown>, rows: told, config },
        ...{ width: Math.max(80, width), height, language },
      },
      () => setBroken(safe),
    );
    return width;
  };
  const latest = useRef(order);
  latest.current = order;
  useEffect(() => {
    const it = box.current;
    if (!it || !isDrawn) return;
    into.current = drawer(it);
    let width = it.clientWidth;
    const fit = () => {
      if (it.clientWidth !== width && it.clientWidth !== 0) width = latest.current();
    };
    // Not within the observer's own turn, where a change of size counts as a fault.
    const watch = new ResizeObserver(() => setTimeout(fit));
    watch.observe(it);
    return () => {
      watch.disconnect();
      into.current?.close();
      into.current = undefined;
    };
  }, [isDrawn]);
  useEffect(() => void order(), [isDrawn, stamp, told, height, language, look]);

  if (!isDrawn) return html`<div class="v-stack">${draw(insteadOfVega(n), d)}</div>`;
  const table = tableOfVega({ ...n, spec: safe.spec });
  const names = table.is === 'table' ? table.columns.map((c) => say(c.label, d)).join(', ') : '';
  const label = say(n.title, d) || t('of', { names });
  const style = { height: `${height}px` };
  return html`<figure class="v-vega">
    <div role="img" aria-label=${label} style=${style}><div ref=${box} aria-hidden="true"></div></div>
    <div class="v-chart"><details onToggle=${(e: Event & { currentTarget: HTMLDetailsElement }) => open(e.currentTarget.open)}>
      <summary>${translator(spaChartTexts, language)('chart_table')}${rows.length < all.length && html` <span class="soft">${t('some', { rows: rows.length, total: all.length })}</span>`}</summary>
      ${isOpen && draw(table, d)}
    </details></div>
  </figure>`;
};

/** @throws where what draws it cannot be loaded */
export const loadVega = (): Promise<Part<'vega'>> => thread.ready().then(() => VegaOf);
