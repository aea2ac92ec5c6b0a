// The components of A2UI's basic catalogue as nodes: Text, Image (its alternative text), Icon, Row, Column, List, Card,
// Tabs, Modal, Divider, Button, fields. What a hub does not load, a video or a picture, is words or a link. Pure.
import { treeText } from '../../text/tree.ts';
import { linkOf } from '../destination.ts';
import type { Draft } from '../draft.ts';
import type { Act, Field, Node, Option, Path, Value } from '../tree.ts';
import { asWords } from '../words.ts';
import { type Component, isObject, type Json, own, type Surface } from './messages.ts';
import { contextOf, pathAt, valueAt, type Where } from './value.ts';

export interface Drawing {
  draft: Draft;
  surface: Surface;
  where: Where;
  /** Components that are being drawn, so that none is within itself. */
  open: ReadonlySet<string>;
  /** What opens in front of the page. */
  modals: Node[];
  /** Simple markup of a text; without it the text stands as it is written. */
  markup?: (text: string, pointer: string) => readonly Node[];
}
type Make = (d: Drawing, p: Json, at: string, id: string) => readonly Node[];

const textAt = (d: Drawing, p: Json, at: string, ...names: string[]): Value | undefined => {
  for (const name of names) {
    const value = valueAt(own(p, name), d.where, `${at}/${name}`);
    if (value !== undefined) return value;
  }
  return undefined;
};
const bindAt = (d: Drawing, v: unknown): Path | undefined => {
  const path = isObject(v) ? own(v, 'path') : undefined;
  return typeof path === 'string' ? pathAt(path, d.where) : undefined;
};

/** One component by its id. */
export function drawn(d: Drawing, id: unknown, at: string): readonly Node[] {
  return d.draft.nodes(at, () => {
    const known = typeof id === 'string' ? d.surface.components.get(id) : undefined;
    const name = String(typeof id === 'string' ? id : '').slice(0, 80);
    if (typeof id !== 'string' || !known)
      return [d.draft.note('missing_component', at, `No component has the id "${name}".`)];
    if (d.open.has(id)) return [d.draft.note('cycle', at, `The component "${name}" is within itself.`)];
    if (!Object.hasOwn(makes, known.type))
      return [
        d.draft.note(
          'unknown_component',
          known.pointer,
          `"${known.type.slice(0, 80)}" is not in the basic catalogue.`,
        ),
      ];
    return makes[known.type]!({ ...d, open: new Set([...d.open, id]) }, known.props, known.pointer, id);
  });
}

/** Children by their ids, or one for each item of a list. */
function childrenAt(d: Drawing, p: Json, at: string): readonly Node[] {
  const given = own(p, 'children');
  const here = `${at}/children`;
  const list = Array.isArray(given) ? given : isObject(given) ? own(given, 'explicitList') : undefined;
  if (Array.isArray(list)) return list.slice(0, 500).flatMap((id, i) => drawn(d, id, `${here}/${i}`));
  const inner = isObject(given) ? (own(given, 'template') ?? given) : undefined;
  const template = isObject(inner) ? inner : {};
  const path = own(template, 'path') ?? own(template, 'dataBinding');
  if (typeof path !== 'string') {
    if (given !== undefined)
      d.draft.problem('bad_children', here, 'Children are ids, or a path and a componentId.');
    return [];
  }
  const child = drawn({ ...d, where: { ...d.where, inRow: true } }, own(template, 'componentId'), here);
  const one: Node | undefined = child.length > 1 ? { is: 'stack', children: child } : child[0];
  return one ? [{ is: 'each', of: pathAt(path, d.where), child: one }] : [];
}

/** The words within a component, as the label of what holds it. */
function labelOf(d: Drawing, id: unknown, depth = 0): Value | undefined {
  const c: Component | undefined = typeof id === 'string' ? d.surface.components.get(id) : undefined;
  if (!c || depth > 6) return undefined;
  if (c.type === 'Text') return textAt(d, c.props, c.pointer, 'text');
  if (c.type === 'Icon') {
    const name = textAt(d, c.props, c.pointer, 'name');
    return typeof name === 'string' ? iconWords(name) : name;
  }
  if (c.type === 'Image') return textAt(d, c.props, c.pointer, 'description', 'altText');
  const children = own(c.props, 'children');
  const list = Array.isArray(children)
    ? children
    : isObject(children)
      ? own(children, 'explicitList')
      : undefined;
  const ids = [own(c.props, 'child'), ...(Array.isArray(list) ? list.slice(0, 10) : [])];
  // A text says more than the icon beside it.
  const texts = ids.filter((i) => typeof i === 'string' && d.surface.components.get(i)?.type !== 'Icon');
  for (const one of [...texts, ...ids]) {
    const label = labelOf(d, one, depth + 1);
    if (label !== undefined && label !== '') return label;
  }
  return undefined;
}
const iconWords = (name: string) =>
  asWords(
    name
      .slice(0, 64)
      .replace(/([a-z])([A-Z])/g, '$1_$2')
      .toLowerCase(),
  );

function actAt(d: Drawing, p: Json, at: string): Act | undefined {
  const action = own(p, 'action');
  if (!isObject(action)) return undefined;
  const call = own(action, 'functionCall') ?? action;
  if (isObject(call) && own(call, 'call') === 'openUrl') {
    const args = own(call, 'args');
    const url = isObject(args) ? own(args, 'url') : undefined;
    const go = typeof url === 'string' ? linkOf(url) : null;
    if (!go) d.draft.problem('unsafe_link', `${at}/action`, 'A link leads to https:// or mailto:.');
    return go ?? undefined;
  }
  const event = own(action, 'event') ?? action;
  const name = isObject(event) ? own(event, 'name') : undefined;
  if (!isObject(event) || typeof name !== 'string') return undefined;
  const payload = contextOf(own(event, 'context'), d.where, `${at}/action`);
  return { do: 'action', id: name.slice(0, 200), ...(payload ? { payload } : {}) };
}

/** Whether one of the checks of a field is that it has something in it. */
const isRequired = (p: Json): boolean =>
  (Array.isArray(own(p, 'checks')) ? (own(p, 'checks') as unknown[]) : []).some((c) => {
    const condition = isObject(c) ? (own(c, 'condition') ?? c) : undefined;
    return isObject(condition) && own(condition, 'call') === 'required';
  });

function inputAt(
  d: Drawing,
  p: Json,
  at: string,
  id: string,
  input: Field['input'],
  value: string,
  more: Partial<Field> = {},
): Node[] {
  const bind = bindAt(d, own(p, value));
  const given = textAt(d, p, at, value);
  return [
    {
      is: 'input',
      field: {
        name: id.slice(0, 64),
        label: textAt(d, p, at, 'label') ?? '',
        input,
        ...(given === undefined ? {} : { value: given }),
        ...(isRequired(p) ? { required: true } : {}),
        ...more,
      },
      ...(bind ? { bind } : {}),
    },
  ];
}

function optionsAt(d: Drawing, p: Json, at: string): Option[] {
  const list = own(p, 'options');
  return (Array.isArray(list) ? list : []).slice(0, 200).flatMap((o, i): Option[] => {
    const value = isObject(o) ? own(o, 'value') : undefined;
    if (!isObject(o) || typeof value !== 'string') return [];
    return [{ value: value.slice(0, 4000), label: textAt(d, o, `${at}/options/${i}`, 'label') ?? value }];
  });
}

const choices: Make = (d, p, at, id) => {
  const isOne = own(p, 'maxAllowedSelections') === 1 || own(p, 'variant') === 'mutuallyExclusive';
  const value = Object.hasOwn(p, 'selections') ? 'selections' : 'value';
  return inputAt(d, p, at, id, isOne ? 'choice' : 'chips', value, { options: optionsAt(d, p, at) });
};

const justified: Readonly<Record<string, 'start' | 'center' | 'end' | 'between'>> = {
  start: 'start',
  center: 'center',
  end: 'end',
  spaceBetween: 'between',
  spaceAround: 'between',
  spaceEvenly: 'between',
};

const column: Make = (d, p, at) => [{ is: 'stack', children: childrenAt(d, p, at) }];

/** Sound and pictures in motion are not loaded; who wants them follows a link. */
const media =
  (word: 'listen' | 'watch'): Make =>
  (d, p, at) => {
    const label = textAt(d, p, at, 'description') ?? treeText(word);
    const url = own(p, 'url');
    const address = isObject(url) ? own(url, 'literalString') : url;
    const act = typeof address === 'string' ? linkOf(address) : null;
    return [{ is: 'text', of: [act ? { act, of: [label] } : label] }];
  };

const makes: Readonly<Record<string, Make>> = {
  Text: (d, p, at) => {
    const text = textAt(d, p, at, 'text') ?? '';
    const style = /^h([1-5])$/.exec(String(own(p, 'variant') ?? own(p, 'usageHint')));
    if (style) return [{ is: 'title', text, level: Math.min(3, Number(style[1])) as 1 | 2 | 3 }];
    if (typeof text === 'string' && d.markup && /[*_`#[\]>-]/.test(text)) {
      const nodes = d.markup(text, `${at}/text`);
      return nodes.length === 1 ? nodes : [{ is: 'stack', children: nodes }];
    }
    return [{ is: 'text', of: [text] }];
  },
  Image: (d, p, at) => {
    const words = textAt(d, p, at, 'description', 'altText', 'accessibilityText');
    if (words !== undefined) return [{ is: 'text', of: [{ mark: 'em', of: [words] }] }];
    d.draft.problem('no_text', at, 'Pictures are not loaded: a description would be shown.');
    return [];
  },
  Icon: (d, p, at) => {
    const name = textAt(d, p, at, 'name');
    return [{ is: 'badge', text: typeof name === 'string' ? iconWords(name) : (name ?? '') }];
  },
  Row: (d, p, at) => {
    const justify = String(own(p, 'justify') ?? own(p, 'distribution'));
    return [
      {
        is: 'row',
        ...(Object.hasOwn(justified, justify) ? { justify: justified[justify]! } : {}),
        children: childrenAt(d, p, at),
      },
    ];
  },
  Column: column,
  List: (d, p, at) =>
    own(p, 'direction') === 'horizontal'
      ? [{ is: 'row', children: childrenAt(d, p, at) }]
      : column(d, p, at, ''),
  Card: (d, p, at) => [{ is: 'card', children: drawn(d, own(p, 'child'), `${at}/child`) }],
  Tabs: (d, p, at) => {
    const list = own(p, 'tabs') ?? own(p, 'tabItems');
    const tabs = (Array.isArray(list) ? list : []).slice(0, 12).flatMap((t, i) =>
      isObject(t)
        ? [
            {
              label: textAt(d, t, `${at}/tabs/${i}`, 'title') ?? '',
              children: drawn(d, own(t, 'child'), `${at}/tabs/${i}/child`),
            },
          ]
        : [],
    );
    return [{ is: 'tabs', tabs }];
  },
  Modal: (d, p, at, id) => {
    const flag: Path = { path: ['state', 'a2ui_open', id.slice(0, 200)] };
    const turn = (value: boolean): Act => ({ do: 'set', at: flag, value });
    const content = drawn(d, own(p, 'content') ?? own(p, 'contentChild'), `${at}/content`);
    // In front of the page there is no item, so what is within a template stands where it is.
    if (d.where.inRow) return [{ is: 'card', children: content }];
    d.modals.push({
      is: 'stack',
      when: { is: flag },
      children: [...content, { is: 'button', label: treeText('close'), act: turn(false) }],
    });
    const trigger = own(p, 'trigger') ?? own(p, 'entryPointChild');
    return [{ is: 'button', label: labelOf(d, trigger) ?? treeText('open'), act: turn(true) }];
  },
  Divider: () => [{ is: 'rule' }],
  Button: (d, p, at) => {
    const act = actAt(d, p, at);
    const label = labelOf(d, own(p, 'child')) ?? textAt(d, p, at, 'text', 'label');
    if (!act) return [d.draft.note('bad_action', `${at}/action`, 'A button has an action with a name.')];
    const isPrimary = own(p, 'primary') === true || own(p, 'variant') === 'primary';
    return [
      {
        is: 'button',
        label: label ?? ('id' in act ? act.id : treeText('open')),
        ...(isPrimary ? { tone: 'primary' as const } : {}),
        act,
      },
    ];
  },
  CheckBox: (d, p, at, id) => inputAt(d, p, at, id, 'check', 'value'),
  TextField: (d, p, at, id) => {
    const kinds: Readonly<Record<string, Field['input']>> = {
      longText: 'area',
      number: 'number',
      obscured: 'secret',
      date: 'date',
    };
    const kind = String(own(p, 'variant') ?? own(p, 'textFieldType') ?? own(p, 'usageHint'));
    const value = Object.hasOwn(p, 'text') ? 'text' : 'value';
    return inputAt(d, p, at, id, Object.hasOwn(kinds, kind) ? kinds[kind]! : 'text', value);
  },
  DateTimeInput: (d, p, at, id) => {
    const [date, time] = [own(p, 'enableDate') !== false, own(p, 'enableTime') === true];
    if (date && time && own(p, 'enableDate') === true)
      d.draft.problem(
        'not_supported',
        at,
        'A field takes a date or a time, not both: this one takes the date.',
      );
    return inputAt(d, p, at, id, time && own(p, 'enableDate') !== true ? 'time' : 'date', 'value');
  },
  MultipleChoice: choices,
  ChoicePicker: choices,
  Slider: (d, p, at, id) => inputAt(d, p, at, id, 'number', 'value'),
  Video: media('watch'),
  AudioPlayer: media('listen'),
};
