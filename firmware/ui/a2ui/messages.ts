// The messages of A2UI folded into surfaces: v0.8 (surfaceUpdate, dataModelUpdate, beginRendering), v0.9 and 1.0
// (createSurface, updateComponents, updateDataModel), deleteSurface. Source: a2ui.org/specification. Pure.
import type { Draft } from '../draft.ts';

export type Json = Readonly<Record<string, unknown>>;
export const isObject = (v: unknown): v is Json => v !== null && typeof v === 'object' && !Array.isArray(v);
export const own = (o: Json, key: string): unknown => (Object.hasOwn(o, key) ? o[key] : undefined);

export interface Component {
  type: string;
  props: Json;
  pointer: string;
}
export interface Surface {
  components: Map<string, Component>;
  root: string;
  data: unknown;
}
/** Messages of one document; components of one surface; values of one data model. */
const MAX_MESSAGES = 1000;
const MAX_COMPONENTS = 2000;
const MAX_VALUES = 20_000;
const MAX_DEPTH = 32;
const MAX_SURFACES = 16;

/** The steps of a pointer: `/a/0` from the root, `a/0` from the item at hand. `~0` and `~1` as in RFC 6901. */
export function stepsOf(pointer: string): (string | number)[] {
  return pointer
    .split('/')
    .filter((s) => s !== '' && s !== '.')
    .slice(0, MAX_DEPTH)
    .map((s) => (/^\d{1,6}$/.test(s) ? Number(s) : s.slice(0, 200).replace(/~1/g, '/').replace(/~0/g, '~')));
}

/** A copy of JSON that is not too large; undefined where it is. */
function bounded(value: unknown): unknown {
  let count = 0;
  const copy = (v: unknown, depth: number): unknown => {
    if (++count > MAX_VALUES || depth > MAX_DEPTH) throw new RangeError();
    if (Array.isArray(v)) return v.map((one) => copy(one, depth + 1));
    if (v === null || typeof v !== 'object') return v;
    return Object.fromEntries(
      Object.entries(v)
        .filter(([k]) => k !== '__proto__')
        .map(([k, one]) => [k, copy(one, depth + 1)]),
    );
  };
  try {
    return copy(value, 0);
  } catch (e) {
    if (e instanceof RangeError) return undefined;
    throw e;
  }
}

/** A data model with a value set at a place, or taken away where it is undefined; what is not there is made. */
function put(data: unknown, steps: readonly (string | number)[], value: unknown): unknown {
  const [first, ...rest] = steps;
  if (first === undefined) return value ?? {};
  if (first === '__proto__') return data;
  if (Array.isArray(data) && typeof first === 'number') {
    if (first > data.length) return data;
    const list = [...data];
    if (value === undefined && rest.length === 0) list.splice(first, 1);
    else list[first] = put(list[first], rest, value);
    return list;
  }
  const object = isObject(data) ? data : {};
  const { [first]: before, ...others } = object;
  if (value === undefined && rest.length === 0) return others;
  return { ...object, [first]: put(Object.hasOwn(object, first) ? before : undefined, rest, value) };
}

/** The entries of v0.8's `contents` as an object. */
function contentsOf(list: unknown, depth = 0): Json {
  const entries: [string, unknown][] = [];
  for (const e of Array.isArray(list) && depth < MAX_DEPTH ? list.slice(0, 1000) : []) {
    if (!isObject(e) || typeof own(e, 'key') !== 'string' || own(e, 'key') === '__proto__') continue;
    const kind = ['valueString', 'valueNumber', 'valueBoolean', 'valueMap', 'valueArray'].find((k) =>
      Object.hasOwn(e, k),
    );
    const value = kind && own(e, kind);
    entries.push([String(own(e, 'key')), kind === 'valueMap' ? contentsOf(value, depth + 1) : value]);
  }
  return Object.fromEntries(entries);
}

/** v0.8 writes `component: { Text: {…} }`, later versions `component: "Text"` beside the properties. */
function add(it: Draft, surface: Surface, list: unknown, at: string): void {
  for (const [i, c] of (Array.isArray(list) ? list : []).slice(0, MAX_COMPONENTS).entries()) {
    const pointer = `${at}/${i}`;
    const id = isObject(c) ? own(c, 'id') : undefined;
    const component = isObject(c) ? own(c, 'component') : undefined;
    if (!isObject(c) || typeof id !== 'string' || surface.components.size >= MAX_COMPONENTS) {
      it.problem('bad_component', pointer, 'A component has an id and a type.');
      continue;
    }
    const [type, props]: [string, unknown] = isObject(component)
      ? (Object.entries(component)[0] ?? ['', {}])
      : [String(component), c];
    surface.components.set(id, { type, props: isObject(props) ? props : {}, pointer });
  }
}

/** The messages of a document: an array, one message, a text of lines, or an object that has them. */
export function messagesOf(source: unknown): readonly unknown[] {
  if (Array.isArray(source)) return source.slice(0, MAX_MESSAGES);
  if (typeof source === 'string')
    return source
      .split('\n')
      .filter((l) => l.trim() !== '')
      .slice(0, MAX_MESSAGES)
      .map((line) => {
        try {
          return JSON.parse(line) as unknown;
        } catch {
          return undefined;
        }
      });
  if (!isObject(source)) return [];
  const inner = own(source, 'a2ui') ?? own(source, 'messages');
  return inner === undefined
    ? [source]
    : Array.isArray(inner) || typeof inner === 'string'
      ? messagesOf(inner)
      : [];
}

const kinds = [
  'surfaceUpdate',
  'dataModelUpdate',
  'beginRendering',
  'createSurface',
  'updateComponents',
  'updateDataModel',
  'deleteSurface',
];

/** The surfaces that stand after all messages, in the order in which they began, and the version they speak. */
export function surfacesOf(it: Draft, source: unknown): { surfaces: Map<string, Surface>; version: string } {
  const surfaces = new Map<string, Surface>();
  let version = '0.9';
  for (const [i, message] of messagesOf(source).entries()) {
    const kind = isObject(message) ? kinds.find((k) => Object.hasOwn(message, k)) : undefined;
    const body = isObject(message) && kind ? own(message, kind) : undefined;
    if (!isObject(message) || !kind || !isObject(body)) {
      it.problem('unknown_message', `/${i}`, `A message has one of ${kinds.join(', ')}.`);
      continue;
    }
    const said = /^v?(\d{1,2}\.\d{1,2})/.exec(String(own(message, 'version') ?? ''))?.[1];
    if (['surfaceUpdate', 'dataModelUpdate', 'beginRendering'].includes(kind)) version = '0.8';
    else if (said) version = said;
    const id = String(own(body, 'surfaceId') ?? 'main').slice(0, 200);
    if (id === '__proto__') continue;
    if (kind === 'deleteSurface') {
      surfaces.delete(id);
      continue;
    }
    let surface = surfaces.get(id);
    if (!surface) {
      if (surfaces.size >= MAX_SURFACES) {
        it.problem('too_large', `/${i}`, `A document has at most ${MAX_SURFACES} surfaces.`);
        continue;
      }
      surface = { components: new Map(), root: 'root', data: {} };
      surfaces.set(id, surface);
    }
    const at = `/${i}/${kind}`;
    add(it, surface, own(body, 'components'), `${at}/components`);
    if (typeof own(body, 'root') === 'string') surface.root = own(body, 'root') as string;
    const model = kind === 'createSurface' ? own(body, 'dataModel') : undefined;
    if (kind === 'updateDataModel' || kind === 'dataModelUpdate' || model !== undefined) {
      const path = own(body, 'path');
      const given =
        model ?? (kind === 'dataModelUpdate' ? contentsOf(own(body, 'contents')) : own(body, 'value'));
      const value = given === undefined ? undefined : bounded(given);
      const next = bounded(put(surface.data, stepsOf(typeof path === 'string' ? path : ''), value));
      if (next === undefined || (given !== undefined && value === undefined))
        it.problem('too_large', at, `A data model has at most ${MAX_VALUES} values, ${MAX_DEPTH} deep.`);
      else surface.data = next;
    }
  }
  return { surfaces, version };
}
