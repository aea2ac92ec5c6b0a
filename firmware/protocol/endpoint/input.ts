// What came with a request, as its endpoint declares it.
import { Object as object, Optional as optional } from 'typebox';
import { parseObject } from '../json.ts';
import { checked, faultsOf } from './check.ts';
import { type Endpoint, type Input, methodsOf } from './endpoint.ts';
import { nothing } from './router.ts';

const strict = { additionalProperties: false };

/**
 * What a handler is given of a request, checked against the declaration. Its schemas are put together when it is first
 * asked for, and kept.
 * @throws IngleError `invalid_request`, `too_large`; `not_found` for a segment that can name nothing
 */
export function inputOf(endpoint: Endpoint): Reader {
  const known = readers.get(endpoint);
  if (known) return known;
  const reader = readerOf(endpoint);
  readers.set(endpoint, reader);
  return reader;
}

type Reader = (
  params: Record<string, string>,
  query: URLSearchParams,
  bytes: Uint8Array | string,
) => Input<Endpoint>;
const readers = new WeakMap<Endpoint, Reader>();

function readerOf(endpoint: Endpoint): Reader {
  const segments = object({ ...endpoint.params });
  const names = Object.keys(endpoint.query ?? {});
  const texts = object(Object.fromEntries(names.map((k) => [k, optional(endpoint.query![k]!)])));
  const body = endpoint.body === 'raw' ? undefined : (endpoint.body ?? object({}, strict));
  const hasBody = methodsOf(endpoint).some((m) => m !== 'GET');
  const { params: declared, maxBody } = endpoint;

  const textsOf = (query: URLSearchParams) =>
    Object.fromEntries(names.flatMap((k) => (query.has(k) ? [[k, query.get(k)!]] : [])));
  return (
    params: Record<string, string>,
    query: URLSearchParams,
    bytes: Uint8Array | string,
  ): Input<Endpoint> => {
    if (declared && faultsOf(segments, params).length > 0) throw nothing();
    const given = names.length > 0 ? checked(texts, textsOf(query)) : {};
    const value = !body ? bytes : hasBody ? checked(body, parseObject(bytes, maxBody)) : null;
    return { params, query: given, body: value as never };
  };
}
