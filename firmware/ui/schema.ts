// The ui/v0 view document: its schema, the types from it, and its strict check. The local API checks what a skill
// sends before it is in a document; browsers import the types only. Pure.
import * as T from 'typebox';
import { type Fault, type Found, faultsOf, SAYS, spoken } from '../protocol/endpoint/check.ts';
import { bindingError, templateForm } from './binding.ts';

/** A view of more nodes than this is refused: a phone must be able to draw it. */
export const MAX_NODES = 2000;
const MAX_NESTING = 24;
const MAX_TEXT = 4000;

const closed = { additionalProperties: false };
const template = (description: string) =>
  T.String({ maxLength: MAX_TEXT, pattern: templateForm, description });
const binding = (description: string) =>
  T.String({
    maxLength: MAX_TEXT,
    pattern: templateForm,
    allOf: [{ pattern: '^\\s*\\{\\{[^{}]+\\}\\}\\s*$', [SAYS]: 'must be one binding, as {{state.name}}' }],
    description,
  });
const anyObject = (description: string) => T.Unsafe<Record<string, unknown>>({ type: 'object', description });

/** The fields `names` are asked for where `type` is `is`. TypeBox tells what an `else` lacks, not what a `then` does. */
const needs = (is: string, names: string[]) => ({
  if: { properties: { type: { not: { const: is } } } },
  else: { required: names, [SAYS]: { required: `is missing, ${is} needs it` } },
});

const action = T.Object(
  {
    type: T.Enum(['http.get', 'http.post', 'bus.publish', 'navigate']),
    path: T.Optional(template('Path of the local API; of navigate, skill:<id>.')),
    body: T.Optional(anyObject('JSON of http.post; bindings in it are filled in.')),
    topic: T.Optional(T.String({ description: 'Topic of bus.publish.' })),
    payload: T.Optional(anyObject('What bus.publish carries; bindings in it are filled in.')),
    mode: T.Optional(T.Enum(['modal', 'panel'])),
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

const field = T.Object(
  {
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
  },
  closed,
);

/** Each type, and what it cannot do without. */
const types = {
  title: ['text'],
  text: ['text'],
  badge: ['text'],
  metric: ['label', 'value'],
  stack: [],
  row: [],
  card: [],
  table: ['columns', 'rows'],
  'chart.line': ['series'],
  button: ['label', 'action'],
  select: ['options'],
  form: ['label', 'fields', 'action'],
  empty: [],
} as const satisfies Record<string, readonly string[]>;

const another = T.Unsafe<unknown>({ $ref: '#/$defs/node' });
const node = T.Object(
  {
    type: T.Enum(Object.keys(types) as (keyof typeof types)[]),
    text: T.Optional(template('Words, with bindings such as {{state.name}}.')),
    label: T.Optional(template('Words beside a value, on a button or over a choice.')),
    value: T.Optional(template('What a metric shows.')),
    icon: T.Optional(T.String()),
    title: T.Optional(template('Heading of a card, a table or a chart.')),
    gap: T.Optional(
      T.Number({
        minimum: 0,
        maximum: 200,
        [SAYS]: 'must be a number from 0 to 200',
        description: 'Space between children: steps of 8 pixels below 4, else pixels.',
      }),
    ),
    justify: T.Optional(T.Enum(['start', 'center', 'end', 'between'])),
    child: T.Optional(another),
    children: T.Optional(T.Array(another, { maxItems: MAX_NODES })),
    columns: T.Optional(
      T.Array(T.Object({ key: T.String(), label: template('Heading of the column.') }, closed), {
        maxItems: 50,
      }),
    ),
    rows: T.Optional(binding('Binding to an array of rows.')),
    series: T.Optional(T.Array(series, { maxItems: 12 })),
    bind: T.Optional(binding('Binding to the value that is chosen now.')),
    options: T.Optional(
      T.Array(T.Object({ label: template('What a person reads.'), value: T.String() }, closed), {
        maxItems: 200,
      }),
    ),
    fields: T.Optional(T.Array(field, { minItems: 1, maxItems: 12 })),
    action: T.Optional(action),
  },
  {
    ...closed,
    allOf: Object.entries(types).flatMap(([type, names]) =>
      names.length > 0 ? [needs(type, [...names])] : [],
    ),
  },
);

const meta = T.Object({ title: T.Optional(template('Title of the screen.')) });

export const viewSchema = T.Object(
  { schema: T.Literal('ui/v0'), meta: T.Optional(meta), layout: another },
  {
    ...closed,
    $id: 'urn:ingle:schema:ui-v0',
    title: 'Ingle ui/v0 view',
    description: `What a skill's screen shows. At most ${MAX_NODES} nodes, nested at most ${MAX_NESTING} deep.`,
    $defs: { node },
  },
);

export type Action = T.Static<typeof action>;
export type Series = T.Static<typeof series>;
/** A node as the renderer takes it: `type` may be one it does not know, and then it says so. */
export interface ViewNode extends Omit<T.Static<typeof node>, 'type' | 'child' | 'children'> {
  type: string;
  child?: ViewNode;
  children?: ViewNode[];
}
export interface View extends Omit<T.Static<typeof viewSchema>, 'meta' | 'layout'> {
  meta?: T.Static<typeof meta> & Record<string, unknown>;
  layout: ViewNode;
}

/** What is too large about a tree of nodes, before anything walks it by recursion without end. */
function excess(value: unknown, pointer: string, depth: number, seen: { nodes: number }): Fault | undefined {
  if (++seen.nodes > MAX_NODES) return { pointer, says: `a view may have at most ${MAX_NODES} nodes` };
  if (depth >= MAX_NESTING) return { pointer, says: `nests deeper than ${MAX_NESTING}` };
  if (value === null || typeof value !== 'object') return undefined;
  const { child, children } = value as { child?: unknown; children?: unknown };
  const list: [unknown, string][] = child === undefined ? [] : [[child, `${pointer}/child`]];
  if (Array.isArray(children))
    children.slice(0, MAX_NODES + 1).forEach((c, i) => {
      list.push([c, `${pointer}/children/${i}`]);
    });
  for (const [one, at] of list) {
    const fault = excess(one, at, depth + 1, seen);
    if (fault) return fault;
  }
  return undefined;
}

/** A text with a faulty binding is told which; else as any schema. */
const words = (f: Found) =>
  (f.schema['pattern'] === templateForm && f.keyword === 'pattern' && bindingError(String(f.value))) ||
  spoken(f);

/**
 * Checks a ui/v0 view document strictly.
 * @returns every fault with its JSON pointer; of a view that is too large or too deep only that. None: the view is good.
 */
export function validateView(json: unknown): Fault[] {
  const layout = (json as { layout?: unknown } | null | undefined)?.layout;
  const fault = excess(layout, '/layout', 0, { nodes: 0 });
  return fault ? [fault] : faultsOf(viewSchema, json, words);
}
