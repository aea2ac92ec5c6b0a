// ui/v0 to the render tree. Whatever it is given becomes a tree: what is not right is marked in its place, and told.
import { bindingError, compileText } from '../binding.ts';
import { nearest } from '../nearest.ts';
import { finished } from '../needs.ts';
import type { Act, Field, FrontEnd, Node, Path, Problem, Series, Value } from '../tree.ts';
import { limits } from './limits.ts';

type Json = Record<string, unknown>;
const isObject = (v: unknown): v is Json => v !== null && typeof v === 'object' && !Array.isArray(v);
const escaped = (name: string) => name.replace(/~/g, '~0').replace(/\//g, '~1');

/** One compilation: what it found, and how much it has drawn. */
interface Work {
  /** 0: ui/v0, 1: ui/v0.1. */
  minor: 0 | 1;
  problems: Problem[];
  nodes: number;
  meta: boolean;
  /** What is wrong with the node at hand so that it cannot be drawn. */
  fatal?: Problem | undefined;
}

function tell(w: Work, pointer: string, code: string, hint: string): Problem {
  const problem = { pointer, code, hint };
  if (w.problems.length < limits.problems) w.problems.push(problem);
  return problem;
}
const fail = (w: Work, pointer: string, code: string, hint: string): void => {
  const problem = tell(w, pointer, code, hint);
  w.fatal ??= problem;
};
const noteOf = (w: Work, p: Problem): Node =>
  w.problems.includes(p)
    ? { is: 'note', code: p.code, says: p.hint, pointer: p.pointer }
    : { is: 'note', code: p.code, says: '', pointer: '' };

/** The text at `name`; undefined where there is none or it is wrong. What is needed and wrong makes the node a note. */
function text(w: Work, n: Json, at: string, name: string, needed = false): Value | undefined {
  const value = n[name];
  const tellHere = needed ? fail : tell;
  const pointer = `${at}/${name}`;
  if (value === undefined) {
    if (needed) fail(w, pointer, 'missing', 'is missing');
    return undefined;
  }
  const wrong = wrongText(value);
  if (wrong) {
    tellHere(w, pointer, ...wrong);
    return undefined;
  }
  if (/\{\{\s*meta/.test(value as string)) w.meta = true;
  return compileText(value as string);
}

function wrongText(value: unknown): [code: string, hint: string] | undefined {
  if (typeof value !== 'string') return ['wrong_type', 'must be a text'];
  if (value.length > limits.text) return ['too_large', `may have at most ${limits.text} characters`];
  const error = bindingError(value);
  return error ? ['binding', error] : undefined;
}
const need = (w: Work, n: Json, at: string, name: string): Value => text(w, n, at, name, true) ?? '';

/** The path of a text that is one binding. */
function path(w: Work, n: Json, at: string, name: string, needed = false): Path | undefined {
  const value = text(w, n, at, name, needed);
  if (value === undefined) return undefined;
  if (typeof value === 'object' && value !== null && 'path' in value) return value;
  (needed ? fail : tell)(w, `${at}/${name}`, 'binding', 'must be one binding, as {{state.name}}');
  return undefined;
}

/** A list of at most `most`; a longer one loses its end. */
function list(w: Work, n: Json, at: string, name: string, most: number, needed = false): unknown[] {
  const value = n[name];
  const pointer = `${at}/${name}`;
  if (value === undefined) {
    if (needed) fail(w, pointer, 'missing', 'is missing');
    return [];
  }
  if (!Array.isArray(value)) {
    (needed ? fail : tell)(w, pointer, 'wrong_type', 'must be an array');
    return [];
  }
  if (value.length > most) tell(w, pointer, 'too_large', `may have at most ${most} items`);
  return value.slice(0, most);
}

/** The objects of a list; what is none of them is told. */
function objects(w: Work, items: unknown[], at: string, known: readonly string[]): [Json, string][] {
  return items.flatMap((item, i): [Json, string][] => {
    const here = `${at}/${i}`;
    if (isObject(item)) {
      strange(w, item, here, known);
      return [[item, here]];
    }
    tell(w, here, 'wrong_type', 'must be an object');
    return [];
  });
}

/** Tells of properties that nobody reads. */
function strange(w: Work, n: Json, at: string, known: readonly string[]): void {
  for (const name of Object.keys(n).slice(0, 100))
    if (!known.includes(name)) {
      const meant = nearest(name, known);
      tell(
        w,
        `${at}/${escaped(name.slice(0, 100))}`,
        'unknown_property',
        meant ? `is not known here; "${meant}" is` : 'is not known here',
      );
    }
}

/** Data with bindings at every depth, as a value. */
function data(w: Work, value: unknown, at: string, depth = 0): Value {
  if (typeof value === 'string') {
    const wrong = wrongText(value);
    if (wrong) {
      fail(w, at, ...wrong);
      return null;
    }
    if (/\{\{\s*meta/.test(value)) w.meta = true;
    return compileText(value);
  }
  if (value === null || typeof value !== 'object') return value as number | boolean | null;
  if (depth >= limits.depth) {
    fail(w, at, 'too_deep', `nests deeper than ${limits.depth}`);
    return null;
  }
  if (Array.isArray(value)) return { array: value.map((v, i) => data(w, v, `${at}/${i}`, depth + 1)) };
  return {
    object: Object.fromEntries(
      Object.entries(value).map(([k, v]) => [k, data(w, v, `${at}/${escaped(k.slice(0, 100))}`, depth + 1)]),
    ),
  };
}

const actionKeys = ['type', 'path', 'body', 'topic', 'payload', 'mode'];
const actionTypes = ['http.get', 'http.post', 'bus.publish', 'navigate'];

/** @param given names of what a person gives, which is added to what the action carries */
function action(w: Work, n: Json, at: string, given: readonly string[] = []): Act | undefined {
  const a = n['action'];
  const here = `${at}/action`;
  if (!isObject(a)) {
    if (a === undefined) fail(w, here, 'missing', 'is missing');
    else fail(w, here, 'wrong_type', 'must be an object');
    return undefined;
  }
  strange(w, a, here, actionKeys);
  const carried = (name: 'body' | 'payload'): Value => {
    const of = a[name];
    if (of !== undefined && !isObject(of)) tell(w, `${here}/${name}`, 'wrong_type', 'must be an object');
    const own = data(w, isObject(of) ? of : {}, `${here}/${name}`) as { object: Record<string, Value> };
    const typed = given.map((name) => [name, { path: ['form', name] } as const] as const);
    return { object: Object.fromEntries([...Object.entries(own.object), ...typed]) };
  };
  switch (a['type']) {
    case 'http.get':
      return { do: 'get', path: need(w, a, here, 'path') };
    case 'http.post':
      return { do: 'post', path: need(w, a, here, 'path'), body: carried('body') };
    case 'bus.publish': {
      const topic = a['topic'];
      if (typeof topic === 'string' && topic.length <= 200)
        return { do: 'publish', topic, payload: carried('payload') };
      fail(w, `${here}/topic`, topic === undefined ? 'missing' : 'wrong_type', 'must be the name of a topic');
      return undefined;
    }
    case 'navigate': {
      const skill = /^skill:([a-z][a-z0-9_]{0,47})$/.exec(String(a['path'] ?? ''))?.[1];
      const mode = a['mode'];
      if (mode !== undefined && mode !== 'modal' && mode !== 'panel')
        tell(w, `${here}/mode`, 'value', 'must be one of modal, panel');
      if (skill) return { do: 'go', skill, ...(mode === 'modal' || mode === 'panel' ? { mode } : {}) };
      fail(w, `${here}/path`, a['path'] === undefined ? 'missing' : 'value', 'must be skill:<id>');
      return undefined;
    }
    default:
      fail(w, `${here}/type`, 'value', `must be one of ${actionTypes.join(', ')}`);
      return undefined;
  }
}

const inputs = ['text', 'secret', 'number', 'date', 'time', 'area', 'check', 'choice', 'chips'] as const;
const fieldKeys = ['key', 'label', 'value', 'secret'];
const fieldKeys1 = [...fieldKeys, 'input', 'options', 'required', 'max'];

function options(w: Work, n: Json, at: string, needed: boolean) {
  const items = list(w, n, at, 'options', limits.options, needed);
  return objects(w, items, `${at}/options`, ['label', 'value']).flatMap(([o, here]) => {
    const label = text(w, o, here, 'label', true);
    const value = o['value'];
    if (typeof value !== 'string') fail(w, `${here}/value`, 'wrong_type', 'must be a text');
    return label === undefined || typeof value !== 'string' ? [] : [{ label, value }];
  });
}

function field(w: Work, f: Json, at: string): Field {
  const name = f['key'];
  if (typeof name !== 'string' || !/^[a-z][a-z0-9_]{0,31}$/.test(name))
    fail(w, `${at}/key`, 'value', 'must be lower-case letters, digits and "_", beginning with a letter');
  for (const flag of ['secret', 'required'])
    if (f[flag] !== undefined && typeof f[flag] !== 'boolean')
      tell(w, `${at}/${flag}`, 'wrong_type', 'must be true or false');
  const input =
    w.minor > 0 && f['input'] !== undefined ? f['input'] : f['secret'] === true ? 'secret' : 'text';
  if (!inputs.includes(input as 'text'))
    fail(w, `${at}/input`, 'value', `must be one of ${inputs.join(', ')}`);
  const value = text(w, f, at, 'value');
  const max = w.minor > 0 ? f['max'] : undefined;
  const isMax = Number.isInteger(max) && (max as number) > 0 && (max as number) <= limits.text;
  if (max !== undefined && !isMax)
    tell(w, `${at}/max`, 'value', `must be a whole number from 1 to ${limits.text}`);
  const chosen = input === 'choice' || input === 'chips';
  return {
    name: String(name),
    label: need(w, f, at, 'label'),
    input: input as Field['input'],
    ...(value === undefined ? {} : { value }),
    ...(chosen ? { options: options(w, f, at, true) } : {}),
    ...(w.minor > 0 && f['required'] === true ? { required: true } : {}),
    ...(isMax ? { max: max as number } : {}),
  };
}

/** Both axes of a series as arrays: bindings, or with `data` the key of each in its rows. */
function series(w: Work, s: Json, at: string): Series[] {
  const rows = path(w, s, at, 'data', s['data'] !== undefined);
  const label = text(w, s, at, 'label') ?? '';
  const axis = (name: 'x' | 'y'): Value | undefined => {
    const given = text(w, s, at, name, s[name] !== undefined);
    if (given === undefined || typeof given === 'object') return given;
    if (!rows) {
      fail(w, `${at}/${name}`, 'binding', 'must be one binding to values, or with "data" the key of each');
      return undefined;
    }
    // Where the rows are gathered already, each of them is one step ahead.
    const each = rows.path.includes(null) ? [] : [null];
    return { path: [...rows.path, ...each, String(given)] as unknown as Path['path'] };
  };
  const [x, y] = [axis('x'), axis('y') ?? rows];
  if (y === undefined) fail(w, `${at}/y`, 'missing', 'is missing');
  return y === undefined ? [] : [{ label, ...(x === undefined ? {} : { x }), y }];
}

function gapOf(w: Work, n: Json, at: string): { gap?: number } {
  const gap = n['gap'];
  if (gap === undefined) return {};
  if (typeof gap !== 'number' || !(gap >= 0 && gap <= 200)) {
    tell(w, `${at}/gap`, 'value', 'must be a number from 0 to 200');
    return {};
  }
  return { gap: gap < 4 ? gap * 8 : gap };
}

function children(w: Work, n: Json, at: string, depth: number): Node[] {
  const all = list(w, n, at, 'children', limits.nodes);
  const one = n['child'] === undefined ? [] : [node(w, n['child'], `${at}/child`, depth + 1)];
  const kept: Node[] = [];
  for (const [i, child] of all.entries()) {
    kept.push(node(w, child, `${at}/children/${i}`, depth + 1));
    if (w.nodes > limits.nodes) break;
  }
  return [...one, ...kept];
}

const justified = ['start', 'center', 'end', 'between'] as const;
type Make = (w: Work, n: Json, at: string, depth: number) => Node;

const chart =
  (kind: 'line' | 'bar'): Make =>
  (w, n, at) => {
    const title = text(w, n, at, 'title') ?? text(w, n, at, 'label');
    const all = list(w, n, at, 'series', limits.series, true);
    const max = kind === 'line' && w.minor > 0 ? text(w, n, at, 'max') : undefined;
    return {
      is: 'chart',
      kind,
      ...(max === undefined ? {} : { max }),
      ...(title === undefined ? {} : { title }),
      series: objects(w, all, `${at}/series`, ['label', 'x', 'y', 'data']).flatMap(([s, here]) =>
        series(w, s, here),
      ),
    };
  };

/** Each type of ui/v0. */
const makes: Record<string, Make> = {
  title: (w, n, at) => ({ is: 'title', text: need(w, n, at, 'text') }),
  text: (w, n, at) => ({ is: 'text', of: [need(w, n, at, 'text')] }),
  badge: (w, n, at) => ({ is: 'badge', text: need(w, n, at, 'text') }),
  metric: (w, n, at) => ({ is: 'metric', label: need(w, n, at, 'label'), value: need(w, n, at, 'value') }),
  stack: (w, n, at, depth) => ({ is: 'stack', ...gapOf(w, n, at), children: children(w, n, at, depth) }),
  row(w, n, at, depth) {
    const justify = justified.find((j) => j === n['justify']);
    if (n['justify'] !== undefined && !justify)
      tell(w, `${at}/justify`, 'value', `must be one of ${justified.join(', ')}`);
    const all = children(w, n, at, depth);
    return { is: 'row', ...gapOf(w, n, at), ...(justify ? { justify } : {}), children: all };
  },
  card(w, n, at, depth) {
    const title = text(w, n, at, 'title');
    const all = children(w, n, at, depth);
    return { is: 'card', ...(title === undefined ? {} : { title }), ...gapOf(w, n, at), children: all };
  },
  table(w, n, at) {
    const title = text(w, n, at, 'title') ?? text(w, n, at, 'label');
    const all = list(w, n, at, 'columns', limits.columns, true);
    const columns = objects(w, all, `${at}/columns`, ['key', 'label']).map(([c, here]) => {
      if (typeof c['key'] !== 'string') fail(w, `${here}/key`, 'wrong_type', 'must be a text');
      return { key: String(c['key']), label: need(w, c, here, 'label') };
    });
    const rows = path(w, n, at, 'rows', true) ?? null;
    return { is: 'table', ...(title === undefined ? {} : { title }), columns, rows };
  },
  'chart.line': chart('line'),
  button(w, n, at) {
    const act = action(w, n, at) ?? { do: 'get', path: '' };
    const icon = typeof n['icon'] === 'string' ? { icon: n['icon'].slice(0, limits.text) } : {};
    return { is: 'button', label: need(w, n, at, 'label'), ...icon, act };
  },
  select(w, n, at) {
    const value = path(w, n, at, 'bind');
    const act = n['action'] === undefined ? undefined : action(w, n, at, ['value']);
    return {
      is: 'input',
      field: {
        name: 'value',
        label: text(w, n, at, 'label') ?? '',
        input: 'choice',
        ...(value ? { value } : {}),
        options: options(w, n, at, true),
      },
      ...(act ? { act } : {}),
    };
  },
  form(w, n, at) {
    const title = text(w, n, at, 'title');
    const all = list(w, n, at, 'fields', limits.fields, true);
    const known = w.minor > 0 ? fieldKeys1 : fieldKeys;
    const fields = objects(w, all, `${at}/fields`, known).map(([f, here]) => field(w, f, here));
    if (all.length === 0) fail(w, `${at}/fields`, 'missing', 'is missing, or has nothing in it');
    const names = fields.map((f) => f.name);
    const act = action(w, n, at, names) ?? { do: 'get', path: '' };
    const label = need(w, n, at, 'label');
    return { is: 'form', ...(title === undefined ? {} : { title }), fields, label, act };
  },
  empty(w, n, at) {
    const words = text(w, n, at, 'text') ?? text(w, n, at, 'title') ?? '';
    const icon = typeof n['icon'] === 'string' ? { icon: n['icon'].slice(0, limits.text) } : {};
    return { is: 'empty', text: words, ...icon };
  },
};

/** What ui/v0.1 adds. */
const adds: Record<string, Make> = {
  'chart.bar': chart('bar'),
  progress(w, n, at) {
    const [label, max] = [text(w, n, at, 'label'), text(w, n, at, 'max')];
    return {
      is: 'progress',
      ...(label === undefined ? {} : { label }),
      value: need(w, n, at, 'value'),
      ...(max === undefined ? {} : { max }),
    };
  },
  tabs(w, n, at, depth) {
    const all = list(w, n, at, 'tabs', limits.tabs, true);
    if (all.length === 0) fail(w, `${at}/tabs`, 'missing', 'is missing, or has nothing in it');
    return {
      is: 'tabs',
      tabs: objects(w, all, `${at}/tabs`, ['label', 'child', 'children']).map(([t, here]) => ({
        label: need(w, t, here, 'label'),
        children: children(w, t, here, depth),
      })),
    };
  },
};

const nodeKeys =
  'type text label value icon title gap justify child children columns rows series bind options fields action'.split(
    ' ',
  );

function node(w: Work, n: unknown, at: string, depth: number): Node {
  if (++w.nodes > limits.nodes)
    return noteOf(w, tell(w, at, 'too_large', `a view may have at most ${limits.nodes} nodes`));
  if (depth >= limits.nesting)
    return noteOf(w, tell(w, at, 'too_deep', `nests deeper than ${limits.nesting}`));
  if (!isObject(n)) return noteOf(w, tell(w, at, 'wrong_type', 'must be an object'));
  const type = n['type'];
  const known = w.minor > 0 ? { ...makes, ...adds } : makes;
  const make = typeof type === 'string' && Object.hasOwn(known, type) ? known[type] : undefined;
  if (!make) return noteOf(w, unknown(w, type, at, Object.keys(known)));
  const outer = w.fatal;
  w.fatal = undefined;
  strange(w, n, at, w.minor > 0 ? [...nodeKeys, 'tabs', 'max'] : nodeKeys);
  const made = make(w, n, at, depth);
  const { fatal } = w;
  w.fatal = outer;
  return fatal ? noteOf(w, fatal) : made;
}

function unknown(w: Work, type: unknown, at: string, known: string[]): Problem {
  const pointer = `${at}/type`;
  if (type === undefined) return tell(w, pointer, 'missing', 'is missing');
  if (typeof type !== 'string') return tell(w, pointer, 'wrong_type', 'must be the name of a type');
  if (Object.hasOwn(adds, type))
    return tell(w, pointer, 'newer_version', `${type} belongs to ui/v0.1: say so in "schema"`);
  const meant = nearest(type, known);
  const hint = `"${type.slice(0, 100)}" is not known; must be one of ${known.join(', ')}`;
  return tell(w, pointer, 'unknown_type', meant ? `${hint}; "${meant}" is near` : hint);
}

/** Compiles a view of ui/v0 or ui/v0.1. */
export const compileV0: FrontEnd = (source) => {
  const w: Work = { minor: 0, problems: [], nodes: 0, meta: false };
  const view = isObject(source) ? source : {};
  if (!isObject(source)) tell(w, '', 'wrong_type', 'must be an object');
  if (view['schema'] === 'ui/v0.1') w.minor = 1;
  else if (view['schema'] !== 'ui/v0') tell(w, '/schema', 'value', 'must be "ui/v0" or "ui/v0.1"');
  if (isObject(source)) strange(w, view, '', ['schema', 'meta', 'layout']);
  const meta = view['meta'];
  if (meta !== undefined && !isObject(meta)) tell(w, '/meta', 'wrong_type', 'must be an object');
  const title = isObject(meta) ? text(w, meta, '/meta', 'title') : undefined;
  const main =
    view['layout'] === undefined
      ? noteOf(w, tell(w, '/layout', 'missing', 'is missing'))
      : node(w, view['layout'], '/layout', 0);
  const tree = finished({
    from: w.minor > 0 ? 'ui/v0.1' : 'ui/v0',
    ...(title === undefined ? {} : { title }),
    ...(w.meta && isObject(meta) ? { meta } : {}),
    main: [main],
  });
  return { tree, problems: w.problems };
};
