// Routes of a scenario app: which one a path names, and the path of one with its parameters. Pure.

/** What a path of a route may look like: `/`, `/day/:date`. A literal segment has no sign that a URL would change. */
export const routeForm = '^/(?:(?:[A-Za-z0-9._~-]+|:[A-Za-z][A-Za-z0-9_]{0,31})(?:/(?!$)|$)){0,8}$';

/** Characters of a path that is looked up. */
const MAX_PATH = 1000;

export interface Routed {
  name: string;
  path: string;
}
export type Params = Readonly<Record<string, string>>;

const segmentsOf = (path: string) => path.split('/').filter(Boolean);

/** A segment as a person wrote it; null for what is no text, or would be another path to a browser. */
function decoded(segment: string): string | null {
  try {
    const text = decodeURIComponent(segment);
    for (const c of text) if (c < ' ' || c === '\u007f') return null;
    return text === '.' || text === '..' ? null : text;
  } catch {
    return null;
  }
}

/** A text as a segment; '' for half a sign, which no URL carries. */
function encoded(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return '';
  }
}

function paramsIn(pattern: readonly string[], segments: readonly string[]): Params | null {
  if (pattern.length !== segments.length) return null;
  const params: [string, string][] = [];
  for (const [i, part] of pattern.entries()) {
    const given = decoded(segments[i]!);
    if (given === null) return null;
    if (part.startsWith(':')) params.push([part.slice(1), given]);
    else if (part !== given) return null;
  }
  return Object.fromEntries(params);
}

/** Literal segments go before parameters, the leftmost first: `/day/today` before `/day/:date`. */
const rank = (path: string) =>
  segmentsOf(path)
    .map((s) => (s.startsWith(':') ? '1' : '0'))
    .join('');

/**
 * The route a path names, with its parameters decoded. The order of `routes` does not matter.
 * @param path below the app's own, as `location` has it; a slash at its end is as none
 */
export function matchRoute<R extends Routed>(
  routes: readonly R[],
  path: string,
): { route: R; params: Params } | null {
  if (path.length > MAX_PATH || !path.startsWith('/') || path.includes('//')) return null;
  const segments = segmentsOf(path);
  let best: { route: R; params: Params } | null = null;
  for (const route of routes) {
    const params = paramsIn(segmentsOf(route.path), segments);
    if (params && (!best || rank(route.path) < rank(best.route.path))) best = { route, params };
  }
  return best;
}

/** The names of the parameters in a route's path. */
export const paramsOf = (path: string): string[] =>
  segmentsOf(path).flatMap((s) => (s.startsWith(':') ? [s.slice(1)] : []));

const asText = (v: unknown): string => (typeof v === 'string' || typeof v === 'number' ? String(v) : '');

/**
 * The path of a route with its parameters; those it has no place for follow as a query.
 * @returns null where a parameter is missing, or is one no path can carry
 */
export function pathTo(route: Routed, params: Readonly<Record<string, unknown>> = {}): string | null {
  const named = paramsOf(route.path);
  const parts: string[] = [];
  for (const part of segmentsOf(route.path)) {
    const key = part.slice(1);
    const text = part.startsWith(':') ? asText(Object.hasOwn(params, key) ? params[key] : '') : part;
    const segment = encoded(text);
    if (segment === '' || decoded(segment) === null) return null;
    parts.push(segment);
  }
  const others = Object.entries(params).filter(([key, v]) => !named.includes(key) && asText(v) !== '');
  const query = new URLSearchParams(others.map(([key, v]) => [key, asText(v)]));
  return `/${parts.join('/')}${query.size > 0 ? `?${query}` : ''}`;
}
