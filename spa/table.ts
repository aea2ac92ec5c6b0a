// A table of rows; columns can be put in order where its drawing says how.
import { html } from 'htm/preact';
import type { Column, Node, Value } from '../firmware/ui/tree.ts';
import { evaluate } from '../firmware/ui/value.ts';
import { type Drawing, inRow, type Of, say, words } from './drawing.ts';
import { t } from './text.ts';

/** Rows that are drawn at once; more of them would hold the page up, and come in turns (rows.ts). Wide ones are fewer. */
export const turnOf = (n: Of<'table'>) => Math.min(500, Math.ceil(1000 / Math.max(1, n.columns.length)));

type Draw = (n: Node, d: Drawing, depth: number) => unknown;

/** One row; null where the drawing is full. */
export function rowOf(n: Of<'table'>, d: Drawing, draw: Draw, depth: number, row: unknown, i: number) {
  d.left.parts -= n.columns.length;
  if (d.left.parts < 0) return null;
  const of = inRow(d, row, i);
  return html`<tr>${n.columns.map((c) => {
    if (c.cell) return html`<td>${draw(c.cell, of, depth + 1)}</td>`;
    const value = evaluate({ path: ['row', c.key] }, of.scope);
    return html`<td class=${typeof value === 'number' ? 'n' : ''}>${words(value, d)}</td>`;
  })}</tr>`;
}

/** What comes in turns: the rows so far, and from the second turn on how wide columns are, CSS pixels. */
export interface SoFar {
  rows: unknown[];
  box: { current: HTMLDivElement | null };
  widths: number[] | null;
}

/** Columns that keep their widths: rows that come later shift nothing, and those that are there are not laid out anew. */
function steady(widths: number[]) {
  const all = widths.reduce((sum, w) => sum + w, 0);
  return {
    style: { tableLayout: 'fixed', minWidth: `${all}px` },
    columns: html`<colgroup>${widths.map((w) => html`<col style=${{ width: `${(100 * w) / all}%` }} />`)}</colgroup>`,
  };
}

/**
 * @param soFar where there are more rows than one turn takes
 * @returns null where `soFar` is needed and was not given
 */
export function table(n: Of<'table'>, given: Drawing, draw: Draw, depth: number, soFar?: SoFar) {
  // Tables in its cells are not put in order by this one's.
  const { head, ...d } = given;
  const rows = evaluate(n.rows as Value, d.scope);
  if (!Array.isArray(rows) || !rows.length) return html`<div class="v-empty">${t('no_rows')}</div>`;
  if (!soFar && rows.length > turnOf(n)) return null;
  const label = say(n.title, d) || n.columns.map((c) => say(c.label, d)).join(', ');
  const headOf = (c: Column) => (c.sort && head?.(c)) || html`<th scope="col">${say(c.label, d)}</th>`;
  const kept = soFar?.widths?.length === n.columns.length && steady(soFar.widths);
  return html`<div class="v-table" tabindex="0" role="region" aria-label=${label} ref=${soFar?.box}>
    <table style=${kept ? kept.style : undefined}>
      ${kept && kept.columns}
      <thead><tr>${n.columns.map(headOf)}</tr></thead>
      <tbody>${soFar?.rows ?? rows.map((row, i) => rowOf(n, d, draw, depth, row, i))}</tbody>
    </table>
  </div>`;
}
