// The view documents of ui/v0 and ui/v0.1: their schemas, the types from them, and their strict check. The local API checks what a skill
// sends before it is in a document; browsers import the types only. Pure.
import * as T from 'typebox';
import { type Fault, type Found, faultsOf, SAYS, spoken } from '../protocol/endpoint/check.ts';
import { bindingError, templateForm } from './binding.ts';
import { limits } from './v0/limits.ts';

const closed = { additionalProperties: false };
const template = (description: string) =>
  T.String({ maxLength: limits.text, pattern: templateForm, description });
const binding = (description: string) =>
  T.String({
    maxLength: limits.text,
    pattern: templateForm,
    allOf: [{ pattern: '^\\s*\\{\\{[^{}]+\\}\\}\\s*$', [SAYS]: 'must be one binding, as {{state.name}}' }],
    description,
  });
const anyObject = (description: string) => T.Unsafe<Record<string, unknown>>({ type: 'object', description });

/** The fields `names` are asked for where `by` is `is`. TypeBox tells what an `else` lacks, not what a `then` does. */
const needs = (is: string, names: string[], by = 'type') => ({
  if: { properties: { [by]: { not: { const: is } } } },
  else: { required: names, [SAYS]: { required: `is missing, ${is} needs it` } },
});

const action = T.Object(
  {
    type: T.Enum(['http.get', 'http.post', 'bus.publish', 'navigate'], {
      description: 'Asks the skill, tells it, publishes on the bus, or opens another skill.',
    }),
    path: T.Optional(template('Path of the local API; of navigate, skill:<id>.')),
    body: T.Optional(anyObject('JSON of http.post; bindings in it are filled in.')),
    topic: T.Optional(T.String({ description: 'Topic of bus.publish.' })),
    payload: T.Optional(anyObject('What bus.publish carries; bindings in it are filled in.')),
    mode: T.Optional(T.Enum(['modal', 'panel'], { description: 'Of navigate: how the skill opens.' })),
  },
  {
    ...closed,
    allOf: [
      needs('bus.publish', ['topic']),
      ...['http.get', 'http.post', 'navigate'].map((type) => needs(type, ['path'])),
    ],
    description: 'What a tap does.',
  },
);

const series = T.Object(
  {
    label: T.Optional(template('Name in the legend.')),
    x: T.Optional(
      template('Binding to the values of an axis, or with "data" their key in each of its rows.'),
    ),
    y: T.Optional(template('As x.')),
    data: T.Optional(binding('Binding to an array of rows.')),
  },
  closed,
);

const fieldOf = {
  key: T.String({
    pattern: '^[a-z][a-z0-9_]{0,31}$',
    [SAYS]: { pattern: 'must be lower-case letters, digits and "_", beginning with a letter' },
    description: 'Where the body of the action has what was typed, as a string.',
  }),
  label: template('What a person is asked for.'),
  value: T.Optional(template('What stands there first.')),
  secret: T.Optional(
    T.Boolean({
      description:
        'Typed unseen. The form is then sent at once or not at all: it is kept nowhere on its way.',
    }),
  ),
};
const options = T.Array(
  T.Object(
    {
      label: template('What a person reads.'),
      value: T.String({ description: 'What is sent when it is chosen.' }),
    },
    closed,
  ),
  { maxItems: limits.options, description: 'What can be chosen.' },
);
const field = T.Object(fieldOf, closed);
const field1 = T.Object(
  {
    ...fieldOf,
    input: T.Optional(
      T.Enum(['text', 'secret', 'number', 'date', 'time', 'area', 'check', 'choice', 'chips'], {
        description: 'How it is given; text where it is left out.',
      }),
    ),
    options: T.Optional(options),
    required: T.Optional(T.Boolean({ description: 'Nothing is sent while it is empty.' })),
    max: T.Optional(
      T.Integer({
        minimum: 1,
        maximum: limits.text,
        [SAYS]: `must be a whole number from 1 to ${limits.text}`,
        description: 'Characters at most; 256 where it is left out.',
      }),
    ),
  },
  {
    ...closed,
    allOf: ['choice', 'chips'].map((is) => needs(is, ['options'], 'input')),
  },
);

/** A type of node or of component: what it is, what it cannot do without, and what else it takes. */
export interface Kind {
  says: string;
  needs: readonly string[];
  takes: readonly string[];
}

/** Each type of ui/v0. */
export const nodeTypes = {
  title: { says: 'A heading.', needs: ['text'], takes: [] },
  text: { says: 'A paragraph.', needs: ['text'], takes: [] },
  badge: { says: 'A word or two about how something is.', needs: ['text'], takes: [] },
  metric: { says: 'A value with its name.', needs: ['label', 'value'], takes: [] },
  stack: { says: 'Nodes one below the other.', needs: [], takes: ['gap', 'child', 'children'] },
  row: {
    says: 'Nodes side by side; those for which a screen is too narrow go on below.',
    needs: [],
    takes: ['gap', 'justify', 'child', 'children'],
  },
  card: { says: 'Nodes that belong together.', needs: [], takes: ['title', 'gap', 'child', 'children'] },
  table: { says: 'Rows of data.', needs: ['columns', 'rows'], takes: ['title', 'label'] },
  'chart.line': {
    says: 'Lines over time or over numbers, with the same values as a table.',
    needs: ['series'],
    takes: ['title', 'label'],
  },
  button: { says: 'Does something when it is tapped.', needs: ['label', 'action'], takes: ['icon'] },
  select: {
    says: 'One choice out of several. Its action is sent what was chosen, as "value".',
    needs: ['options'],
    takes: ['label', 'bind', 'action'],
  },
  form: {
    says: 'Fields that are sent together. Its action is sent each by its key.',
    needs: ['label', 'fields', 'action'],
    takes: ['title'],
  },
  empty: {
    says: 'Says that there is nothing yet, and what to do.',
    needs: [],
    takes: ['text', 'title', 'icon'],
  },
} as const satisfies Record<string, Kind>;
/** What ui/v0.1 adds. */
export const nodeTypes1 = {
  ...nodeTypes,
  'chart.line': { ...nodeTypes['chart.line'], takes: ['title', 'label', 'max'] },
  'chart.bar': {
    says: 'Bars side by side, with the same values as a table.',
    needs: ['series'],
    takes: ['title', 'label'],
  },
  progress: { says: 'How far something is.', needs: ['value'], takes: ['label', 'max'] },
  tabs: { says: 'Parts of which one is shown at a time.', needs: ['tabs'], takes: [] },
} as const satisfies Record<string, Kind>;

const another = T.Unsafe<unknown>({ $ref: '#/$defs/node' });
const only = T.Unsafe<unknown>({ $ref: '#/$defs/node', description: 'The one node in it.' });
const nodes = T.Array(another, { maxItems: limits.nodes, description: 'The nodes in it.' });
const nodeOf = {
  text: T.Optional(template('Words, with bindings such as {{state.name}}.')),
  label: T.Optional(template('Words beside a value, on a button or over a choice.')),
  value: T.Optional(template('What a metric shows.')),
  icon: T.Optional(T.String({ description: 'Name of an icon, or data:svg.' })),
  title: T.Optional(template('Heading of a card, a table or a chart.')),
  gap: T.Optional(
    T.Number({
      minimum: 0,
      maximum: 200,
      [SAYS]: 'must be a number from 0 to 200',
      description: 'Space between children: steps of 8 pixels below 4, else pixels.',
    }),
  ),
  justify: T.Optional(
    T.Enum(['start', 'center', 'end', 'between'], { description: 'Where the nodes of a row stand.' }),
  ),
  child: T.Optional(only),
  children: T.Optional(nodes),
  columns: T.Optional(
    T.Array(
      T.Object(
        {
          key: T.String({ description: 'Property of a row.' }),
          label: template('Heading of the column.'),
        },
        closed,
      ),
      { maxItems: limits.columns, description: 'What of a row is shown, from left to right.' },
    ),
  ),
  rows: T.Optional(binding('Binding to an array of rows.')),
  series: T.Optional(T.Array(series, { maxItems: limits.series, description: 'Lines, or rows of bars.' })),
  bind: T.Optional(binding('Binding to the value that is chosen now.')),
  options: T.Optional(options),
  action: T.Optional(action),
};
const typeOf = <K extends object>(all: K) =>
  T.Enum(Object.keys(all) as (keyof K & string)[], { description: 'What the node is.' });
const fieldsOf = <F extends T.TObject>(one: F) =>
  T.Optional(T.Array(one, { minItems: 1, maxItems: limits.fields, description: 'What a person gives.' }));
/** That each type has what it needs. */
export const needed = (all: Readonly<Record<string, Kind>>) =>
  Object.entries(all).flatMap(([type, kind]) =>
    kind.needs.length > 0 ? [needs(type, [...kind.needs])] : [],
  );
const node = T.Object(
  { type: typeOf(nodeTypes), ...nodeOf, fields: fieldsOf(field) },
  { ...closed, allOf: needed(nodeTypes) },
);
const tab = T.Object(
  { label: template('Words on the tab.'), child: T.Optional(only), children: T.Optional(nodes) },
  closed,
);
const node1 = T.Object(
  {
    type: typeOf(nodeTypes1),
    ...nodeOf,
    value: T.Optional(template('What a metric shows, or how far a progress is.')),
    fields: fieldsOf(field1),
    tabs: T.Optional(T.Array(tab, { minItems: 1, maxItems: limits.tabs, description: 'The parts.' })),
    max: T.Optional(
      template(
        'The value at which a progress is full, 100 where it is left out; or where the axis of lines ends, which then stays as it is.',
      ),
    ),
  },
  { ...closed, allOf: needed(nodeTypes1) },
);

const meta = T.Object(
  { title: T.Optional(template('Title of the screen.')) },
  { description: 'Of the whole screen; bindings reach it as {{meta.name}}.' },
);
const viewOf = <S extends string>(schema: S, id: string, node: T.TObject) =>
  T.Object(
    {
      schema: T.Literal(schema, { description: 'The version of the language.' }),
      meta: T.Optional(meta),
      layout: T.Unsafe<unknown>({ $ref: '#/$defs/node', description: 'The node that holds all others.' }),
    },
    {
      ...closed,
      $id: `urn:ingle:schema:${id}`,
      title: `Ingle ${schema} view`,
      description: `What a skill's screen shows. At most ${limits.nodes} nodes, nested at most ${limits.nesting} deep.`,
      $defs: { node },
    },
  );
export const viewSchema = viewOf('ui/v0', 'ui-v0', node);
/** Adds tabs, chart.bar, progress and what a field of a form may be. */
export const viewSchema1 = viewOf('ui/v0.1', 'ui-v0.1', node1);

export type Action = T.Static<typeof action>;
export type Series = T.Static<typeof series>;
/** A node as a program puts it together; the check says which types take what. */
export interface ViewNode extends Omit<T.Static<typeof node1>, 'type' | 'child' | 'children' | 'tabs'> {
  type: string;
  child?: ViewNode;
  children?: ViewNode[];
  tabs?: { label: string; child?: ViewNode; children?: ViewNode[] }[];
}
export interface View {
  schema: 'ui/v0' | 'ui/v0.1';
  meta?: T.Static<typeof meta> & Record<string, unknown>;
  layout: ViewNode;
}

/** A fault with the code a program tells it by. */
export interface Coded extends Fault {
  code: string;
}

/** What is too large about a tree of nodes, before anything walks it by recursion without end. */
function excess(value: unknown, pointer: string, depth: number, seen: { nodes: number }): Coded | undefined {
  if (++seen.nodes > limits.nodes)
    return { pointer, code: 'too_large', says: `a view may have at most ${limits.nodes} nodes` };
  if (depth >= limits.nesting)
    return { pointer, code: 'too_deep', says: `nests deeper than ${limits.nesting}` };
  for (const [one, at] of inside(value, pointer)) {
    const fault = excess(one, at, depth + 1, seen);
    if (fault) return fault;
  }
  return undefined;
}

/** What stands in a node, or in its tabs, for a node. */
function inside(value: unknown, pointer: string): [unknown, string][] {
  const { child, children, tabs } = Object(value) as Record<string, unknown>;
  const some = (list: unknown, name: string) =>
    (Array.isArray(list) ? list : [])
      .slice(0, limits.nodes + 1)
      .map((one, i): [unknown, string] => [one, `${pointer}/${name}/${i}`]);
  return [
    ...(child === undefined ? [] : [[child, `${pointer}/child`] as [unknown, string]]),
    ...some(children, 'children'),
    ...some(tabs, 'tabs').flatMap(([one, at]) => inside({ ...Object(one), tabs: undefined }, at)),
  ];
}

/** A text with a faulty binding is told which; else as any schema. */
const words = (f: Found) =>
  (f.schema['pattern'] === templateForm && f.keyword === 'pattern' && bindingError(String(f.value))) ||
  spoken(f);

/** Codes of faults, as the compiler (v0/compile.ts) tells them; `value` is every other. */
const codes: Record<string, string> = {
  additionalProperties: 'unknown_property',
  required: 'missing',
  type: 'wrong_type',
  maxLength: 'too_large',
  maxItems: 'too_large',
};

/**
 * Checks a view document strictly, by the schema of the version it names; ui/v0 where it names none.
 * @returns every fault with its JSON pointer; of a view that is too large or too deep only that. None: the view is good.
 */
export function validateView(json: unknown): Coded[] {
  const { layout, schema } = Object(json) as Record<string, unknown>;
  const fault = excess(layout, '/layout', 0, { nodes: 0 });
  if (fault) return [fault];
  const found = new Map<string, string>();
  const faults = faultsOf(schema === 'ui/v0.1' ? viewSchema1 : viewSchema, json, (f) => {
    const binding = f.keyword === 'pattern' && f.schema['pattern'] === templateForm;
    found.set(f.pointer, binding ? 'binding' : (codes[f.keyword] ?? 'value'));
    return words(f);
  });
  return faults.map((f) => ({ ...f, code: found.get(f.pointer) ?? 'value' }));
}
