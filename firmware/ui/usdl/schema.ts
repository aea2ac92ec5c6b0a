// The documents of USDL 0.2: their schema, for editors and for what a compiler would pass over in silence. Pure.
import * as T from 'typebox';
import { type Kind, needed } from '../schema.ts';
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
    mode: T.Optional(T.Enum(['modal', 'panel'], { description: 'How a skill opens.' })),
  },
  { ...closed, description: 'Where a tap leads.' },
);
const option = T.Object({ id: name('Value that is chosen.'), text: text('Words.'), i18n }, closed);
const input = T.Optional(
  T.Enum(['text', 'secret', 'number', 'date', 'time', 'area', 'check', 'choice', 'chips'], {
    description: 'Kind of an input; text where it is left out.',
  }),
);
const required = T.Optional(T.Boolean({ description: 'Nothing is sent while it is empty.' }));
const options = T.Optional(T.Array(option, { maxItems: limits.options, description: 'What can be chosen.' }));
const variant = T.Optional(
  T.Enum(['plain', 'primary', 'danger'], { description: 'How much a button stands out.' }),
);
const field = T.Object(
  {
    name: T.String({ pattern: '^[A-Za-z_][\\w-]{0,63}$', description: 'Name in what the form sends.' }),
    label: text('What a person is asked for.'),
    i18n,
    component: T.Optional(
      T.Enum(['Input', 'Select'], { description: 'Select is a choice; Input where it is left out.' }),
    ),
    input,
    bind: T.Optional(path('What stands there first.')),
    required,
    max: T.Optional(
      T.Integer({
        minimum: 1,
        maximum: 10_000,
        description: 'Characters at most; 256 where it is left out.',
      }),
    ),
    options,
  },
  closed,
);
const data = T.Object(
  {
    source: T.Optional(T.Literal('lazy', { description: 'Rows come page by page.' })),
    query: T.Optional(name('Query that gives the rows page by page.')),
    target: T.Optional(name('Skill that answers; the document’s own where it is left out.')),
    params: anyObject('Expressions in it are filled in.'),
    pageSize: T.Optional(
      T.Integer({ minimum: 1, maximum: 200, description: 'Rows of a page; 20 where it is left out.' }),
    ),
    bind: T.Optional(path('Rows in the view model.')),
  },
  { ...closed, description: 'Rows: lazy, by a query, or bound to the view model.' },
);

const acts = ['action', 'navigate', 'on'] as const;
const asked = ['label', 'text', 'title', 'input', 'required', 'max', 'debounceMs', ...acts] as const;

/** Each component. */
export const components = {
  Card: {
    says: 'What belongs together, with its buttons.',
    needs: [],
    takes: ['title', 'body', 'text', 'components', 'actions'],
  },
  Toolbar: {
    says: 'A heading, components and buttons side by side.',
    needs: [],
    takes: ['title', 'label', 'text', 'components', 'actions'],
  },
  Input: {
    says: 'A field that stands alone: what is typed is at once in the view model, and is told by its action.',
    needs: ['bind'],
    takes: [...asked, 'options'],
  },
  Select: { says: 'A choice that stands alone.', needs: ['bind', 'options'], takes: asked },
  Button: {
    says: 'Does something, or leads somewhere, when it is tapped.',
    needs: [],
    takes: ['label', 'text', 'title', 'icon', 'variant', ...acts],
  },
  Table: {
    says: 'Rows out of the view model, or asked for page by page, in order and by search.',
    needs: ['columns', 'data'],
    takes: ['title', 'bind', 'search', 'on', 'actions'],
  },
  Form: {
    says: 'Fields that are sent together.',
    needs: ['fields'],
    takes: ['title', 'label', 'text', 'actions', ...acts],
  },
  Progress: {
    says: 'How far something is.',
    needs: [],
    takes: ['value', 'bind', 'max', 'label', 'title', 'text'],
  },
  Markdown: { says: 'A text of ULM.', needs: [], takes: ['text', 'body'] },
  Chart: {
    says: 'A chart as a Vega-Lite specification says it; a plain one or a table where there is no Vega-Lite.',
    needs: ['spec'],
    takes: ['title', 'data'],
  },
  Widget: {
    says: 'A page of the skill itself in a frame, and what is shown where there are no frames.',
    needs: ['page'],
    takes: ['title', 'label', 'text', 'w', 'h', 'instead'],
  },
} as const satisfies Record<string, Kind>;
export type ComponentType = keyof typeof components;
/** What every component takes. */
export const everywhere = ['id', 'slot', 'when', 'i18n'] as const;

const slot = (description: string) =>
  T.Optional(T.Enum(['header', 'main', 'aside', 'modal', 'toast'], { description }));

const another = T.Unsafe<unknown>({ $ref: '#/$defs/component' });
const component = T.Object(
  {
    type: T.Enum(Object.keys(components) as ComponentType[], { description: 'What the component is.' }),
    id: T.Optional(T.String({ pattern: '^[A-Za-z_][\\w-]{0,63}$', description: 'Unique in its document.' })),
    slot: slot('Where it stands, instead of layout.slot; at the top level only.'),
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
    components: T.Optional(
      T.Array(another, { maxItems: MAX_COMPONENTS, description: 'The components in it.' }),
    ),
    variant,
    icon: T.Optional(T.String({ maxLength: 64, description: 'Name of an icon.' })),
    action: T.Optional(action),
    navigate: T.Optional(navigate),
    bind: T.Optional(path('JSONPath (RFC 9535) into the view model.')),
    value: T.Optional(
      T.Unsafe<unknown>({
        type: ['string', 'number'],
        description: 'How far it is: a number or an expression.',
      }),
    ),
    max: T.Optional(
      T.Unsafe<unknown>({
        type: ['string', 'number'],
        description: 'Of Progress the value at which it is full, of a field its characters at most.',
      }),
    ),
    input,
    required,
    debounceMs: T.Optional(
      T.Integer({ minimum: 0, maximum: 10_000, description: 'Waits as long after the last key.' }),
    ),
    on: T.Optional(
      T.Array(
        T.Object(
          {
            event: T.Enum(['change', 'input', 'click', 'submit', 'select', 'rowClick'], {
              description: 'What a person does.',
            }),
            action: T.Optional(action),
            navigate: T.Optional(navigate),
          },
          closed,
        ),
        { maxItems: 20, description: 'What else happens, by what a person does.' },
      ),
    ),
    options,
    fields: T.Optional(T.Array(field, { minItems: 1, maxItems: 50, description: 'What a person gives.' })),
    actions: T.Optional(
      T.Array(
        T.Object(
          {
            text: text('Words on the button.'),
            i18n,
            action: T.Optional(action),
            navigate: T.Optional(navigate),
            variant,
          },
          closed,
        ),
        { maxItems: 20, description: 'Its buttons.' },
      ),
    ),
    columns: T.Optional(
      T.Array(
        T.Object(
          {
            key: name('Property of a row.'),
            title: text('Heading of the column.'),
            i18n,
            sort: T.Optional(
              T.Boolean({ description: 'A person may put the rows in order by it; of lazy rows only.' }),
            ),
          },
          closed,
        ),
        {
          minItems: 1,
          maxItems: limits.columns,
          description: 'What of a row is shown, from left to right.',
        },
      ),
    ),
    data: T.Optional(data),
    search: T.Optional(T.Boolean({ description: 'A Table is searched by words.' })),
    spec: T.Optional(
      T.Object(
        {
          $vegaLite: T.Unsafe<Record<string, unknown>>({
            type: 'object',
            description: 'As in the documentation of Vega-Lite.',
          }),
        },
        {
          ...closed,
          description:
            'Of a Chart: a Vega-Lite specification of one view or of layers. Nothing is loaded from a URL; expressions are arithmetic and dates of a row.',
        },
      ),
    ),
    page: T.Optional(name('Of a Widget: path below the skill’s /v1/ui/.')),
    w: T.Optional(T.Integer({ minimum: 1, maximum: 4000, description: 'Its width, pixels.' })),
    h: T.Optional(T.Integer({ minimum: 1, maximum: 4000, description: 'Its height, pixels.' })),
    instead: T.Optional(
      T.Unsafe<unknown>({
        $ref: '#/$defs/component',
        description: 'The component that stands there where there are no frames.',
      }),
    ),
  },
  {
    ...closed,
    allOf: needed(components),
  },
);

const emitted = T.Object(
  {
    emit: T.Enum(['ui.query', 'ui.action'], {
      description: 'Tells the skill, or asks the rows of lazy tables again.',
    }),
    target: T.Optional(name('Skill that is told; the document’s own where it is left out.')),
    query: T.Optional(
      name('Of ui.query: which lazy tables ask again; the action’s own name where it is left out.'),
    ),
    payload: anyObject('Expressions in it are filled in.'),
    params: anyObject('Of ui.query.'),
    meanwhile: T.Optional(
      T.Array(
        T.Object(
          {
            op: T.Enum(['add', 'remove', 'replace'], { description: 'As in a JSON Patch (RFC 6902).' }),
            path: T.String({
              maxLength: 512,
              pattern: '^/viewModel/.',
              description: 'JSON pointer; a step may be an expression: /viewModel/shop/items/{{$row.key}}.',
            }),
            value: T.Optional(
              T.Unsafe<unknown>({
                type: ['string', 'number', 'boolean', 'object', 'array', 'null'],
                description: 'Expressions in it are filled in.',
              }),
            ),
          },
          closed,
        ),
        {
          maxItems: 10,
          description:
            'Of ui.action in a scenario app: how the view model is shown until the hub has done it.',
        },
      ),
    ),
  },
  closed,
);

export const usdlSchema = T.Object(
  {
    version: T.String({ pattern: '^usdl/0\\.[0-2]$', description: USDL }),
    meta: T.Optional(
      T.Object(
        {
          title: text('Title of the page.'),
          texts: anyObject('Key to {"i18n": {"en": …, "ru": …}}.'),
        },
        { description: 'Of the whole page.' },
      ),
    ),
    layout: T.Optional(
      T.Object(
        { slot: slot('Where components stand that say nothing of it; main where it is left out.') },
        { ...closed, description: 'How the page is laid out.' },
      ),
    ),
    viewModel: anyObject('What the view model begins with.'),
    viewBind: T.Optional(path('Part of the view model that $ is.')),
    components: T.Array(another, { maxItems: MAX_COMPONENTS, description: 'The components, in order.' }),
    actions: T.Optional(
      T.Unsafe<unknown>({
        type: 'object',
        additionalProperties: emitted,
        description: 'What components do by name.',
      }),
    ),
  },
  {
    ...closed,
    $id: 'urn:ingle:schema:usdl-0.2',
    title: 'Ingle USDL 0.2',
    description: 'A page of components as data.',
    $defs: { component },
  },
);
