// From declared endpoints to the one that answers a request: a tree of path segments, no scan.
import type { TSchema } from 'typebox';
import { IngleError } from '../errors.ts';
import { type Answer, type Area, type Endpoint, type Input, type Method, methodsOf } from './endpoint.ts';

/** An endpoint and what answers it. `C` is what the server knows of a request beside what is in it. */
export interface Bound<C, R> {
  name: string;
  endpoint: Endpoint;
  /** The declared JSON, or a response where none is declared. */
  answer(asked: C & Input<Endpoint>): R | unknown;
}

/** One handler for each endpoint of an area; `R` is the server's own kind of response. */
export type Handlers<A extends Area, C, R> = {
  [K in keyof A]: (asked: C & Input<A[K]>) => Answered<A[K], R> | Promise<Answered<A[K], R>>;
};
type Answered<E extends Endpoint, R> = E['answer'] extends TSchema ? Answer<E> : R;

/** Puts an area's declarations and its handlers together. */
export function bind<A extends Area, C, R>(area: A, handlers: Handlers<A, C, R>): Bound<C, R>[] {
  return Object.entries(area).map(([name, endpoint]) => ({
    name,
    endpoint,
    answer: handlers[name] as Bound<C, R>['answer'],
  }));
}

/** What of a declaration says where it is. */
export type Place = Pick<Endpoint, 'method' | 'path'>;

/** A name of a template: in which segment it stands, and whether it is all that is left. */
interface Name {
  at: number;
  name: string;
  isRest: boolean;
}

interface Node<B> {
  literals: Map<string, Node<B>>;
  /** `{name}`; its name stands in the endpoint. */
  one?: Node<B>;
  here: Map<Method, B>;
  rest: Map<Method, B>;
}

export interface Found<B> {
  bound: B;
  /** What is asked of it: HEAD is GET, and the server leaves the body out (RFC 9110, 9.3.2). */
  method: Method;
  /** Values of the template's names, as sent. */
  params: Record<string, string>;
}

/**
 * Makes the table of all endpoints. Segments that are written out go before `{name}`, and that before `{name*}`.
 * @throws Error when two endpoints have one place.
 */
export function router<B extends { endpoint: Place }>(all: readonly B[]) {
  const node = (): Node<B> => ({ literals: new Map(), here: new Map(), rest: new Map() });
  const top = node();
  /** The places that are written out whole, which most are. */
  const whole = new Map<string, Map<Method, B>>();
  const names = new Map<B, Name[]>();
  for (const bound of all) {
    const { path } = bound.endpoint;
    names.set(bound, namesOf(path));
    let at = top;
    let into = 'here' as 'here' | 'rest';
    for (const part of path.split('/').slice(1)) {
      if (/^\{\w+\*\}$/.test(part)) into = 'rest';
      else if (/^\{\w+\}$/.test(part)) at = at.one ??= node();
      else {
        const next = at.literals.get(part) ?? node();
        at.literals.set(part, next);
        at = next;
      }
    }
    for (const method of methodsOf(bound.endpoint)) {
      if (at[into].has(method)) throw new Error(`two endpoints for ${method} ${path}`);
      at[into].set(method, bound);
    }
    if (names.get(bound)!.length === 0) whole.set(path, at.here);
  }

  /** The methods at a path, most exact place first. */
  function lookUp(at: Node<B>, parts: readonly string[], from: number): Map<Method, B> | undefined {
    if (from === parts.length) return at.here.size > 0 ? at.here : undefined;
    const part = parts[from]!;
    const literal = at.literals.get(part);
    return (
      (literal && lookUp(literal, parts, from + 1)) ??
      (part !== '' && at.one ? lookUp(at.one, parts, from + 1) : undefined) ??
      (at.rest.size > 0 ? at.rest : undefined)
    );
  }

  const at = (path: string): Map<Method, B> => {
    const known = whole.get(path);
    if (known) return known;
    const parts = path.split('/').slice(1);
    const methods = parts.length > MAX_SEGMENTS || parts.includes('..') ? undefined : lookUp(top, parts, 0);
    if (!methods) throw nothing();
    return methods;
  };
  return {
    /** @throws IngleError `not_found`, `method_not_allowed` with `details.allow` */
    find(method: string, path: string): Found<B> {
      const methods = at(path);
      const declared = (method === 'HEAD' ? 'GET' : method) as Method;
      const bound = methods.get(declared);
      if (bound) return { bound, method: declared, params: paramsOf(names.get(bound)!, path) };
      const allow = [...methods.keys()].flatMap((m) => (m === 'GET' ? ['GET', 'HEAD'] : [m])).join(', ');
      const says = `This path does not take ${method.slice(0, 10)}; it takes ${allow}.`;
      throw new IngleError('method_not_allowed', says, { allow });
    },
    /** What a path takes. @throws IngleError `not_found` */
    methodsAt: (path: string): Method[] => [...at(path).keys()],
  };
}

/** Segments a path may have; more is at no endpoint. */
const MAX_SEGMENTS = 32;

const namesOf = (path: string): Name[] =>
  path
    .split('/')
    .slice(1)
    .flatMap((part, at) => {
      const [, name, all] = /^\{(\w+)(\*?)\}$/.exec(part) ?? [];
      return name ? [{ at, name, isRest: all !== '' }] : [];
    });

/** What a path says for each parameter; what is handed on as a path stays as it came. @throws IngleError `not_found` */
function paramsOf(names: readonly Name[], path: string): Record<string, string> {
  const params: Record<string, string> = {};
  if (names.length === 0) return params;
  const parts = path.split('/').slice(1);
  for (const { at, name, isRest } of names)
    params[name] = isRest ? parts.slice(at).join('/') : decoded(parts[at]!);
  return params;
}

/** A segment as its sender meant it (RFC 3986 section 2.1): `ingle-skill%407` is `ingle-skill@7`. */
function decoded(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    const text = decodeURIComponent(segment);
    // One segment stays one, and what leads elsewhere is no name.
    if (!/[/\\\0]/.test(text) && text !== '..' && text !== '.') return text;
  } catch {}
  throw nothing();
}

export const nothing = () => new IngleError('not_found', 'There is nothing at this path.');
