// The local API about the hub itself: whether it runs, what it is.
import * as T from 'typebox';
import { record } from '../protocol/endpoint/record.ts';
import { localArea } from './local-api.ts';

export const ok = T.Object({ ok: T.Literal(true) });
/** An object whose fields are told elsewhere. */
export const some = record(T.Unknown());
const nullable = <S extends T.TSchema>(schema: S) => T.Union([schema, T.Null()]);

export const systemApi = localArea({
  live: { method: 'GET', path: '/health/live', who: 'public', doc: 'The service runs.', answer: ok },
  ready: {
    method: 'GET',
    path: '/health/ready',
    who: 'public',
    doc: 'The service can do its work: 200, else 503.',
    answer: ok,
  },
  openapi: {
    method: 'GET',
    path: '/api/openapi.json',
    who: 'household',
    doc: 'This document.',
    answer: some,
  },
  docs: {
    method: 'GET',
    path: '/api/docs',
    who: 'public',
    doc: 'The same document as a page to read.',
  },
  brand: {
    method: 'GET',
    path: '/v1/brand',
    who: 'token',
    doc: "The maker's name, colours and words.",
    answer: some,
  },
  status: {
    method: 'GET',
    path: '/api/status',
    who: 'owner',
    doc: 'The hub, its link to root, and its skills.',
    answer: T.Object({
      name: T.String(),
      model: T.String(),
      version: T.String(),
      node_version: T.String(),
      sqlite_version: T.String(),
      uptime_s: T.Integer(),
      link: nullable(
        T.Object({
          connected: T.Boolean(),
          root: T.String(),
          hub_id: T.String(),
          subnet_id: T.String(),
          browsers: T.Integer(),
          channels: T.Integer(),
        }),
      ),
      skills: T.Object({ known: T.Integer(), available: T.Integer() }),
      developer_mode: T.Boolean({ description: 'Unsigned packages of skills are let in.' }),
      mcp: T.Boolean({ description: 'Programs may use the actions of skills over /api/mcp.' }),
      requests: T.Integer(),
      streams: T.Integer(),
      sockets: T.Integer(),
    }),
  },
  node: {
    method: 'GET',
    path: '/api/node/status',
    who: 'owner',
    doc: 'The machine: load and memory.',
    answer: T.Object({
      hostname: T.String(),
      arch: T.String(),
      kernel: T.String(),
      cpus: T.Integer(),
      uptime_s: T.Integer(),
      load: T.Array(T.Number(), { minItems: 3, maxItems: 3, description: 'Over 1, 5 and 15 minutes.' }),
      memory: T.Object({ total_bytes: T.Integer(), free_bytes: T.Integer() }),
    }),
  },
});
