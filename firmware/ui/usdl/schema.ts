// The documents of USDL 0.2: their schema, for editors and for what a compiler would pass over in silence. Pure.
import * as T from 'typebox';
import { needs } from '../schema.ts';
import { limits } from '../v0/limits.ts';

export const USDL = 'usdl/0.2';
/** Components of one list. */
export const MAX_COMPONENTS = 500;

const closed = { additionalProperties: false };
const text = (description: string) => T.Optional(T.String({ maxLength: limits.text, description }));
const name = (description: string) => T.String({ minLength: 1, maxLength: 200, description });
const anyObject = (description: string) =>
  T.Optional(T.Unsafe<Record<string, unknown>>({ type: 'object', description }));
const i18n = T.Optional(
  T.Unsafe<unknown>({
    type: ['string', 'object'],
    description: 'Key in meta.texts of the text; of several texts an object of property to key.',
  }),
);
const path = (description: string) => T.String({ maxLength: 512, pattern: '^\\$', description });

const action = T.Unsafe<unknown>({
  type: ['string', 'object'],
  description: 'Name in "actions", or an action: {type: "ui.action", action_id, payload}.',
});
const navigate = T.Object(
  {
    to: name('Page, path, skill:<id> or https://…'),
    params: anyObject('Expressions in it are filled in.'),
    mode: T.Optional(T.Enum(['modal', 'panel'])),
  },
  { ...closed, description: 'Where a tap leads.' },
);
const option = T.Object({ id: name('Value that is chosen.'), text: text('Words.'), i18n }, closed);
const input = T.Optional(
  T.Enum(['text', 'secret', 'number', 'date', 'time', 'area', 'check', 'choice', 'chips'], {
    description: 'Kind of an input; text where it is left out.',
  }),
);
const field = T.Object(
  {
    name: T.String({ pattern: '^[A-Za-z_][\\w-]{0,63}$', description: 'Name in what the form sends.' }),
    label: text('What a person is asked for.'),
    i18n,
    component: T.Optional(T.Enum(['Input', 'Select'])),
    input,
    bind: T.Optional(path('What stands there first.')),
    required: T.Optional(T.Boolean()),
    max: T.Optional(T.Integer({ minimum: 1, maximum: 10_000 })),
    options: T.Optional(T.Array(option, { maxItems: limits.options })),
  },
  closed,
);
const data = T.Object(
  {
    source: T.Optional(T.Literal('lazy')),
    query: T.Optional(name('Query that gives the rows page by page.')),
    target: T.Optional(name('Skill that answers; the document’s own where it is left out.')),
    params: anyObject('Expressions in it are filled in.'),
    pageSize: T.Optional(T.Integer({ minimum: 1, maximum: 200 })),
    bind: T.Optional(path('Rows in the view model.')),
  },
  { ...closed, description: 'Rows: lazy, by a query, or bound to the view model.' },
);

/** Each component, and what it cannot do without. */
export const components = {
  Card: [],
  Toolbar: [],
  Input: ['bind'],
  Select: ['bind', 'options'],
  Button: [],
  Table: ['columns', 'data'],
  Form: ['fields'],
  Progress: [],
  Markdown: [],
  Chart: ['spec'],
  Widget: ['page'],
} as const satisfies Record<string, readonly string[]>;
export type ComponentType = keyof typeof components;

const another = T.Unsafe<unknown>({ $ref: '#/$defs/component' });
const component = T.Object(
  {
    type: T.Enum(Object.keys(components) as ComponentType[]),
    id: T.Optional(T.String({ pattern: '^[A-Za-z_][\\w-]{0,63}$', description: 'Unique in its document.' })),
    slot: T.Optional(
      T.Enum(['header', 'main', 'aside', 'modal', 'toast'], {
        description: 'Where it stands, instead of layout.slot; at the top level only.',
      }),
    ),
    when: T.Optional(
      T.Unsafe<unknown>({
        type: ['string', 'boolean'],
        description: "Shown where it holds: $.items, !$.busy, $.n > 3 && $route.tab == 'all'.",
      }),
    ),
    i18n,
    title: text('Heading.'),
    label: text('Words beside a value or on a button.'),
    text: text('Words; of Markdown its text.'),
    body: T.Optional(
      T.Unsafe<unknown>({
        type: ['string', 'object', 'array'],
        description: 'Of a Card: words, a component or several.',
      }),
    ),
    components: T.Optional(T.Array(another, { maxItems: MAX_COMPONENTS })),
    variant: T.Optional(T.Enum(['plain', 'primary', 'danger'])),
    icon: T.Optional(T.String({ maxLength: 64 })),
    action: T.Optional(action),
    navigate: T.Optional(navigate),
    bind: T.Optional(path('JSONPath (RFC 9535) into the view model.')),
    value: T.Optional(T.Unsafe<unknown>({ type: ['string', 'number'], description: 'Of Progress.' })),
    max: T.Optional(T.Unsafe<unknown>({ type: ['string', 'number'], description: 'Of Progress.' })),
    input,
    required: T.Optional(T.Boolean()),
    debounceMs: T.Optional(
      T.Integer({ minimum: 0, maximum: 10_000, description: 'Waits as long after the last key.' }),
    ),
    on: T.Optional(
      T.Array(
        T.Object(
          {
            event: T.Enum(['change', 'input', 'click', 'submit', 'select', 'rowClick']),
            action: T.Optional(action),
            navigate: T.Optional(navigate),
          },
          closed,
        ),
        { maxItems: 20 },
      ),
    ),
    options: T.Optional(T.Array(option, { maxItems: limits.options })),
    fields: T.Optional(T.Array(field, { minItems: 1, maxItems: 50 })),
    actions: T.Optional(
      T.Array(
        T.Object(
          {
            text: text('Words on the button.'),
            i18n,
            action: T.Optional(action),
            navigate: T.Optional(navigate),
            variant: T.Optional(T.Enum(['plain', 'primary', 'danger'])),
          },
          closed,
        ),
        { maxItems: 20 },
      ),
    ),
    columns: T.Optional(
      T.Array(
        T.Object(
          {
            key: name('Property of a row.'),
            title: text('Heading of the column.'),
            i18n,
            sort: T.Optional(T.Boolean()),
          },
          closed,
        ),
        { minItems: 1, maxItems: limits.columns },
      ),
    ),
    data: T.Optional(data),
    search: T.Optional(T.Boolean({ description: 'A Table is searched by words.' })),
    spec: T.Optional(
      T.Object(
        { $vegaLite: T.Unsafe<Record<string, unknown>>({ type: 'object' }) },
        { ...closed, description: 'Of a Chart: a Vega-Lite specification. Nothing is loaded from a URL.' },
      ),
    ),
    page: T.Optional(name('Of a Widget: path below the skill’s /v1/ui/.')),
    w: T.Optional(T.Integer({ minimum: 1, maximum: 4000 })),
    h: T.Optional(T.Integer({ minimum: 1, maximum: 4000 })),
    instead: T.Optional(another),
  },
  {
    ...closed,
    allOf: Object.entries(components).flatMap(([type, names]) =>
      names.length > 0 ? [needs(type, [...names])] : [],
    ),
  },
);

const emitted = T.Object(
  {
    emit: T.Enum(['ui.query', 'ui.action']),
    target: T.Optional(name('Skill that is told; the document’s own where it is left out.')),
    query: T.Optional(
      name('Of ui.query: which lazy tables ask again; the action’s own name where it is left out.'),
    ),
    payload: anyObject('Expressions in it are filled in.'),
    params: anyObject('Of ui.query.'),
  },
  closed,
);

export const usdlSchema = T.Object(
  {
    version: T.String({ pattern: '^usdl/0\\.[0-2]$', description: USDL }),
    meta: T.Optional(
      T.Object({
        title: text('Title of the page.'),
        texts: anyObject('Key to {"i18n": {"en": …, "ru": …}}.'),
      }),
    ),
    layout: T.Optional(
      T.Object({ slot: T.Optional(T.Enum(['header', 'main', 'aside', 'modal', 'toast'])) }, closed),
    ),
    viewModel: anyObject('What the view model begins with.'),
    viewBind: T.Optional(path('Part of the view model that $ is.')),
    components: T.Array(another, { maxItems: MAX_COMPONENTS }),
    actions: T.Optional(T.Unsafe<unknown>({ type: 'object', additionalProperties: emitted })),
  },
  {
    ...closed,
    $id: 'urn:ingle:schema:usdl-0.2',
    title: 'Ingle USDL 0.2',
    description: 'A page of components as data.',
    $defs: { component },
  },
);
