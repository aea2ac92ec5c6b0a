// How an HTTP endpoint is declared: once, as data, in the `api.ts` of its area. Router, checks, OpenAPI document and
// the types of its callers come from the declaration.
import type { Static, TObject, TSchema } from 'typebox';
import type { ErrorCode } from '../errors.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** @template W who may call: the words of one API (firmware/system/api.ts has those of the local one) */
export interface Endpoint<W extends string = string> {
  method: Method | readonly Method[];
  /** Path template: `{name}` is one segment, `{name*}` at the end is all that is left. Both as sent, not decoded. */
  path: string;
  who: W;
  /** One sentence for the API's document. */
  doc: string;
  params?: Record<string, TSchema>;
  /** Texts after the `?`; what is not named here is passed over. */
  query?: Record<string, TSchema>;
  /** A JSON object; `raw` is handed on as it came. Without it there is none, and one that is sent must be empty. */
  body?: TObject | 'raw';
  /** Largest body, bytes; MAX_BODY where it is left out. More than that is read only for who may call. */
  maxBody?: number;
  /** The JSON of a 200; without it the handler answers by itself (a stream, somebody else's answer). */
  answer?: TSchema;
  /** Codes beyond those any endpoint may answer (`commonErrors`). */
  errors?: readonly ErrorCode[];
  /** A command document may ask for it (firmware/documents/command.ts). */
  command?: true;
  /** It works, and what replaces it is at `successor`, an address of this API; `since` is a date, `2026-11-23`. */
  deprecated?: { since: string; successor: string };
  /** What it answers is told this once: no journal keeps it, so repeated it is done again. */
  secret?: true;
  /** Changes nothing although it is no GET: repeated, it is simply done again. */
  safe?: true;
}

/** What is said on a bus topic, beside the endpoints of an area. */
export interface Topic {
  doc: string;
  payload: TObject;
}

export type Area<W extends string = string> = Readonly<Record<string, Endpoint<W>>>;

/** What any endpoint may answer. */
export const commonErrors: readonly ErrorCode[] = [
  'invalid_request',
  'rate_limited',
  'unavailable',
  'internal',
];

type Value<S> = S extends TSchema ? Static<S> : never;

/** What a handler is given of the request. */
export interface Input<E extends Endpoint> {
  params: { [K in keyof E['params']]: Value<NonNullable<E['params']>[K]> };
  query: { [K in keyof E['query']]?: Value<NonNullable<E['query']>[K]> };
  body: E['body'] extends TObject ? Static<E['body']> : E['body'] extends 'raw' ? Uint8Array | string : null;
}

/** The JSON an endpoint answers, for its callers: `Answer<typeof skillsApi.icons>`. */
export type Answer<E extends Endpoint> = E['answer'] extends TSchema ? Static<E['answer']> : unknown;

/** The JSON an endpoint is sent. */
export type Sent<E extends Endpoint> = E['body'] extends TObject ? Static<E['body']> : unknown;

/** What an answer of an endpoint that is on its way out says: RFC 9745, and RFC 8288 with the relation of RFC 5829. */
export function deprecation({ deprecated }: Endpoint): Record<string, string> {
  if (!deprecated) return {};
  return {
    deprecation: `@${Date.parse(`${deprecated.since}T00:00:00Z`) / 1000}`,
    link: `<${deprecated.successor}>; rel="successor-version"`,
  };
}

export const methodsOf = (e: Pick<Endpoint, 'method'>): readonly Method[] =>
  typeof e.method === 'string' ? [e.method] : e.method;
