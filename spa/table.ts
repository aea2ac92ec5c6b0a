// A table of rows; columns can be put in order where its drawing says how.
import { html } from 'htm/preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Column, Node, Value } from '../firmware/ui/tree.ts';
import { evaluate } from '../firmware/ui/value.ts';
import { type Drawing, inRow, type Of, say, words } from './drawing.ts';
import { t } from './text.ts';

const ROWS = 1000;
/** Rows that are drawn in one turn, as many would hold the page up. */
const TURN = 200;

interface Rowed {
  n: Of<'table'>;
  d: Drawing;
  draw: (n: Node, d: Drawing, depth: number) => unknown;
  depth: number;
  rows: unknown[];
}

/** The rows, turn by turn; those that are drawn are kept until the drawing is another one. */
function Rows({ n, d, draw, depth, rows }: Rowed) {
  const [to, more] = useState(TURN);
  const body = useMemo((): unknown[] => [], [d]);
  while (body.length < Math.min(rows.length, to, ROWS)) {
    d.left.parts -= n.columns.length;
    if (d.left.parts < 0) break;
    const of = inRow(d, rows[body.length], body.length);
    body.push(
      html`<tr>${n.columns.map((c) => {
        if (c.cell) return html`<td>${draw(c.cell, of, depth)}</td>`;
        const value = evaluate({ path: ['row', c.key] }, of.scope);
        return html`<td class=${typeof value === 'number' ? 'n' : ''}>${words(value, d)}</td>`;
      })}</tr>`,
    );
  }
  useEffect(() => {
    if (body.length === to) setTimeout(more, 0, to + TURN);
  }, [to, body.length]);
  return [...body];
}

export function table(n: Of<'table'>, given: Drawing, draw: Rowed['draw'], depth: number) {
  // Tables in its cells are not put in order by this one's.
  const { order, ...d } = given;
  const rows = evaluate(n.rows as Value, d.scope);
  if (!Array.isArray(rows) || rows.length === 0) return html`<div class="v-empty">${t('no_rows')}</div>`;
  const label = say(n.title, d) || n.columns.map((c) => say(c.label, d)).join(', ');
  const head = (c: Column) => {
    if (!order || !c.sort) return html`<th scope="col">${say(c.label, d)}</th>`;
    const now = order.now?.key === c.key ? (order.now.descending ? 'descending' : 'ascending') : undefined;
    return html`<th scope="col" aria-sort=${now ?? 'none'}><button type="button" class="v-sort" onClick=${() => order.by(c)}>${say(c.label, d)}</button></th>`;
  };
  return html`<div class="v-table" tabindex="0" role="region" aria-label=${label}>
    <table>
      <thead><tr>${n.columns.map(head)}</tr></thead>
      <tbody><${Rows} n=${n} d=${d} draw=${draw} depth=${depth + 1} rows=${rows} /></tbody>
    </table>
  </div>`;
}
