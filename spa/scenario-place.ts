// Where an app is: its address, and beside it in the history what its other areas show. One step back undoes one step.
import { type App, type AppRoute, appPath, closedBy, mountedAt } from '../firmware/ui/app.ts';
import { matchRoute, type Params, pathTo } from '../firmware/ui/route.ts';
import type { Scope } from '../firmware/ui/value.ts';

export type AreaName = 'main' | 'side' | 'modal';

/** Paths below the app's own, with their queries. */
export interface Place {
  id: string;
  main: string;
  side?: string;
  modal?: string;
}

export interface Shown {
  route: AppRoute;
  params: Params;
}

/** The place of the browser; null where it is in no app. */
export function placeNow(): Place | null {
  const at = mountedAt(location.pathname);
  if (!at) return null;
  const { side, modal } = Object(history.state) as Partial<Record<AreaName, unknown>>;
  return {
    id: at.id,
    main: at.path + location.search,
    ...(typeof side === 'string' ? { side } : {}),
    ...(typeof modal === 'string' ? { modal } : {}),
  };
}

/** Goes to a path of the app in one of its areas. */
export function enter(id: string, path: string, area: AreaName): void {
  if (area === 'main') history.pushState(null, '', appPath(id) + path.slice(1));
  else history.pushState({ ...Object(history.state), [area]: path }, '');
}

/** The path that a link or a skill means: a path of the app, or the name of one of its routes. */
export function pathOf(app: App, to: string, params: unknown): string | null {
  if (to.startsWith('/')) return matchRoute(app.routes, to.split('?', 1)[0]!) ? to : null;
  const route = app.routes.find((r) => r.name === to);
  return route ? pathTo(route, Object(params) as Record<string, unknown>) : null;
}

/**
 * What a path shows: its route, or the one a guard sends to.
 * @returns null where no route is there
 */
export function shownAt(app: App, path: string, state: unknown): Shown | null {
  let at = path;
  for (let i = 0; i <= app.routes.length; i++) {
    const [bare = '', query = ''] = at.split('?', 2);
    const entry = app.routes.find((r) => r.name === app.entry)!;
    const found = matchRoute(app.routes, bare) ?? (bare === '/' ? { route: entry, params: {} } : null);
    if (!found) return null;
    // What the path itself says goes before what is behind its question mark.
    const params: Params = { ...Object.fromEntries(new URLSearchParams(query)), ...found.params };
    const scope: Scope = { state, route: params };
    const closed = closedBy(found.route.guards, params, scope);
    if (!closed) return { route: found.route, params };
    const other = app.routes.find((r) => r.name === closed.else);
    const next = other && pathTo(other);
    if (!next) return null;
    at = next;
  }
  return null;
}
