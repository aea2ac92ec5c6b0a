// A table of rows; columns can be put in order where its drawing says how.
import { html } from 'htm/preact';
import type { Column, Node, Value } from '../firmware/ui/tree.ts';
import { evaluate } from '../firmware/ui/value.ts';
import { type Drawing, inRow, type Of, say, words } from './drawing.ts';
import { t } from './text.ts';

const ROWS = 1000;

export function table(
  n: Of<'table'>,
  given: Drawing,
  draw: (n: Node, d: Drawing, depth: number) => unknown,
  depth: number,
) {
  // Tables in its cells are not put in order by this one's.
  const { order, ...d } = given;
  const rows = evaluate(n.rows as Value, d.scope);
  if (!Array.isArray(rows) || rows.length === 0) return html`<div class="v-empty">${t('no_rows')}</div>`;
  const label = say(n.title, d) || n.columns.map((c) => say(c.label, d)).join(', ');
  const body: unknown[] = [];
  for (const [i, row] of rows.slice(0, ROWS).entries()) {
    d.left.parts -= n.columns.length;
    if (d.left.parts < 0) break;
    const of = inRow(d, row, i);
    body.push(
      html`<tr>${n.columns.map((c) => {
        if (c.cell) return html`<td>${draw(c.cell, of, depth + 1)}</td>`;
        const value = evaluate({ path: ['row', c.key] }, of.scope);
        return html`<td class=${typeof value === 'number' ? 'n' : ''}>${words(value, d)}</td>`;
      })}</tr>`,
    );
  }
  const head = (c: Column) => {
    if (!order || !c.sort) return html`<th scope="col">${say(c.label, d)}</th>`;
    const now = order.now?.key === c.key ? (order.now.descending ? 'descending' : 'ascending') : undefined;
    return html`<th scope="col" aria-sort=${now ?? 'none'}><button type="button" class="v-sort" onClick=${() => order.by(c)}>${say(c.label, d)}</button></th>`;
  };
  return html`<div class="v-table" tabindex="0" role="region" aria-label=${label}>
    <table>
      <thead><tr>${n.columns.map(head)}</tr></thead>
      <tbody>${body}</tbody>
    </table>
  </div>`;
}
