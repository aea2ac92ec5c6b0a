// The ui/v0 view document: its types and its strict validator. Pure.
import { bindingError } from './binding.ts';

export const nodeTypes = [
  'title',
  'text',
  'badge',
  'metric',
  'stack',
  'row',
  'card',
  'table',
  'chart.line',
  'button',
  'select',
  'empty',
] as const;
export type NodeType = (typeof nodeTypes)[number];

export interface Action {
  type: 'http.get' | 'http.post' | 'bus.publish' | 'navigate';
  path?: string;
  body?: Record<string, unknown>;
  topic?: string;
  payload?: Record<string, unknown>;
  mode?: 'modal' | 'panel';
}

export interface Series {
  label?: string;
  /** Binding to the values of an axis, or with `data` the key of them in each of its rows. */
  x?: string;
  y?: string;
  /** Binding to an array of rows. */
  data?: string;
}

/** A node as the renderer takes it: `type` may be one it does not know, and then it says so. */
export interface ViewNode {
  type: string;
  text?: string;
  label?: string;
  value?: string;
  icon?: string;
  title?: string;
  gap?: number;
  justify?: string;
  child?: ViewNode;
  children?: ViewNode[];
  columns?: { key: string; label: string }[];
  rows?: string;
  series?: Series[];
  bind?: string;
  options?: { label: string; value: string }[];
  action?: Action;
}

export interface View {
  schema: 'ui/v0';
  meta?: { title?: string } & Record<string, unknown>;
  layout: ViewNode;
}

export interface ViewError {
  /** JSON pointer (RFC 6901) of what is wrong. */
  pointer: string;
  /** One sentence for a person. */
  message: string;
  /** The node type that is not known here. A newer ui/v0 may know it, so it is drawn as a note and the rest stands. */
  unknownType?: string;
}

/** Whether a view with this fault cannot be shown. */
export const condemns = (e: ViewError): boolean => e.unknownType === undefined;

/** A view of more nodes than this is refused: a phone must be able to draw it. */
export const MAX_NODES = 2000;
const MAX_NESTING = 24;
const MAX_TEXT = 4000;

type Check = (value: unknown, pointer: string, o: Report) => void;
interface Report {
  errors: ViewError[];
  nodes: number;
  depth: number;
}

const say = (o: Report, pointer: string, message: string, more?: Pick<ViewError, 'unknownType'>) => {
  if (o.errors.length < 100) o.errors.push({ pointer, message, ...more });
};
const token = (key: string) => key.replace(/~/g, '~0').replace(/\//g, '~1');
const isObject = (v: unknown): v is Record<string, unknown> =>
  v !== null && typeof v === 'object' && !Array.isArray(v);

const template: Check = (v, p, o) => {
  if (typeof v !== 'string') return say(o, p, 'must be a string');
  if (v.length > MAX_TEXT) return say(o, p, `may have at most ${MAX_TEXT} characters`);
  const wrong = bindingError(v);
  if (wrong) say(o, p, wrong);
};
const plain: Check = (v, p, o) => {
  if (typeof v !== 'string') say(o, p, 'must be a string');
};
const binding: Check = (v, p, o) => {
  template(v, p, o);
  if (typeof v === 'string' && !/^\s*\{\{[^{}]+\}\}\s*$/.test(v))
    say(o, p, 'must be one binding, as {{state.name}}');
};
const number: Check = (v, p, o) => {
  if (typeof v !== 'number' || !Number.isFinite(v) || v < 0 || v > 200)
    say(o, p, 'must be a number from 0 to 200');
};
const oneOf =
  (...values: string[]): Check =>
  (v, p, o) => {
    if (typeof v !== 'string' || !values.includes(v)) say(o, p, `must be one of ${values.join(', ')}`);
  };
const nodeType: Check = (v, p, o) => {
  if ((nodeTypes as readonly unknown[]).includes(v)) return;
  const says = `must be one of ${nodeTypes.join(', ')}`;
  say(o, p, says, typeof v === 'string' ? { unknownType: v } : undefined);
};
const anyObject: Check = (v, p, o) => {
  if (!isObject(v)) say(o, p, 'must be an object');
};
const list =
  (item: Check, max: number): Check =>
  (v, p, o) => {
    if (!Array.isArray(v)) return say(o, p, 'must be an array');
    if (v.length > max) return say(o, p, `may have at most ${max} items`);
    v.forEach((x, i) => {
      item(x, `${p}/${i}`, o);
    });
  };
const object =
  (fields: Record<string, Check>, required: string[]): Check =>
  (v, p, o) => {
    if (!isObject(v)) return say(o, p, 'must be an object');
    for (const key of required) if (!Object.hasOwn(v, key)) say(o, `${p}/${key}`, 'is missing');
    for (const [key, value] of Object.entries(v)) {
      const check = Object.hasOwn(fields, key) ? fields[key] : undefined;
      if (check) check(value, `${p}/${token(key)}`, o);
      else say(o, `${p}/${token(key)}`, 'is not known in ui/v0');
    }
  };

const action: Check = (v, p, o) => {
  object(
    {
      type: oneOf('http.get', 'http.post', 'bus.publish', 'navigate'),
      path: template,
      body: anyObject,
      topic: plain,
      payload: anyObject,
      mode: oneOf('modal', 'panel'),
    },
    ['type'],
  )(v, p, o);
  if (!isObject(v)) return;
  const needs = v['type'] === 'bus.publish' ? 'topic' : 'path';
  if (!Object.hasOwn(v, needs)) say(o, `${p}/${needs}`, `is missing, ${String(v['type'])} needs it`);
};

const fields: Record<string, Check> = {
  type: nodeType,
  text: template,
  label: template,
  value: template,
  icon: plain,
  title: template,
  gap: number,
  justify: oneOf('start', 'center', 'end', 'between'),
  child: (v, p, o) => node(v, p, o),
  children: (v, p, o) => list(node, MAX_NODES)(v, p, o),
  columns: list(object({ key: plain, label: template }, ['key', 'label']), 50),
  rows: binding,
  series: list(object({ label: template, x: template, y: template, data: binding }, []), 12),
  bind: binding,
  options: list(object({ label: template, value: plain }, ['label', 'value']), 200),
  action,
};

/** What each type cannot do without. */
const required: Partial<Record<NodeType, string[]>> = {
  title: ['text'],
  text: ['text'],
  badge: ['text'],
  metric: ['label', 'value'],
  table: ['columns', 'rows'],
  'chart.line': ['series'],
  button: ['label', 'action'],
  select: ['options'],
};

function node(v: unknown, p: string, o: Report): void {
  if (++o.nodes > MAX_NODES) {
    if (o.nodes === MAX_NODES + 1) say(o, p, `a view may have at most ${MAX_NODES} nodes`);
    return;
  }
  if (o.depth >= MAX_NESTING) {
    say(o, p, `nests deeper than ${MAX_NESTING}`);
    return;
  }
  o.depth++;
  const type = isObject(v) && typeof v['type'] === 'string' ? v['type'] : '';
  const needs = Object.hasOwn(required, type) ? required[type as NodeType]! : [];
  object(fields, ['type', ...needs])(v, p, o);
  o.depth--;
}

/**
 * Checks a ui/v0 view document strictly.
 * @returns every fault with its JSON pointer, at most 100; an empty array means the view is good.
 */
export function validateView(json: unknown): ViewError[] {
  const o: Report = { errors: [], nodes: 0, depth: 0 };
  object({ schema: oneOf('ui/v0'), meta: anyObject, layout: node }, ['schema', 'layout'])(json, '', o);
  if (isObject(json) && isObject(json['meta']) && json['meta']['title'] !== undefined)
    template(json['meta']['title'], '/meta/title', o);
  return o.errors;
}
