// A scenario app as the hub gives it to who draws it: routes with their trees, and what its view model is made of. Pure.
import { overlayState } from './overlay.ts';
import type { Params } from './route.ts';
import type { Path, Tree, Value } from './tree.ts';
import { evaluate, type Scope } from './value.ts';

export const APP_VERSION = 1;

/** Sets of colours an app may choose; the application has each for light and dark. */
export const tokenSets = ['hearth', 'garden', 'sea', 'sun'] as const;
export type TokenSet = (typeof tokenSets)[number];

/** What a route needs; where it is not there, `else` is shown in its place, or that this page is not there. */
export interface Guard {
  hasParam?: string;
  has?: Path;
  else?: string;
}

/** Rows that are asked for when a route opens, so that its table has them, also without the hub the next time. */
export interface Prefetch {
  query: string;
  target: string;
  params?: Value;
  /** As the route's own table asks. */
  pageSize: number;
}

export interface AppRoute {
  name: string;
  path: string;
  title: Value;
  guards: readonly Guard[];
  prefetch: readonly Prefetch[];
  tree: Tree;
}

export interface App {
  app: typeof APP_VERSION;
  /** The skill it came with, and its own namespace of the view model. */
  id: string;
  name: string;
  version: string;
  title: Value;
  tokens: TokenSet;
  entry: string;
  routes: readonly AppRoute[];
  menu: readonly string[];
  /** By namespace, what lies below the documents. */
  initial: Readonly<Record<string, unknown>>;
  /** Other skills, whose state it shows: each is a namespace that it reads. */
  skills: readonly string[];
}

/** Where an app is mounted. */
export const appPath = (id: string): string => `/s/${id}/`;

/** Where a skill's window opens that has no address of its own. */
export const windowPath = (id: string): string => `/#open.${id}`;

/** The app a path of the application leads to, and the path below it; null for every other path. */
export function mountedAt(path: string): { id: string; path: string } | null {
  const found = /^\/s\/([^/]{1,100})(\/.*)?$/s.exec(path);
  return found && { id: found[1]!, path: found[2] ?? '/' };
}

const isPlain = (v: unknown): v is Record<string, unknown> =>
  v !== null && typeof v === 'object' && !Array.isArray(v);

/**
 * The view model: a part for each skill, and nothing else. What a skill keeps lies in its own part, whatever it is called
 * in there, so that none reads or covers another's.
 * @param contents of the state documents, by skill
 */
export function viewModelOf(
  app: Pick<App, 'id' | 'skills' | 'initial'>,
  tree: Pick<Tree, 'state'> | undefined,
  contents: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const page = tree?.state?.['viewModel'];
  const own = (of: unknown, name: string) => (isPlain(of) && Object.hasOwn(of, name) ? of[name] : undefined);
  return Object.fromEntries(
    [app.id, ...app.skills].map((name) => {
      const first = overlayState(own(app.initial, name) ?? {}, own(page, name));
      const kept = own(contents, name);
      return [name, overlayState(first, isPlain(kept) ? kept : undefined)];
    }),
  );
}

/** The guard of a route that does not hold. */
export const closedBy = (guards: readonly Guard[], params: Params, scope: Scope): Guard | undefined =>
  guards.find((g) =>
    g.hasParam === undefined
      ? isNothing(evaluate(g.has, scope))
      : !Object.hasOwn(params, g.hasParam) || params[g.hasParam] === '',
  );

const isNothing = (v: unknown): boolean =>
  v === undefined || v === null || v === '' || v === false || (Array.isArray(v) && v.length === 0);
