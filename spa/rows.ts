// Tables with a life of their own. One whose rows are asked for page by page: put in order, searched, asked again; an
// answer that was overtaken counts for nothing. And one with so many rows that they are drawn in turns.
export { sheet } from './nodes.css';

import { html } from 'htm/preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { toIngleError } from '../firmware/protocol/errors.ts';
import { translator } from '../firmware/text/i18n.ts';
import { spaRowsTexts } from '../firmware/text/spa-rows.ts';
import type { Column, Lazy, Value } from '../firmware/ui/tree.ts';
import { evaluate, isLazy } from '../firmware/ui/value.ts';
import { type Asked, bounds, type Part, type Rows, say } from './drawing.ts';
import { app, useApp } from './store.ts';
import { rowOf, table, turnOf } from './table.ts';
import { t as common, errorText } from './text.ts';

/** Pages that are shown again at once, while they are asked for anew. */
const KEPT = 20;
/** From the last key, or change of a parameter, to the question, milliseconds. */
const WAIT = 300;
type Page = Awaited<ReturnType<Rows['page']>>;

const t = (key: keyof (typeof spaRowsTexts)['en'], values?: Record<string, string | number>) =>
  translator(spaRowsTexts, app().language)(key, values);

const isObject = (v: unknown): v is object => v !== null && typeof v === 'object' && !Array.isArray(v);

const Paged: Part<'table'> = ({ n, d, draw }) => {
  const lazy = n.rows as Lazy;
  const { link } = useApp();
  const [typed, type] = useState('');
  const [sort, setSort] = useState<Asked['sort']>();
  const [again, setAgain] = useState({ times: 0, params: undefined as unknown });
  const [answer, setAnswer] = useState<{ of: string; page: Page } | null>(null);
  const [error, setError] = useState<ReturnType<typeof toIngleError> | null>(null);
  const known = useRef(new Map<string, Page>());
  const last = useRef('');

  const own = lazy.params === undefined ? {} : evaluate(lazy.params, d.scope);
  const params = { ...(isObject(own) ? own : {}), ...(isObject(again.params) ? again.params : {}) };
  const { query, target, pageSize } = lazy;
  const search = typed.trim();
  // What may change with each key waits for the last one.
  const typing = JSON.stringify([params, search]);
  const about = JSON.stringify([query, target, typing, sort]);
  // What is asked for anew begins on its first page.
  const [at, setAt] = useState({ about, page: 0 });
  const page = at.about === about ? at.page : 0;
  const of = `${about} ${page}`;
  const { rows } = d;

  useEffect(() => {
    if (!rows) return;
    const stop = new AbortController();
    const soon = last.current === '' || last.current === typing;
    const ask = async () => {
      const asked = { query, params, page, pageSize, ...(target ? { target } : {}) };
      try {
        const got = await rows.page(
          { ...asked, ...(sort ? { sort } : {}), ...(search ? { search } : {}) },
          stop.signal,
        );
        if (stop.signal.aborted) return;
        known.current.delete(of);
        known.current.set(of, got);
        if (known.current.size > KEPT) known.current.delete(known.current.keys().next().value!);
        setAnswer({ of, page: got });
        setError(null);
      } catch (e) {
        if (!stop.signal.aborted) setError(toIngleError(e));
      }
    };
    const kept = known.current.get(of);
    if (kept) setAnswer({ of, page: kept });
    const timer = setTimeout(ask, soon ? 0 : WAIT);
    last.current = typing;
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [of, again.times, link === 'up']);

  useEffect(() => {
    if (!rows) return;
    const hear = (given: unknown) => setAgain(({ times }) => ({ times: times + 1, params: given }));
    const heard = rows.again.get(query) ?? new Set();
    rows.again.set(query, heard.add(hear));
    return () => void heard.delete(hear);
  }, [query]);

  if (!rows || error?.code === 'not_supported')
    return html`<div class="v-note">${common('not_supported', { type: query })}</div>`;
  const retry = () => setAgain((now) => ({ ...now, times: now.times + 1 }));
  const told =
    error &&
    html`<div class="v-note" role="status">${t('failed', { message: errorText(error.code) })} <button type="button" class="v-link" onClick=${retry}>${common('retry')}</button></div>`;
  if (!answer) return told || html`<div class="bone v-bone-chart" aria-busy="true"></div>`;

  const by = (c: Column) =>
    setSort((now) => {
      if (now?.key !== c.key) return { key: c.key, descending: false };
      return now.descending ? undefined : { key: c.key, descending: true };
    });
  const head = (c: Column) => {
    const now = sort?.key === c.key ? (sort.descending ? 'descending' : 'ascending') : 'none';
    return html`<th scope="col" aria-sort=${now}><button type="button" class="v-sort" onClick=${() => by(c)}>${say(c.label, d)}</button></th>`;
  };
  const go = (to: number) => setAt({ about, page: to });
  const { total } = answer.page;
  const got = answer.page.rows.slice(0, pageSize);
  const first = page * pageSize;
  const searched = n.search && {
    value: typed,
    onInput: (e: Event & { currentTarget: HTMLInputElement }) => type(e.currentTarget.value),
  };
  // The rows are data and never read as values: they lie in the scope, where a path finds them.
  const here: Value = { path: ['row', 'rows'] };
  const drawn =
    got.length === 0 && search
      ? html`<div class="v-empty">${t('none_found')}</div>`
      : draw(
          {
            is: 'table',
            columns: n.columns,
            rows: here,
            ...(n.title === undefined ? {} : { title: n.title }),
          },
          {
            ...d,
            head,
            // It is drawn again by itself.
            left: { parts: bounds.parts },
            scope: { ...d.scope, row: { rows: got }, budget: { steps: bounds.steps } },
          },
        );
  return html`<div class="v-stack" aria-busy=${answer.of === of ? undefined : 'true'}>
    ${searched && html`<input class="input" type="search" maxlength="200" aria-label=${`${t('search')} ${say(n.title, d)}`.trim()} placeholder=${t('search')} ...${searched} />`}
    ${told}
    ${drawn}
    ${
      (total > pageSize || page > 0) &&
      html`<div class="v-row between"><button type="button" class="button second" disabled=${page === 0} onClick=${() => go(page - 1)}>${t('previous')}</button>
        <span role="status">${t('range', { from: Math.min(first + 1, total), to: Math.min(first + got.length, total), total })}</span>
        <button type="button" class="button second" disabled=${first + pageSize >= total} onClick=${() => go(page + 1)}>${t('next')}</button></div>`
    }
  </div>`;
};

/** Rows of one table. */
const ROWS = 1000;

/** The rows of a long table, turn by turn; those that are drawn are kept until the drawing is another one. */
const Turns: Part<'table'> = ({ n, d, draw }) => {
  const turn = turnOf(n);
  // The first is half as long, as its columns have no widths yet and the rest of the page comes with it.
  const [to, more] = useState(Math.ceil(turn / 2));
  const kept = useMemo(() => {
    const { head: _, ...own } = d;
    return { own, body: [] as unknown[] };
  }, [d]);
  const { own, body } = kept;
  const rows = evaluate(n.rows as Value, d.scope) as unknown[];
  while (body.length < Math.min(rows.length, to, ROWS)) {
    const row = rowOf(n, own, draw, 0, rows[body.length], body.length);
    if (!row) break;
    body.push(row);
  }
  const box = useRef<HTMLDivElement>(null);
  const [widths, keep] = useState<number[] | null>(null);
  useEffect(() => {
    if (body.length < to) return;
    setTimeout(() => {
      if (!widths) {
        // Its own, and not those of tables in its cells; where nobody sees them they have no widths.
        const heads = [...(box.current?.querySelector('thead')?.querySelectorAll('th') ?? [])];
        const wide = heads.map((th) => th.getBoundingClientRect().width);
        if (wide.every((w) => w > 0)) keep(wide);
      }
      more(to + turn);
    });
  }, [to, body.length]);
  return table(n, d, draw, 0, { rows: [...body], box, widths });
};

/** A table that is more than what one turn draws of its state. */
export const Many: Part<'table'> = (p) => html`<${isLazy(p.n.rows) ? Paged : Turns} ...${p} />`;
