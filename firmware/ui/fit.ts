// A tree fitted to what its renderer has: a chart becomes a table, an aside a tab, a frame what the skill says instead.
// What has no lesser form is marked in its place. Pure; fitting twice changes nothing.
import { treeText } from '../text/tree.ts';
import { finished, needsOf } from './needs.ts';
import type { Capability, Column, Field, Node, Tree, Value } from './tree.ts';

type Of<K extends Node['is']> = Extract<Node, { is: K }>;
type Has = (c: Capability) => boolean;

const lacking = (need: Capability): Node => ({
  is: 'note',
  code: 'not_supported',
  says: `needs "${need}", which is not here`,
  pointer: '',
});

/** The values of a chart, a column each; an x that is the same for all stands once. */
function tableOf(n: Of<'chart'>): Node {
  const columns: Column[] = [];
  const zip: Record<string, Value> = {};
  const add = (key: string, label: Value, values: Value) => {
    columns.push({ key, label });
    zip[key] = values;
  };
  let last = '';
  for (const [i, s] of n.series.entries()) {
    const x = s.x === undefined ? '' : JSON.stringify(s.x);
    if (s.x !== undefined && x !== last) add(`x${i}`, '', s.x);
    last = x;
    add(`y${i}`, s.label, s.y);
  }
  return { is: 'table', ...(n.title === undefined ? {} : { title: n.title }), columns, rows: { zip } };
}

/** Columns of the table that stands for a Vega-Lite chart. */
const COLUMNS = 50;

/** The fields that a Vega-Lite chart draws, in all its layers. */
function fieldsOf(chart: object, fields = new Set<string>(), depth = 0): Set<string> {
  const { encoding, layer } = chart as { encoding?: unknown; layer?: unknown };
  for (const channel of Object.values(Object(encoding) as object)) {
    const field = Object(channel)['field'] as unknown;
    if (typeof field === 'string' && field.length <= 200 && fields.size < COLUMNS) fields.add(field);
  }
  if (Array.isArray(layer) && depth < 2)
    for (const one of layer.slice(0, COLUMNS)) fieldsOf(Object(one) as object, fields, depth + 1);
  return fields;
}

/** Rows that stand in the specification itself. */
function ownRows(chart: Of<'vega'>['spec'], fields: readonly string[]): Value | undefined {
  const values = Object(chart['data'])['values'] as unknown;
  if (!Array.isArray(values)) return undefined;
  const cell = (row: unknown, field: string): [string, Value][] => {
    const v = Object.hasOwn(Object(row) as object, field) ? (Object(row)[field] as unknown) : undefined;
    return typeof v === 'string' || typeof v === 'number' || typeof v === 'boolean' ? [[field, v]] : [];
  };
  const rows = values.slice(0, 1000);
  return { array: rows.map((row) => ({ object: Object.fromEntries(fields.flatMap((f) => cell(row, f))) })) };
}

/** The rows behind a Vega-Lite chart, in the fields it draws. */
export function tableOfVega(n: Of<'vega'>): Node {
  const fields = [...fieldsOf(n.spec)];
  const rows = n.data ?? ownRows(n.spec, fields);
  if (rows === undefined || fields.length === 0) return lacking('vega');
  const columns = fields.map((key) => ({ key, label: key }));
  return { is: 'table', ...(n.title === undefined ? {} : { title: n.title }), columns, rows };
}

/** What stands where a Vega-Lite chart is not drawn: a plain chart, or a table. */
export const insteadOfVega = (n: Of<'vega'>): Node => n.instead ?? tableOfVega(n);

/** What a field would begin with, for who cannot change it. */
const shownField = (f: Field): Node[] =>
  f.input === 'secret' || f.value === undefined ? [] : [{ is: 'metric', label: f.label, value: f.value }];

function fitted(n: Node, has: Has): Node {
  const keep = { ...(n.id === undefined ? {} : { id: n.id }), ...(n.when ? { when: n.when } : {}) };
  const as = (other: Node): Node => ({ ...other, ...keep });
  const all = (nodes: readonly Node[]) => nodes.map((c) => fitted(c, has));
  const lacks = needsOf(n).find((c) => !has(c));
  // What its condition asks can be as unknown as what it shows.
  if (lacks === 'jsonpath') return lacking(lacks);
  switch (n.is) {
    case 'chart':
      return lacks ? as(fitted(tableOf(n), has)) : n;
    case 'vega':
      if (!lacks) return n.instead ? { ...n, instead: fitted(n.instead, has) } : n;
      return as(fitted(insteadOfVega(n), has));
    case 'frame':
      if (!lacks) return n.instead ? { ...n, instead: fitted(n.instead, has) } : n;
      return as(n.instead ? fitted(n.instead, has) : lacking(lacks));
    case 'tabs': {
      const tabs = n.tabs.map((t) => ({ label: t.label, children: all(t.children) }));
      if (!lacks) return { ...n, tabs };
      const cards = tabs.map(({ label, children }): Node => ({ is: 'card', title: label, children }));
      return as({ is: 'stack', children: cards });
    }
    case 'input':
      return lacks ? as({ is: 'stack', children: shownField(n.field) }) : n;
    case 'form': {
      if (!lacks) return n;
      const title = n.title === undefined ? {} : { title: n.title };
      return as({ is: 'card', ...title, children: n.fields.flatMap(shownField) });
    }
    case 'stack':
    case 'row':
    case 'card':
    case 'quote':
      return { ...n, children: all(n.children) };
    case 'list':
      return { ...n, items: n.items.map(all) };
    case 'each':
      return { ...n, child: fitted(n.child, has), ...(n.none ? { none: fitted(n.none, has) } : {}) };
    case 'table': {
      if (lacks) return as(lacking(lacks));
      const columns = n.columns.map((c) => (c.cell ? { ...c, cell: fitted(c.cell, has) } : c));
      return { ...n, columns };
    }
    default:
      return n;
  }
}

/**
 * The tree in the vocabulary of a renderer: what it needs afterwards is a part of `capabilities`.
 * @param capabilities what the renderer has beyond the basic nodes
 */
export function fit(tree: Tree, capabilities: readonly Capability[]): Tree {
  const has: Has = (c) => capabilities.includes(c);
  if (tree.needs.every(has)) return tree;
  const all = (nodes: readonly Node[]) => nodes.map((n) => fitted(n, has));
  const { tree: _, needs: __, main, aside, modal, toast, header, ...rest } = tree;
  const above: Node[] = [];
  if (toast && !has('toast')) above.push({ is: 'stack', children: all(toast) });
  if (modal && !has('modal')) above.push({ is: 'card', children: all(modal) });
  let body = all(main);
  if (aside && !has('aside')) {
    const tabs: Node = {
      is: 'tabs',
      tabs: [
        { label: treeText('main'), children: body },
        { label: treeText('aside'), children: all(aside) },
      ],
    };
    body = has('tabs') ? [tabs] : [...body, { is: 'card', title: treeText('aside'), children: all(aside) }];
  }
  return finished({
    ...rest,
    main: [...above, ...body],
    ...(header ? { header: all(header) } : {}),
    ...(aside && has('aside') ? { aside: all(aside) } : {}),
    ...(modal && has('modal') ? { modal: all(modal) } : {}),
    ...(toast && has('toast') ? { toast: all(toast) } : {}),
  });
}
