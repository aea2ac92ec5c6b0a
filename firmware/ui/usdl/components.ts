// The components of USDL as nodes. Each is total: what it cannot take becomes a note in its place. Pure.
import { treeText } from '../../text/tree.ts';
import { expression } from '../expression.ts';
import { insteadOfVega } from '../fit.ts';
import { frameOf } from '../frame.ts';
import { nearest } from '../nearest.ts';
import type { Act, Column, Field, Lazy, Node, Option, Value } from '../tree.ts';
import { limits } from '../v0/limits.ts';
import { safeSpec } from '../vega.ts';
import { plainChart } from './chart.ts';
import {
  actOf,
  bindOf,
  checked,
  dataOf,
  isObject,
  type Json,
  listOf,
  onOf,
  own,
  type Page,
  step,
  textOf,
  whenOf,
  wordsOf,
} from './page.ts';
import { type ComponentType, components, MAX_COMPONENTS } from './schema.ts';

type Make = (page: Page, c: Json, at: string) => readonly Node[];
type Input = Field['input'];
const inputs: readonly Input[] = [
  'text',
  'secret',
  'number',
  'date',
  'time',
  'area',
  'check',
  'choice',
  'chips',
];

const titled = (page: Page, c: Json, at: string, isMain = true) => {
  const title = wordsOf(page, c, at, ['title'], isMain);
  return title === undefined ? {} : { title };
};
const rowOf = (nodes: readonly Node[]): Node[] =>
  nodes.length === 0 ? [] : nodes.length === 1 ? [...nodes] : [{ is: 'row', children: nodes }];
const toneOf = (variant: unknown) =>
  variant === 'primary' || variant === 'danger' ? ({ tone: variant } as const) : {};

/** Components of a list, each in its place. */
export function childrenOf(page: Page, list: unknown, at: string): Node[] {
  if (list !== undefined && !Array.isArray(list)) {
    page.draft.problem('wrong_type', at, 'This is a list of components.');
    return [];
  }
  const all = listOf(list);
  if (all.length > MAX_COMPONENTS)
    page.draft.problem('too_large', at, `A list has at most ${MAX_COMPONENTS} components.`);
  return all.slice(0, MAX_COMPONENTS).flatMap((c, i) => componentOf(page, c, `${at}/${i}`));
}

/** The buttons of `actions`. @param form whose fields each of them sends */
function buttonsOf(page: Page, c: Json, at: string, form?: string): Node[] {
  return listOf(own(c, 'actions'))
    .slice(0, 20)
    .flatMap((a, i): Node[] => {
      const here = `${at}/actions/${i}`;
      const act = isObject(a) ? actOf(page, a, here) : undefined;
      if (!act || !isObject(a))
        return [page.draft.note('bad_action', here, 'It has a text, and an action or navigate.')];
      const label = wordsOf(page, a, here, ['text', 'label', 'title']) ?? nameOf(act);
      return [{ is: 'button', label, ...toneOf(own(a, 'variant')), act: inForm(act, form) }];
    });
}
const nameOf = (act: Act): Value => ('id' in act ? act.id : treeText('open'));
const inForm = (act: Act, form?: string): Act => (form && act.do === 'action' ? { ...act, form } : act);

function optionsOf(page: Page, c: Json, at: string): Option[] {
  return listOf(own(c, 'options'))
    .slice(0, limits.options)
    .flatMap((o, i): Option[] => {
      const here = `${at}/options/${i}`;
      const id = isObject(o) ? own(o, 'id') : o;
      if (typeof id !== 'string' && typeof id !== 'number') {
        page.draft.problem('bad_option', here, 'An option has an id and a text.');
        return [];
      }
      const label = isObject(o) ? wordsOf(page, o, here, ['text', 'label']) : undefined;
      return [{ value: String(id).slice(0, limits.text), label: label ?? String(id).slice(0, limits.text) }];
    });
}

/** A field under `name`; its kind is what `input` says, or what suits the component. */
function fieldOf(
  page: Page,
  c: Json,
  at: string,
  name: string,
  kind: Input,
): { field: Field; bind?: Field['value'] } {
  const given = own(c, 'input');
  if (given !== undefined && !inputs.includes(given as Input))
    page.draft.problem('bad_value', `${at}/input`, `It is one of ${inputs.join(', ')}.`);
  const input = inputs.includes(given as Input) ? (given as Input) : kind;
  const bind = bindOf(page, own(c, 'bind'), `${at}/bind`);
  const max = own(c, 'max');
  return {
    field: {
      name,
      label: wordsOf(page, c, at, ['label', 'text', 'title']) ?? name,
      input,
      ...(bind ? { value: bind } : {}),
      ...(input === 'choice' || input === 'chips' ? { options: optionsOf(page, c, at) } : {}),
      ...(own(c, 'required') === true ? { required: true } : {}),
      ...(typeof max === 'number' && Number.isInteger(max) && max > 0 ? { max: Math.min(max, 10_000) } : {}),
    },
    ...(bind ? { bind } : {}),
  };
}

const inputOf =
  (kind: Input): Make =>
  (page, c, at) => {
    const id = own(c, 'id');
    const last =
      typeof own(c, 'bind') === 'string'
        ? /([A-Za-z_][\w-]*)[^\w]*$/.exec(String(own(c, 'bind')).slice(-200))
        : null;
    const { field, bind } = fieldOf(
      page,
      c,
      at,
      typeof id === 'string' ? id.slice(0, 64) : (last?.[1] ?? 'value'),
      kind,
    );
    const act = onOf(page, c, at, ['change', 'input', 'select']) ?? actOf(page, c, at);
    const wait = own(c, 'debounceMs');
    if (!bind && !act)
      return [
        page.draft.note(
          'missing',
          `${at}/bind`,
          'An input is bound to a path, or does something on a change.',
        ),
      ];
    return [
      {
        is: 'input',
        field,
        ...(bind !== undefined && bind !== null && typeof bind === 'object' && 'path' in bind
          ? { bind }
          : {}),
        ...(act ? { act } : {}),
        ...(typeof wait === 'number' && Number.isFinite(wait)
          ? { wait: Math.round(Math.max(0, Math.min(10_000, wait))) }
          : {}),
      },
    ];
  };

function rowsOf(page: Page, c: Json, at: string): Value | Lazy | undefined {
  const data = own(c, 'data');
  const here = `${at}/data`;
  if (!isObject(data)) return bindOf(page, own(c, 'bind'), `${at}/bind`);
  const query = own(data, 'query');
  if (typeof query === 'string' && query !== '') {
    const [target, params, size] = [own(data, 'target'), own(data, 'params'), own(data, 'pageSize')];
    return {
      query: query.slice(0, 200),
      ...(typeof target === 'string' ? { target: target.replace(/^skill:/, '').slice(0, 64) } : {}),
      ...(params === undefined ? {} : { params: dataOf(page, params, `${here}/params`) }),
      pageSize: typeof size === 'number' && Number.isInteger(size) ? Math.max(1, Math.min(200, size)) : 20,
    };
  }
  return boundTo(page, own(data, 'bind'), `${here}/bind`);
}

/** Rows in the view model: a path, with `[*]` in it too, or what a query finds. */
function boundTo(
  page: Page,
  bind: unknown,
  pointer: string,
): Exclude<Value, string | number | boolean | null> | undefined {
  const value = typeof bind === 'string' ? checked(page, expression(bind, page.names), pointer) : null;
  if (value !== null && typeof value === 'object') return value;
  if (bind !== undefined)
    page.draft.problem('bad_bind', pointer, 'A binding is a path or a query: "$.orders".');
  return undefined;
}

const card: Make = (page, c, at) => {
  const body = own(c, 'body');
  const words =
    typeof body === 'string' ? wordsOf(page, c, at, ['body'], false) : wordsOf(page, c, at, ['text'], false);
  const inner = Array.isArray(body)
    ? childrenOf(page, body, `${at}/body`)
    : isObject(body)
      ? componentOf(page, body, `${at}/body`)
      : [];
  return [
    {
      is: 'card',
      ...titled(page, c, at),
      children: [
        ...(words === undefined ? [] : [{ is: 'text', of: [words] } as const]),
        ...inner,
        ...childrenOf(page, own(c, 'components'), `${at}/components`),
        ...rowOf(buttonsOf(page, c, at)),
      ],
    },
  ];
};

const table: Make = (page, c, at) => {
  const rows = rowsOf(page, c, at);
  if (rows === undefined)
    return [
      page.draft.note('missing', `${at}/data`, 'A table says where its rows are: data.query or data.bind.'),
    ];
  const act = onOf(page, c, at, ['rowClick', 'select', 'click']);
  const columns = listOf(own(c, 'columns'))
    .slice(0, limits.columns)
    .flatMap((col, i): Column[] => {
      const here = `${at}/columns/${i}`;
      const key = isObject(col) ? own(col, 'key') : undefined;
      if (!isObject(col) || typeof key !== 'string') {
        page.draft.problem('bad_column', here, 'A column has a key and a title.');
        return [];
      }
      return [
        {
          key: key.slice(0, 200),
          label: wordsOf(page, col, here, ['title', 'label', 'text']) ?? key.slice(0, 200),
          // What a tap on a row does can be reached by keyboard too: it is a link in its first cell.
          ...(act && i === 0
            ? { cell: { is: 'text', of: [{ act, of: [{ path: ['row', key.slice(0, 200)] }] }] } as const }
            : {}),
          ...(own(col, 'sort') === true ? { sort: true } : {}),
        },
      ];
    });
  return [
    {
      is: 'table',
      ...titled(page, c, at),
      columns,
      rows,
      ...(own(c, 'search') === true ? { search: true } : {}),
    },
    ...rowOf(buttonsOf(page, c, at)),
  ];
};

const form: Make = (page, c, at) => {
  const id = own(c, 'id');
  let name = typeof id === 'string' ? id.slice(0, 64) : 'form';
  for (let n = 1; typeof id !== 'string' && page.ids.has(name); n++) name = `form${n}`;
  page.ids.add(name);
  const fields: Field[] = [];
  for (const [i, f] of listOf(own(c, 'fields')).slice(0, 50).entries()) {
    const here = `${at}/fields/${i}`;
    const key = isObject(f) ? own(f, 'name') : undefined;
    if (
      !isObject(f) ||
      typeof key !== 'string' ||
      !/^[A-Za-z_][\w-]{0,63}$/.test(key) ||
      fields.some((o) => o.name === key)
    )
      page.draft.problem('bad_field', here, 'A field has a name of its own: letters, digits, "_" and "-".');
    else fields.push(fieldOf(page, f, here, key, own(f, 'component') === 'Select' ? 'choice' : 'text').field);
  }
  if (fields.length === 0) return [page.draft.note('missing', `${at}/fields`, 'A form has fields.')];
  const buttons = buttonsOf(page, c, at, name);
  const first = buttons.find((b) => b.is === 'button');
  const act = onOf(page, c, at, ['submit']) ?? actOf(page, c, at) ?? first?.act ?? { do: 'action', id: name };
  return [
    {
      is: 'form',
      id: name,
      ...titled(page, c, at),
      fields,
      label: first?.label ?? wordsOf(page, c, at, ['label', 'text'], false) ?? treeText('send'),
      act: inForm(act, name),
    },
    ...rowOf(buttons.filter((b) => b !== first)),
  ];
};

const progress: Make = (page, c, at) => {
  const amount = (name: string): Value | undefined => {
    const v = own(c, name);
    if (typeof v === 'number' && Number.isFinite(v)) return v;
    return typeof v === 'string' ? textOf(page, v, at + step(name)) : undefined;
  };
  const value = amount('value') ?? bindOf(page, own(c, 'bind'), `${at}/bind`);
  if (value === undefined)
    return [page.draft.note('missing', `${at}/value`, 'Progress has a value or a binding.')];
  const [label, max] = [wordsOf(page, c, at, ['label', 'title', 'text']), amount('max')];
  return [
    {
      is: 'progress',
      ...(label === undefined ? {} : { label }),
      value,
      ...(max === undefined ? {} : { max }),
    },
  ];
};

const markdown: Make = (page, c, at) => {
  const name = ['text', 'body'].find((n) => typeof own(c, n) === 'string') ?? 'text';
  const text = own(c, name);
  if (typeof text !== 'string') return [page.draft.note('missing', `${at}/text`, 'Markdown has a text.')];
  if (!page.tools.markdown) {
    page.wants.add('markdown');
    return [{ is: 'text', of: [page.draft.text(text, at + step(name))] }];
  }
  return [{ is: 'stack', children: page.tools.markdown(text, page, at + step(name)) }];
};

const chart: Make = (page, c, at) => {
  const spec = own(c, 'spec');
  const vega = isObject(spec) ? own(spec, '$vegaLite') : undefined;
  if (!isObject(vega)) return [page.draft.note('missing', `${at}/spec`, 'A chart has spec.$vegaLite.')];
  const data = own(c, 'data');
  const bound = boundTo(page, isObject(data) ? own(data, 'bind') : undefined, `${at}/data/bind`);
  const title = titled(page, c, at);
  const instead = plainChart(
    vega,
    bound && 'path' in bound && !bound.path.includes(null) ? bound : undefined,
    title.title,
  );
  const node = {
    is: 'vega',
    ...title,
    ...(bound ? { data: bound } : {}),
    ...(instead ? { instead } : {}),
  } as const;
  const safe = safeSpec(vega);
  if ('refused' in safe) {
    page.draft.problem('unsafe_spec', `${at}/spec`, safe.refused);
    return [insteadOfVega({ ...node, spec: vega })];
  }
  if (safe.left.length > 0)
    page.draft.problem(
      'unsafe_spec',
      `${at}/spec`,
      `A chart is drawn without ${safe.left.slice(0, 20).join(', ').slice(0, 300)}.`,
    );
  return [{ ...node, spec: safe.spec }];
};

const makes: Record<ComponentType, Make> = {
  Card: card,
  Toolbar: (page, c, at) => {
    const title = wordsOf(page, c, at, ['title', 'text', 'label']);
    return [
      {
        is: 'row',
        children: [
          ...(title === undefined ? [] : [{ is: 'title', text: title, level: 2 } as const]),
          ...childrenOf(page, own(c, 'components'), `${at}/components`),
          ...buttonsOf(page, c, at),
        ],
      },
    ];
  },
  Input: inputOf('text'),
  Select: inputOf('choice'),
  Button: (page, c, at) => {
    const act = actOf(page, c, at) ?? onOf(page, c, at, ['click']);
    if (!act) return [page.draft.note('missing', `${at}/action`, 'A button has an action, or navigate.')];
    const icon = own(c, 'icon');
    return [
      {
        is: 'button',
        label: wordsOf(page, c, at, ['text', 'label', 'title']) ?? nameOf(act),
        ...(typeof icon === 'string' ? { icon: icon.slice(0, 64) } : {}),
        ...toneOf(own(c, 'variant')),
        act,
      },
    ];
  },
  Table: table,
  Form: form,
  Progress: progress,
  Markdown: markdown,
  Chart: chart,
  Widget: (page, c, at) => {
    const other = own(c, 'instead');
    const instead = other === undefined ? [] : componentOf(page, other, `${at}/instead`);
    const one = instead.length > 1 ? ({ is: 'stack', children: instead } as const) : instead[0];
    const title = wordsOf(page, c, at, ['title', 'label', 'text']) ?? '';
    const frame = frameOf({ page: own(c, 'page'), w: own(c, 'w'), h: own(c, 'h') }, title, one);
    return [
      frame ??
        page.draft.note(
          'bad_page',
          `${at}/page`,
          'A page lies below /v1/ui/: "chart" or "chart/index.html".',
        ),
    ];
  },
};

/** One component, with its condition; one that is not known is a note. */
export function componentOf(page: Page, c: unknown, at: string): readonly Node[] {
  return page.draft.nodes(at, () => {
    if (!isObject(c)) return [page.draft.note('wrong_type', at, 'A component is an object with a type.')];
    const type = own(c, 'type');
    if (typeof type !== 'string' || !Object.hasOwn(makes, type)) {
      const meant = typeof type === 'string' ? nearest(type, Object.keys(components)) : undefined;
      const shown = String(typeof type === 'string' ? type : 'Without a type it').slice(0, 80);
      return [
        page.draft.note(
          'unknown_component',
          `${at}/type`,
          `"${shown}" is no component${meant ? `; "${meant}" is` : ''}.`,
        ),
      ];
    }
    const id = own(c, 'id');
    const unique = typeof id === 'string' && /^[A-Za-z_][\w-]{0,63}$/.test(id) && !page.ids.has(id);
    if (id !== undefined && !unique)
      page.draft.problem('bad_id', `${at}/id`, 'An id is a name of its own in the document.');
    if (unique) page.ids.add(id as string);
    const when = whenOf(page, own(c, 'when'), `${at}/when`);
    const made = makes[type as ComponentType](
      page,
      unique || id === undefined ? c : { ...c, id: undefined },
      at,
    );
    const all = made.length > 1 && when.when ? [{ is: 'stack', children: made } as const] : made;
    return all.map((n, i) => ({ ...n, ...(unique && i === 0 ? { id: id as string } : {}), ...when }));
  });
}
