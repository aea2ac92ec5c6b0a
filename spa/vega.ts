// A chart in Vega-Lite: checked once more, drawn without `eval` by an interpreter, loading nothing. New data goes into the
// drawing that stands; another width, look or language draws it anew.
import { html } from 'htm/preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { parse, View } from 'vega';
import { expressionInterpreter } from 'vega-interpreter';
import { compile, type TopLevelSpec } from 'vega-lite';
import { inLanguage, translator } from '../firmware/text/i18n.ts';
import { spaChartTexts } from '../firmware/text/spa-chart.ts';
import { spaVegaTexts } from '../firmware/text/spa-vega.ts';
import { insteadOfVega, tableOfVega } from '../firmware/ui/fit.ts';
import { evaluate } from '../firmware/ui/value.ts';
import { safeRow, safeSpec, safeText, withTypes } from '../firmware/ui/vega.ts';
import { type Part, say } from './drawing.ts';
import { app, useApp } from './store.ts';
import { drawingHeight } from './vega-height.ts';
import { configFor, inHours, localeOf } from './vega-look.ts';

const t = (key: keyof (typeof spaVegaTexts)['en'], values?: Record<string, string | number>) =>
  translator(spaVegaTexts, app().language)(key, values);

/** The name of its data among those of the drawing. */
const ROWS = 'ingle_rows';

/** Nothing is loaded, whatever asks. */
const nowhere = () => Promise.reject(new Error('A chart loads nothing.'));
const loader = { options: {}, load: nowhere, sanitize: nowhere, http: nowhere, file: nowhere };

/** What is worked out of data is data as well. */
const interpreter = {
  ...expressionInterpreter,
  parameter(...of: Parameters<typeof expressionInterpreter.parameter>) {
    const worked = expressionInterpreter.parameter(...of);
    return (...given: Parameters<typeof worked>) => safeText(worked(...given));
  },
};

/** Faults of a drawing that is under way. */
const logger = (fault: () => void) => {
  const it = {
    level: () => it,
    ...{ warn: () => it, info: () => it, debug: () => it },
    error: () => {
      fault();
      return it;
    },
  };
  return it as never;
};

/** Texts in several languages in the reader's. */
function worded(v: unknown): unknown {
  if (Array.isArray(v)) return v.map(worded);
  if (v === null || typeof v !== 'object') return v;
  if (Object.hasOwn(v, 'i18n')) return inLanguage(v, app().language) ?? '';
  return Object.fromEntries(Object.entries(v).map(([k, one]) => [k, worded(one)]));
}

/** Settles in a turn of its own: each of the steps of a drawing may take a tenth of a second on a phone. */
const turn = () => new Promise<void>((done) => setTimeout(done));

/**
 * Reads a specification, step by step, and goes no further once `isGone`.
 * @throws what Vega-Lite says of a specification that is none
 */
async function drawing(
  spec: Record<string, unknown>,
  o: { box: HTMLElement; height: number; fault: () => void; isGone: () => boolean },
): Promise<View | undefined> {
  const { language } = app();
  const whole = {
    ...(worded(spec) as Record<string, unknown>),
    width: Math.max(80, o.box.clientWidth),
    height: o.height,
    autosize: { type: 'fit', contains: 'padding' },
    data: { name: ROWS },
  } as unknown as TopLevelSpec;
  const log = logger(o.fault);
  const compiled = compile(whole, { config: configFor(o.box.clientWidth), logger: log }).spec;
  await turn();
  if (o.isGone()) return;
  const view = new View(parse(compiled, undefined, { ast: true }), {
    ...{ expr: interpreter, renderer: 'svg', loader, logger: log, locale: localeOf(language) },
    // Nothing in a chart answers to a wheel or a finger.
    ...{ hover: false, tooltip: () => {} },
  } as never);
  const own = view as unknown as { locale(to?: unknown): never };
  own.locale(inHours(own.locale(), language));
  await turn();
  return o.isGone() ? undefined : view.initialize(o.box);
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

export const VegaOf: Part<'vega'> = ({ n, d, draw }) => {
  const { language } = useApp();
  const look = useLook();
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<View>(undefined);
  const [isOpen, open] = useState(false);
  // A tree that came again is another object and the same drawing.
  const safe = useMemo(() => safeSpec(n.spec), [JSON.stringify(n.spec)]);
  const [broken, setBroken] = useState<unknown>(null);
  const isSafe = 'spec' in safe;
  const own = isSafe ? (safe.spec['data'] as { values?: unknown } | undefined)?.values : undefined;
  const all = n.data === undefined ? listed(own) : listed(evaluate(n.data, d.scope));
  const rows = isSafe ? all.slice(0, safe.rows).map((row) => worded(safeRow(row))) : [];
  const told = JSON.stringify(rows);
  const spec = isSafe ? withTypes(safe.spec, rows) : {};
  const stamp = JSON.stringify({ ...spec, data: null });
  const drawn = useRef('');
  // A drawing that is read in turns takes what there is by then.
  const latest = useRef({ rows, told });
  latest.current = { rows, told };
  const height = drawingHeight(n);

  useEffect(() => {
    const it = box.current;
    if (!it || !isSafe) return;
    let isGone = false;
    const fault = () => isGone || setBroken(safe);
    const run = () => view.current?.runAsync().catch(fault);
    drawing(spec, { box: it, height, fault, isGone: () => isGone })
      .then((ready) => {
        if (!ready) return;
        view.current = ready.data(ROWS, [...latest.current.rows]);
        drawn.current = latest.current.told;
        run();
        fit();
      })
      .catch(fault);
    let width = it.clientWidth;
    const fit = () => {
      if (!view.current || it.clientWidth === width || it.clientWidth === 0) return;
      width = it.clientWidth;
      view.current.width(Math.max(80, width));
      run();
    };
    // Not within the observer's own turn, where a change of size counts as a fault.
    const watch = new ResizeObserver(() => setTimeout(fit));
    watch.observe(it);
    return () => {
      isGone = true;
      watch.disconnect();
      view.current?.finalize();
      // What it drew stays to be seen until the next drawing takes its place.
      view.current = undefined;
    };
  }, [stamp, height, language, look]);
  useEffect(() => {
    if (!view.current || drawn.current === told) return;
    drawn.current = told;
    view.current
      .data(ROWS, rows)
      .runAsync()
      .catch(() => setBroken(safe));
  }, [told]);

  if (!isSafe || broken === safe) return html`<div class="v-stack">${draw(insteadOfVega(n), d)}</div>`;
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
