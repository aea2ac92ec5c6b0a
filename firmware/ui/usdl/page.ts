// One compilation of USDL: what its expressions, texts and actions mean. Pure.
import { conditionOf } from '../condition.ts';
import { linkOf } from '../destination.ts';
import type { Draft } from '../draft.ts';
import { type Names, pathOf, payloadOf, template } from '../expression.ts';
import type { Act, Condition, Meanwhile, Node, Path, Value } from '../tree.ts';

export type Json = Readonly<Record<string, unknown>>;
export const isObject = (v: unknown): v is Json => v !== null && typeof v === 'object' && !Array.isArray(v);
export const listOf = (v: unknown): readonly unknown[] => (Array.isArray(v) ? v : []);
export const own = (o: Json, key: string): unknown => (Object.hasOwn(o, key) ? o[key] : undefined);
/** A step of a JSON pointer. */
export const step = (key: string | number) =>
  `/${String(key).slice(0, 100).replace(/~/g, '~0').replace(/\//g, '~1')}`;

/** Libraries that a document may need; without one, what needs it is left as it is and wanted. */
export interface Tools {
  /** Why a query is none of RFC 9535. */
  queryFault?: (query: string) => string | null;
  /** Text of ULM as nodes. */
  markdown?: (text: string, ink: { draft: Draft; names: Names }, pointer: string) => readonly Node[];
}
export type Want = keyof Tools;

/** Operations of one action. */
const MAX_MEANWHILE = 10;

export interface Page {
  draft: Draft;
  names: Names;
  actions: Json;
  texts: Json;
  tools: Tools;
  wants: Set<Want>;
  ids: Set<string>;
}

/** A value whose queries are right; null, and a problem, where one is not. */
export function checked<V extends Value | Condition | null>(page: Page, value: V, pointer: string): V | null {
  const wrong = (v: unknown): string | null => {
    if (v === null || typeof v !== 'object') return null;
    if ('query' in v && 'of' in v && typeof v.query === 'string') {
      if (!page.tools.queryFault) page.wants.add('queryFault');
      return page.tools.queryFault?.(v.query) ?? null;
    }
    for (const one of Object.values(v)) {
      const fault = wrong(one);
      if (fault) return fault;
    }
    return null;
  };
  const fault = wrong(value);
  if (!fault) return value;
  page.draft.problem('bad_query', pointer, `This is no query of RFC 9535: ${fault.slice(0, 200)}.`);
  return null;
}

const notExpression = (page: Page, pointer: string) => (part: string) =>
  page.draft.problem(
    'bad_expression',
    pointer,
    `"${part.slice(0, 80)}" is no path: $.name, $route.name or $row.name.`,
  );

/** JSON with expressions as a value. */
export const dataOf = (page: Page, json: unknown, pointer: string): Value =>
  checked(page, payloadOf(json, page.names, notExpression(page, pointer)), pointer);

/** A text that may have expressions. */
export const textOf = (page: Page, text: string, pointer: string): Value =>
  checked(
    page,
    template(page.draft.text(text, pointer), page.names, notExpression(page, pointer)),
    pointer,
  ) ?? '';

/** The text of a key in `meta.texts`, in all the languages it has. */
function translated(page: Page, key: string, pointer: string): Value | undefined {
  const found = own(page.texts, key);
  if (typeof found === 'string') return page.draft.text(found, pointer);
  const table = isObject(found) ? (own(found, 'i18n') ?? found) : undefined;
  const entries = isObject(table)
    ? Object.entries(table)
        .filter((e): e is [string, string] => /^[A-Za-z-]{2,20}$/.test(e[0]) && typeof e[1] === 'string')
        .slice(0, 20)
    : [];
  if (entries.length > 0)
    return { i18n: Object.fromEntries(entries.map(([l, t]) => [l, page.draft.text(t, pointer)])) };
  page.draft.problem('unknown_text', pointer, `meta.texts has no "${key.slice(0, 80)}".`);
  return undefined;
}

/**
 * The words a component has under one of `names`, the first that is there; its `i18n` key goes before.
 * @param isMain whether a plain `i18n` key means these words
 */
export function wordsOf(
  page: Page,
  c: Json,
  at: string,
  names: readonly string[],
  isMain = true,
): Value | undefined {
  const i18n = own(c, 'i18n');
  const key = isObject(i18n)
    ? names.map((n) => own(i18n, n)).find((k) => k !== undefined)
    : isMain
      ? i18n
      : undefined;
  if (typeof key === 'string') {
    const text = translated(page, key, `${at}/i18n`);
    if (text !== undefined) return text;
  }
  for (const name of names) {
    const text = own(c, name);
    if (typeof text === 'string') return textOf(page, text, at + step(name));
    if (text !== undefined && name !== 'body')
      page.draft.problem('wrong_type', at + step(name), 'This is a text.');
  }
  return undefined;
}

/** The place in the view model that something is bound to. */
export function bindOf(page: Page, bind: unknown, pointer: string): Path | undefined {
  if (bind === undefined) return undefined;
  const path = typeof bind === 'string' ? pathOf(bind, page.names) : null;
  if (!path) page.draft.problem('bad_bind', pointer, 'A binding is a path: "$.filter.text".');
  return path ?? undefined;
}

/** `when` as a condition. One that cannot be read never holds, as what it hides may not be shown to everybody. */
export function whenOf(page: Page, when: unknown, pointer: string): { when?: Condition } {
  if (when === undefined || when === true) return {};
  const never: Condition = { is: false };
  if (when === false) return { when: never };
  const read = typeof when === 'string' ? conditionOf(when, page.names) : null;
  if (!read)
    page.draft.problem('bad_condition', pointer, 'A condition is "$.path", "!$.path" or "$.path == \'x\'".');
  return { when: (read && checked(page, read, pointer)) ?? never };
}

const skillOf = (target: unknown): { target?: string } =>
  typeof target === 'string' && target !== '' ? { target: target.replace(/^skill:/, '').slice(0, 64) } : {};

function emitted(page: Page, name: string, a: Json, at: string): Act {
  const [payload, params] = [own(a, 'payload'), own(a, 'params')];
  if (own(a, 'emit') === 'ui.query') {
    const query = own(a, 'query');
    const asked = params ?? payload;
    return {
      do: 'query',
      query: typeof query === 'string' ? query.slice(0, 200) : name,
      ...skillOf(own(a, 'target')),
      ...(asked === undefined ? {} : { params: dataOf(page, asked, `${at}/params`) }),
    };
  }
  const sent = payload ?? params;
  const meanwhile = meanwhileOf(page, own(a, 'meanwhile'), `${at}/meanwhile`);
  return {
    do: 'action',
    id: name,
    ...skillOf(own(a, 'target')),
    ...(sent === undefined ? {} : { payload: dataOf(page, sent, `${at}/payload`) }),
    ...(meanwhile.length > 0 ? { meanwhile } : {}),
  };
}

/** Operations of a JSON Patch on the view model, as they may be while the hub has not done the action. */
function meanwhileOf(page: Page, patch: unknown, at: string): Meanwhile[] {
  return listOf(patch)
    .slice(0, MAX_MEANWHILE)
    .flatMap((one, i): Meanwhile[] => {
      const here = `${at}/${i}`;
      const [op, path, value] = isObject(one) ? [own(one, 'op'), own(one, 'path'), own(one, 'value')] : [];
      const [top, root, ...steps] = typeof path === 'string' ? path.slice(0, 512).split('/') : [];
      const isOp = op === 'add' || op === 'replace' || op === 'remove';
      if (!isOp || top !== '' || root !== 'viewModel' || steps.length === 0) {
        const hint = 'It has an op (add, replace, remove), a path below /viewModel/ and a value.';
        page.draft.problem('bad_patch', here, hint);
        return [];
      }
      const stepOf = (text: string) =>
        textOf(page, text.replace(/~1/g, '/').replace(/~0/g, '~'), `${here}/path`);
      return [
        {
          op,
          at: steps.map(stepOf),
          ...(value === undefined || op === 'remove' ? {} : { value: dataOf(page, value, `${here}/value`) }),
        },
      ];
    });
}

/** What `action` or `navigate` of an object does; undefined where it has neither, or none that can be done. */
export function actOf(page: Page, c: Json, at: string): Act | undefined {
  const action = own(c, 'action');
  if (typeof action === 'string' && action !== '') {
    const named = own(page.actions, action);
    if (isObject(named)) return emitted(page, action.slice(0, 200), named, `/actions${step(action)}`);
    return { do: 'action', id: action.slice(0, 200) };
  }
  if (isObject(action)) {
    const id = own(action, 'action_id') ?? own(action, 'id');
    if (typeof id === 'string' || own(action, 'emit') === 'ui.query')
      return emitted(page, typeof id === 'string' ? id.slice(0, 200) : '', action, `${at}/action`);
  }
  if (action !== undefined)
    page.draft.problem(
      'bad_action',
      `${at}/action`,
      'An action is a name, or {type: "ui.action", action_id}.',
    );
  const navigate = own(c, 'navigate');
  if (navigate === undefined) return undefined;
  const to = isObject(navigate) ? own(navigate, 'to') : navigate;
  const go = typeof to === 'string' ? linkOf(to) : null;
  if (!go) {
    page.draft.problem(
      'unsafe_link',
      `${at}/navigate`,
      'It leads to a page, skill:<id>, https:// or mailto:.',
    );
    return undefined;
  }
  const [params, mode] = isObject(navigate) ? [own(navigate, 'params'), own(navigate, 'mode')] : [];
  return {
    ...go,
    ...(params === undefined ? {} : { params: dataOf(page, params, `${at}/navigate/params`) }),
    ...(mode === 'modal' || mode === 'panel' ? { mode } : {}),
  };
}

/** What the first of some events of a component does. */
export function onOf(page: Page, c: Json, at: string, events: readonly string[]): Act | undefined {
  for (const [i, on] of listOf(own(c, 'on')).slice(0, 20).entries())
    if (isObject(on) && events.includes(String(own(on, 'event')))) return actOf(page, on, `${at}/on/${i}`);
  return undefined;
}
