// What a tree needs of its renderer, read from its nodes; and the one way a front end finishes a tree. Pure.
import {
  type Act,
  type Capability,
  type Condition,
  type Inline,
  type Node,
  TREE_VERSION,
  type Tree,
  type Value,
} from './tree.ts';
import { isLazy } from './value.ts';

const slots = ['aside', 'modal', 'toast'] as const;

/** The nodes right below a node. */
export function below(n: Node): readonly Node[] {
  switch (n.is) {
    case 'stack':
    case 'row':
    case 'card':
    case 'quote':
      return n.children;
    case 'list':
      return n.items.flat();
    case 'each':
      return n.none ? [n.child, n.none] : [n.child];
    case 'table':
      return n.columns.flatMap((c) => (c.cell ? [c.cell] : []));
    case 'tabs':
      return n.tabs.flatMap((t) => t.children);
    case 'vega':
    case 'frame':
      return n.instead ? [n.instead] : [];
    default:
      return [];
  }
}

type Maybe = Value | undefined;
const ofAct = (a: Act | undefined): Maybe[] => {
  switch (a?.do) {
    case 'get':
      return [a.path];
    case 'post':
      return [a.path, a.body];
    case 'publish':
      return [a.payload];
    case 'action':
      return [a.payload, ...(a.meanwhile ?? []).flatMap((m) => [...m.at, m.value])];
    case 'go':
    case 'query':
      return [a.params];
    case 'set':
      return [a.at, a.value];
    default:
      return [];
  }
};
const ofCondition = (c: Condition | undefined): Maybe[] => {
  if (!c) return [];
  if ('is' in c) return [c.is];
  if ('not' in c) return ofCondition(c.not);
  if ('all' in c) return c.all.flatMap(ofCondition);
  return 'any' in c ? c.any.flatMap(ofCondition) : [c.left, c.right];
};
const ofInline = (i: Inline): Maybe[] => {
  if (i === null || typeof i !== 'object') return [];
  if ('mark' in i) return i.of.flatMap(ofInline);
  if ('act' in i) return [...ofAct(i.act), ...i.of.flatMap(ofInline)];
  return 'br' in i ? [] : [i];
};

/** The values a node itself has, not those of nodes below it. */
function valuesOf(n: Node): Maybe[] {
  const when = ofCondition(n.when);
  switch (n.is) {
    case 'title':
    case 'badge':
    case 'code':
      return [...when, n.text];
    case 'text':
      return [...when, ...n.of.flatMap(ofInline)];
    case 'metric':
      return [...when, n.label, n.value, n.unit];
    case 'card':
      return [...when, n.title];
    case 'each':
      return [...when, n.of];
    case 'table': {
      const rows = isLazy(n.rows) ? [n.rows.params] : [n.rows];
      return [...when, n.title, ...n.columns.map((c) => c.label), ...rows];
    }
    case 'chart':
      return [...when, n.title, n.max, ...n.series.flatMap((s) => [s.label, s.x, s.y])];
    case 'vega':
      return [...when, n.title, n.data];
    case 'button':
      return [...when, n.label, ...ofAct(n.act)];
    case 'input':
      return [...when, ...ofField(n.field), n.bind, ...ofAct(n.act)];
    case 'form':
      return [...when, n.title, n.label, ...n.fields.flatMap(ofField), ...ofAct(n.act)];
    case 'progress':
      return [...when, n.label, n.value, n.max];
    case 'tabs':
      return [...when, ...n.tabs.map((t) => t.label)];
    case 'empty':
      return [...when, n.text, n.label, ...ofAct(n.act)];
    case 'frame':
      return [...when, n.title];
    default:
      return when;
  }
}
const ofField = (f: { label: Value; value?: Value; options?: readonly { label: Value }[] }): Maybe[] => [
  f.label,
  f.value,
  ...(f.options ?? []).map((o) => o.label),
];

function asks(v: Maybe): boolean {
  if (v === null || typeof v !== 'object' || 'path' in v || 'i18n' in v) return false;
  if ('join' in v) return v.join.some(asks);
  if ('array' in v) return v.array.some(asks);
  if ('object' in v) return Object.values(v.object).some(asks);
  return 'zip' in v ? Object.values(v.zip).some(asks) : true;
}

/** What a node itself needs, not those below it. */
export function needsOf(n: Node): Capability[] {
  const needs: Capability[] = valuesOf(n).some(asks) ? ['jsonpath'] : [];
  if (n.is === 'chart' || n.is === 'vega' || n.is === 'tabs' || n.is === 'frame') needs.push(n.is);
  if (n.is === 'input' || n.is === 'form') needs.push('input');
  if (n.is === 'table' && isLazy(n.rows)) needs.push('lazy');
  return needs;
}

/** The tree with what it needs worked out: what every front end ends with. */
export function finished(tree: Omit<Tree, 'tree' | 'needs'>): Tree {
  const needs = new Set<Capability>(slots.filter((s) => tree[s] !== undefined));
  const visit = (n: Node): void => {
    for (const need of needsOf(n)) needs.add(need);
    below(n).forEach(visit);
  };
  for (const slot of ['main', 'header', ...slots] as const) tree[slot]?.forEach(visit);
  return { tree: TREE_VERSION, ...tree, needs: [...needs].sort() };
}
