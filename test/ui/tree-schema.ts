// The render tree as a schema: what a front end's tree is held against, as types alone hold nothing at run time.
import * as T from 'typebox';
import { faultsOf } from '../../firmware/protocol/endpoint/check.ts';

const closed = { additionalProperties: false };
const ref = <N extends string>(name: N) => T.Unsafe<unknown>({ $ref: `#/$defs/${name}` });
const [value, condition, act, inline, node, path] = [
  ref('value'),
  ref('condition'),
  ref('act'),
  ref('inline'),
  ref('node'),
  ref('path'),
];
const o = (shape: Record<string, T.TSchema>) => T.Object(shape, closed);
const opt = T.Optional;
const nodes = T.Array(node);
const roots = T.Enum(['form', 'meta', 'route', 'row', 'state']);
const common = { id: opt(T.String()), when: opt(condition) };
const is = (name: string, shape: Record<string, T.TSchema> = {}) =>
  o({ is: T.Literal(name), ...common, ...shape });
const option = o({ value: T.String(), label: value });
const field = o({
  name: T.String(),
  label: value,
  input: T.Enum(['text', 'secret', 'number', 'date', 'time', 'area', 'check', 'choice', 'chips']),
  value: opt(value),
  options: opt(T.Array(option)),
  required: opt(T.Boolean()),
  max: opt(T.Integer({ minimum: 1 })),
});
const lazy = o({
  query: T.String(),
  target: opt(T.String()),
  params: opt(value),
  pageSize: T.Integer({ minimum: 1 }),
});
const record = (of: T.TSchema) => T.Record(T.String(), of);

const $defs = {
  path: o({
    path: T.Unsafe<unknown>({
      type: 'array',
      minItems: 1,
      prefixItems: [roots],
      items: T.Union([T.String(), T.Integer({ minimum: 0 }), T.Null()]),
    }),
  }),
  value: T.Union([
    T.String(),
    T.Number(),
    T.Boolean(),
    T.Null(),
    path,
    o({ i18n: record(T.String()) }),
    o({ join: T.Array(value) }),
    o({ query: T.String(), of: path }),
    o({ zip: record(value) }),
    o({ object: record(value) }),
    o({ array: T.Array(value) }),
  ]),
  condition: T.Union([
    o({ is: value }),
    o({ not: condition }),
    o({ all: T.Array(condition) }),
    o({ any: T.Array(condition) }),
    o({ compare: T.Enum(['=', '!=', '<', '<=', '>', '>=']), left: value, right: value }),
  ]),
  act: T.Union([
    o({ do: T.Enum(['get', 'post']), path: value, body: opt(value) }),
    o({ do: T.Literal('publish'), topic: T.String(), payload: opt(value) }),
    o({
      do: T.Literal('action'),
      id: T.String(),
      target: opt(T.String()),
      payload: opt(value),
      form: opt(T.String()),
      meanwhile: opt(
        T.Array(o({ op: T.Enum(['add', 'remove', 'replace']), at: T.Array(value), value: opt(value) })),
      ),
    }),
    o({
      do: T.Literal('go'),
      skill: opt(T.String()),
      page: opt(T.String()),
      params: opt(value),
      href: opt(T.String()),
      mode: opt(T.Enum(['modal', 'panel'])),
    }),
    o({ do: T.Literal('query'), query: T.String(), target: opt(T.String()), params: opt(value) }),
    o({ do: T.Literal('set'), at: path, value }),
  ]),
  inline: T.Union([
    value,
    o({ mark: T.Enum(['strong', 'em', 'code', 'strike']), of: T.Array(inline) }),
    o({ act, of: T.Array(inline) }),
    o({ br: T.Literal(true) }),
  ]),
  node: T.Union([
    is('title', { text: value, level: opt(T.Enum([1, 2, 3])) }),
    is('text', { of: T.Array(inline) }),
    is('badge', { text: value, tone: opt(T.Enum(['plain', 'ok', 'warn', 'bad'])) }),
    is('metric', { label: value, value, unit: opt(value) }),
    is('stack', { gap: opt(T.Number()), children: nodes }),
    is('row', {
      gap: opt(T.Number()),
      justify: opt(T.Enum(['start', 'center', 'end', 'between'])),
      children: nodes,
    }),
    is('card', { title: opt(value), gap: opt(T.Number()), children: nodes }),
    is('list', { ordered: opt(T.Boolean()), items: T.Array(nodes) }),
    is('quote', { children: nodes }),
    is('code', { text: value }),
    is('rule'),
    is('each', { of: value, child: node, none: opt(node) }),
    is('table', {
      title: opt(value),
      columns: T.Array(o({ key: T.String(), label: value, cell: opt(node), sort: opt(T.Boolean()) })),
      rows: T.Union([lazy, value]),
      search: opt(T.Boolean()),
    }),
    is('chart', {
      kind: T.Enum(['line', 'bar']),
      title: opt(value),
      series: T.Array(o({ label: value, x: opt(value), y: value })),
      max: opt(value),
    }),
    is('vega', {
      title: opt(value),
      spec: T.Object({}, { additionalProperties: true }),
      data: opt(value),
      instead: opt(node),
    }),
    is('button', {
      label: value,
      icon: opt(T.String()),
      tone: opt(T.Enum(['plain', 'primary', 'danger'])),
      act,
    }),
    is('input', { field, bind: opt(path), act: opt(act), wait: opt(T.Number()) }),
    is('form', { title: opt(value), fields: T.Array(field), label: value, act }),
    is('progress', { label: opt(value), value, max: opt(value) }),
    is('tabs', { tabs: T.Array(o({ label: value, children: nodes })) }),
    is('empty', { text: value, icon: opt(T.String()), act: opt(act), label: opt(value) }),
    is('frame', {
      page: T.String(),
      title: value,
      w: opt(T.Number()),
      h: opt(T.Number()),
      instead: opt(node),
    }),
    is('note', { code: T.String(), says: T.String(), pointer: T.String() }),
  ]),
};

const schema = T.Object(
  {
    tree: T.Literal(1),
    from: T.String(),
    title: opt(value),
    meta: opt(T.Object({}, { additionalProperties: true })),
    state: opt(T.Object({}, { additionalProperties: true })),
    main: nodes,
    header: opt(nodes),
    aside: opt(nodes),
    modal: opt(nodes),
    toast: opt(nodes),
    needs: T.Array(
      T.Enum(['aside', 'chart', 'frame', 'input', 'jsonpath', 'lazy', 'modal', 'tabs', 'toast', 'vega']),
      { uniqueItems: true },
    ),
  },
  { ...closed, $defs },
);

/** What of a tree is not as its types say; none: it may be drawn. */
export const treeFaults = (tree: unknown) => faultsOf(schema, tree);
