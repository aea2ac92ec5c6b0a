// USDL 0.2, level 2: a page of components. Pure.
import { faultsOf } from '../../protocol/endpoint/check.ts';
import { draft } from '../draft.ts';
import { pathOf } from '../expression.ts';
import type { Node, Problem, Tree } from '../tree.ts';
import { componentOf } from './components.ts';
import { isObject, type Json, listOf, own, type Page, type Tools, type Want, wordsOf } from './page.ts';
import { MAX_COMPONENTS, usdlSchema } from './schema.ts';

/** Where the view model lies in a state document; patches name it so (`/viewModel/…`). */
const VIEW_MODEL = 'viewModel';
/** Values and depth of one document; a larger one is a note. */
const MAX_VALUES = 20_000;
const MAX_DEPTH = 48;
const slots = ['main', 'header', 'aside', 'modal', 'toast'] as const;
type Slot = (typeof slots)[number];
const slotOf = (v: unknown): Slot | undefined => slots.find((s) => s === v);

function isBounded(value: unknown): boolean {
  let count = 0;
  const walk = (v: unknown, depth: number): boolean => {
    if (++count > MAX_VALUES || depth > MAX_DEPTH) return false;
    return v === null || typeof v !== 'object' || Object.values(v).every((one) => walk(one, depth + 1));
  };
  return walk(value, 0);
}

/** What a compilation of USDL says beside its tree: libraries without which something was left as it is. */
export interface CompiledUsdl {
  tree: Tree;
  problems: readonly Problem[];
  wants: readonly Want[];
}

/**
 * Compiles USDL. A document of a higher minor version compiles as far as it is known; of another major version it is one
 * note.
 */
export function usdl(source: unknown, tools: Tools = {}): CompiledUsdl {
  const it = draft();
  const wants = new Set<Want>();
  const end = (from: string, parts: Omit<Tree, 'tree' | 'from' | 'needs'>): CompiledUsdl => ({
    ...it.finish(from, parts),
    wants: [...wants],
  });
  const version = isObject(source) ? own(source, 'version') : undefined;
  const [, major, minor] =
    /^usdl\/(\d{1,3})\.(\d{1,3})$/.exec(typeof version === 'string' ? version : '') ?? [];
  if (!isObject(source) || major === undefined)
    return end('usdl', {
      main: [it.note('invalid', '/version', 'A document of USDL says version "usdl/0.2".')],
    });
  const from = `usdl/${Number(major)}.${Number(minor)}`;
  if (Number(major) > 0)
    return end(from, {
      main: [it.note('unsupported_version', '/version', `This hub reads usdl/0.2, not ${from}.`)],
    });
  if (!isBounded(source))
    return end(from, {
      main: [it.note('too_large', '', `A document has at most ${MAX_VALUES} values, ${MAX_DEPTH} deep.`)],
    });

  const meta = isObject(own(source, 'meta')) ? (own(source, 'meta') as Json) : undefined;
  const [texts, actions, model, bind] = [
    own(meta ?? {}, 'texts'),
    own(source, 'actions'),
    own(source, 'viewModel'),
    own(source, 'viewBind'),
  ];
  const whole = ['state', VIEW_MODEL] as const;
  const part = typeof bind === 'string' ? pathOf(bind, { root: whole }) : null;
  if (bind !== undefined && !part)
    it.problem('bad_bind', '/viewBind', 'It is a path into the view model: "$.orders".');
  const page: Page = {
    draft: it,
    names: { root: part?.path ?? whole },
    actions: isObject(actions) ? actions : {},
    texts: isObject(texts) ? texts : {},
    tools,
    wants,
    ids: new Set(),
  };
  const layout = own(source, 'layout');
  const first = slotOf(isObject(layout) ? own(layout, 'slot') : undefined) ?? 'main';
  const nodes: Partial<Record<Slot, Node[]>> = {};
  const list = own(source, 'components');
  if (!Array.isArray(list))
    nodes.main = [it.note('missing', '/components', 'A document has a list of components.')];
  for (const [i, c] of listOf(list).slice(0, MAX_COMPONENTS).entries()) {
    const slot = slotOf(isObject(c) ? own(c, 'slot') : undefined) ?? first;
    nodes[slot] = [...(nodes[slot] ?? []), ...componentOf(page, c, `/components/${i}`)];
  }
  const title = meta ? wordsOf(page, meta, '/meta', ['title']) : undefined;
  if (Number(minor) <= 2)
    for (const { pointer, says } of faultsOf(usdlSchema, source))
      if (!it.problems.some((p) => p.pointer === pointer)) it.problem('schema', pointer, says);
  const { main = [], ...others } = nodes;
  return end(from, {
    ...(title === undefined ? {} : { title }),
    ...(meta ? { meta } : {}),
    ...(isObject(model) ? { state: { [VIEW_MODEL]: model } } : {}),
    main,
    ...others,
  });
}
