// The OpenAPI 3.1 document (spec.openapis.org/oas/v3.1.1) of declared endpoints.
import type { TSchema } from 'typebox';
import { errorTable } from '../errors.ts';
import { type Area, commonErrors, type Endpoint, methodsOf, type Topic } from './endpoint.ts';

export interface Described {
  title: string;
  version: string;
  description: string;
  areas: Readonly<Record<string, Area>>;
  /** Bus topics that replace endpoints or stand beside them, by name. */
  topics?: Readonly<Record<string, Topic>>;
  /** What each word of `who` asks for: names of `schemes`, all of which must be met, and a sentence. */
  who: Readonly<Record<string, { needs: readonly string[]; doc: string }>>;
  /** Security Scheme Objects by name. */
  schemes: Readonly<Record<string, object>>;
}

const errorBody = {
  type: 'object',
  required: ['error', 'message'],
  properties: {
    error: { type: 'string', description: 'A stable code.' },
    message: { type: 'string', description: 'A sentence for a person.' },
    details: {
      type: 'object',
      description: '`pointer` names the faulty field (RFC 6901), `faults` all of them.',
    },
  },
};

/** `{path*}` is one parameter here, marked `x-rest`; OpenAPI has no word for "all that is left". */
const template = (path: string) => path.replace('*}', '}');

function parameters(e: Endpoint): object[] {
  const names = [...e.path.matchAll(/\{(\w+)(\*?)\}/g)] as unknown as [string, string, string][];
  return [
    ...names.map(([, name, rest]) => ({
      name,
      in: 'path',
      required: true,
      schema: e.params?.[name] ?? { type: 'string' },
      ...(rest ? { 'x-rest': true } : {}),
    })),
    ...Object.entries(e.query ?? {}).map(([name, schema]) => ({ name, in: 'query', schema })),
  ];
}

function operation(name: string, area: string, e: Endpoint, method: string, d: Described): object {
  const codes = [...new Set([...(e.errors ?? []), ...commonErrors])];
  const byStatus = new Map<number, string[]>();
  for (const code of codes) {
    const status = errorTable[code].http;
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const content = (schema: TSchema | object) => ({ 'application/json': { schema } });
  const who = d.who[e.who];
  const many = methodsOf(e).length > 1;
  return {
    operationId: `${area}.${name}${many ? `.${method.toLowerCase()}` : ''}`,
    tags: [area],
    summary: e.doc,
    description: who?.doc ?? '',
    security: who && who.needs.length > 0 ? [Object.fromEntries(who.needs.map((n) => [n, []]))] : [],
    parameters: parameters(e),
    ...(e.body && method !== 'GET'
      ? {
          requestBody: {
            content: e.body === 'raw' ? { '*/*': {} } : content(e.body),
            ...(e.maxBody ? { description: `At most ${e.maxBody} bytes.`, 'x-max-bytes': e.maxBody } : {}),
          },
        }
      : {}),
    responses: {
      200: { description: 'Done.', ...(e.answer ? { content: content(e.answer) } : {}) },
      ...Object.fromEntries(
        [...byStatus].map(([status, all]) => [
          String(status),
          { description: all.join(', '), content: content({ $ref: '#/components/schemas/Error' }) },
        ]),
      ),
    },
    ...(e.deprecated
      ? {
          deprecated: true,
          externalDocs: { url: e.deprecated.successor, description: `Since ${e.deprecated.since}.` },
        }
      : {}),
    ...(e.command ? { 'x-command': true } : {}),
  };
}

/** The whole document, as plain JSON. */
export function openapi(d: Described): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const [area, endpoints] of Object.entries(d.areas))
    for (const [name, e] of Object.entries(endpoints))
      for (const method of methodsOf(e)) {
        const path = template(e.path);
        paths[path] = { ...paths[path], [method.toLowerCase()]: operation(name, area, e, method, d) };
      }
  return {
    openapi: '3.1.1',
    info: { title: d.title, version: d.version, description: d.description, license: { name: 'Apache-2.0' } },
    tags: Object.keys(d.areas).map((name) => ({ name })),
    paths,
    ...(d.topics ? { 'x-topics': d.topics } : {}),
    components: { securitySchemes: d.schemes, schemas: { Error: errorBody } },
  };
}
